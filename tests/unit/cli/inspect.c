/* SPDX-License-Identifier: Apache-2.0 */
/* The command under memory failure: whichever allocation is refused, it ends with exit code 4 and leaks nothing. */
#include "cli/inspect.h"

#include "cli/report.h"
#include "support.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static berth_status run_command(berth_ctx *ctx, void *user) {
    int code = cli_inspect.run(ctx, 4, user);
    return code == CLI_DONE ? BERTH_OK : code == CLI_RESOURCES ? BERTH_E_NOMEM : BERTH_E_ARG;
}

/* One refused allocation is one line on standard error: thousands, which nobody wants to read. */
static void climb(const char *form, const char *model) {
    char form_copy[16], path[4096], option[] = "-o", null[] = "/dev/null";
    snprintf(form_copy, sizeof form_copy, "%s", form);
    snprintf(path, sizeof path, "%s", support_source(model));
    char *argv[] = {form_copy, option, null, path};
    fflush(stderr);
    int kept = dup(STDERR_FILENO), quiet = open("/dev/null", O_WRONLY);
    assert_true(kept >= 0 && quiet >= 0 && dup2(quiet, STDERR_FILENO) >= 0);
    long n_allocations = support_ladder(run_command, argv, 97);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(quiet);
    assert_true(n_allocations > 50);
}

static void memory_ladder(void **state) {
    (void)state;
    static const char *const forms[] = {"-q", "--json", "--table", "--dot"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        climb(forms[i], "models/ir/resnet50.xml");
        climb(forms[i], "models/resnet50.onnx");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_ladder)};
    return cmocka_run_group_tests_name("cli.inspect", tests, NULL, NULL);
}
