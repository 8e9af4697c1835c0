# SPDX-License-Identifier: Apache-2.0
# A file, standard input, a pipe and gzip give the same answer; the format does not depend on the name.
for model in models/ir/resnet50.xml models/resnet50.onnx; do
    "$BERTH" inspect --json "$SOURCE/$model" >file
    "$BERTH" inspect --json - <"$SOURCE/$model" | cmp - file
    cat "$SOURCE/$model" | "$BERTH" inspect --json - | cmp - file
    gzip -c "$SOURCE/$model" >packed
    "$BERTH" inspect --json packed | cmp - file
    "$BERTH" inspect --json - <packed | cmp - file
    cat packed | "$BERTH" inspect --json - | cmp - file
    cp "$SOURCE/$model" ./-odd.csv
    "$BERTH" inspect --json -- -odd.csv | cmp - file
done
"$BERTH" inspect - <packed | head -n 1
