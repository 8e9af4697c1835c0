# SPDX-License-Identifier: Apache-2.0
"""Compares the types and shapes that Berth infers with those of others, for every ONNX model at hand.

Usage: shapes.py DUMP_SHAPES. Two judges:

- the onnx package's shape inference (with data propagation), for models/, tests/golden and ../shared/data/onnx (or
  $BERTH_SHARED): every type, rank and dimension that it knows must be known to Berth and be the same. Berth does not
  enter nested graphs nor look into sequences: what depends on them may be unknown, but not be something else;
- what ONNX Runtime reported when it ran the seven models (tests/fixtures/ort_shapes, made by record_ort_shapes.py):
  every shape of every output, and nothing may be unknown.
"""
import gzip
import json
import os
import pathlib
import subprocess
import sys

import onnx
from onnx import TensorProto as T
from onnx import shape_inference

SOURCE = pathlib.Path(os.environ["SOURCE"])
SHARED = pathlib.Path(os.environ.get("BERTH_SHARED", SOURCE / ".." / "shared")) / "data" / "onnx"
TYPES = {
    T.FLOAT: "f32", T.UINT8: "u8", T.INT8: "i8", T.UINT16: "u16", T.INT16: "i16", T.INT32: "i32", T.INT64: "i64",
    T.STRING: "string", T.BOOL: "bool", T.FLOAT16: "f16", T.DOUBLE: "f64", T.UINT32: "u32", T.UINT64: "u64",
    T.COMPLEX64: "c64", T.COMPLEX128: "c128", T.BFLOAT16: "bf16", T.FLOAT8E4M3FN: "f8", T.FLOAT8E4M3FNUZ: "f8",
    T.FLOAT8E5M2: "f8", T.FLOAT8E5M2FNUZ: "f8", T.UINT4: "u4", T.INT4: "i4", T.FLOAT4E2M1: "f4",
}
problems = []


def unescape(name):
    parts = name.encode().split(b"%")
    return (parts[0] + b"".join(bytes([int(p[:2], 16)]) + p[2:] for p in parts[1:])).decode()


def dump(dump_shapes, paths):
    """{path: {tensor: (type, [dimension or None] or None)}, or the message of a refusal}"""
    text = subprocess.run([dump_shapes, "-"], input="".join(f"{p}\n" for p in paths), capture_output=True, text=True,
                          check=True).stdout
    found = {}
    for line in text.splitlines():
        kind, *fields = line.split("\t")
        if kind == "file":
            tensors = found[fields[0]] = {}
        elif kind == "refused":
            found[list(found)[-1]] = fields[1]
        else:
            name, dtype, dims = fields
            shape = None if dims == "-" else [None if d == "?" else int(d) for d in dims.split(",") if d]
            tensors[unescape(name)] = (dtype, shape)
    return found


def known(value):
    """Type and shape of a ValueInfoProto, as `dump` has them."""
    kind = value.type.WhichOneof("value")
    if kind is None:
        return "unknown", None
    if kind not in ("tensor_type", "sparse_tensor_type"):
        return "other", None
    tensor = getattr(value.type, kind)
    dtype = TYPES.get(tensor.elem_type, "unknown")
    if not tensor.HasField("shape"):
        return dtype, None
    return dtype, [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in tensor.shape.dim]


def agrees(ours, theirs):
    """Ours says at least what theirs says, and the same."""
    if theirs[0] not in ("unknown", ours[0]):
        return False
    if theirs[1] is None:
        return True
    return ours[1] is not None and len(ours[1]) == len(theirs[1]) and all(
        t is None or o == t for o, t in zip(ours[1], theirs[1]))


def beyond_nested(graph):
    """Names that depend on a nested graph or a sequence."""
    found = set()
    for node in graph.node:  # in topological order, as files of the onnx package are
        if (any(a.HasField("g") or a.graphs for a in node.attribute) or "Sequence" in node.op_type or "Optional" in node.op_type
                or found.intersection(node.input)):
            found.update(node.output)
    return found


def is_static(shape):
    return shape is not None and None not in shape


def compare_onnx(path, ours, counts):
    data = path.read_bytes()
    try:
        model = onnx.load_from_string(gzip.decompress(data) if path.suffix == ".gz" else data)
        inferred = shape_inference.infer_shapes(model, check_type=False, strict_mode=False, data_prop=True)
    except Exception as error:  # the package's own exceptions have no common base
        print(f"{path.name}: the onnx package cannot judge: {str(error).splitlines()[0][:100]}")
        return
    if isinstance(ours, str):
        problems.append(f"{path}: refused: {ours}")
        return
    graph = inferred.graph
    produced = {output for node in graph.node for output in node.output if output}
    hidden = beyond_nested(graph)
    for name, value in {v.name: v for v in [*graph.value_info, *graph.output] if v.name in produced}.items():
        theirs, mine = known(value), ours[name]
        counts["onnx"] += is_static(theirs[1])
        less = name in hidden and (mine[0] == "unknown" or theirs[1] is None or agrees(theirs, mine))
        if not less and not agrees(mine, theirs):
            problems.append(f"{path}: {name}: {mine} instead of {theirs}")
    counts["ours"] += sum(is_static(ours[name][1]) for name in produced)
    counts["all"] += len(produced)


def compare_runtime(path, ours, counts):
    recorded = json.loads((SOURCE / "tests" / "fixtures" / "ort_shapes" / (path.stem + ".json")).read_text())
    names = {"float": "f32", "int64": "i64", "int32": "i32", "bool": "bool"}
    model = onnx.load(path, load_external_data=False)
    if {node.name for node in model.graph.node} != recorded.keys():
        problems.append(f"{path}: the fixture is of another model")
        return
    for node, row in recorded.items():
        for output, (dtype, shape) in zip(row["outputs"], row["shapes"], strict=True):
            counts["runtime"] += 1
            if ours[output] != (names[dtype], shape):
                problems.append(f"{path}: {node}: {output}: {ours[output]} instead of {(dtype, shape)}")
    for name, (dtype, shape) in ours.items():
        if dtype == "unknown" or not is_static(shape):
            problems.append(f"{path}: {name}: {dtype} {shape} is not known")


def main():
    models = sorted((SOURCE / "models").glob("*.onnx"))
    files = models + sorted((SOURCE / "tests" / "golden").glob("*.onnx"))
    if SHARED.is_dir():
        files += sorted(p for p in SHARED.rglob("*.onnx*") if "malformed" not in p.parts)
    elif os.environ.get("CI") == "true":
        raise SystemExit(f"{SHARED} is missing, and CI must not skip")
    else:
        print(f"SKIPPED: {SHARED} is missing")
    ours = dump(sys.argv[1], files)
    counts = dict.fromkeys(("all", "onnx", "ours", "runtime"), 0)
    for path in files:
        before = dict(counts)
        compare_onnx(path, ours[str(path)], counts)
        made, theirs, mine = (counts[k] - before[k] for k in ("all", "onnx", "ours"))
        print(f"{path.name}: {made} outputs, static by onnx {theirs}, by berth {mine}")
    for path in models:
        if not isinstance(ours[str(path)], str):
            compare_runtime(path, ours[str(path)], counts)
    print(f"{counts['all']} outputs, static by onnx {counts['onnx']}, by berth {counts['ours']}; "
          f"{counts['runtime']} compared with the runtime")
    for problem in problems[:50]:
        print(problem)
    if problems or not counts["onnx"] or not counts["runtime"]:
        raise SystemExit(f"{len(problems)} differences")


if __name__ == "__main__":
    main()
