# SPDX-License-Identifier: Apache-2.0
"""Exports for OpenVINO in the hands of others: the Python loader in OpenVINO's own Python, the C++ loader compiled
against its package, both give the outputs of the model itself and as many pieces as each other; the IR is the original
but for its notes, and OpenVINO reads them."""

import gzip
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import numpy

import openvino_models

BERTH = os.environ["BERTH"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
PACKAGE = SOURCE / ".deps" / "openvino"
LIBRARIES = PACKAGE / "openvino" / "libs"
NOTE = re.compile(rb'<user_data name="placement" value="[A-Z0-9]+"/>')


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def berth(*arguments, status=0):
    done = subprocess.run([BERTH, *map(str, arguments)], capture_output=True, check=False, timeout=300)
    said = done.stderr.decode(errors="replace").strip()
    expect(done.returncode == status, f"berth {' '.join(map(str, arguments))}: status {done.returncode}: {said}")
    return said


def export(path, folder, draw, *shape):
    """A random plan, exported: the path of the export and the devices of the plan by name."""
    plan, output = folder / "plan.json", folder / "exported" / path.name
    output.parent.mkdir(exist_ok=True)
    berth("place", path, "-d", "cpu,gpu", "-m", "single", "-q", "-o", plan, *shape)
    document = json.loads(plan.read_text())
    rows = document["placement"]
    current, changes = 0, {draw.randrange(1, len(rows)) for _ in range(1 + draw.randrange(6))}
    for i, row in enumerate(rows):
        current ^= i in changes
        row["device"] = ("cpu", "gpu")[current]
    plan.write_text(json.dumps(document))
    berth("export", path, plan, "--to", "openvino", "-o", output, "--provider", "cpu=CPU0", "--provider", "gpu=CPU1", "--force")
    devices = {}  # names may repeat
    for row in rows:
        devices.setdefault(row["name"], set()).add(("CPU0", "CPU1")[row["device"] == "gpu"])
    return output, devices


# --- the IR -----------------------------------------------------------------------------------------------------------


def check_ir(ov, path, output, devices):
    """Taking the notes away gives the original back; OpenVINO reads them."""
    new = output.read_bytes()
    expect(NOTE.search(new), "no notes")
    stripped = NOTE.sub(b"", new).replace(b"<rt_info></rt_info>", b"")
    expect(stripped == path.read_bytes(), "not the original but for its notes")
    found = 0
    for op in ov.Core().read_model(output).get_ops():
        info = op.get_rt_info()
        if "user_dataplacement" in info:
            found += 1
            expect(info["user_dataplacement"].astype(str) in devices[op.get_friendly_name()], op.get_friendly_name())
    expect(found > 0, "OpenVINO has not read the notes")
    return found


def check_again(path, output, folder):
    """An export of an export replaces the notes."""
    plan, again = folder / "plan.json", folder / "exported" / "again.xml"
    said = berth("export", output, plan, "--to", "openvino", "-o", again, "--provider", "cpu=CPU0", "--provider", "gpu=CPU2",
                 "--force")
    expect("are replaced" in said, said)
    new = again.read_bytes()
    expect(b'"CPU1"' not in new and new.count(b"<user_data") == output.read_bytes().count(b"<user_data"), "not replaced")
    expect(NOTE.sub(b"", new).replace(b"<rt_info></rt_info>", b"") == path.read_bytes(), "not the original any more")


def check_packed(path, folder):
    """Packed weights come out unpacked beside the export."""
    packed = folder / "packed"
    packed.mkdir()
    shutil.copy(path, packed)
    (packed / "plain.bin.gz").write_bytes(gzip.compress(path.with_suffix(".bin").read_bytes()))
    berth("export", packed / "plain.xml", folder / "plan.json", "--to", "openvino", "-o", packed / "new.xml", "--provider",
          "cpu=CPU0", "--provider", "gpu=CPU1")
    expect((packed / "new.bin").read_bytes() == path.with_suffix(".bin").read_bytes(), "other weights")


# --- loaders ----------------------------------------------------------------------------------------------------------


def weigh(array):
    flat = numpy.asarray(array, numpy.float64).ravel()
    return float((flat * (1 + numpy.arange(flat.size) % 7)).sum())


def run_python(output, model):
    spec = importlib.util.spec_from_file_location("loader", str(output) + ".py")
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    compiled = loader.berth_load(str(model))
    found = compiled([numpy.ones(i.shape, numpy.float32) for i in compiled.inputs])
    return int(compiled.get_property("HETERO_NUMBER_OF_SUBMODELS")), [weigh(value) for value in found.values()]


def run_cpp(output, model, folder):
    program = folder / "program"
    include, library = PACKAGE / "openvino" / "include", next(LIBRARIES.glob("libopenvino.so.*"))
    subprocess.run(["c++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", f"-isystem{include}", str(output) + ".cpp",
                    str(SOURCE / "tests" / "oracle" / "ov" / "run_model.cpp"), str(library), f"-Wl,-rpath,{LIBRARIES}", "-o",
                    str(program)], check=True, timeout=300)
    said = subprocess.run([str(program), str(model)], capture_output=True, check=True, timeout=300).stdout.split()
    return int(said[0]), [float(value) for value in said[1:]]


def run_plainly(ov, model, shapes):
    core = ov.Core()
    read = core.read_model(model)
    if shapes:
        read.reshape(shapes)
    compiled = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return [weigh(value) for value in compiled([numpy.ones(i.shape, numpy.float32) for i in compiled.inputs]).values()]


def check_loaders(ov, path, output, folder, shapes, with_cpp):
    model = output if path.suffix == ".xml" else path
    plain, (pieces, placed) = run_plainly(ov, path, shapes), run_python(output, model)
    expect(numpy.allclose(plain, placed, rtol=1e-3, atol=1e-3), f"Python: {placed}, not {plain}")
    if with_cpp:
        expect_pieces, found = run_cpp(output, model, folder)
        expect(expect_pieces == pieces, f"C++ has {expect_pieces} pieces, Python {pieces}")
        expect(numpy.allclose(plain, found, rtol=1e-3, atol=1e-3), f"C++: {found}, not {plain}")
    return pieces


def main():
    if not (PACKAGE / "openvino").exists():
        print(f"SKIPPED: {PACKAGE} is missing; scripts/setup runtime fetches it")
        return 1 if os.environ.get("CI") == "true" else 77
    sys.path.insert(0, str(PACKAGE))
    import openvino  # pylint: disable=import-outside-toplevel
    folder, draw = pathlib.Path(tempfile.mkdtemp()), random.Random(23)
    try:
        cases = [(openvino_models.save(openvino, folder, kind, shape), shapes, kind == "open")
                 for kind, shape, shapes in (("plain", [4, 16], {}), ("twice", [4, 16], {}), ("open", [-1, 16], {"x": [4, 16]}))]
        cases.append((SOURCE / "tests" / "golden" / "cnn.onnx", {}, True))
        for path, shapes, with_cpp in cases:
            output, devices = export(path, folder, draw, *(["--shape", "x=4x16"] if shapes else []))
            notes = check_ir(openvino, path, output, devices) if path.suffix == ".xml" else 0
            pieces = check_loaders(openvino, path, output, folder, shapes, with_cpp)
            if path.suffix == ".xml" and not shapes:
                check_again(path, output, folder)
            if path.name == "plain.xml":
                check_packed(path, folder)
            print(f"{path.name}: {notes} notes, {pieces} pieces", flush=True)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
