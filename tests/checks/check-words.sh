# SPDX-License-Identifier: Apache-2.0
# Put together here, so that this file is not one of those that are refused.
for path in work/a home/me/b root/c Users/me/d; do
    refuses "path__${path//\//_}" notes.md <<<"see /$path for it"
done
home=home/me root=root/a
refuses path_at_the_start notes.md <<<"/$home"
refuses path_in_quotes src/graph/path.c <<<"const char *a = \"/$root\";"
refuses registry_host notes.md <<<'from https://pypi.org/simple'
refuses todo src/graph/todo.c <<<'/* TODO: write this */'
refuses fixme notes.md <<<'FIXME'
accepts todo_with_an_issue src/graph/todo.c <<<'/* TODO(#12): write this */'
accepts relative_paths notes.md <<<'src/work/a.c, ../home/b, build/root/c and a/work/b'
accepts longer_words notes.md <<<'TODOS and a HACKSAW'
