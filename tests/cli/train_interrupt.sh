# SPDX-License-Identifier: Apache-2.0
# Ctrl-C ends the training: what was learnt is kept and printed, exit code 130; going on gives the same as never stopping.
learn() { "$BERTH" train --generated layers:2 --episodes "$1" --evaluations 400 --threads 1 -q -o "$2" --resume --json; }
episodes=0
for pause in 2 8 32; do # on a busy machine no episode may end in so short a time
    rm -f some.ckpt
    env --default-signal=INT "$BERTH" train --generated layers:2 --episodes 1000000 --evaluations 400 --threads 1 -q \
        -o some.ckpt --resume --json >some.json &
    training=$!
    sleep $pause
    kill -INT $training
    code=0
    wait $training || code=$?
    test $code = 130
    episodes=$(sed -n 's/^  "episodes": \([0-9]*\),/\1/p' some.json)
    test "${episodes:-0}" -eq 0 || break
done
test "${episodes:-0}" -gt 0
learn $((episodes + 3)) some.ckpt >/dev/null
learn $((episodes + 3)) whole.ckpt >/dev/null
cmp some.ckpt whole.ckpt
