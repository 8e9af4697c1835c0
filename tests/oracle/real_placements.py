# SPDX-License-Identifier: Apache-2.0
"""Random placements on two real devices: the CPU, and WebGPU on a software driver.

Every model: operations in runs on one device and the other, written into a plan. `berth measure` must find equal
outputs, every operation where the plan says or a reason why not, and no operation that can run on both devices
elsewhere; the exported plan, loaded by a plain ONNX Runtime, gives the same numbers as the model itself. Then what must
be refused before any runtime sees it, and a device that has gone since it was profiled.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

BERTH = os.environ["BERTH"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
SHARED = pathlib.Path(os.environ.get("BERTH_SHARED", SOURCE / ".." / "shared"))
LIBRARY = SOURCE / ".deps" / "onnxruntime" / "libonnxruntime.so.1"
DRIVER = SOURCE / ".deps" / "swiftshader"
PLACEMENTS = 2
SECONDS = 300  # of one measurement
# Computes shapes, or has no kernel there: the runtime may keep these on the CPU.
FORCED = {
    "Shape", "Gather", "Concat", "Slice", "Unsqueeze", "Squeeze", "Cast", "Range", "Constant", "ConstantOfShape", "Size",
    "Reshape", "Expand", "Mul", "Add", "Sub", "Div", "Loop", "If", "Scan", "NonZero", "Identity", "Where", "Equal",
    "ScatterND", "DequantizeLinear", "QuantizeLinear", "Mod", "Floor", "ReduceProd", "Min", "Max",
}


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def environment():
    return {
        **os.environ, "XDG_RUNTIME_DIR": "/tmp", "VK_ICD_FILENAMES": str(DRIVER / "vk_swiftshader_icd.json"),
        "LD_LIBRARY_PATH": str(DRIVER),
    }


def berth(*arguments, status=0, changes=None):
    done = subprocess.run([BERTH, *map(str, arguments)], capture_output=True, check=False,
                          env={**environment(), **(changes or {})}, timeout=SECONDS)
    said = done.stderr.decode(errors="replace").strip()
    expect(done.returncode == status, f"berth {' '.join(map(str, arguments))}: status {done.returncode}: {said}")
    return done.stdout if status == 0 else said


# --- models -----------------------------------------------------------------------------------------------------------


class Builder:
    """A small model, operation by operation."""

    def __init__(self, name, shape):
        self.name, self.nodes, self.weights, self.random = name, [], [], numpy.random.default_rng(3)
        self.input = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)

    def weight(self, *shape, near_one=False):
        name = f"w{len(self.weights)}"
        value = self.random.standard_normal(shape) * 0.3
        self.weights.append(numpy_helper.from_array((1 + 0.1 * abs(value) if near_one else value).astype(numpy.float32), name))
        return name

    def values(self, *numbers):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.array(numbers, numpy.int64), name))
        return name

    def scalar(self, number):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.array(number, numpy.float32), name))
        return name

    def op(self, kind, *inputs, **attributes):
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name + "_out"], name=name, **attributes))
        return name + "_out"

    def save(self, folder, *outputs):
        graph = helper.make_graph(self.nodes, self.name, [self.input],
                                  [helper.make_tensor_value_info(o, TensorProto.FLOAT, None) for o in outputs], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
        path = folder / f"{self.name}.onnx"
        onnx.save(model, path)
        return path


def make_mlp(folder):
    b, at = Builder("mlp", [4, 16]), "x"
    for kind in ("Relu", "Tanh", "Sigmoid"):
        at = b.op(kind, b.op("Add", b.op("MatMul", at, b.weight(16, 16)), b.weight(16)))
    return b.save(folder, b.op("Softmax", b.op("Gemm", at, b.weight(16, 8), b.weight(8)), axis=-1))


def make_branches(folder):
    b = Builder("branches", [1, 4, 10, 10])
    stem = b.op("Relu", b.op("Conv", "x", b.weight(8, 4, 3, 3), b.weight(8), pads=[1, 1, 1, 1]))
    left = b.op("Relu", b.op("Conv", stem, b.weight(8, 8, 1, 1), b.weight(8)))
    right = b.op("Sigmoid", b.op("Conv", stem, b.weight(8, 8, 3, 3), b.weight(8), pads=[1, 1, 1, 1]))
    pooled = b.op("AveragePool", stem, kernel_shape=[3, 3], strides=[1, 1], pads=[1, 1, 1, 1])
    joined = b.op("Concat", left, b.op("Add", right, pooled), axis=1)
    out = b.op("Flatten", b.op("GlobalAveragePool", joined))
    return b.save(folder, b.op("Gemm", out, b.weight(16, 5), b.weight(5)), b.op("Mul", left, right))


def make_norms(folder):
    """Convolutions with what is folded into them before they are placed."""
    b, at = Builder("norms", [1, 4, 9, 9]), "x"
    for _ in range(3):
        conv = b.op("Conv", at, b.weight(4, 4, 3, 3), pads=[1, 1, 1, 1])
        norm = b.op("BatchNormalization", conv, b.weight(4, near_one=True), b.weight(4), b.weight(4),
                    b.weight(4, near_one=True))
        at = b.op("Add", b.op("Relu", norm), at)
    return b.save(folder, at)


def make_attention(folder):
    b = Builder("attention", [1, 6, 16])

    def heads(perm):
        projected = b.op("Add", b.op("MatMul", "x", b.weight(16, 16)), b.weight(16))
        return b.op("Transpose", b.op("Reshape", projected, b.values(1, 6, 2, 8)), perm=perm)

    scores = b.op("Softmax", b.op("MatMul", heads([0, 2, 1, 3]), heads([0, 2, 3, 1])), axis=-1)
    mixed = b.op("Transpose", b.op("MatMul", scores, heads([0, 2, 1, 3])), perm=[0, 2, 1, 3])
    out = b.op("MatMul", b.op("Reshape", mixed, b.values(1, 6, 16)), b.weight(16, 16))
    normed = b.op("LayerNormalization", b.op("Add", out, "x"), b.weight(16, near_one=True), b.weight(16), axis=-1)
    return b.save(folder, normed)


def make_separable(folder):
    b, at = Builder("separable", [1, 4, 8, 8]), "x"
    for _ in range(2):
        deep = b.op("Conv", at, b.weight(4, 1, 3, 3), b.weight(4), group=4, pads=[1, 1, 1, 1])
        at = b.op("Conv", b.op("Clip", deep, b.scalar(0), b.scalar(6)), b.weight(4, 4, 1, 1), b.weight(4))
    return b.save(folder, b.op("MaxPool", b.op("HardSwish", at), kernel_shape=[2, 2], strides=[2, 2]))


def models(folder):
    """(path, whether an operation may be kept on the CPU that the plan has elsewhere)"""
    for make in (make_mlp, make_branches, make_norms, make_attention, make_separable):
        yield make(folder), False
    yield SOURCE / "tests" / "golden" / "cnn.onnx", False
    shared = SHARED / "data" / "onnx" / "whisper_decoder_attention.onnx"
    if shared.exists():
        yield shared, True
    else:
        expect(os.environ.get("CI") != "true", f"{shared} is missing")
        print(f"SKIPPED: {shared} is missing")


# --- placements -------------------------------------------------------------------------------------------------------


def place(path, folder, draw):
    """A plan with runs of operations on one device and the other, at least one change in it."""
    plan = folder / "plan.json"
    berth("place", path, "-d", "cpu,gpu", "-b", "1s", "-q", "-o", plan)
    document = json.loads(plan.read_text())
    rows, current = document["placement"], draw.randrange(2)
    changes = {draw.randrange(1, len(rows)) for _ in range(1 + draw.randrange(4))} if len(rows) > 1 else set()
    for i, row in enumerate(rows):
        current ^= i in changes
        row["device"] = ("cpu", "gpu")[current]
    plan.write_text(json.dumps(document))
    return plan, {row["index"]: row["device"] for row in rows}


def check_deviations(path, found, devices, may_force):
    nodes = onnx.load(path, load_external_data=False).graph.node
    expect(0 < found["checked"] <= len(nodes), f"{found['checked']} of {len(nodes)} operations were seen")
    for row in found["deviations"]:
        said = f"{row['name']} on {row['ran']}: {row['reason']}"
        expect(row["explained"], said)
        expect(row["ran"] != row["planned"], said)
        expect(row["planned"] == ("webgpu" if devices[row["index"]] == "gpu" else "cpu"), said)
        if not row["reason"].startswith("fused"):
            expect(row["ran"] == "cpu", said)
            expect(may_force and nodes[row["index"]].op_type in FORCED, said)


def run_plainly(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    numbers, inputs = numpy.random.default_rng(7), {}
    for value in session.get_inputs():
        shape = [d if isinstance(d, int) else 2 for d in value.shape]
        is_float = value.type in ("tensor(float)", "tensor(float16)")
        inputs[value.name] = (numbers.standard_normal(shape) if is_float else numbers.integers(0, 2, shape)).astype(
            {"tensor(float)": numpy.float32, "tensor(float16)": numpy.float16, "tensor(int64)": numpy.int64,
             "tensor(int32)": numpy.int32, "tensor(bool)": numpy.bool_}[value.type])
    return session.run(None, inputs)


def check_export(path, plan, folder):
    exported = folder / "exported" / path.name
    exported.parent.mkdir(exist_ok=True)
    berth("export", path, plan, "--to", "onnx", "-o", exported, "--provider", "gpu=WebGpuExecutionProvider")
    for one, other in zip(run_plainly(path), run_plainly(exported), strict=True):
        expect(numpy.array_equal(one, other, equal_nan=one.dtype.kind == "f"), "the exported model gives other outputs")


def check_model(path, may_force, folder, draw):
    for _ in range(1 if may_force else PLACEMENTS):  # large ones are slow
        plan, devices = place(path, folder, draw)
        found = json.loads(berth("measure", path, plan, "--provider", "gpu=webgpu", "--rounds", 1, "--json", "-q",
                                 "--library", LIBRARY, "--synthesize-weights"))
        expect("reason" not in found["measured"]["plan"], found["measured"]["plan"].get("reason"))
        expect(found["outputs"]["equal"], f"outputs differ: {found['outputs']}")
        expect(found["outputs"]["cosine"] > 0.999, f"outputs differ: {found['outputs']}")
        check_deviations(path, found, devices, may_force)
        check_export(path, plan, folder)
    where = "".join("g" if devices[i] == "gpu" else "c" for i in sorted(devices))
    print(f"{path.name}: {where[:60]}, {found['checked']} seen, {len(found['deviations'])} elsewhere", flush=True)


# --- refused ----------------------------------------------------------------------------------------------------------


def check_two_accelerators(path, folder):
    plan = folder / "plan.json"
    berth("place", path, "-d", "cpu,gpu,npu", "-b", "1s", "-q", "-o", plan)
    document = json.loads(plan.read_text())
    for i, row in enumerate(document["placement"]):
        row["device"] = ("cpu", "gpu", "npu")[i % 3]
    plan.write_text(json.dumps(document))
    said = berth("measure", path, plan, "--provider", "gpu=webgpu", "--provider", "npu=cuda", "--library", LIBRARY, status=5)
    expect(said.count("\n") == 0 and "webgpu" in said and "cuda" in said, said)


def check_io(path, folder):
    """Inputs and outputs that lie on the device: the same numbers. Copies: more bytes take longer, both ways."""
    plan, _ = place(path, folder, random.Random(2))
    outputs = [value.name for value in onnx.load(path).graph.output]
    found = json.loads(berth("measure", path, plan, "--provider", "gpu=webgpu", "--rounds", 1, "--json", "-q", "--library",
                             LIBRARY, "--store", "none", "--io", "x=webgpu", "--io", f"{outputs[0]}=webgpu"))
    expect(found["outputs"]["equal"] and found["outputs"]["cosine"] > 0.999, f"outputs differ: {found['outputs']}")
    for name, run in {"plan": found["measured"]["plan"], **found["measured"]["single"]}.items():
        expect(run["median_ms"] is not None, f"{name} does not run: {run.get('reason')}")
    said = berth("measure", path, plan, "--provider", "gpu=webgpu", "--io", "nobody=webgpu", "--library", LIBRARY, status=2)
    expect(said.count("\n") == 0 and "nobody" in said, said)
    copies = json.loads(berth("profile", path, "-d", "cpu,webgpu", "--placements", 0, "--rounds", 1, "--processes", 1,
                              "--json", "-q", "--library", LIBRARY, "--store", "none"))["runtime"]["copies"]
    expect(len(copies) > 4 and all(a["bytes"] < b["bytes"] for a, b in zip(copies, copies[1:])), f"copies: {copies}")
    for way in ("in_ms", "out_ms"):
        expect(0 <= copies[0][way] < copies[-1][way], f"{way} of copies: {copies}")


def check_vanishing(path, folder):
    """A device that was there when the model was profiled, and has gone: the CPU is the answer, and why is said."""
    profile, plan = folder / "profile.json", folder / "placed.json"
    options = ("--library", LIBRARY, "--store", "none", "-q")
    berth("profile", path, "-d", "cpu,webgpu", "-o", profile, "--placements", 2, "--rounds", 1, *options)
    document = json.loads(profile.read_text())
    for i, row in enumerate(document["operations"]):  # so that a split looks worth it
        row["ms"] = {"cpu": 10.0 - 9 * (i % 2), "webgpu": 1.0 + 9 * (i % 2)}
    for link in document["device_set"]["links"]:
        link.update({key: 1e-9 if key.startswith("fixed") else value for key, value in link.items()})
    profile.write_text(json.dumps(document))
    gone = {"VK_ICD_FILENAMES": str(folder / "gone.json")}
    said = json.loads(berth("place", path, "--runtime", "onnxruntime", "-d", "cpu,webgpu", "--profile", profile, "-o", plan,
                            "-b", "60s", "--json", *options, changes=gone))
    expect(all(row["device"] == "cpu" for row in said["placement"]), "it is placed on a device that has gone")
    expect("does not run: webgpu" in said["verdict"], said["verdict"])
    split, _ = place(path, folder, random.Random(1))
    said = berth("measure", path, split, "--provider", "gpu=webgpu", "--rounds", 1, *options, status=5, changes=gone)
    expect(said == "", said)


def check_outside(folder):
    """Weights outside the model's folder; the library would crash, were it opened."""
    inner = folder / "inner"
    inner.mkdir()
    (folder / "secret.bin").write_bytes(bytes(1024))
    (inner / "link.bin").symlink_to("../secret.bin")
    for location in ("../secret.bin", str(folder / "secret.bin"), "link.bin", "a/../../secret.bin"):
        b = Builder("outside", [4, 16])
        path = b.save(inner, b.op("MatMul", "x", b.weight(16, 16)))
        model = onnx.load(path)
        tensor = model.graph.initializer[0]
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        entry = tensor.external_data.add()
        entry.key, entry.value = "location", location
        path.write_bytes(model.SerializeToString())
        plan = folder / "plan.json"
        berth("place", path, "-d", "cpu,gpu", "-b", "1s", "-q", "-o", plan)
        said = berth("measure", path, plan, "--provider", "gpu=webgpu", "--library", BERTH, "--synthesize-weights", status=3)
        expect(said.count("\n") == 0 and location in said, said)


def main():
    for needed in (LIBRARY, DRIVER / "vk_swiftshader_icd.json"):
        if not needed.exists():
            print(f"SKIPPED: {needed} is missing; scripts/setup test fetches it")
            return 1 if os.environ.get("CI") == "true" else 77
    draw, n = random.Random(5), 0
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        check_outside(folder)
        for path, may_force in models(folder):
            try:
                check_model(path, may_force, folder, draw)
            except AssertionError as error:
                raise AssertionError(f"{path.name}: {error}") from error
            n += 1
        check_two_accelerators(folder / "mlp.onnx", folder)
        check_vanishing(folder / "mlp.onnx", folder)
        check_io(folder / "mlp.onnx", folder)
    finally:
        shutil.rmtree(folder)
    expect(n >= 6, f"only {n} models")
    print(f"{n} models")
    return 0


if __name__ == "__main__":
    sys.exit(main())
