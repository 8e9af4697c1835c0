# SPDX-License-Identifier: Apache-2.0
"""Exported models against the onnx package and a stock ONNX Runtime.

Every model: parsed before and after, nothing differs but one layer_ann on each top-level node, which is the plan's
device; and deleting these entries from the bytes gives the original file. Every model that ONNX Runtime can run: the
exported one, opened plainly and by the loaders beside it, gives the same outputs.
"""

import gzip
import json
import os
import pathlib
import runpy
import shutil
import subprocess
import sys
import tempfile

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper

BERTH = os.environ["BERTH"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
SHARED = pathlib.Path(os.environ.get("BERTH_SHARED", SOURCE / ".." / "shared"))
KEY = "layer_ann"
HOSTILE = "test_arbitrary_external_file.onnx"
TYPES = {
    "tensor(float)": numpy.float32, "tensor(double)": numpy.float64, "tensor(float16)": numpy.float16,
    "tensor(int64)": numpy.int64, "tensor(int32)": numpy.int32, "tensor(uint8)": numpy.uint8,
    "tensor(int8)": numpy.int8, "tensor(bool)": numpy.bool_,
}


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def berth(*arguments):
    done = subprocess.run([BERTH, *map(str, arguments)], capture_output=True, check=False)
    expect(done.returncode == 0, f"berth {arguments[0]}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


# --- bytes ----------------------------------------------------------------------------------------------------------


def read_varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def write_varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data):
    """(number, start, content, end) of each; content is None unless it is length-delimited."""
    at = 0
    while at < len(data):
        start = at
        tag, at = read_varint(data, at)
        kind, content = tag & 7, None
        if kind == 0:
            _, at = read_varint(data, at)
        elif kind == 2:
            size, at = read_varint(data, at)
            content, at = data[at:at + size], at + size
        else:
            expect(kind in (1, 5), f"wire type {kind}")
            at += 8 if kind == 1 else 4
        yield tag >> 3, start, content, at


def rebuild(data, number, change):
    """The message with `change` applied to the content of every field of that number; None leaves the field out."""
    out = bytearray()
    for found, start, content, end in fields(data):
        if found != number or content is None:
            out += data[start:end]
            continue
        changed = change(content)
        if changed is not None:
            out += write_varint(number << 3 | 2) + write_varint(len(changed)) + changed
    return bytes(out)


def strip(data):
    def entry(content):
        return None if {n: c for n, _, c, _ in fields(content)}.get(1) == KEY.encode() else content

    return rebuild(data, 7, lambda graph: rebuild(graph, 1, lambda node: rebuild(node, 9, entry)))


# --- models ---------------------------------------------------------------------------------------------------------


def read(path):
    data = path.read_bytes()
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def check_annotations(before, after, plan, tags):
    """Everything but our entries is the same to a parser."""
    original, exported = onnx.load_from_string(before), onnx.load_from_string(after)
    rows = json.loads(plan.read_text())["placement"]
    expect(len(rows) == len(exported.graph.node), "as many nodes as operations")
    for node, source, row in zip(exported.graph.node, original.graph.node, rows):
        ours = [e for e in node.metadata_props if e.key == KEY]
        expect(len(ours) == 1 and ours[0].value == tags[row["device"]], f"{row['name']}: {ours}")
        for message in (node, source):
            kept = [e for e in message.metadata_props if e.key != KEY]
            del message.metadata_props[:]
            message.metadata_props.extend(kept)
    expect(original == exported, "the rest is equal")
    expect(strip(after) == strip(before), "deleting the entries gives the original bytes")
    expect(any(KEY.encode() in c for _, _, c, _ in fields(before) if c) or strip(after) == before, "the original bytes")


def place(model, folder, seed, *more):
    plan = folder / "plan.json"
    berth("place", "-q", model, "--devices", "cpu,gpu", "--method", "random", "--evaluations", "1", "--seed", seed,
          "--execution-model", "queued", "-o", plan, *more)
    return plan


def check_model(path, folder, seed):
    """Exports it for a provider that is not here. False: berth does not read it."""
    if subprocess.run([BERTH, "inspect", "-q", path], capture_output=True, check=False).returncode:
        return False
    plan, output = place(path, folder, seed), folder / "placed.onnx"
    berth("export", "-q", path, plan, "--to", "onnx", "-o", output)
    side = json.loads((folder / "placed.onnx.berth.json").read_text())
    tags = {row["name"]: row["layer_ann"] for row in side["devices"]}
    settings = side["session_config"]["session.layer_assignment_settings"]
    rules = [f"{p['name']}(={'c' if p['name'] == 'CPUExecutionProvider' else 'g'})" for p in side["providers"]]
    expect(settings == ";".join(rules) and rules[-1] == "CPUExecutionProvider(=c)", settings)
    check_annotations(read(path), output.read_bytes(), plan, tags)
    fingerprints = {json.loads(berth("inspect", "-q", p, "--json"))["fingerprint"] for p in (path, output)}
    expect(len(fingerprints) == 1, "the fingerprint stays")
    return True


# --- running --------------------------------------------------------------------------------------------------------


def quiet():
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return options


def some_inputs(session):
    random = numpy.random.default_rng(7)
    out = {}
    for value in session.get_inputs():
        if value.type not in TYPES:
            return None
        shape = [d if isinstance(d, int) else 2 for d in value.shape]
        kind = numpy.dtype(TYPES[value.type])
        out[value.name] = (random.standard_normal(shape) if kind.kind == "f" else random.integers(0, 2, shape)).astype(kind)
    return out


def run_plainly(path):
    """The session's inputs and outputs, or None where ONNX Runtime cannot run it."""
    try:
        session = onnxruntime.InferenceSession(str(path), quiet(), providers=["CPUExecutionProvider"])
        inputs = some_inputs(session)
        return None if inputs is None else (inputs, session.run(None, inputs))
    except Exception:  # pylint: disable=broad-except # whatever it says, this model is not one to run
        return None


def same_outputs(first, second):
    return len(first) == len(second) and all(
        type(a) is type(b) and (not isinstance(a, numpy.ndarray) or numpy.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
        for a, b in zip(first, second))


def is_stable(path, inputs):
    """False: the original does not even give the same twice (a beam search over memory that nobody wrote)."""
    session = onnxruntime.InferenceSession(str(path), quiet(), providers=["CPUExecutionProvider"])
    first = session.run(None, inputs)
    return all(same_outputs(first, other) for _ in range(30) for other in (session.run(None, inputs), run_plainly(path)[1]))


def check_same(path, inputs, expected, found, what):
    if same_outputs(expected, found):
        return
    expect(not is_stable(path, inputs), f"the same outputs {what}")
    print(f"{path.name}: differs from itself, not compared")


def compile_loader(output, folder):
    program = folder / "loader"
    ort = SOURCE / "tests" / "oracle" / "ort"
    subprocess.run([os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ort}", ort / "load_model.c",
                    f"{output}.c", "-o", program, "-ldl"], check=True)
    return program


def check_running(path, folder, seed):
    """True: it was run, and both files gave the same."""
    expected = run_plainly(path)
    if expected is None:
        return False
    inputs, outputs = expected
    plan, output = place(path, folder, seed), folder / "placed.onnx"
    berth("export", path, plan, "--to", "onnx", "-o", output, "--provider", "gpu=WebGpuExecutionProvider")
    check_same(path, inputs, outputs, run_plainly(output)[1], "from the exported model")
    berth("export", path, plan, "--to", "onnx", "-o", output, "--provider", "gpu=CPUExecutionProvider")
    session = runpy.run_path(f"{output}.py")["session"]
    check_same(path, inputs, outputs, session.run(None, inputs), "by the Python loader")
    library = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))
    done = subprocess.run([compile_loader(output, folder), library, output], capture_output=True, check=False)
    expect(done.stdout == f"inputs {len(inputs)}\n".encode(), f"the C loader: {done.stderr.decode()}")
    return True


