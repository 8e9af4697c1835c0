# SPDX-License-Identifier: Apache-2.0
"""Random placements with OpenVINO on two devices and on three: the CPU under several names, one of which computes in bf16.

The three bundled IRs, and small models with names and shapes that are hard to place: `berth measure` must find outputs
equal within the tolerance of the precision, every operation where the plan says, and as many pieces as planned. Then the
trap: a split model takes all processors whatever it is told, and must not win by that. Then what must be refused.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import numpy

import openvino_models

BERTH = os.environ["BERTH"]
SOURCE = pathlib.Path(os.environ["SOURCE"])
PACKAGE = SOURCE / ".deps" / "openvino"
SECONDS = 300  # of one command
MOST_PIECES = 20


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def berth(*arguments, status=0, **environment):
    done = subprocess.run([BERTH, *map(str, arguments)], capture_output=True, check=False, timeout=SECONDS,
                          env={**os.environ, "BERTH_RUNTIMES": str(PACKAGE.parent), "BERTH_STORE": "none", **environment})
    said = done.stderr.decode(errors="replace").strip()
    expect(done.returncode == status, f"berth {' '.join(map(str, arguments))}: status {done.returncode}: {said}")
    expect(status == 0 or said.count("\n") == 0, f"more than a line: {said}")
    return done.stdout if status == 0 else said


def narrow_device():
    """CPU1, in bf16 where the processor has it."""
    found = json.loads(berth("devices", "--runtime", "openvino", "--json"))["devices"]
    by_name = {row["name"]: row for row in found}
    expect(by_name["CPU"]["works"] and by_name["CPU0"]["works"], f"the CPU does not work: {by_name['CPU']}")
    if by_name["CPU1:bf16"]["works"]:
        return "CPU1:bf16"
    print(f"SKIPPED: bf16: {by_name['CPU1:bf16']['reason']}")
    return "CPU1"


# --- placements -------------------------------------------------------------------------------------------------------


DESCRIBED = ("cpu", "gpu", "npu")  # what plans are made on, for CPU0 and the others


def make_plan(path, folder, *shape, devices=2):
    plan = folder / "plan.json"
    berth("place", path, "-d", ",".join(DESCRIBED[:devices]), "-m", "single", "-q", "-o", plan, *shape)
    return plan, json.loads(plan.read_text())


def measure(path, plan, others, *more, **environment):
    names = [word for ours, theirs in zip(DESCRIBED, ("CPU0", *others)) for word in ("--provider", f"{ours}={theirs}")]
    return json.loads(berth("measure", path, plan, "--runtime", "openvino", *names, "--rounds", 1, "--json", "-q", *more,
                            **environment))


def place_randomly(path, folder, draw, others, *more):
    """Runs of operations on one device and another, in the order of the file."""
    devices = 1 + len(others)
    plan, document = make_plan(path, folder, *(more if "--shape" in more else ()), devices=devices)
    rows, current = document["placement"], draw.randrange(devices)
    changes = {draw.randrange(1, len(rows)) for _ in range(1 + draw.randrange(min(MOST_PIECES - 1, len(rows) - 1)))}
    for i, row in enumerate(rows):
        if i in changes:
            current = (current + draw.randrange(1, devices)) % devices
        row["device"] = DESCRIBED[current]
    plan.write_text(json.dumps(document))
    found = measure(path, plan, others, *more)
    check_found(found, others)
    return found


def check_found(found, others):
    expect("reason" not in found["measured"]["plan"], found["measured"]["plan"].get("reason"))
    expect(found["outputs"]["equal"], f"outputs differ: {found['outputs']}")
    expect(found["outputs"]["cosine"] > 0.99, f"outputs differ: {found['outputs']}")
    expect(found["deviations"] == [], f"not as planned: {found['deviations'][:3]}")
    expect(found["checked"] > 0, "nothing is known of where operations ran")
    expect(set(found["pieces"]) <= {"CPU0", *others}, f"pieces {found['pieces']}")
    # HETERO resolves cycles between pieces by a rule of its own, and folds shapes that are computed.
    off, planned = len(found["pieces"]) - found["planned_pieces"], found["planned_pieces"]
    expect(abs(off) <= 1 + planned // 4, f"{planned + off} pieces, {planned} planned: {found['pieces']}")


def check_made_up(folder, draw):
    """IRs without their weights."""
    for name in ("inception_v3", "bert_base"):
        alone = shutil.copy(SOURCE / "models" / "ir" / f"{name}.xml", folder)
        found = place_randomly(alone, folder, draw, ["CPU1"], "--synthesize-weights")
        expect(found["runtime"]["synthesized_weights"], found["runtime"])
        print(f"{name}, made-up weights: {len(found['pieces'])} pieces", flush=True)


def check_bundled(folder, draw, other):
    # OpenVINO 2026.4 would compute other numbers in bf16 where an attention mask comes from another piece.
    for name in ("resnet50", "inception_v3", "bert_base"):
        path = SOURCE / "models" / "ir" / f"{name}.xml"
        for _ in range(2):
            begun = time.monotonic()
            found = place_randomly(path, folder, draw, [other])
            print(f"{name}: {len(found['pieces'])} pieces, {found['planned_pieces']} planned, {found['checked']} operations seen, largest difference "
                  f"{found['outputs']['max_abs']:.3g}, cosine {found['outputs']['cosine']:.6f}, "
                  f"{time.monotonic() - begun:.0f} s", flush=True)


# --- models that are hard to place ------------------------------------------------------------------------------------


def check_hard_ones(ov, folder, draw):
    for kind, shape in (("plain", [4, 16]), ("twice", [4, 16]), ("open", [-1, 16])):
        path = openvino_models.save(ov, folder, kind, shape)
        more = ["--shape", "x=4x16"] if kind == "open" else []
        for _ in range(3):
            found = place_randomly(path, folder, draw, ["CPU1"], *more)
        print(f"{kind}: {len(found['pieces'])} pieces, {found['checked']} operations seen", flush=True)
    said = berth("profile", folder / "open.xml", "--runtime", "openvino", "-d", "CPU0,CPU1", status=2)
    expect("shape" in said, said)


def check_onnx(folder, draw):
    for path in (SOURCE / "tests" / "golden" / "cnn.onnx", SOURCE / "models" / "googlenet.onnx"):
        found = place_randomly(path, folder, draw, ["CPU1"], "--synthesize-weights")
        print(f"{path.name}: {len(found['pieces'])} pieces, {found['checked']} operations seen", flush=True)


# --- three devices ----------------------------------------------------------------------------------------------------


def check_three(folder, draw, other):
    """Placements, and the closed loop where none of them may have everything: each of two types has one device left."""
    path = SOURCE / "models" / "ir" / "resnet50.xml"
    for _ in range(2):
        found = place_randomly(path, folder, draw, [other, "CPU2"])
        print(f"three devices: pieces {found['pieces']}, {found['planned_pieces']} planned", flush=True)
    names, plan = ["CPU0", other, "CPU2"], folder / "three.json"
    only = {"MaxPool": "CPU0", "Convolution": other, "ReduceMean": "CPU2"}
    bans = [word for kind, there in only.items() for name in names if name != there for word in ("--ban", f"{kind}={name}")]
    berth("place", path, "--runtime", "openvino", "-d", ",".join(names), *bans, "--budget", "60s", "-q", "-o", plan)
    document = json.loads(plan.read_text())
    for row in document["placement"]:
        expect(row["device"] == only.get(row["type"], row["device"]), f"not where it may be: {row}")
    found = json.loads(berth("measure", path, plan, "--runtime", "openvino", "--rounds", 1, "--json", "-q"))
    check_found(found, names[1:])
    expect(set(found["pieces"]) == set(names), f"pieces {found['pieces']}")
    print(f"three devices, each needed: pieces {found['pieces']}", flush=True)


# --- the trap of threads ----------------------------------------------------------------------------------------------


def thread_times():
    """Processor time of every thread of this process."""
    times = {}
    for stat in pathlib.Path("/proc/self/task").glob("*/stat"):
        fields = stat.read_text().rsplit(")", 1)[1].split()
        times[stat.parent.name] = int(fields[11]) + int(fields[12])
    return times


def busy_threads(request, inputs):
    """How many threads do a fair share of the work."""
    before, end = thread_times(), time.monotonic() + 1
    while time.monotonic() < end:
        request.infer(inputs)
    spent = [after - before.get(name, 0) for name, after in thread_times().items()]
    return sum(ticks > 0.2 * max(spent) for ticks in spent)


def check_threads(ov, folder):
    """A split model told to use one thread takes more; with berth both sides have one processor."""
    path = folder / "wide.xml"
    ops, numbers = ov.opset13, numpy.random.default_rng(6)
    x = ops.parameter([256, 512], numpy.float32, name="x")
    at = x
    for _ in range(8):
        at = ops.relu(ops.matmul(at, ops.constant(numbers.standard_normal((512, 512)).astype(numpy.float32) * 0.05), False,
                                 False))
    ov.save_model(ov.Model([ops.result(at)], [x], "wide"), path, compress_to_fp16=False)
    plan, document = make_plan(path, folder)
    half = len(document["placement"]) // 2
    for i, row in enumerate(document["placement"]):
        row["device"] = "cpu" if i < half else "gpu"
    plan.write_text(json.dumps(document))
    found = measure(path, plan, ["CPU1"], "--threads", 1)
    cores = {"plan": found["measured"]["plan"]["cores"]}
    cores.update({name: run["cores"] for name, run in found["measured"]["single"].items()})
    expect(len(found["pieces"]) == 2, f"pieces {found['pieces']}")
    expect(all(0 < busy < 1.05 for busy in cores.values()), f"not one processor each: {cores}")
    print(f"threads 1: busy processors {cores}", flush=True)
    if (os.cpu_count() or 1) < 2:
        return
    devices = folder / "plugins.xml"
    library = PACKAGE / "openvino" / "libs" / "libopenvino_intel_cpu_plugin.so"
    devices.write_text("<ie><plugins>" + "".join(f'<plugin name="CPU{i}" location="{library}"/>' for i in range(2)) +
                       "</plugins></ie>")
    core = ov.Core(str(devices))
    for name in ("CPU0", "CPU1"):
        core.set_property(name, {"INFERENCE_NUM_THREADS": 1, "INFERENCE_PRECISION_HINT": "f32"})
    model = core.read_model(path)
    ordered = model.get_ordered_ops()
    for i, op in enumerate(ordered):
        op.get_rt_info()["affinity"] = f"CPU{int(i >= len(ordered) // 2)}"
    inputs = [numbers.standard_normal((256, 512)).astype(numpy.float32)]
    busy = busy_threads(core.compile_model(model, "HETERO:CPU0,CPU1").create_infer_request(), inputs)
    print(f"the same by OpenVINO alone, told to use one thread: {busy} busy threads", flush=True)


# --- refused ----------------------------------------------------------------------------------------------------------


def check_refused(folder):
    path = folder / "plain.xml"
    plan, _ = make_plan(path, folder)
    said = berth("measure", path, plan, "--runtime", "openvino", "--provider", "gpu=CPU1", "--provider", "cpu=CPU1:bf16",
                 status=2)
    expect("'CPU1'" in said and "'CPU1:bf16'" in said, said)
    # Without the module nothing is placed, but devices are tried and run alone all the same.
    for module in ("/nowhere/module.so", BERTH):
        written = folder / "measured.json"
        berth("measure", path, plan, "--runtime", "openvino", "--provider", "cpu=CPU0", "--provider", "gpu=CPU1", "--rounds", 1,
              "--json", "-o", written, status=5, BERTH_OPENVINO_MODULE=module)
        found = json.loads(written.read_text())
        why = found["measured"]["plan"]["reason"]
        expect("cannot place operations" in why and "\n" not in why, why)
        expect(found["measured"]["single"]["CPU1"]["median_ms"] > 0, found)
    shutil.copy(path, folder / "lost.xml")
    said = berth("measure", folder / "lost.xml", plan, "--runtime", "openvino", status=2)
    expect("lost.bin" in said, said)
    said = berth("profile", path, "--runtime", "openvino", "-d", ",".join(f"CPU{i}" for i in range(9)), status=5)
    expect("8 devices" in said, said)


def main():
    if not (PACKAGE / "openvino").exists():
        print(f"SKIPPED: {PACKAGE} is missing; scripts/setup runtime fetches it")
        return 1 if os.environ.get("CI") == "true" else 77
    sys.path.insert(0, str(PACKAGE))
    import openvino  # pylint: disable=import-outside-toplevel
    folder, draw = pathlib.Path(tempfile.mkdtemp()), random.Random(11)
    try:
        other = narrow_device()
        check_hard_ones(openvino, folder, draw)
        check_onnx(folder, draw)
        check_threads(openvino, folder)
        check_refused(folder)
        check_made_up(folder, draw)
        check_bundled(folder, draw, other)
        check_three(folder, draw, other)
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
