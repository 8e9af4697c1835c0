# SPDX-License-Identifier: Apache-2.0
function_of() { # LINES
    echo 'static int f(int a) {'
    lines $(($1 - 3)) '    a++;'
    echo '    return a;'
    echo '}'
}
refuses long_function src/graph/long.c < <(function_of 81)
accepts function_at_the_limit src/graph/long.c < <(function_of 80)
refuses function_after_others bench/long.c < <(function_of 20; function_of 30; function_of 90)
refuses long_file src/graph/long.c < <(lines 801 'extern int a;')
accepts file_at_the_limit src/graph/long.c < <(lines 800 'extern int a;')
refuses long_header src/graph/long.h < <(lines 801 'extern int a;')
accepts tests_may_be_long tests/unit/graph/long.c < <(function_of 900)
refuses long_folder_readme src/graph/README.md < <(lines 21 text)
accepts short_folder_readme src/graph/README.md < <(lines 20 text)
accepts long_top_readme README.md < <(lines 100 text)
