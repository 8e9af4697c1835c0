# SPDX-License-Identifier: Apache-2.0
"""Every key of `berth inspect --json`, its type, and its value against other readers and the other forms.

OpenVINO IR is read again by ElementTree and ONNX by the onnx package; the table and the drawing are parsed and compared
with the document. Runs over the bundled models and over all files of the folder of fetched data, where there is one.
"""

import collections
import csv
import glob
import gzip
import io
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree

import onnx

BERTH = os.environ["BERTH"]
SOURCE = os.environ["SOURCE"]
SHARED = os.environ.get("BERTH_SHARED", os.path.join(SOURCE, "..", "shared"))

GROUPS = {"groups": int, "edges": int}
KEYS = {
    "schema": int, "format": str, "version": int, "name": str, "operations": int, "edges": int, "pairs": int,
    "captures": int, "constants": int, "bodies": int, "nested_operations": int, "types": dict, "groups": dict,
    "flops": (int, float), "parameters": int, "parameter_bytes": int, "activation_bytes": int, "unknown_shapes": int,
    "unknown_tensors": list, "unknown_work": int, "unknown_types": list, "inputs": list, "outputs": list, "fingerprint": str,
}
WORKLOADS = ("msr", "moirai", "dagbench")
COLUMNS = ["index", "name", "type", "class", "constant", "paper", "code", "fused", "flops", "parameter_bytes",
           "input_bytes", "output_bytes", "shape"]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def berth(path, *arguments):
    return subprocess.run([BERTH, "inspect", path, *arguments], stdout=subprocess.PIPE, check=True).stdout


