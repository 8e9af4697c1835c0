# SPDX-License-Identifier: Apache-2.0
"""Every key of `berth place --json`, `simulate --json`, `devices --json` and `bench --json`, its type, and what must hold
between them.

Placements are checked against the model as another command shows it (`inspect --table`), and timelines are added up again:
devices run one operation at a time, makespans are the last end, copies join devices that differ, and under `serial` without
pieces the makespan is the sum of everything.
"""

import collections
import csv
import io
import json
import math
import os
import subprocess
import sys
import tempfile

BERTH = os.environ["BERTH"]
SOURCE = os.environ["SOURCE"]

NUMBER = (int, float)
PLAN = {
    "schema": int, "berth": str, "model": dict, "inputs": list, "shapes": list, "costs": str, "profile": type(None),
    "devices": dict, "execution_model": str, "piece_ms": NUMBER, "objective": str, "limits": dict, "method": str,
    "found_by": str, "group": (str, type(None)), "source": str, "seed": int, "settings": (dict, type(None)),
    "policy_sha256": type(None), "makespan_ms": NUMBER,
    "lower_bound_ms": NUMBER, "gap": (int, float, type(None)), "single_ms": dict, "order": (list, type(None)),
    "placement": list,
}
SEARCH = {"interrupted": bool, "evaluations": int, "seconds": NUMBER, "methods": list}
MODELS = ["models/resnet50.onnx", "models/ir/inception_v3.xml", "tests/golden/if.xml", "tests/golden/captures.onnx"]
WORKLOADS = ["tests/golden/topcuoglu.csv", "tests/golden/msr.json", "tests/golden/dagbench.json"]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def berth(*arguments):
    return subprocess.run([BERTH, *arguments], stdout=subprocess.PIPE, check=True, cwd=SOURCE).stdout.decode("utf-8")


