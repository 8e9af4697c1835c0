# SPDX-License-Identifier: Apache-2.0
"""`hsdag` with real runs as its evaluations, on the CPU and WebGPU on a software driver.

200 evaluations on a small model: the search is killed in its midst and resumed. Nothing that it had measured may be
measured again, as the store shows; once the store has everything, the same search is found again without a run, on any
number of threads; and the answer is a split that surely gains, or the best single device.
"""

import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

BERTH = os.environ["BERTH"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
LIBRARY = SOURCE / ".deps" / "onnxruntime" / "libonnxruntime.so.1"
DRIVER = SOURCE / ".deps" / "swiftshader"
EVALUATIONS = 200
UNITS = 9  # more placements than evaluations
KILLED_AFTER = 12  # evaluations in the store; some forty come together, since the CPU wins by far
SECONDS = 240  # of one command, on a busy machine
EVALUATION = "\nseed 1048576\n"  # in the key of a run that is an evaluation of seed 0


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def make_model(path):
    """Operations whose shaders are small, since every process makes its own."""
    random, nodes, weights, at = numpy.random.default_rng(5), [], [], "x"
    for i in range(UNITS):
        weights.append(numpy_helper.from_array(random.standard_normal((4, 16)).astype(numpy.float32), f"w{i}"))
        nodes.append(helper.make_node("Add", [at, f"w{i}"], [f"a{i}"], name=f"add{i}"))
        nodes.append(helper.make_node("Relu", [f"a{i}"], [f"r{i}"], name=f"relu{i}"))
        at = f"r{i}"
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "adds", [value("x", TensorProto.FLOAT, [4, 16])], [value(at, TensorProto.FLOAT, [4, 16])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def start(folder, *arguments):
    command = [BERTH, "place", "model.onnx", "--runtime", "onnxruntime", "--devices", "cpu,webgpu", "--method", "hsdag",
               "--evaluate", "measured", "--evaluations", EVALUATIONS, "--store", "store", "--json", "--quiet", *arguments]
    environment = {
        **os.environ, "XDG_RUNTIME_DIR": "/tmp", "VK_ICD_FILENAMES": str(DRIVER / "vk_swiftshader_icd.json"),
        "LD_LIBRARY_PATH": str(DRIVER), "TMPDIR": str(folder),
    }
    return subprocess.Popen(list(map(str, command)), cwd=folder, env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def finish(process):
    out, said = process.communicate(timeout=SECONDS)
    expect(process.returncode == 0, f"status {process.returncode}: {said.decode(errors='replace').strip()}")
    return json.loads(out)


def evaluations(folder):
    """What the store has of them, by key."""
    try:
        with sqlite3.connect(f"file:{folder}/store?mode=ro", uri=True, timeout=20) as store:
            rows = store.execute("SELECT key, value FROM result WHERE kind = 'run'").fetchall()
    except sqlite3.OperationalError:  # not there yet
        return {}
    return {key: value for key, value in rows if EVALUATION in key}


def check(plan):
    runs = plan["evaluation_runs"]
    expect(plan["evaluate"] == "measured", "not measured")
    expect(runs["placements"] == runs["made"] + runs["stored"] and runs["failed"] == 0, f"runs: {runs}")
    expect(EVALUATIONS / 2 < plan["evaluations"] <= EVALUATIONS, f"{plan['evaluations']} evaluations")
    expect(plan["lower_bound_ms"] is None and plan["gap"] is None, "a bound on what was measured")
    devices = {row["device"] for row in plan["placement"]}
    if len(devices) > 1:
        measured = plan["measured"]
        best = min(run["median_ms"] for run in measured["single"].values())
        expect(measured["plan"]["median_ms"] < best, "a split that is slower than a device alone")
        expect(plan["outputs"]["equal"], "a split with other outputs")
    return runs


def replayed(plan):
    return [plan["evaluations"], plan["evaluation_runs"]["repeated"],
            [(row["method"], row["makespan_ms"], row["evaluations"]) for row in plan["methods"]]]


def run(folder):
    make_model(folder / "model.onnx")
    began = time.monotonic()
    process = start(folder)
    while len(evaluations(folder)) < KILLED_AFTER and process.poll() is None and time.monotonic() < began + SECONDS:
        time.sleep(0.05)
    if process.poll() is not None:
        raise AssertionError(f"it ended by itself: {process.communicate()[1].decode(errors='replace').strip()}")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    before = evaluations(folder)
    expect(KILLED_AFTER <= len(before) < EVALUATIONS, f"killed after {len(before)}")
    print(f"killed after {time.monotonic() - began:.0f} s with {len(before)} evaluations")

    whole = finish(start(folder, "--resume"))
    runs, after = check(whole), evaluations(folder)
    print(f"resumed: {runs}, {whole['verdict']}")
    expect(runs["stored"] == len(before), f"{runs['stored']} of {len(before)} results were used again")
    expect(all(after.get(key) == value for key, value in before.items()), "something was measured again")
    expect(len(after) == len(before) + runs["made"] and runs["made"] > 0, "runs and results do not agree")

    again = finish(start(folder, "--resume", "--threads", 3))
    expect(check(again)["made"] == 0, f"{again['evaluation_runs']} though the store has everything")
    expect(replayed(again) == replayed(whole), "the same results led elsewhere")
    print(f"{time.monotonic() - began:.0f} s in all")


def main():
    for needed in (LIBRARY, DRIVER / "vk_swiftshader_icd.json"):
        if not needed.exists():
            print(f"SKIPPED: {needed} is missing; scripts/setup test fetches it")
            return 1 if os.environ.get("CI") == "true" else 77
    with tempfile.TemporaryDirectory() as folder:
        run(pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
