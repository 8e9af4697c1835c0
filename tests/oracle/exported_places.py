# SPDX-License-Identifier: Apache-2.0
"""Exported models in the hands of others: a small C program, and Python with WebGPU.

Every model is exported with a random placement on the CPU and WebGPU (on a software driver). A C program that has the
exported loader compiled in and the Python loader under onnxruntime-webgpu open it; the profiles that they write must
have every node where the plan says, and every node in the same place with both. A plain ONNX Runtime, which has no such
device, opens it as well. All give the same numbers as the model itself.
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
import real_placements as real
from real_placements import DRIVER, LIBRARY, SOURCE, expect

PYTHON = pathlib.Path(os.environ.get("BERTH_PYTHON_WEBGPU", SOURCE / ".deps" / "python-webgpu" / "bin" / "python3"))
MODELS = (real.make_mlp, real.make_branches, real.make_norms, real.make_attention)
PROVIDERS = {"cpu": "CPUExecutionProvider", "gpu": "WebGpuExecutionProvider"}
COPIES = ("MemcpyToHost", "MemcpyFromHost")
SECONDS = 120


def call(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False, env=real.environment(),
                          timeout=SECONDS)
    expect(done.returncode == 0, f"{command[0]}: status {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout.decode().splitlines()


def places(profile):
    """Provider of every node that ran, by the node's name."""
    return {event["name"].removesuffix("_kernel_time"): event["args"]["provider"] for event in json.loads(
        pathlib.Path(profile).read_text()) if event.get("cat") == "Node" and event["name"].endswith("_kernel_time")
            and event["args"]["op_name"] not in COPIES}


def compile_program(exported, folder):
    program, ort = folder / "run_model", SOURCE / "tests" / "oracle" / "ort"
    call(os.environ.get("CC", "cc"), "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{ort}", ort / "run_model.c",
         f"{exported}.c", "-o", program, "-ldl")
    return program


def run_c(library, program, exported, x, folder, n):
    prefix = folder / "by_c"
    (folder / "input.raw").write_bytes(x.tobytes())
    profile = call(program, library, exported, folder / "input.raw", prefix, *x.shape)[0]
    return places(profile), [numpy.fromfile(f"{prefix}{i}.raw", numpy.float32) for i in range(n)]


def run_python(exported, x, folder, n):
    prefix = folder / "by_python"
    numpy.save(folder / "input.npy", x)
    profile, version = call(PYTHON, SOURCE / "tests" / "oracle" / "ort" / "run_model.py", f"{exported}.py",
                            folder / "input.npy", prefix)
    return version, places(profile), [numpy.load(f"{prefix}{i}.npy") for i in range(n)]


def run_plainly(path, x):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


def check_placed(found, plan, names, who):
    """Every node that has kept its operation's name is where the plan says; both devices have some."""
    kept = {name: provider for name, provider in found.items() if name in names}
    expect(len(kept) >= 3, f"{who}: only {len(kept)} operations are left")
    for name, provider in kept.items():
        expect(provider == PROVIDERS[plan[names[name]]], f"{who}: {name} is on {provider}")
    expect(set(found.values()) == set(PROVIDERS.values()), f"{who}: only {set(found.values())}")


def check_numbers(wanted, found, who):
    for one, other in zip(wanted, found, strict=True):
        off = numpy.abs(one.reshape(-1) - other.reshape(-1)).max()
        expect(off <= 1e-4 * max(numpy.abs(one).max(), 1e-3), f"{who}: outputs are off by {off}")


def check_model(path, folder, draw):
    names = {node.name: i for i, node in enumerate(onnx.load(path).graph.node)}
    plan, exported = None, folder / "exported" / path.name
    while plan is None or len(set(devices.values())) < 2:
        plan, devices = real.place(path, folder, draw)
    real.berth("export", path, plan, "--to", "onnx", "-o", exported, "--provider", "gpu=webgpu")
    shape = [d.dim_value for d in onnx.load(path).graph.input[0].type.tensor_type.shape.dim]
    x = numpy.random.default_rng(4).standard_normal(shape).astype(numpy.float32)
    wanted = run_plainly(path, x)
    for one, other in zip(wanted, run_plainly(exported, x), strict=True):
        expect(numpy.array_equal(one, other), "a plain ONNX Runtime gives other numbers")
    version, by_python, outputs = run_python(exported, x, folder, len(wanted))
    check_placed(by_python, devices, names, "Python")
    check_numbers(wanted, outputs, "Python")
    program = compile_program(exported, folder)
    own = next(PYTHON.parent.parent.glob(f"lib/*/site-packages/onnxruntime/capi/libonnxruntime.so.{version}"))
    for library in (LIBRARY, own):
        by_c, outputs = run_c(library, program, exported, x, folder, len(wanted))
        check_placed(by_c, devices, names, f"C with {library.name}")
        check_numbers(wanted, outputs, f"C with {library.name}")
        if library == own:
            expect(by_c == by_python, f"C has {by_c}, Python {by_python}")
    print(f"{path.name}: {len(by_c)} nodes as planned by C and Python {version}", flush=True)


def main():
    for needed in (LIBRARY, DRIVER / "vk_swiftshader_icd.json", PYTHON):
        if not needed.exists():
            print(f"SKIPPED: {needed} is missing; scripts/setup test fetches it")
            return 1 if os.environ.get("CI") == "true" else 77
    draw, folder = random.Random(8), pathlib.Path(tempfile.mkdtemp())
    (folder / "exported").mkdir()
    try:
        for make in MODELS:
            check_model(make(folder), folder, draw)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
