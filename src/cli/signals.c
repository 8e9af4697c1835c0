/* SPDX-License-Identifier: Apache-2.0 */
/* A signal handler can only reach a global: the one flag below is the only mutable global of the program. */
#include "cli/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number) {
    (void)signal_number;
    interrupted = 1;
}

/* A closed standard stream would give its number to the next file opened, and the result would be written into that.
 * Occupy it with something that refuses, so that the failure is seen where the stream is used. */
static void occupy_closed_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) == -1) return;
}

void cli_signals_install(void) {
    occupy_closed_streams();
    signal(SIGPIPE, SIG_IGN); /* a broken pipe is a failed write, reported as one */
    signal(SIGXFSZ, SIG_IGN); /* so is a file that would be larger than allowed */
    struct sigaction old, action = {.sa_handler = note_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    /* A shell that starts us in the background has SIGINT ignored, and means it. */
    if (sigaction(SIGINT, NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(SIGINT, &action, NULL);
}

bool cli_interrupted(void *user) {
    (void)user;
    return interrupted;
}
