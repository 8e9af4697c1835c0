# SPDX-License-Identifier: Apache-2.0
# Asked-for help goes to standard output; all ways to ask for it give the same.
"$BERTH" help
for way in -h --help; do
    "$BERTH" help >help
    "$BERTH" $way | cmp - help
done
"$BERTH" inspect --help >help
"$BERTH" help inspect | cmp - help
"$BERTH" inspect no such file --help | cmp - help
"$BERTH" help --help >/dev/null
"$BERTH" version --help >/dev/null
