# SPDX-License-Identifier: Apache-2.0
refuses indentation src/base/three.c <<<'int three(void) { int x=3; return x; }'
refuses indentation_in_tests tests/unit/base/three.c <<<'int  three;'
accepts other_languages notes.txt <<<'int  three;'