def unique_pairs(pairs):
    expect(len({key for key, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)


def parse(text):
    return json.loads(text, object_pairs_hook=unique_pairs)


def check_keys(doc, keys, what):
    expect(list(doc) == list(keys), f"keys of {what}: {set(doc) ^ set(keys)}")
    for key, kind in keys.items():
        expect(isinstance(doc[key], kind), f"{key} is {doc[key]!r}")


def check_plan(doc, model):
    rows = list(csv.DictReader(io.StringIO(berth("inspect", model, "--table")), delimiter="\t", quoting=csv.QUOTE_NONE))
    names = [device["name"] for device in doc["devices"]["devices"]]
    expect(list(doc["single_ms"]) == names, "single_ms")
    expect([row["index"] for row in doc["placement"]] == list(range(len(rows))), "index")
    for row, known in zip(doc["placement"], rows, strict=True):
        expect(list(row) == ["index", "name", "type", "device"], row)
        expect(row["type"] == known["type"] and row["device"] in names, row)
    makespan, bound = doc["makespan_ms"], doc["lower_bound_ms"]
    expect(0 <= bound <= makespan, "bound")
    if bound > 0:
        expect(math.isclose(doc["gap"], makespan / bound - 1, abs_tol=1e-12), "gap")
    singles = [ms for ms in doc["single_ms"].values() if ms is not None]
    if doc["method"] == "auto" and singles:
        expect(makespan <= min(singles), "worse than one device")
    if doc["order"] is not None:
        expect(len(set(doc["order"])) == len(doc["order"]), "order")
        expect(all(rows[index]["constant"] == "0" for index in doc["order"]), "constants in the order")


def check_search(doc):
    expect(not doc["interrupted"] and doc["evaluations"] > 0 and doc["seconds"] >= 0, "search")
    for row in doc["methods"]:
        expect(list(row) == ["method", "makespan_ms", "evaluations", "seconds", "feasible"], row)
        expect(row["feasible"] == (row["makespan_ms"] is not None), row)
        expect(not row["feasible"] or row["makespan_ms"] >= doc["makespan_ms"], row)
    expect(doc["found_by"] in [row["method"] for row in doc["methods"]], "found_by")
    expect(sum(row["evaluations"] for row in doc["methods"]) <= doc["evaluations"], "evaluations")


def check_timeline(doc, plan):
    device_of = {row["index"]: row["device"] for row in plan["placement"]}
    runs = collections.defaultdict(list)
    last, total, seen = 0.0, 0.0, set()
    for event in doc["timeline"]:
        expect(0 <= event["start_ms"] <= event["end_ms"], event)
        total += event["end_ms"] - event["start_ms"]
        last = max(last, event["end_ms"])
        if event["what"] == "copy":
            source, _, target = event["link"].partition("->")
            expect(source != target and {source, target} <= set(doc["memory_peak_bytes"]), event)
            continue
        if event["what"] == "run":
            expect(event["index"] not in seen and device_of[event["index"]] == event["device"], event)
            seen.add(event["index"])
            runs[event["device"]].append((event["start_ms"], event["end_ms"]))
    if doc["objective"] == "throughput":
        return
    expect(math.isclose(last, doc["makespan_ms"], rel_tol=1e-9), f"last end {last}, makespan {doc['makespan_ms']}")
    if doc["execution_model"] == "serial":
        expect(math.isclose(total, doc["makespan_ms"], rel_tol=1e-9), f"sum {total}, makespan {doc['makespan_ms']}")
    if doc["execution_model"] != "contiguous":  # its host runs any number at once
        for rows in runs.values():
            rows.sort()
            for (_, end), (start, _) in zip(rows, rows[1:]):
                expect(start >= end * (1 - 1e-12), "two operations at once on one device")


def check_placing(model, arguments):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.json")
        doc = parse(berth("place", "-q", model, "--evaluations", "150", "-o", path, "--json", *arguments))
        with open(path, encoding="utf-8") as file:
            plan = parse(file.read())
        check_keys(doc, {**PLAN, **SEARCH}, "place")
        check_keys(plan, PLAN, "the plan")
        expect(plan == {key: doc[key] for key in PLAN}, "the file is not what was printed")
        check_plan(doc, model)
        check_search(doc)
        simulated = parse(berth("simulate", "-q", model, path, "--json"))
        expect(simulated["makespan_ms"] == doc["makespan_ms"], "simulate differs")
        check_timeline(simulated, plan)


def check_devices():
    doc = parse(berth("devices", "--runtime", "none", "--json"))
    keys = {"name": str, "runtime": type(None), "description": str, "memory_bytes": NUMBER, "works": bool, "reason": str,
            "members": list}
    for row in doc["devices"]:
        check_keys(row, keys, "a device")
    expect({"cpu", "gpu", "igpu", "npu", "paper"} <= {row["name"] for row in doc["devices"]}, "profiles")


def check_bench():
    doc = parse(berth("bench", "-w", "topcuoglu", "--evaluations", "200", "--json"))
    keys = ["suite", "workload", "execution_model", "objective", "devices", "method", "seed", "makespan_ms",
            "lower_bound_ms", "optimum_ms", "evaluations", "seconds", "feasible"]
    for row in doc["results"]:
        expect(list(row) == keys, row)
        expect(not row["feasible"] or row["makespan_ms"] >= row["optimum_ms"] >= row["lower_bound_ms"] - 1e-9, row)
    expect(set(doc["machine"]) == {"processor", "cores", "system", "berth"}, "machine")
    speed = {row["name"]: row["per_second"] for row in parse(berth("bench", "--speed", "-b", "5ms", "--json"))["speed"]}
    for name in ("resnet50/concurrent/evaluations", "resnet50/serial/moves", "bert_base/read"):
        expect(speed[name] > 0, name)


def cases():
    for execution in ("serial", "queued", "concurrent", "contiguous"):
        for model in MODELS:
            yield model, ["--devices", "cpu,gpu,npu", "--execution-model", execution]
        for workload in WORKLOADS:
            yield workload, ["--execution-model", execution, "--seed", "4"]
    yield MODELS[0], ["--devices", "cpu,gpu", "--objective", "throughput"]
    yield MODELS[1], ["--devices", "paper", "--execution-model", "concurrent", "--method", "heft"]
    yield MODELS[0], ["--devices", "cpu,gpu,gpu", "--memory", "gpu.0=30M", "--pin", "Gemm=gpu.1", "--group", "code"]


def main():
    failures, n = 0, 0
    for model, arguments in cases():
        n += 1
        try:
            check_placing(model, arguments)
        except (AssertionError, ValueError, subprocess.CalledProcessError) as error:
            failures += 1
            print(f"{model} {' '.join(arguments)}: {error}")
    check_devices()
    check_bench()
    print(f"{n - failures} of {n} placements agree")
    return failures > 0


sys.exit(main())
