# SPDX-License-Identifier: Apache-2.0
# Ctrl-C ends the search: the best answer so far is printed and written, exit code 130.
model=$SOURCE/models/inception_v3.onnx
env --default-signal=INT "$BERTH" place "$model" --devices cpu,gpu,igpu,npu --execution-model concurrent --budget 10m \
    -o plan.json --json >answer.json &
search=$!
sleep 3
kill -INT $search
code=0
wait $search || code=$?
test $code = 130
grep -q '"interrupted": true' answer.json
"$BERTH" simulate "$model" plan.json --json | grep makespan_ms >simulated
grep '"makespan_ms"' plan.json | head -1 | tr -d ' ,' >planned
tr -d ' ,' <simulated | cmp - planned
