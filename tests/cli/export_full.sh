# SPDX-License-Identifier: Apache-2.0
# A disk without room, or a limit on the size of files: one line, exit status 4, and nothing is left behind.
model=$SOURCE/models/mobilenet_v3_large.onnx
"$BERTH" place -q "$model" --devices cpu,gpu --method single -o plan.json >/dev/null
mkdir out
try() {
    code=0
    "$BERTH" "$@" || code=$?
    echo "exit $code" >&2
    test -z "$(ls -A out)"
}
# shellcheck disable=SC3045 # every sh that tests run with has it
(
    ulimit -f 16
    try export "$model" plan.json --to onnx -o out/placed.onnx
    try export "$model" plan.json --to json -o out/placed.json
    try place "$model" --devices cpu,gpu --method single -o out/plan.json
)
try export "$model" plan.json --to json -o /dev/full
