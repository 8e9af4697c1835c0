# SPDX-License-Identifier: Apache-2.0
# Every learned method by its name; its settings are said with -v and stand in the plan; equal runs give equal plans.
cd "$SOURCE"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
model=tests/golden/topcuoglu.csv
for method in hsdag hsdag:paper hsdag:code placeto rnn; do
    case $method in hsdag:*) set -- --set ban_single=off ;; *) set -- ;; esac
    "$BERTH" place $model -m $method "$@" --evaluations 200 -o "$out/$method.json" --threads 1 | grep 'found by'
    "$BERTH" place $model -m $method "$@" --evaluations 200 -o "$out/again.json" --threads 2 >"$out/log"
    cmp "$out/$method.json" "$out/again.json"
    "$BERTH" simulate $model "$out/$method.json" --json | grep makespan_ms | tr -d ' ,' >"$out/simulated"
    grep -m1 makespan_ms "$out/$method.json" | tr -d ' ,' | cmp - "$out/simulated"
done
"$BERTH" place $model -m rnn --set learning_rate=0.125 --evaluations 20 -v 2>&1 >"$out/log" | grep '^berth: rnn: '
