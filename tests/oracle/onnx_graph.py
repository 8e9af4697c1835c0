# SPDX-License-Identifier: Apache-2.0
"""Compares the graph that Berth reads from every ONNX file at hand with what the onnx package sees in it.

Usage: onnx_graph.py DUMP_GRAPH. Files: tests/golden, fuzz/corpus/onnx, models, and ../shared/data/onnx (or
$BERTH_SHARED) with its MANIFEST.tsv and the zip archives of other people's fuzz seeds.
"""
import collections
import csv
import gzip
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx
from onnx import AttributeProto as A
from onnx import TensorProto as T
from onnx import numpy_helper

SOURCE = pathlib.Path(os.environ["SOURCE"])
SHARED = pathlib.Path(os.environ.get("BERTH_SHARED", SOURCE / ".." / "shared")) / "data" / "onnx"
FORMAT_ERROR = "-3"
TYPES = {
    T.FLOAT: "f32", T.UINT8: "u8", T.INT8: "i8", T.UINT16: "u16", T.INT16: "i16", T.INT32: "i32", T.INT64: "i64",
    T.STRING: "string", T.BOOL: "bool", T.FLOAT16: "f16", T.DOUBLE: "f64", T.UINT32: "u32", T.UINT64: "u64",
    T.COMPLEX64: "c64", T.COMPLEX128: "c128", T.BFLOAT16: "bf16", T.FLOAT8E4M3FN: "f8", T.UINT4: "u4", T.INT4: "i4",
}
problems = []


def escape(text):
    data = text.encode() if isinstance(text, str) else text
    return "".join(chr(c) if 0x20 < c < 0x7F and c not in b"%," else f"%{c:02X}" for c in data)


def join(names):
    return ",".join(escape(n) for n in names)


def bodies_of(node):
    for a in node.attribute:
        if a.HasField("g"):
            yield a.g
        yield from a.graphs


def free_names(graph):
    """Names used in a graph, in order of first use, that it does not define."""
    own = {v.name for v in graph.input} | {t.name for t in graph.initializer}
    own |= {s.values.name for s in graph.sparse_initializer} | {o for n in graph.node for o in n.output}
    free = []
    for n in graph.node:
        free += list(n.input)
        for body in bodies_of(n):
            free += free_names(body)
    free += [v.name for v in graph.output]
    return [name for name in dict.fromkeys(free) if name and name not in own]


def count_nested(node):
    n_bodies = n_ops = 0
    for body in bodies_of(node):
        n_bodies += 1
        n_ops += len(body.node)
        for inner in body.node:
            b, o = count_nested(inner)
            n_bodies += b
            n_ops += o
    return n_bodies, n_ops


def attribute(a):
    def floats(values):
        return "".join(":%.9g" % v for v in values)

    def numbers(values):
        return "".join(f":{v}" for v in values)

    if a.type == A.INT:
        text = "ints" + numbers([a.i])
    elif a.type == A.INTS:
        text = "ints*" + numbers(a.ints)
    elif a.type == A.FLOAT:
        text = "floats" + floats([a.f])
    elif a.type == A.FLOATS:
        text = "floats*" + floats(a.floats)
    elif a.type == A.STRING:
        text = "string" + (":" + a.s.hex() if a.s else "")
    else:
        lists = (A.STRINGS, A.TENSORS, A.GRAPHS, A.SPARSE_TENSORS, A.TYPE_PROTOS)
        text = "opaque*" if a.type in lists else "opaque"
    return f"{escape(a.name)}={text}"


def packed(t):
    """The bytes of a tensor's elements, packed and little-endian."""
    array = numpy_helper.to_array(t)
    if t.data_type in (T.INT4, T.UINT4):
        flat = [int(v) & 15 for v in array.flatten()] + [0]
        return bytes(flat[i] | flat[i + 1] << 4 for i in range(0, array.size, 2))
    return array.tobytes()


def describe(t):
    """type, dimensions, payload bytes, content of a stored tensor as dump_graph prints them; None: not compared."""
    kind, dims = TYPES[t.data_type], ",".join(map(str, t.dims))
    if t.data_type == T.STRING:
        return kind, dims, str(sum(len(s) for s in t.string_data)), "-"
    if t.data_location == T.EXTERNAL:
        return kind, dims, None, "-"
    data = packed(t)
    return kind, dims, str(len(data)), data.hex() if len(data) <= 1024 else "-"


def describe_constant(node):
    a = {x.name: x for x in node.attribute}
    if "value" in a:
        return describe(a["value"].t)
    if "sparse_value" in a:
        s = a["sparse_value"].sparse_tensor
        return TYPES[s.values.data_type], ",".join(map(str, s.dims)), str(len(packed(s.values)) + len(packed(s.indices))), "-"
    for name, kind, dtype in (("value_int", "i64", "<i8"), ("value_float", "f32", "<f4")):
        if name in a:
            return kind, "", str(np.dtype(dtype).itemsize), np.array(onnx.helper.get_attribute_value(a[name]), dtype).tobytes().hex()
        if name + "s" in a:
            v = np.array(onnx.helper.get_attribute_value(a[name + "s"]), dtype)
            return kind, str(len(v)), str(v.nbytes), v.tobytes().hex() if v.nbytes <= 1024 else "-"
    if "value_string" in a:
        return "string", "", str(len(a["value_string"].s)), "-"
    strings = a["value_strings"].strings
    return "string", str(len(strings)), str(sum(map(len, strings))), "-"


