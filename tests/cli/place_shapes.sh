# SPDX-License-Identifier: Apache-2.0
# One plan for several shapes of an input, each with its weight, and what it loses with each.
cat >product.xml <<'END'
<net name="product" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="?,1024" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>-1</dim><dim>1024</dim></port></output>
    </layer>
    <layer id="1" name="w" type="Const" version="opset1">
      <data element_type="f32" shape="1024,1024" offset="0" size="4194304"/>
      <output><port id="0" precision="FP32"><dim>1024</dim><dim>1024</dim></port></output>
    </layer>
    <layer id="2" name="product" type="MatMul" version="opset1">
      <data transpose_a="false" transpose_b="false"/>
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>1024</dim></port><port id="1" precision="FP32"><dim>1024</dim><dim>1024</dim></port></input>
      <output><port id="2" precision="FP32"><dim>-1</dim><dim>1024</dim></port></output>
    </layer>
    <layer id="3" name="y" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>1024</dim></port></input>
    </layer>
  </layers>
  <edges>
    <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
    <edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>
    <edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
  </edges>
</net>
END
model=product.xml
"$BERTH" place "$model" --devices cpu,gpu --method exact --shape x=1x1024@0.7 --shape x=65536x1024@0.3 -o plan.json |
    grep -A1 '^shapes'
grep -c '"loss"' plan.json
# Only ratios of weights matter, whatever their size.
for one in 1 1e308 1e-300; do
    "$BERTH" place "$model" -q --devices cpu,gpu --method exact --shape x=1x1024@$one --shape x=65536x1024@$one \
        -o huge.json | grep -A1 '^shapes'
done
"$BERTH" simulate "$model" plan.json >/dev/null # a plan for the first of them
try() {
    code=0
    "$BERTH" "$@" || code=$?
    echo "exit $code" >&2
}
try place "$model" --shape x=1x1024@0
try place "$model" --shape x=1x1024@1.5x
try place "$model" --shape x=1x1024@
try place "$model" --shape x=1x1024 --shape x=2x1024 --shape y=1 --shape y=1 --shape y=1
try place "$model" --shape x=1x1024@1e300 --shape x=2x1024@1e-300
try inspect "$model" --shape x=1x1024@0.5
