# SPDX-License-Identifier: Apache-2.0
# Bad input is 3, what cannot be satisfied 5; each with one line.
model=$SOURCE/tests/golden/cnn.onnx
try() {
    code=0
    wanted=$1
    shift
    "$BERTH" "$@" >out 2>err || code=$?
    sed "s|$SOURCE/||g" err >&2
    test $code = "$wanted"
    test ! -s out
}
try 3 place missing.onnx
try 3 place "$model" --devices ./missing.json
printf '{"schema": 1, "devices": [{"name": "a"' >cut.json
try 3 place "$model" --devices cut.json
printf '{"schema": 1, "devices": [{"name": "a", "profile": "cpu", "launch_ms": -1}]}' >negative.json
try 3 place "$model" --devices negative.json
printf '{"schema": 1, "devices": [{"name": "a", "profile": "cpu", "launch_ms": NaN}]}' >nan.json
try 3 place "$model" --devices nan.json
try 3 place "$model" --profile missing.json
try 5 place "$model" --pin 'Conv=cpu' --pin 'Conv=gpu'
try 5 place "$model" --ban 'Conv=cpu' --ban 'Conv=gpu'
try 5 place "$model" --pin 'Conv=cpu' --pin 'Relu=gpu' --together '*'
try 5 place "$model" --memory cpu=1 --memory gpu=1
"$BERTH" place "$model" --method greedy -o plan.json >out
try 3 simulate "$SOURCE/models/resnet50.onnx" plan.json
try 3 simulate "$SOURCE/models/resnet50.onnx" plan.json --force
try 3 simulate "$model" missing.json
sed 's/"schema": 1/"schema": 9/' plan.json >other.json
try 3 simulate "$model" other.json
sed 's/"device": "[a-z]*"}/"device": "tpu"}/' plan.json >other.json
try 3 simulate "$model" other.json
sed 's/^  "piece_ms": [0-9.]*/  "piece_ms": 1e308/' plan.json >other.json
try 3 simulate "$model" other.json
head -c 500 plan.json >other.json
try 3 simulate "$model" other.json
