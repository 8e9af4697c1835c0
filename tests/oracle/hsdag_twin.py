# SPDX-License-Identifier: Apache-2.0
"""hsdag_oracle on fixtures that nobody recorded: a second network, written in numpy from the words of shared/HSDAG.md 4.

Random graphs (trees, forests, single nodes, no edges), widths, layers and devices. Gradients are derivatives by complex
steps: every parameter in turn gets an imaginary part of 1e-200, and that of the loss is the derivative, without rounding.
Then the same fixtures with one number changed, which must be told, and with files cut or names changed, which must be refused.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

ORACLE = sys.argv[1]
STEP = 1e-200


def linear(x, p, name):
    return x @ p[name + ".weight"].T + p[name + ".bias"]


def norm(x, p, name):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * p[name + ".weight"] + p[name + ".bias"]


def relu(x):
    return np.where(x.real > 0, x, 0)


def mlp(x, p, name, n_layers, act_final, insert):
    place = 0
    for i in range(n_layers):
        x = linear(x, p, f"{name}.mlp.{place}")
        place += 1
        if n_layers == 1 or not (i < n_layers - 1 or act_final):
            continue
        if insert:
            x = norm(x, p, f"{name}.mlp.{place}")
            place += 1
        x = relu(x)
        place += 2
    return x


def deepsets(x, p, name, shape):
    if shape["deepsets"] == 0:
        return x
    return norm(x + mlp(x, p, name, shape["deepsets"], True, False), p, name + ".norm")


def gnn(x, a, p, name, n_layers):
    if n_layers == 0:
        return x
    y = x
    for i in range(n_layers):
        y = relu(a @ (y @ p[f"{name}.gnn.{3 * i}.lin.weight"].T) + p[f"{name}.gnn.{3 * i}.bias"])
    return norm(x + y, p, name + ".norm")


def adjacency(n, pairs):
    a = np.eye(n)
    for u, v in pairs:
        a[u, v] = 1
    scale = 1 / np.sqrt(a.sum(axis=1))
    return a * scale[:, None] * scale[None, :]


def parse(n, pairs, score):
    """Communities, pairs between them, pairs inside each."""
    best = {}
    for (u, v), s in zip(pairs, score):
        if u not in best or s > best[u][0]:
            best[u] = (s, v)
    alive = set(best)
    community, inside, count = {}, set(), 0
    for u in sorted(best, key=lambda node: (-best[node][0], node)):
        if u not in alive:
            continue
        grown = {u, best[u][1]}
        while True:
            more = {w for w in alive if best[w][1] in grown}
            if not more:
                break
            alive -= more
            grown |= more
        for x in grown:
            community[x] = count
        inside |= {(a, b) for a, b in pairs if a in grown and b in grown}
        count += 1
    for v in range(n):
        if v not in best:
            community[v] = count
            count += 1
    between = sorted({(community[a], community[b]) for a, b in pairs if (a, b) not in inside})
    by_community = [[k for k, pair in enumerate(pairs) if pair in inside and community[pair[0]] == c] for c in range(count)]
    return [community[v] for v in range(n)], between, by_community


def forward(p, x, edges, shape, one_round, record=None):
    """The loss; everything on the way goes into `record`."""
    note = record.__setitem__ if record is not None else lambda name, value: None
    pairs = sorted({(u, v) for u, v in edges if u != v} | {(v, u) for u, v in edges if u != v})
    h = mlp(x, p, "gpnn.input_trans", shape["trans"], True, True)
    note("input_trans", h)
    cluster = list(range(len(x)))
    number = 0
    while True:
        number += 1
        n = len(h)
        a = adjacency(n, pairs)
        z = gnn(h, a, p, "gpnn.gnn1", shape["gnn1"])
        u, v = [e[0] for e in pairs], [e[1] for e in pairs]
        score = mlp(z[u] * z[v], p, "gpnn.parsing_net.edge_net", shape["parsingnet"], False, True)[:, 0] if pairs else np.zeros(0)
        score = 1 / (1 + np.exp(-score))
        community, between, inside = parse(n, pairs, score.real)
        m = len(inside)
        nu = np.array([score[k].mean() if k else 1 for k in inside])
        many = np.array([len(k) if k else 1 for k in inside])
        note(f"round{number}.pairs", np.array(pairs, dtype=float).reshape(-1, 2))
        note(f"round{number}.z", z)
        note(f"round{number}.score", score)
        note(f"round{number}.community", np.array(community))
        note(f"round{number}.nu", nu)
        note(f"round{number}.lambda", many)
        if m != n or m != 1:
            y = deepsets(gnn(h, a, p, "gpnn.gnn2", shape["gnn2"]), p, "gpnn.deepsets_pre", shape)
            q = np.zeros((m, y.shape[1]), dtype=complex)
            for node, c in enumerate(community):
                q[c] += y[node]
            h = deepsets(q, p, "gpnn.deepsets_post", shape) * (nu * many)[:, None]
        note(f"round{number}.h", h)
        cluster = [community[c] for c in cluster]
        pairs = between
        if m == n or one_round:
            break
    f = mlp(h, p, "gpnn.output_trans", shape["trans"], True, False)
    logits = linear(relu(linear(f, p, "classifier.0")), p, "classifier.2")
    top = logits.real.max(axis=1, keepdims=True)
    log_p = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
    chosen = np.array([log_p[c, c % min(2, shape["devices"])] for c in range(len(f))])
    loss = -1.7 * chosen.sum()
    note("cluster_of_group", np.array(cluster))
    note("F", f)
    note("probability", np.exp(log_p))
    note("log_probability", chosen)
    note("loss", np.array([loss]))
    return loss


def declare(shape, width):
    """Names and shapes of all parameters, in order."""
    h, out = shape["hidden"], {}

    def add_mlp(name, n_in, n_out, n_layers, act_final, insert):
        place = 0
        for i in range(n_layers):
            a, b = n_in if i == 0 else h, n_out if i == n_layers - 1 else h
            out[f"{name}.mlp.{place}.weight"], out[f"{name}.mlp.{place}.bias"] = (b, a), (b,)
            place += 1
            if n_layers == 1 or not (i < n_layers - 1 or act_final):
                continue
            if insert:
                out[f"{name}.mlp.{place}.weight"], out[f"{name}.mlp.{place}.bias"] = (b,), (b,)
                place += 1
            place += 2

    def add_norm(name):
        out[name + ".norm.weight"], out[name + ".norm.bias"] = (h,), (h,)

    def add_gnn(name, n_layers):
        for i in range(n_layers):
            out[f"{name}.gnn.{3 * i}.bias"], out[f"{name}.gnn.{3 * i}.lin.weight"] = (h,), (h, h)
        if n_layers:
            add_norm(name)

    add_mlp("gpnn.input_trans", width, h, shape["trans"], True, True)
    add_gnn("gpnn.gnn1", shape["gnn1"])
    add_mlp("gpnn.parsing_net.edge_net", h, 1, shape["parsingnet"], False, True)
    add_gnn("gpnn.gnn2", shape["gnn2"])
    for name in ("gpnn.deepsets_pre", "gpnn.deepsets_post"):
        add_mlp(name, h, h, shape["deepsets"], True, False)
        if shape["deepsets"]:
            add_norm(name)
    add_mlp("gpnn.output_trans", h, width, shape["trans"], True, False)
    out["classifier.0.weight"], out["classifier.0.bias"] = (shape["head"], width), (shape["head"],)
    out["classifier.2.weight"], out["classifier.2.bias"] = (shape["devices"], shape["head"]), (shape["devices"],)
    return out


def gradients(p, x, edges, shape, one_round):
    result = {}
    for name, value in p.items():
        result[name] = np.zeros(value.shape)
        for i in np.ndindex(value.shape):
            kept = value[i]
            value[i] = kept + STEP * 1j
            result[name][i] = forward(p, x, edges, shape, one_round).imag / STEP
            value[i] = kept
    return result


def make_fixture(rng, n, edges, width, shape):
    x = rng.uniform(-1, 1, (n, width)).astype(complex)
    p = {name: rng.uniform(-0.7, 0.7, s).astype(complex) for name, s in declare(shape, width).items()}
    tensors = {"x": x, "group_edges": np.array(edges, dtype=float).reshape(-1, 2)}
    tensors.update({"param." + name: value.copy() for name, value in p.items()})
    for section, one_round in (("one_round", True), ("recursive", False)):
        record = {}
        forward(p, x, edges, shape, one_round, record)
        tensors.update({f"{section}.{name}": value for name, value in record.items()})
        tensors.update({f"{section}.grad.{name}": value for name, value in gradients(p, x, edges, shape, one_round).items()})
    return {name: np.asarray(value).real.astype("<f8") for name, value in tensors.items()}


def write(path, tensors):
    offset, listed = 0, []
    with open(path + ".f64", "wb") as out:
        for name, value in tensors.items():
            listed.append({"name": name, "shape": list(value.shape), "offset": offset})
            offset += value.size
            out.write(value.tobytes())
    with open(path + ".json", "w", encoding="utf-8") as out:
        json.dump(listed, out)


def run(path):
    done = subprocess.run([ORACLE, path + ".json"], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def expect(path, code, what):
    got, text = run(path)
    if got != code:
        raise AssertionError(f"{what}: exit code {got} instead of {code}\n{text}")


def random_edges(rng, n, connected, more):
    edges = [(int(rng.integers(v)), v) for v in range(1, n)] if connected else []
    return edges + [tuple(sorted(int(k) for k in rng.integers(n, size=2))) for _ in range(more)]


CASES = [  # nodes, connected, further edges, width, shape
    (9, True, 3, 3, {"hidden": 5, "trans": 2, "gnn1": 2, "gnn2": 1, "deepsets": 1, "parsingnet": 2, "devices": 2, "head": 6}),
    (12, False, 6, 2, {"hidden": 4, "trans": 2, "gnn1": 2, "gnn2": 1, "deepsets": 1, "parsingnet": 2, "devices": 3, "head": 4}),
    (7, False, 0, 4, {"hidden": 4, "trans": 2, "gnn1": 2, "gnn2": 1, "deepsets": 1, "parsingnet": 2, "devices": 5, "head": 3}),
    (1, False, 0, 2, {"hidden": 3, "trans": 2, "gnn1": 2, "gnn2": 1, "deepsets": 1, "parsingnet": 2, "devices": 1, "head": 3}),
    (16, True, 8, 1, {"hidden": 4, "trans": 3, "gnn1": 1, "gnn2": 2, "deepsets": 2, "parsingnet": 3, "devices": 2, "head": 5}),
    (10, True, 0, 5, {"hidden": 6, "trans": 1, "gnn1": 3, "gnn2": 0, "deepsets": 1, "parsingnet": 1, "devices": 4, "head": 2}),
]


def main():
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "case")
        for number, (n, connected, more, width, shape) in enumerate(CASES):
            tensors = make_fixture(rng, n, random_edges(rng, n, connected, more), width, shape)
            write(path, tensors)
            expect(path, 0, f"case {number}")
            names = [name for name, value in tensors.items() if name.startswith(("one_round.", "recursive.")) and np.any(value)]
            for name in rng.choice(names, size=min(12, len(names)), replace=False):
                changed = dict(tensors)
                changed[name] = tensors[name].copy()
                at = np.unravel_index(np.argmax(np.abs(tensors[name])), tensors[name].shape)
                changed[name][at] *= 1 + 1e-6
                write(path, changed)
                expect(path, 1, f"case {number} with another {name}")
            missing = {name: value for name, value in tensors.items() if name != "param.classifier.0.bias"}
            write(path, missing)
            expect(path, 3, "a parameter is missing")
            write(path, {**tensors, "recursive.surprise": np.zeros(3)})
            expect(path, 3, "a tensor that nobody knows")
            write(path, {**tensors, "x": np.full_like(tensors["x"], np.nan)})
            expect(path, 3, "not a number")
            write(path, {**tensors, "group_edges": np.array([[0.0, n]])})
            expect(path, 3, "an edge to nowhere")
            write(path, tensors)
            with open(path + ".f64", "r+b") as out:
                out.truncate(os.path.getsize(path + ".f64") - 8)
            expect(path, 3, "numbers are cut off")
        for text, code in (("", 3), ("{}", 3), ("[]", 3), ("[1]", 3), ('[{"nodes": 2}]', 3)):
            with open(path + ".json", "w", encoding="utf-8") as out:
                out.write(text)
            expect(path, code, text)
        case = {"nodes": 2, "pairs": [[0, 1], [1, 0]], "score": [0.5, 0.25], "community": [0, 0], "pooled": [], "nu": [0.375],
                "lambda": [2]}
        for change, code in (({}, 0), ({"community": [0, 1]}, 1), ({"nu": [0.376]}, 1), ({"pooled": [[0, 1]]}, 1),
                             ({"score": [0.5]}, 3), ({"pairs": [[0, 1], [1, 2]]}, 3), ({"pairs": [[1, 0], [0, 1]]}, 3)):
            with open(path + ".json", "w", encoding="utf-8") as out:
                json.dump([{**case, **change}], out)
            expect(path, code, change)
        if subprocess.run([ORACLE], capture_output=True, check=False).returncode != 2:
            raise AssertionError("no usage without a fixture")
    print(f"{len(CASES)} networks agree, and what was changed is told")


main()
