# SPDX-License-Identifier: Apache-2.0
# A study in two parts, its report as a table and as JSON, and nothing run twice.
study() {
    "$BERTH" bench learn --models "$SOURCE/models" --evaluations 120 --seeds 2 -w layers/4/serial -w googlenet \
        --arm hsdag --arm 'hsdag, rate 0' --arm 'seeds + anneal' --arm greedy "$@"
}
study --part 1/2 -r one.jsonl >/dev/null
study --part 2/2 -r two.jsonl >/dev/null
cat one.jsonl two.jsonl | wc -l
study -r one.jsonl -r two.jsonl
cat one.jsonl two.jsonl | wc -l
study --report -r one.jsonl -r two.jsonl --json | grep -E '"(suite|runs|tie|state)"'
