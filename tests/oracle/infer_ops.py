# SPDX-License-Identifier: Apache-2.0
"""Holds shape inference to other people's, one operation at a time.

Usage: infer_ops.py DUMP_SHAPES [CASES_PER_TYPE [SEED]], or
infer_ops.py --write FOLDER: only writes one model of each type and some expressions, as seeds for a fuzzer.

For every operation type of src/read/infer_table.c random legal instances (infer_cases.py) become models of one node, in
three forms: as drawn; with dimensions of the inputs replaced by symbols, or their shapes left out; and with an
attribute, a shape or a stored value spoiled. Judges are the onnx package's inference and the shapes of a real run (by
ONNX Runtime where it is installed, else by the onnx package's reference evaluator, as far as onnx does not contradict
itself):

- what onnx knows, Berth knows and says the same, types as well, unless the run shows onnx to be wrong;
- what Berth says is what comes out of the run;
- as drawn, Berth knows every dimension that does not depend on values;
- what runs, Berth does not refuse. A spoiled model may be refused or not, but must not do any harm (only ONNX Runtime
  judges these: the reference evaluator takes what no specification allows).

A fourth part grows random expressions over shapes and constants and makes their values visible as the shape of a
ConstantOfShape.
"""
import collections
import os
import pathlib
import pickle
import re
import signal
import sys
import tempfile
import warnings

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference
from onnx.reference import ReferenceEvaluator

import infer_cases
import infer_values
from infer_cases import Array, Draw
from shapes import TYPES, agrees, dump, known

try:
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
except ImportError:
    onnxruntime = None

SOURCE = pathlib.Path(os.environ["SOURCE"])
# The number of results depends on values, unless those are stored.
DATA_DEPENDENT = {"NonZero", "NonMaxSuppression", "Unique", "Compress"}
# No single node: they take sequences (tested by unit tests).
WITHOUT_CASES = {"SequenceInsert", "SequenceErase", "SequenceLength", "OptionalHasElement", "ZipMap"}
# The runtime goes beyond the specification: PRelu broadcasts one way only, Compress takes a vector, ImageScaler an
# image, a LinearClassifier has as many labels as scores.
CARELESS = {"PRelu", "Compress", "ImageScaler", "LinearClassifier"}
# GlobalMaxPool of other than two spatial dimensions, the type of Scaler and of old masks of Dropout.
REFERENCE_IS_WRONG = {"GlobalMaxPool", "Scaler", "Dropout"}
problems = []
counts = collections.Counter()


def table():
    text = (SOURCE / "src" / "read" / "infer_table.c").read_text()
    domains = {"ONNX": "", "ML": infer_cases.ML, "MICROSOFT": infer_cases.MS}
    return [(name, domains[domain]) for name, domain in re.findall(r'^ *\{"(\w+)", (\w+),', text, re.M)]


def tensor_type(dtype):
    return onnx.TensorProto.STRING if dtype.kind == "U" else helper.np_dtype_to_tensor_dtype(dtype)


