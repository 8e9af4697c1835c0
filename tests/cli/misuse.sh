# SPDX-License-Identifier: Apache-2.0
# Two lines on standard error and exit code 2.
try() {
    code=0
    echo "\$ berth $*" >&2
    "$BERTH" "$@" || code=$?
    test $code = 2
}
try
try inspekt
try frobnicate
try --frobnicate
try help frobnicate
try version now
try inspect
try inspect one two
try inspect --jsn model
try inspect -x model
try inspect --json=yes model
try inspect --json --table model
try inspect --table --dot model
try inspect model --output
try inspect model --shape
try inspect model --shape input
try inspect model --shape input=1x-1
try inspect model --shape input=1x3 --shape =3
try inspect "$(printf 'two\nlines')" "$(printf 'tab\tand\033[31m')"
