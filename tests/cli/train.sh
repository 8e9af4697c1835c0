# SPDX-License-Identifier: Apache-2.0
# Learning on a model, a workload and generated graphs; going on; starting a search, and another training, from it.
cd "$SOURCE"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
show() { sed "s#$out#OUT#"; }
learn() { "$BERTH" train tests/golden/cnn.onnx tests/golden/topcuoglu.csv --generated layers:1 -o "$out/policy.ckpt" "$@" | show; }
learn --episodes 4 --evaluations 100
learn --episodes 6 --evaluations 100 --resume
learn --episodes 6 --evaluations 100 --resume
"$BERTH" train tests/golden/cnn.onnx --policy "$out/policy.ckpt" -o "$out/other.ckpt" --episodes 1 --evaluations 50 | show
"$BERTH" place tests/golden/topcuoglu.csv -m hsdag --policy "$out/policy.ckpt" --set candidates=16 --evaluations 300 \
    -o "$out/plan.json" | show
grep -E '"(method|candidates|learning_rate|seeds|source|policy_sha256)"' "$out/plan.json" | sed 's/: "[0-9a-f]\{64\}"/: "..."/'