def check_absent_provider(path, folder):
    """Loaders for other providers compile, and say what is missing."""
    plan, output = place(path, folder, 1, "--pin", "MatMul=gpu"), folder / "placed.onnx"
    library = next((pathlib.Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*"))
    for provider in ("cuda", "tensorrt", "webgpu", "openvino", "qnn", "migraphx", "PluginExecutionProvider"):
        berth("export", path, plan, "--to", "onnx", "-o", output, "--provider", f"gpu={provider}")
        program = compile_loader(output, folder)
        if provider in ("cuda", "webgpu", "openvino", "qnn"):
            done = subprocess.run([program, library, output], capture_output=True, check=False)
            expect(done.returncode == 1 and done.stderr, f"{provider} is not in this build")


def tiny_model(path):
    """Two products with weights in another file, in a folder of its own."""
    random = numpy.random.default_rng(1)
    weights = [onnx.numpy_helper.from_array(random.standard_normal((16, 16)).astype(numpy.float32), f"w{i}")
               for i in range(2)]
    nodes = [helper.make_node("MatMul", ["x", "w0"], ["a"], name="first"), helper.make_node("Relu", ["a"], ["b"]),
             helper.make_node("MatMul", ["b", "w1"], ["y"], name="last")]
    graph = helper.make_graph(nodes, "tiny", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 16])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 16])], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path.parent.mkdir(parents=True)
    (path.parent / "data").mkdir()
    onnx.save_model(model, path, save_as_external_data=True, location="data/weights.bin", size_threshold=0)


def check_refused(path, folder):
    """A model that points at files outside its folder, wherever it is read from."""
    plan = place(path, folder, 1)
    done = subprocess.run([BERTH, "export", "-q", path, plan, "--to", "onnx", "-o", folder / "x.onnx"],
                          capture_output=True, check=False)
    expect(done.returncode == 3 and b"leaves the model's folder" in done.stderr, done.stderr)
    expect(not (folder / "x.onnx").exists(), "nothing was written")


def main():
    models = sorted(SOURCE.glob("models/*.onnx")) + sorted(SOURCE.glob("tests/golden/*.onnx"))
    corpus = SHARED / "data" / "onnx"
    expect(corpus.exists() or os.environ.get("CI") != "true", f"{corpus} is missing, and CI must not skip")
    models += sorted(corpus.rglob("*.onnx")) + sorted(corpus.rglob("*.onnx.gz"))
    failures, n_read, n_run = 0, 0, 0
    with tempfile.TemporaryDirectory() as name:
        tiny = pathlib.Path(name) / "source" / "tiny.onnx"
        tiny_model(tiny)
        for seed, path in enumerate([tiny, *models]):
            folder = pathlib.Path(name) / "out"
            folder.mkdir()
            try:
                if path.name == HOSTILE:
                    check_refused(path, folder)
                    continue
                n_read += check_model(path, folder, seed)
                n_run += check_running(path, folder, seed)
                if path == tiny:
                    expect((folder / "data" / "weights.bin").exists(), "external data went along")
                    check_absent_provider(path, folder)
            except (AssertionError, subprocess.CalledProcessError) as error:
                failures += 1
                print(f"{path.name}: {error}")
            finally:
                shutil.rmtree(folder)
    print(f"{n_read} of {len(models) + 1} files exported, {n_run} run, {failures} failures")
    return failures > 0 or n_read < 20 or n_run < 6


sys.exit(main())
