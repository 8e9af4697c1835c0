#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fingerprint of a small model, computed from the definition in docs/formats.md alone.

The model is the one of tests/unit/graph/fingerprint.c, whose frozen value must be what comes out here.
"""
import hashlib
import os
import re
import struct
import sys

MAX = 2**63 - 1


def number(value):
    return struct.pack("<q", value)


def text(value):
    data = value if isinstance(value, bytes) else value.encode()
    return number(len(data)) + data


class Tensors:
    """Numbers tensors as they are first named."""

    def __init__(self):
        self.numbers = {}

    def list(self, names):
        out = number(len(names))
        for name in names:
            out += number(0 if name is None else self.numbers.setdefault(name, len(self.numbers) + 1))
        return out


def attribute(name, kind, is_list, value):
    out = text(name) + number(kind) + number(is_list)
    if kind == 0:
        return out + number(len(value)) + b"".join(number(v) for v in value)
    if kind == 1:
        return out + number(len(value)) + b"".join(struct.pack("<d", v) for v in value)
    return out + text(value)


def fingerprint(model):
    tensors = Tensors()
    out = text("berth fingerprint 1") + tensors.list(model["inputs"]) + number(len(model["operations"]))
    for op in model["operations"]:
        out += text(op.get("name", "")) + text(op["type"]) + text(op.get("domain", ""))
        attributes = sorted(op.get("attributes", []), key=lambda a: a[0].encode())
        out += number(len(attributes)) + b"".join(attribute(*a) for a in attributes)
        out += number(op.get("bodies", 0)) + number(0) + number(0)
        out += tensors.list(op["inputs"]) + tensors.list(op.get("captures", [])) + tensors.list(op["outputs"])
    out += tensors.list(model["outputs"])
    order = sorted(tensors.numbers, key=tensors.numbers.get)
    order += [name for name in model["tensors"] if name not in tensors.numbers]
    out += number(len(order))
    for name in order:
        tensor = model["tensors"][name]
        out += text(name) + text(tensor["type"])
        shape = tensor["shape"]
        out += number(-1 if shape is None else len(shape))
        for low, high in shape or []:
            out += number(low) + number(high) + text("")
        out += number(tensor.get("initializer", 0))
        content = tensor.get("content")
        out += number(content is not None) + (b"" if content is None else text(content))
    return hashlib.sha256(out + number(0)).hexdigest()


def static(*dims):
    return [(d, d) for d in dims]


MODEL = {
    "inputs": ["x"],
    "operations": [
        {
            "type": "Conv",
            "name": "first",
            "inputs": ["x", "w", None, "k"],
            "outputs": ["y"],
            "attributes": [
                ("strides", 0, 1, [1, 2]),
                ("group", 0, 0, [1]),
                ("auto_pad", 2, 0, "VALID"),
                ("alpha", 1, 0, [0.5]),
                ("value", 3, 0, b"0123456789abcdef0123456789abcdef"),
            ],
        },
        {
            "type": "Gelu",
            "domain": "com.microsoft",
            "inputs": ["y"],
            "captures": ["x"],
            "outputs": ["z", None],
            "bodies": 1,
        },
    ],
    "outputs": ["z", "y"],
    "tensors": {
        "x": {"type": "f32", "shape": [(1, 1), (0, MAX), (2, 5)]},
        "k": {"type": "i64", "shape": static(1), "initializer": 1, "content": bytes.fromhex("0500000000000000")},
        "w": {"type": "f16", "shape": static(4, 3, 3, 3), "initializer": 1},
        "unused": {"type": "i8", "shape": [], "initializer": 1},
        "y": {"type": "f32", "shape": static(1, 4)},
        "z": {"type": "unknown", "shape": None},
    },
}


def main():
    expected = fingerprint(MODEL)
    path = os.path.join(os.environ["SOURCE"], "tests/unit/graph/fingerprint.c")
    with open(path, encoding="utf-8") as file:
        frozen = re.search(r'frozen\[\] = "([0-9a-f]{64})"', re.sub(r'"\s+"', "", file.read()))
    if not frozen or frozen.group(1) != expected:
        print(f"{path} has {frozen and frozen.group(1)}, the definition gives {expected}")
        return 1
    print("1 fingerprint agrees")
    return 0


if __name__ == "__main__":
    sys.exit(main())
