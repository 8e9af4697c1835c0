# SPDX-License-Identifier: Apache-2.0
# Names may hold anything: each form keeps them on their line and quotes them by its own rules.
cat >names.xml <<'END'
<net name="a &quot;b&quot; \N &amp;lt; &#9;" version="11">
  <layers>
    <layer id="0" name="tab&#9;line&#10;&quot;quoted&quot;\" type="Parameter" version="opset1">
      <data shape="1" element_type="f32"/>
      <output><port id="0" precision="FP32"><dim>1</dim></port></output>
    </layer>
    <layer id="1" name="ü&#x9b;31m &amp;amp;" type="Result" version="opset1">
      <input><port id="0" precision="FP32"><dim>1</dim></port></input>
    </layer>
  </layers>
  <edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/></edges>
</net>
END
"$BERTH" inspect names.xml | grep -v -e types -e fingerprint
"$BERTH" inspect --table names.xml | cut -f 1-3,5
"$BERTH" inspect --json names.xml | grep '"name"'
"$BERTH" inspect --dot names.xml
