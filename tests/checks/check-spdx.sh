# SPDX-License-Identifier: Apache-2.0
spdx='SPDX-License-Identifier: Apache-2.0'
refuses no_line src/graph/bare.c <<<'int a;'
refuses no_line_in_python tests/oracle/bare.py <<<'a = 1'
refuses no_line_in_script scripts/bare < <(printf '#!/bin/sh\ntrue\n')
refuses another_licence src/graph/other.c < <(printf '/* SPDX-License-Identifier: MIT */\n/* A. */\n')
refuses no_paragraph src/graph/silent.c < <(printf '/* %s */\nint a;\n' "$spdx")
accepts paragraph src/graph/good.c < <(printf '/* %s */\n/* What a is for. */\nint a;\n' "$spdx")
accepts script_with_a_line scripts/good < <(printf '#!/bin/sh\n# %s\n' "$spdx")
accepts list_of_files src/graph/sources.cmake <<<'target_sources(a PRIVATE b.c)'
accepts test_of_the_command tests/cli/a.sh <<<'true'
