# SPDX-License-Identifier: Apache-2.0
# What the documents show is what the command prints.
for file in README.md docs/architecture.md docs/formats.md; do
    "$SOURCE/scripts/run-docs" "$BERTH" "$SOURCE/$file" | diff -u "$SOURCE/$file" -
done
"$SOURCE/scripts/list-options" "$BERTH" | diff -u "$SOURCE/docs/options.md" -
# Links within the tree lead somewhere.
cd "$SOURCE"
for file in README.md docs/*.md; do
    grep -oE '\]\([^)#: ]+\)' "$file" | sed 's/^](//; s/)$//' | while read -r link; do
        test -e "$(dirname "$file")/$link" || echo "$file: $link does not exist"
    done
done
