# SPDX-License-Identifier: Apache-2.0
# -o writes the same bytes as standard output, replaces an old file, and leaves nothing beside it.
model=$SOURCE/models/ir/resnet50.xml
for form in --json --table --dot -q; do
    "$BERTH" inspect $form "$model" >expected
    "$BERTH" inspect $form "$model" -o result
    cmp expected result
    "$BERTH" inspect $form "$model" -o - | cmp - expected
    "$BERTH" inspect $form "$model" --output=/dev/stdout | cmp - expected
done
test "$(ls -A)" = "expected
result"
