#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Record what ONNX Runtime says about every node of the bundled models.

The models come without their large weights. This script writes them into a temporary folder (noise of standard
deviation sqrt(2 / product of dims[1:]), smaller for DenseNet-121, as models/README.md asks), runs each model on the CPU
with graph optimisations off and keeps the type and shape of every output of every node, from the profile. Constants
and casts to the same type never reach the profile: their values are asked for as outputs of the model.

    record_ort_shapes.py [MODEL.onnx ...]     (default: models/*.onnx; writes tests/fixtures/ort_shapes/MODEL.json)

The fixture maps a node's name to its type, its outputs and [element type, shape] of each of these.
"""
import json
import math
import pathlib
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "tests" / "fixtures" / "ort_shapes"
NUMPY = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}


def write_weights(model, folder, scale):
    """One file per location, each external tensor at its own offset."""
    noise = np.random.default_rng(0).standard_normal(1 << 20, dtype=np.float32)
    for tensor in model.graph.initializer:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        assert tensor.data_type == onnx.TensorProto.FLOAT, tensor.name
        where = {entry.key: entry.value for entry in tensor.external_data}
        count = math.prod(tensor.dims)
        assert int(where["length"]) == 4 * count, tensor.name
        values = np.resize(noise, count) * np.float32(scale * math.sqrt(2 / max(1, math.prod(tensor.dims[1:]))))
        if len(tensor.dims) == 1:
            values = np.abs(values) + np.float32(1e-3)  # may be a variance
        path = folder / where["location"]
        with open(path, "r+b" if path.exists() else "w+b") as file:
            file.seek(int(where.get("offset", 0)))
            file.write(values.tobytes())


def expand(model):
    """HardSwish has no kernel: the runtime replaces it by nodes of made-up names. We do so before, keeping the name for
    the node that makes its output."""
    nodes = list(model.graph.node)
    del model.graph.node[:]
    for node in nodes:
        if node.op_type == "HardSwish":
            inner = node.output[0] + "/inner"
            model.graph.node.append(onnx.helper.make_node("HardSigmoid", node.input, [inner], alpha=1 / 6, beta=0.5))
            node = onnx.helper.make_node("Mul", [node.input[0], inner], node.output, name=node.name)
        model.graph.node.append(node)


def run(model, folder, extra):
    """Events of the profile, and type and shape of each tensor in `extra`."""
    del model.graph.output[1:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in extra)
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.enable_profiling = True
    options.profile_file_prefix = str(folder / "profile")
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    feeds = {i.name: np.ones(i.shape, dtype=NUMPY[i.type]) for i in session.get_inputs()}
    values = session.run(extra or None, feeds)
    events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    numpy_name = {np.dtype(np.float32): "float", np.dtype(np.bool_): "bool"}
    kept = {n: [numpy_name.get(v.dtype, v.dtype.name), list(v.shape)] for n, v in zip(extra, values)}
    return events, kept


def record(path):
    model = onnx.load(path, load_external_data=False)
    nodes = {node.name: (node.op_type, list(node.output)) for node in model.graph.node}
    assert len(nodes) == len(model.graph.node), "node names must be unique"
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        write_weights(model, folder, 0.1 if "densenet" in path.name else 1.0)
        expand(model)
        events, _ = run(model, folder, [])
        shapes = {}
        for event in events:
            name = event["name"].removesuffix("_kernel_time")
            if event.get("cat") == "Node" and name != event["name"] and name in nodes:
                outputs = event["args"]["output_type_shape"]
                shapes[name] = [[dtype, shape] for entry in outputs for dtype, shape in entry.items()]
        left_out = [output for name, (_, outputs) in nodes.items() if name not in shapes for output in outputs]
        _, kept = run(model, folder, left_out)
    rows = []
    for name, (kind, outputs) in nodes.items():
        found = shapes.get(name) or [kept[output] for output in outputs]
        assert len(found) == len(outputs), name
        row = json.dumps({"op": kind, "outputs": outputs, "shapes": found}, separators=(",", ":"))
        rows.append(f"{json.dumps(name)}:{row}")
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / (path.stem + ".json")).write_text("{" + ",\n".join(rows) + "}\n")
    print(f"{path.name}: {len(nodes)} nodes, {len(shapes)} in the profile, {len(kept)} asked for")


if __name__ == "__main__":
    for argument in sys.argv[1:] or sorted((ROOT / "models").glob("*.onnx")):
        record(pathlib.Path(argument))