def unique_pairs(pairs):
    expect(len({key for key, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)


def check_tensor(row):
    expect(list(row) == ["name", "type", "shape"], f"keys {list(row)}")
    expect(isinstance(row["name"], str) and re.fullmatch(r"[a-z0-9]+", row["type"]), row)
    expect(row["shape"] is None or all(type(d) in (int, str) and d != "" for d in row["shape"]), row)


def check_document(doc):
    optional = {"devices"} if doc["format"] in WORKLOADS else set()
    expect(set(doc) == set(KEYS) | optional, f"keys {set(doc) ^ set(KEYS)}")
    for key, kind in KEYS.items():
        expect(isinstance(doc[key], kind) and not isinstance(doc[key], bool), f"{key} is {doc[key]!r}")
        expect(not isinstance(doc[key], (int, float)) or doc[key] >= 0, f"{key} is {doc[key]!r}")
    expect(doc["schema"] == 1, "schema")
    expect(re.fullmatch(r"[0-9a-f]{64}", doc["fingerprint"]), "fingerprint")
    expect(list(doc["groups"]) == ["paper", "code", "fused"], "rules")
    for rule in doc["groups"].values():
        expect({k: type(v) for k, v in rule.items()} == GROUPS, rule)
    expect(sum(doc["types"].values()) == doc["operations"], "types do not add up")
    expect(doc["pairs"] <= doc["edges"] and doc["constants"] <= doc["operations"], "counts")
    expect(len(doc["unknown_tensors"]) == min(doc["unknown_shapes"], 100), "unknown_tensors")
    expect(set(doc["unknown_types"]) <= set(doc["types"]), "unknown_types")
    for row in doc["inputs"] + doc["outputs"]:
        check_tensor(row)
    for row in doc.get("devices", []):
        expect(list(row) == ["name", "total_ms"], row)


def check_table(doc, text):
    rows = list(csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))
    expect(rows[0] == COLUMNS, rows[0])
    expect(text.endswith("\n") and len(rows) == doc["operations"] + 1, "rows")
    rows = [dict(zip(COLUMNS, row, strict=True)) for row in rows[1:]]
    expect([int(row["index"]) for row in rows] == list(range(len(rows))), "index")
    for rule in doc["groups"]:
        used = {int(row[rule]) for row in rows}
        expect(used == set(range(doc["groups"][rule]["groups"])), f"groups of rule {rule}")
    expect(sum(int(row["constant"]) for row in rows) == doc["constants"], "constants")
    unknown = sum(row["flops"] == "?" for row in rows)
    expect(doc["unknown_work"] == (0 if doc["format"] in WORKLOADS else unknown), "unknown_work")
    flops = sum(float(row["flops"]) for row in rows if row["flops"] != "?")
    expect(abs(flops - doc["flops"]) <= 1e-9 * flops, f"flops {flops} and {doc['flops']}")
    expect(sum(int(row["output_bytes"]) for row in rows) >= 0, "bytes")
    return rows


QUOTED = r'"((?:[^"\\]|\\.)*)"'
STATEMENT = re.compile(
    rf"  (?:(?:node|edge) \[.*\];|n(\d+) \[label={QUOTED}(?:, \w+=\w+)*\];"
    rf"|n(\d+) -> n(\d+) \[label={QUOTED}(?:, \w+=\w+)*\];)")


def check_dot(doc, text):
    lines = text.split("\n")
    expect(re.fullmatch(rf"digraph {QUOTED} {{", lines[0]) and lines[-2:] == ["}", ""], "frame")
    nodes, edges = 0, 0
    pairs = set()
    for line in lines[1:-2]:
        match = STATEMENT.fullmatch(line)
        expect(match, line)
        if match[1]:
            expect(int(match[1]) == nodes, line)
            nodes += 1
        elif match[3]:
            edges += 1
            pairs.add((int(match[3]), int(match[4])))
    expect(nodes == doc["operations"], "nodes")
    expect(edges == doc["edges"] + doc["captures"], "edges")
    expect(doc["captures"] > 0 or len(pairs) == doc["pairs"], "pairs")
    expect(all(a < doc["operations"] and b < doc["operations"] for a, b in pairs), "ends")


def content(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return file.read()


def check_ir(doc, path):
    net = xml.etree.ElementTree.fromstring(content(path))
    layers = net.findall("./layers/layer")
    edges = net.findall("./edges/edge")
    expect(doc["name"] == net.get("name", ""), "name")
    expect(doc["version"] == int(net.get("version", "0")), "version")
    expect(doc["types"] == collections.Counter(layer.get("type") for layer in layers), "types")
    expect(doc["edges"] == len(edges), "edges")
    expect(doc["pairs"] == len({(e.get("from-layer"), e.get("to-layer")) for e in edges}), "pairs")
    takers = [layer for layer in layers if layer.get("type") in ("Parameter", "Input")]
    expect(len(doc["inputs"]) <= len(takers), "inputs")
    if doc["version"] >= 10:
        results = [layer for layer in layers if layer.get("type") == "Result"]
        expect(len(doc["inputs"]) == len(takers) and len(doc["outputs"]) == len(results), "inputs and outputs")


def onnx_shape(value):
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]


def check_onnx(doc, path):
    graph = onnx.load_from_string(content(path)).graph
    stored = {i.name for i in graph.initializer} | {i.values.name for i in graph.sparse_initializer}
    inputs = [i for i in graph.input if i.name not in stored]
    expect(doc["name"] == graph.name, "name")
    expect(doc["types"] == collections.Counter(node.op_type for node in graph.node), "types")
    expect([row["name"] for row in doc["inputs"]] == [i.name for i in inputs], "inputs")
    expect([row["name"] for row in doc["outputs"]] == [o.name for o in graph.output], "outputs")
    for row, value in zip(doc["inputs"], inputs):
        declared = onnx_shape(value)
        if declared is None:
            continue
        expect(len(row["shape"]) == len(declared), row)
        expect(all(b is None or a == b for a, b in zip(row["shape"], declared)), row)


def check(path):
    text = berth(path, "--json").decode("utf-8")
    doc = json.loads(text, object_pairs_hook=unique_pairs)
    check_document(doc)
    check_table(doc, berth(path, "--table").decode("utf-8"))
    check_dot(doc, berth(path, "--dot").decode("utf-8"))
    if doc["format"] == "openvino-ir":
        check_ir(doc, path)
    elif doc["format"] == "onnx":
        check_onnx(doc, path)


def files():
    models = [os.path.join(SOURCE, "models", pattern) for pattern in ("*.onnx", "ir/*.xml")]
    fetched = [os.path.join(SHARED, "data", pattern) for pattern in (
        "ir/*.xml", "ir/*.xml.gz", "onnx/*.onnx", "onnx/*.onnx.gz", "onnx/stripped/*", "workloads/msr/*/*.json",
        "workloads/moirai/*.csv", "workloads/dagbench/**/graph.json")]
    found = [sorted(glob.glob(pattern, recursive=True)) for pattern in models + fetched]
    expect(all(found[:2]), "the bundled models are missing")
    if not all(found[2:]):
        print("SKIPPED: fetched data are missing below", SHARED)
        expect(os.environ.get("CI") != "true", "and CI must not skip them")
    return [path for paths in found for path in paths]


def main():
    failures = 0
    paths = files()
    for path in paths:
        try:
            check(path)
        except (AssertionError, ValueError, subprocess.CalledProcessError) as error:
            failures += 1
            print(f"{path}: {error}")
    print(f"{len(paths) - failures} of {len(paths)} files agree")
    return failures > 0


sys.exit(main())
