# SPDX-License-Identifier: Apache-2.0
# Killed at any moment, again and again, the file can be loaded, and in the end it is the same as without.
episodes=40
[ "${BERTH_TEST_SHARE:-1}" -le 4 ] || episodes=15 # a slower build
set -- train --generated all:4 --seed 5 --episodes $episodes --evaluations 300 --threads 1 -q -o
"$BERTH" "$@" whole.ckpt >log
kills=0
for pause in 1.3 2.0 1.7 1.1; do
    "$BERTH" "$@" killed.ckpt --resume >log &
    training=$!
    sleep $pause
    kill -9 $training 2>>log || break # it was done
    code=0
    { wait $training; } 2>>log || code=$?
    test $code = 137 || break
    kills=$((kills + 1))
    [ ! -e killed.ckpt ] || "$BERTH" place "$SOURCE/tests/golden/topcuoglu.csv" -m hsdag --policy killed.ckpt --evaluations 50 >log
done
"$BERTH" "$@" killed.ckpt --resume >log
cmp whole.ckpt killed.ckpt
test $kills -gt 0