class Case:
    def __init__(self, kind, opset, inputs, attributes, n_outputs, expected=None):
        self.kind, self.opset, self.inputs, self.attributes = kind, opset, inputs, attributes
        self.n_outputs, self.expected = n_outputs, expected

    def __str__(self):
        shown = [None if i is None else list(i.shape) if isinstance(i, Array) else i.tolist() for i in self.inputs]
        return f"{self.kind[1]}{'.' if self.kind[1] else ''}{self.kind[0]}-{self.opset}{tuple(shown)} {self.attributes}"

    def model(self, shapes=None):
        """shapes: what the inputs are declared as, by position; default: what they are."""
        name, domain = self.kind
        names, declared, stored = [], [], []
        for i, value in enumerate(self.inputs):
            names.append("" if value is None else f"x{i}")
            if isinstance(value, Array):
                shape = shapes[i] if shapes else value.shape
                declared.append(helper.make_tensor_value_info(f"x{i}", tensor_type(value.dtype), shape))
            elif value is not None:
                stored.append(numpy_helper.from_array(np.asarray(value), f"x{i}"))
        attributes = {k: numpy_helper.from_array(v) if isinstance(v, np.ndarray) else v
                      for k, v in self.attributes.items()}
        outputs = [f"y{i}" for i in range(self.n_outputs)]
        node = helper.make_node(name, names, outputs, domain=domain, **attributes)
        graph = helper.make_graph([node], "case", declared, [onnx.ValueInfoProto(name=o) for o in outputs], stored)
        opsets = [helper.make_opsetid("", self.opset)]
        if domain:
            opsets.append(helper.make_opsetid(domain, 3 if domain == infer_cases.ML else 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    def feeds(self):
        rng = np.random.default_rng(0)
        feeds = {}
        for i, value in enumerate(self.inputs):
            if not isinstance(value, Array):
                continue
            if value.dtype.kind == "U":
                feeds[f"x{i}"] = np.full(value.shape, "a", dtype=object)
            elif value.dtype.kind == "f":
                feeds[f"x{i}"] = rng.uniform(value.low, max(value.high, value.low), value.shape).astype(value.dtype)
            else:
                feeds[f"x{i}"] = rng.integers(value.low, value.high + 1, value.shape).astype(value.dtype)
        return feeds


def draw_case(d, kind):
    generator, low, high = infer_cases.GENERATORS[kind]
    opset = d.int(low, high)
    takes_name = "name" in generator.__code__.co_varnames[: generator.__code__.co_argcount]
    return Case(kind, opset, *(generator(d, opset, name=kind[0]) if takes_name else generator(d, opset)))


def run(model, feeds):
    """Types and shapes of the outputs, or None if nobody can run it. Values that are no tensors count as such."""
    def describe(values):
        return [("other", None) if isinstance(v, list) or v is None else
                (TYPES[tensor_type(np.asarray(v).dtype)] if np.asarray(v).dtype != object else "string",
                 list(np.asarray(v).shape)) for v in values]
    if onnxruntime:
        try:
            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
            counts["run by the runtime"] += 1
            return describe(session.run(None, feeds))
        except Exception as error:
            if "NOT_IMPLEMENTED" not in str(error) and "opset" not in str(error):
                return None
    if model.graph.node[0].op_type in REFERENCE_IS_WRONG:
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            values = ReferenceEvaluator(model).run(None, feeds)
        counts["run by the reference"] += 1
        return describe(values)
    except Exception:
        return None


def run_apart(jobs):
    """The same for many models in a process of its own, started again where one of them crashes it or does not end."""
    outcomes = []
    while len(outcomes) < len(jobs):
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(write, "wb") as pipe:
                for case, model in jobs[len(outcomes):]:
                    signal.alarm(5)
                    pickle.dump(run(model, case.feeds()), pipe)
                    pipe.flush()
            os._exit(0)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            try:
                while len(outcomes) < len(jobs):
                    outcomes.append(pickle.load(pipe))
            except EOFError:
                outcomes.append(None)
                counts["crashed the runtime"] += 1
        os.waitpid(child, 0)
    return outcomes


def judge_onnx(model, strict):
    try:
        graph = shape_inference.infer_shapes(model, check_type=strict, strict_mode=strict, data_prop=True).graph
        return {value.name: known(value) for value in graph.output}
    except Exception:
        return None


def problem(case, form, text):
    problems.append(f"{case} [{form}]: {text}")


def check_against_run(case, form, ours, real):
    for i, theirs in enumerate(real):
        if theirs[1] is not None and not agrees(theirs, ours[f"y{i}"]):
            problem(case, form, f"y{i}: {ours[f'y{i}']}, but the run gives {theirs}")


def check_against_onnx(case, form, ours, judged, real):
    for i, (name, theirs) in enumerate((judged or {}).items()):
        if real and real[i][1] is not None and not agrees(real[i], theirs):
            counts["onnx contradicts the run"] += 1
        elif form == "symbols" and case.kind[0] == "Einsum":
            continue  # onnx takes a 1 for the size of a letter that is not known elsewhere, but 1 broadcasts
        elif case.kind[0] in ("MaxPool", "AveragePool") and "ceil_mode" in case.attributes:
            continue  # onnx counts windows that start behind the data; its specification and the runtime do not
        elif not agrees(ours[name], theirs):
            problem(case, form, f"{name}: {ours[name]}, but onnx says {theirs}")


def check_drawn(case, ours, real, judged):
    if real is None and judged is None and case.expected is None:
        counts["illegal"] += 1
        counts[f"illegal {case.kind}"] += 1
        return
    counts["judged"] += 1
    counts[case.kind] += 1
    if isinstance(ours, str):
        problem(case, "drawn", f"refused: {ours}")
        return
    check_against_onnx(case, "drawn", ours, judged, real)
    if real is not None:
        check_against_run(case, "drawn", ours, real)
    for i, shape in enumerate(case.expected or []):
        if ours[f"y{i}"][1] != shape:
            problem(case, "drawn", f"y{i}: {ours[f'y{i}'][1]} instead of {shape}")
    for name, (dtype, shape) in ours.items():
        complete = dtype == "other" or (dtype != "unknown" and shape is not None and None not in shape)
        if name.startswith("y") and not complete and case.kind[0] not in DATA_DEPENDENT and not case.expected:
            problem(case, "drawn", f"{name}: {dtype} {shape} is not known")


def symbolic_shapes(d, case):
    shapes = []
    for value in case.inputs:
        if not isinstance(value, Array):
            shapes.append(None)
        elif d.chance(0.15):
            shapes.append(None)
        else:
            shapes.append([f"s{size}" if d.chance(0.4) else size for size in value.shape])
    return shapes


def spoil(d, case):
    """A copy with one thing wrong."""
    inputs, attributes = list(case.inputs), dict(case.attributes)
    numbers = [-1, -2, 0, 1, 2, 7, 2**31, 2**62, -(2**63), 2**63 - 1]
    form = d.int(0, 3)
    if form == 0 and attributes:
        name = d.pick(sorted(attributes))
        value = attributes[name]
        if isinstance(value, int):
            attributes[name] = d.pick(numbers)
        elif isinstance(value, list) and value and isinstance(value[0], int):
            changed = list(value)
            if d.chance(0.7):
                changed[d.int(0, len(changed) - 1)] = d.pick(numbers)
            else:
                changed = changed + changed if d.chance() else changed[:-1]
            if changed:
                attributes[name] = changed
        else:
            attributes[name] = d.pick([3, 1.5, "garbage", [1, 2]])
    elif form <= 2 and inputs:
        i = d.int(0, len(inputs) - 1)
        value = inputs[i]
        if isinstance(value, Array):
            shape = list(value.shape)
            if shape and d.chance(0.7):
                shape[d.int(0, len(shape) - 1)] = d.pick([0, 1, 2, 5, 9])
            else:
                shape = shape + [2] if d.chance() else shape[:-1]
            inputs[i] = Array(shape, value.dtype, value.low, value.high)
        elif value is not None and np.asarray(value).dtype.kind == "i":
            changed = np.array(value, dtype=np.asarray(value).dtype)
            flat = changed.reshape(-1)
            if flat.size and d.chance(0.8):
                small = [n for n in numbers if np.iinfo(changed.dtype).min <= n <= np.iinfo(changed.dtype).max]
                flat[d.int(0, flat.size - 1)] = d.pick(small)
                inputs[i] = changed
            else:
                inputs[i] = np.concatenate([flat, flat])
    elif len(inputs) > 1:
        inputs = inputs[:-1] if d.chance() else inputs + inputs[:1]
    return Case(case.kind, case.opset, inputs, attributes, case.n_outputs, None)


def is_small(case):
    """Nothing that a run would need much memory or time for."""
    values = [v for i in case.inputs if i is not None and not isinstance(i, Array) for v in
              np.asarray(i).reshape(-1).tolist() if isinstance(v, (int, float))]
    for value in case.attributes.values():
        values += value if isinstance(value, list) else [value]
    if case.kind[0] == "Slice":  # but see there about slices backward to the largest number
        return len(case.inputs) < 5 or np.max(case.inputs[2], initial=0) < 2**31 - 1
    return all(abs(v) < 1000 for v in values if isinstance(v, (int, float)))


def judge_spoiled(jobs):
    outcomes = run_apart([(case, model) for case, model, _ in jobs]) if onnxruntime else [None] * len(jobs)
    for (case, _, ours), outcome in zip(jobs, outcomes, strict=True):
        counts["spoiled"] += 1
        counts["spoiled and refused"] += isinstance(ours, str)
        # Runtimes are careless about tensors without elements.
        if outcome is None or is_empty(case, outcome) or case.kind[0] in CARELESS:
            continue
        counts["spoiled, but it runs"] += 1
        if not isinstance(ours, str):
            check_against_run(case, "spoiled", ours, outcome)
        elif "does not fit into" not in ours:  # the runtime makes one window of a pool that has no room for any
            problem(case, "spoiled", f"refused, but it runs: {ours}")


def is_empty(case, outcome):
    shapes = [i.shape for i in case.inputs if isinstance(i, Array)] + [shape or [] for _, shape in outcome]
    return any(0 in shape for shape in shapes)


def write_seeds(folder):
    d = Draw(1)
    for kind in infer_cases.GENERATORS:
        (folder / f"{kind[1] or 'onnx'}.{kind[0]}.onnx").write_bytes(draw_case(d, kind).model().SerializeToString())
    for i in range(40):
        (folder / f"values{i}.onnx").write_bytes(infer_values.draw_chain(d).SerializeToString())


def main():
    if sys.argv[1] == "--write":
        write_seeds(pathlib.Path(sys.argv[2]))
        return
    per_type = int(sys.argv[2]) if len(sys.argv) > 2 else 6
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    d = Draw(seed)
    kinds = [kind for kind in table() if kind[0] not in WITHOUT_CASES]
    if missing := [kind for kind in kinds if kind not in infer_cases.GENERATORS]:
        raise SystemExit(f"no cases for {missing}")
    jobs = []
    with tempfile.TemporaryDirectory() as temporary:
        def add(case, form, shapes=None):
            path = pathlib.Path(temporary) / f"{len(jobs)}.onnx"
            try:
                model = case.model(shapes)
            except (TypeError, ValueError, AttributeError):
                return  # cannot even be written
            path.write_bytes(model.SerializeToString())
            jobs.append((case, form, model, path))
        for kind in kinds:
            for _ in range(per_type):
                case = draw_case(d, kind)
                add(case, "drawn")
                add(case, "symbols", symbolic_shapes(d, case))
                for _ in range(2):
                    add(spoil(d, case), "spoiled")
        chains = [infer_values.draw_chain(d) for _ in range(20 * per_type)]
        for i, chain in enumerate(chains):
            (pathlib.Path(temporary) / f"chain{i}.onnx").write_bytes(chain.SerializeToString())
        found = dump(sys.argv[1], [path for *_, path in jobs])
        values = dump(sys.argv[1], [pathlib.Path(temporary) / f"chain{i}.onnx" for i in range(len(chains))])
        for case, form, model, path in jobs:
            ours = found[str(path)]
            if form == "drawn":
                real = run(model, case.feeds())
                judged = judge_onnx(model, real is None)
                if real and judged and not onnxruntime:
                    real = [r if agrees(r, j) else ("other", None) for r, j in zip(real, judged.values())]
                check_drawn(case, ours, real, judged)
            elif form == "symbols" and real is not None:
                counts["with symbols"] += 1
                if isinstance(ours, str):
                    problem(case, form, f"refused: {ours}")
                    continue
                check_against_run(case, form, ours, real)
                check_against_onnx(case, form, ours, judge_onnx(model, False), real)
        judge_spoiled([(case, model, found[str(path)]) for case, form, model, path in jobs
                       if form == "spoiled" and is_small(case)])
        infer_values.judge(chains, list(values.values()), problems, counts)
    unjudged = [kind for kind in kinds if not counts[kind]]
    for name in sorted((k for k in counts if isinstance(k, str)), key=str):
        print(f"{name}: {counts[name]}")
    print(f"{len(kinds)} operation types, {len(jobs)} models")
    for text in problems[:60]:
        print(text)
    if unjudged:
        print(f"nobody judged {unjudged}")
    if problems or unjudged:
        raise SystemExit(f"{len(problems)} differences")


if __name__ == "__main__":
    main()
