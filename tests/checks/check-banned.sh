# SPDX-License-Identifier: Apache-2.0
for call in malloc calloc realloc free atoi atol strcpy strcat sprintf vsprintf gets rand srand exit abort strtok \
    setlocale alloca; do
    refuses "$call" src/graph/bad.c <<<"void f(void) { $call(0); }"
done
refuses as_a_value src/graph/bad.c <<<'void (*f)(void *) = free;'
refuses first_in_line src/graph/bad.c <<<'malloc (3);'
refuses after_a_comment src/graph/bad.c <<<'int a; /* b */ int *c = malloc(3); /* d */'
refuses after_a_string src/graph/bad.c <<<'int *c = f("\"//") + malloc(3);'
refuses unsafe_elsewhere bench/bad.c <<<'void f(char *a) { strcpy(a, "b"); }'
accepts the_one_door src/base/ctx.c <<<'void f(void *p) { free(p); }'
accepts malloc_elsewhere bench/good.c <<<'void f(void *p) { free(p); }'
accepts anything_in_tests tests/unit/base/good.c <<<'void f(void *p) { free(p); }'
accepts comments src/graph/good.c <<<'/* free(p) is not ours to call */ int a; // malloc(3)'
accepts strings src/graph/good.c <<<'const char *a = "exit(1)";'
accepts longer_names src/graph/good.c <<<'void berth_graph_free(int exit_code); int free_ops;'
accepts members src/graph/good.c <<<'int f(struct a *a) { return a->free + a->b.exit; }'
accepts comment_of_two_lines src/graph/good.c <<'END'
/* Here we free(p),
 * then abort(). */
int a;
END
