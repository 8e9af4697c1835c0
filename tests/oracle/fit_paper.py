# SPDX-License-Identifier: Apache-2.0
"""Fit the profile `paper` to the single-device latencies of the two CNNs in Table 2 of arXiv 2405.14185.

Data sheets give the peaks, bandwidths and memories of the Core i9-12900K and the Data Center GPU Flex 170. Four numbers are
fitted, least squares of the logarithm of time: the efficiency of convolutions on both, of elementwise operations on the CPU,
of pooling and data movement on the GPU. All others are assumptions, listed in docs/devices.md. The roofline is computed here
from `berth inspect --table`, independently of the library, so that this is also a twin of src/cost/roofline.c.

Prints the fit and its residuals, BERT-base at 8 tokens included, which is not fitted: the bundled IR has 128 tokens, and every
128 among its dimensions is a number of tokens. With --check the constants must be those of src/device/profiles.c.
"""

import csv
import io
import math
import os
import subprocess
import sys
import tempfile

BERTH = os.environ["BERTH"]
SOURCE = os.environ["SOURCE"]

PAPER = {  # ms
    "cpu": {"inception_v3": 12.8, "resnet50": 16.0, "bert_base": 6.38},
    "gpu": {"inception_v3": 12.0, "resnet50": 7.81, "bert_base": 2.77},
}
FITTED = ("inception_v3", "resnet50")

LINK_FIXED_MS, LINK_RATE, PIECE_MS = 0.020, 25e9, 0.050
DEVICES = {
    "cpu": {"flops": 1.73e12, "bandwidth": 76.8e9, "launch_ms": 0.001,
            "efficiency": {"conv": 0.5, "depthwise": 0.3, "matmul": 0.7, "pool": 0.8, "reduce": 0.8, "elementwise": 0.5,
                           "move": 0.8, "control": 0.5, "other": 0.5}},
    "gpu": {"flops": 16.8e12, "bandwidth": 576e9, "launch_ms": 0.005,
            "efficiency": {"conv": 0.1, "depthwise": 0.05, "matmul": 0.5, "pool": 0.8, "reduce": 0.8, "elementwise": 0.8,
                           "move": 0.8, "control": 0.1, "other": 0.3}},
}
LEAST, GREATEST = 0.01, 0.9  # an efficiency beyond 0.9 would fit better and mean nothing
FREE = {"cpu": (("conv",), ("elementwise",)), "gpu": (("conv",), ("pool", "move"))}  # classes that share a number


def table(path):
    text = subprocess.run([BERTH, "inspect", path, "--table"], check=True, capture_output=True, text=True).stdout
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


def read_models(folder):
    models = {name: table(os.path.join(SOURCE, "models", "ir", name + ".xml")) for name in FITTED}
    with open(os.path.join(SOURCE, "models", "ir", "bert_base.xml")) as file:
        short = file.read().replace("<dim>128</dim>", "<dim>8</dim>").replace('shape="1,128"', 'shape="1,8"')
    path = os.path.join(folder, "bert_8.xml")
    with open(path, "w") as file:
        file.write(short)
    models["bert_base"] = table(path)
    return models


def traffic(row):
    """Bytes read and written; what only moves data reads no more than it writes."""
    read = int(row["parameter_bytes"]) + int(row["input_bytes"])
    written = int(row["output_bytes"])
    return written + (min(read, written) if row["class"] == "move" and written > 0 else read)


def latency(rows, device, is_host):
    total = PIECE_MS
    for row in rows:
        moved = int(row["output_bytes"]) if row["type"] == "Parameter" else int(row["input_bytes"])
        if row["type"] in ("Parameter", "Result") and not is_host:
            total += LINK_FIXED_MS + 1e3 * moved / LINK_RATE
        if row["class"] == "free" or row["constant"] == "1":
            continue
        share = device["efficiency"][row["class"]]
        flops = 0 if row["flops"] == "?" else float(row["flops"])
        total += device["launch_ms"]
        total += 1e3 * max(flops / (device["flops"] * share), traffic(row) / (device["bandwidth"] * share))
    return total


def changed(device, classes, share):
    return dict(device, efficiency=dict(device["efficiency"], **{name: share for name in classes}))


def error(models, name, device):
    return sum(math.log(latency(models[m], device, name == "cpu") / PAPER[name][m]) ** 2 for m in FITTED)


def fit(models, name):
    """Pattern search on the logarithms: every direction and diagonal, with ever smaller steps."""
    device, groups, step = DEVICES[name], FREE[name], 0.5
    best = error(models, name, device)
    while step > 1e-6:
        trials = []
        for first in (-step, 0, step):
            for second in (-step, 0, step):
                trial = device
                for classes, move in zip(groups, (first, second)):
                    share = device["efficiency"][classes[0]] * math.exp(move)
                    trial = changed(trial, classes, min(GREATEST, max(LEAST, share)))
                trials.append((error(models, name, trial), trial))
        now, trial = min(trials, key=lambda pair: pair[0])
        if now < best - 1e-15:
            best, device = now, trial
        else:
            step /= 2
    for classes in groups:  # three digits are more than the fit deserves
        device = changed(device, classes, float("%.3g" % device["efficiency"][classes[0]]))
    return device


def lines_of(device):
    """The numbers as they stand in src/device/profiles.c."""
    yield "{[BERTH_TYPE_F32] = %.6ge12" % (device["flops"] / 1e12)
    yield ".bandwidth = %.6ge9," % (device["bandwidth"] / 1e9)
    yield ".launch_ms = %.6g," % device["launch_ms"]
    for name, share in device["efficiency"].items():
        yield "[BERTH_WORK_%s] = %.6g" % (name.upper(), share)


def main():
    with open(os.path.join(SOURCE, "src", "device", "profiles.c")) as file:
        paper = file.read().split('.name = "paper"')[1]
    with tempfile.TemporaryDirectory() as folder:
        models = read_models(folder)
    parts = {"cpu": paper.split('.name = "gpu"')[0], "gpu": paper.split('.name = "gpu"')[1]}
    for name in ("cpu", "gpu"):
        device = fit(models, name)
        for model, target in PAPER[name].items():
            ms = latency(models[model], device, name == "cpu")
            print("%s %-13s %7.3f ms, in the paper %5.2f: %+6.1f %%%s"
                  % (name, model, ms, target, 100 * (ms / target - 1), "" if model in FITTED else ", not fitted"))
        for line in lines_of(device):
            print("   ", line)
            if "--check" in sys.argv and line not in parts[name]:
                raise SystemExit("src/device/profiles.c does not have this for the %s of `paper`" % name)


main()
