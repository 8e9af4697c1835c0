# SPDX-License-Identifier: Apache-2.0
"""policy.ckpt by its description in docs/formats.md alone: files that `berth train` writes are read here, and files that are
written here are read by `berth place` and `berth train`.

What is in a file is compared with what `berth train --json` says; a file that is read and written again has the same bytes;
one with other weights and a right digest is used, one with a wrong digest is not.
"""

import hashlib
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

BERTH = os.environ["BERTH"]
SOURCE = os.environ["SOURCE"]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def berth(*arguments, code=0):
    done = subprocess.run([BERTH, *arguments], cwd=SOURCE, capture_output=True, text=True, check=False)
    expect(done.returncode == code, f"{arguments}: exit {done.returncode}: {done.stderr}")
    return done.stdout if code == 0 else done.stderr


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values if len(values) > 1 else values[0]

    def bytes(self, size):
        self.at += size
        return self.data[self.at - size : self.at]

    def string(self):
        return self.bytes(self.take("H")).decode("ascii")


def read(data):
    expect(hashlib.sha256(data[:-32]).digest() == data[-32:], "the digest at the end")
    r, p = Reader(data[:-32]), {}
    expect(r.bytes(8) == b"berthpol" and r.take("I") == 1, "magic and schema")
    expect(r.take("Q") == len(data), "the size")
    p["width"], p["berth"], p["method"] = r.take("I"), r.string(), r.string()
    p["settings"] = [(r.string(), r.string()) for _ in range(r.take("I"))]
    p["random"], p["trained_on"] = r.take("QQQ"), r.string()
    p["history"] = [r.take("dddd") for _ in range(r.take("Q"))]
    p["numbers"] = [(r.string(), r.take("d")) for _ in range(r.take("I"))]
    p["texts"] = [(r.string(), r.bytes(r.take("I"))) for _ in range(r.take("I"))]
    p["steps"] = r.take("Q")
    p["shapes"] = [(r.string(), *r.take("II")) for _ in range(r.take("I"))]
    n = sum(rows * cols for _, rows, cols in p["shapes"])
    form = f"{n}" + {4: "f", 8: "d"}[p["width"]]
    p["values"], p["moments1"], p["moments2"] = (list(struct.unpack("<" + form, r.bytes(struct.calcsize("<" + form)))) for _ in range(3))
    expect(r.at == len(r.data), "something stands behind the parameters")
    return p


def string(text):
    return struct.pack("<H", len(text)) + text.encode("ascii")


def write(p):
    body = struct.pack("<I", p["width"]) + string(p["berth"]) + string(p["method"])
    body += struct.pack("<I", len(p["settings"])) + b"".join(string(a) + string(b) for a, b in p["settings"])
    body += struct.pack("<QQQ", *p["random"]) + string(p["trained_on"])
    body += struct.pack("<Q", len(p["history"])) + b"".join(struct.pack("<dddd", *row) for row in p["history"])
    body += struct.pack("<I", len(p["numbers"])) + b"".join(string(a) + struct.pack("<d", b) for a, b in p["numbers"])
    body += struct.pack("<I", len(p["texts"])) + b"".join(string(a) + struct.pack("<I", len(b)) + b for a, b in p["texts"])
    body += struct.pack("<QI", p["steps"], len(p["shapes"])) + b"".join(string(a) + struct.pack("<II", b, c) for a, b, c in p["shapes"])
    letter = {4: "f", 8: "d"}[p["width"]]
    for key in ("values", "moments1", "moments2"):
        body += struct.pack(f"<{len(p[key])}{letter}", *p[key])
    whole = b"berthpol" + struct.pack("<IQ", 1, 8 + 4 + 8 + len(body) + 32) + body
    return whole + hashlib.sha256(whole).digest()


def same(number, printed):
    return printed is None if not math.isfinite(number) else number == printed


def check(folder, method):
    path, model = os.path.join(folder, "policy.ckpt"), "tests/golden/topcuoglu.csv"
    said = json.loads(berth("train", model, "--method", method, "--episodes", "3", "--seed", "11", "-o", path, "--json"))
    with open(path, "rb") as file:
        data = file.read()
    p = read(data)
    expect(write(p) == data, "the same bytes")
    expect(p["method"] == said["method"] == method, "method")
    expect(p["random"] == (11, 3, 0), "random numbers")
    expect(len(p["values"]) == said["parameters"] > 0, "parameters")
    expect(len(p["history"]) == said["episodes"] == 3, "episodes")
    for row, printed in zip(p["history"], said["history"]):
        for number, key in zip(row, ("mean_ms", "best_ms", "entropy", "clusters")):
            expect(same(number, printed[key]), f"{key}: {number} and {printed[key]}")
    expect(same(min(row[1] for row in p["history"]), said["best_ms"]), "best_ms")
    expect([name for name, _ in p["settings"]] == list(said["settings"]), "names of settings")
    for name, text in p["settings"]:
        value = said["settings"][name]
        value = {True: "on", False: "off"}[value] if isinstance(value, bool) else value
        expect(text == value if isinstance(value, str) else float(text) == value, f"setting {name}")
    expect(all(v >= 0 for v in p["moments2"]), "second moments")

    # As doubles, with other weights: another file, and one that is taken.
    p["width"] = 8
    p["values"] = [v * 0.5 for v in p["values"]]
    with open(path, "wb") as file:
        file.write(write(p))
    arguments = ("place", model, "--method", method, "--policy", path, "--evaluations", "60", "--json")
    loose = ("--set", "ban_single=off") if ":" in method else ()
    plan = json.loads(berth(*arguments, *loose))
    with open(path, "rb") as file:
        expect(plan["policy_sha256"] == hashlib.sha256(file.read()).hexdigest(), "policy_sha256")
    expect(set(plan["settings"]) == set(said["settings"]), "settings of the plan")
    with open(path, "r+b") as file:
        file.seek(-40, os.SEEK_END)
        file.write(b"\x55")
    expect("damaged" in berth(*arguments, code=3), "a wrong digest")
    p["settings"][0] = ("no_such_setting", "1")
    with open(path, "wb") as file:
        file.write(write(p))
    expect("cannot take its setting no_such_setting" in berth(*arguments, code=3), "an unknown setting")


def main():
    for method in ("hsdag", "hsdag:paper", "hsdag:code", "placeto", "rnn"):
        with tempfile.TemporaryDirectory() as folder:
            check(folder, method)
    print("policies of 5 methods")


if __name__ == "__main__":
    sys.exit(main())