def expected_ops(graph):
    taken, rows = {n.name for n in graph.node if n.name}, []
    for i, n in enumerate(graph.node):
        name = n.name
        if not name:
            first = next((o for o in n.output if o), None)
            name = f"{n.op_type}:{first}" if first else f"{n.op_type}#{i}"
            while name in taken:
                name += f"#{i}"
            taken.add(name)
        captures = list(dict.fromkeys(c for body in bodies_of(n) for c in free_names(body)))
        domain = "" if n.domain == "ai.onnx" else n.domain
        rows.append(["op", str(i), escape(name), escape(n.op_type), escape(domain), str(int(not n.name)), join(n.input),
                     join(captures), join(n.output), ",".join(map(attribute, n.attribute)), *map(str, count_nested(n))])
    return rows


def count_edges(graph):
    made_by = {o: i for i, n in enumerate(graph.node) for o in n.output if o}
    explicit = [(made_by[x], i) for i, n in enumerate(graph.node) for x in n.input if x in made_by]
    captured = sum(c in made_by for n in graph.node
                   for c in dict.fromkeys(c for b in bodies_of(n) for c in free_names(b)))
    return len(explicit), len(set(explicit)), captured


def expected_tensors(graph):
    stored = {t.name: describe(t) for t in graph.initializer}
    stored.update({n.output[0]: describe_constant(n) for n in graph.node if n.op_type == "Constant" and not n.domain})
    return stored


def compare(where, model, lines):
    graph = model.graph
    rows = collections.defaultdict(list)
    for line in lines:
        row = line.split("\t")
        rows[row[0]].append(row)

    def check(what, got, want):
        if got != want:
            problems.append(f"{where}: {what}: {got} instead of {want}")

    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    edges, pairs, captured = count_edges(graph)
    check("graph", rows["graph"][0][1:], [escape(graph.name), str(opset), *map(str, (len(graph.node), edges, pairs, captured))])
    for got, want in zip(rows["op"], expected_ops(graph)):
        check(f"operation {want[1]}", got, want)
    tensors = {row[1]: row for row in rows["tensor"]}
    for name, want in expected_tensors(graph).items():
        got = tensors[escape(name)]
        check(f"tensor {name}", [g for g, w in zip(got[3:], want) if w is not None], [w for w in want if w is not None])
    initializers = {t.name for t in graph.initializer} | {s.values.name for s in graph.sparse_initializer}
    flagged = {name for name, row in tensors.items() if int(row[2]) & 4}
    check("initializers", flagged, {escape(n) for n in initializers})
    check("inputs", rows["inputs"][0][1], join(v.name for v in graph.input if v.name not in initializers))
    check("outputs", rows["outputs"][0][1], join(v.name for v in graph.output))


def load(path):
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    model = onnx.ModelProto()
    model.ParseFromString(data)
    return model


def dump(path):
    done = subprocess.run([sys.argv[1], str(path)], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        problems.append(f"{path}: exit {done.returncode}: {done.stderr[-500:]}")
        return ["refused\tcrash"]
    return done.stdout.splitlines()


def compare_manifest():
    for row in csv.DictReader(open(SHARED / "MANIFEST.tsv"), delimiter="\t"):
        lines = dump(SHARED / row["file"])
        if row["nodes"] == "-":
            if lines[0].split("\t")[:2] != ["refused", FORMAT_ERROR] or ": byte " not in lines[0]:
                problems.append(f"{row['file']}: not refused with its place: {lines[0]}")
            continue
        ops = [line.split("\t") for line in lines if line.startswith("op\t")]
        flags = [int(line.split("\t")[2]) for line in lines if line.startswith("tensor\t")]
        nested = sum(int(op[11]) for op in ops)
        got = [lines[0].split("\t")[3:6], str(len(ops) + nested), str(sum(int(op[10]) for op in ops)),
               str(sum(f & 4 != 0 for f in flags))]
        want = [[row["nodes"], row["edges"], row["distinct_pairs"]], row["nodes_incl_subgraphs"], row["subgraphs"],
                row["initializers"]]
        if got != want:
            problems.append(f"{row['file']}: {got} instead of {want}")


def try_seeds():
    """Seeds of other projects' fuzzers: read or refused, never a crash (dump notes those)."""
    n = 0
    with tempfile.TemporaryDirectory() as folder:
        for archive in sorted((SHARED / "seeds").glob("*.zip")):
            with zipfile.ZipFile(archive) as z:
                for info in z.infolist():
                    path = pathlib.Path(folder) / f"seed{n}"
                    path.write_bytes(z.read(info))
                    lines = dump(path)
                    if lines[0].startswith("refused") and f"\t{FORMAT_ERROR}\t" not in lines[0]:
                        problems.append(f"{archive.name}/{info.filename}: {lines[0]}")
                    n += 1
    return n


def main():
    files = [p for folder in ("tests/golden", "fuzz/corpus/onnx", "models") for p in sorted((SOURCE / folder).glob("*.onnx"))]
    n_seeds = 0
    if SHARED.exists():
        files += sorted(SHARED.glob("*.onnx*")) + sorted(SHARED.glob("*/*.onnx*"))
        compare_manifest()
        n_seeds = try_seeds()
    elif os.environ.get("CI") == "true":
        problems.append(f"{SHARED} is missing, and CI must not skip")
    else:
        print(f"SKIPPED: {SHARED} is missing; only the tree's own files are compared")
    n_read = 0
    for path in files:
        lines = dump(path)
        if lines[0].startswith("refused"):
            if path.parent.name != "malformed":
                problems.append(f"{path}: {lines[0]}")
            continue
        n_read += 1
        compare(path.name, load(path), lines)
    print(f"{n_read} of {len(files)} files read and compared, {n_seeds} seeds tried, {len(problems)} differences")
    print("\n".join(problems[:20]))
    return 1 if problems or n_read == 0 else 0


sys.exit(main())
