# SPDX-License-Identifier: Apache-2.0
# A plan's timeline; and that every makespan is the one that `place` printed, to the last digit.
cd "$SOURCE"
plan=$OLDPWD/plan.json
"$BERTH" place tests/golden/topcuoglu.csv --method heft -o "$plan" >/dev/null
"$BERTH" simulate tests/golden/topcuoglu.csv "$plan"
"$BERTH" simulate tests/golden/topcuoglu.csv - --json <"$plan" | head -20
set -- models/*.onnx models/ir/*.xml
[ "${BERTH_TEST_SHARE:-1}" -le 4 ] || set -- models/googlenet.onnx models/ir/resnet50.xml models/ir/bert_base.xml # a slower build
for model; do
    for execution in serial queued concurrent contiguous; do
        "$BERTH" place "$model" --devices cpu,gpu,igpu,npu --execution-model $execution --evaluations 60 -o "$plan" \
            --json | grep '"makespan_ms"' | head -1 | tr -d ' ,' >"$OLDPWD/planned"
        "$BERTH" simulate "$model" "$plan" --json | grep '"makespan_ms"' | tr -d ' ,' | cmp - "$OLDPWD/planned"
    done
done
