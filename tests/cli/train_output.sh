# SPDX-License-Identifier: Apache-2.0
# A policy that cannot be written is no bad input, and is told before the first of so many episodes; a file that cannot
# be read is. Neither leaves anything behind, or changes what was there.
try() {
    wanted=$1
    shift
    code=0
    timeout 60 "$BERTH" train --generated layers:1 --episodes 1000000000 --threads 1 "$@" >out || code=$?
    test $code = "$wanted"
    test ! -s out
}
mkdir folder
try 4 -o /dev/full
try 1 -o folder
try 1 -o missing/policy.ckpt
# shellcheck disable=SC3045 # every sh that tests run with has it
full() (
    ulimit -f 0
    exec timeout 60 "$BERTH" train --generated layers:1 --episodes 1000000000 --threads 1 -o policy.ckpt 2>&1
)
{ full || echo "exit $?"; } | cat >&2 # not under the limit
echo damaged >policy.ckpt
try 3 -o policy.ckpt --resume
try 3 -o policy.ckpt --policy missing.ckpt
test "$(cat policy.ckpt)" = damaged
rm out
test "$(ls -A)" = "folder
policy.ckpt"
