# SPDX-License-Identifier: Apache-2.0
# --shape binds what the file leaves open, and only that.
cat >dynamic.xml <<'END'
<net name="dynamic" version="11">
  <layers>
    <layer id="0" name="x" type="Parameter" version="opset1">
      <data shape="?,3,1..8" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim><dim>-1</dim></port></output>
    </layer>
    <layer id="1" name="out" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>3</dim><dim>-1</dim></port></input>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
</net>
END
"$BERTH" inspect dynamic.xml | grep -E '^(shapes|inputs)'
"$BERTH" inspect --shape x=2x3x8 dynamic.xml | grep -E '^(shapes|inputs)'
try() {
    code=0
    "$BERTH" inspect dynamic.xml "$@" || code=$?
    test $code = 2
}
try --shape y=1
try --shape x=2x3
try --shape x=2x4x8
# What the file fixes may be said again, but not changed.
cd "$SOURCE/models"
"$BERTH" inspect --shape input.1=1x128 --shape attention_mask.1=1x128 bert_base.onnx | grep -A 1 '^inputs'
code=0
"$BERTH" inspect --shape input.1=1x128 --shape attention_mask.1=2x128 bert_base.onnx || code=$?
test $code = 2
