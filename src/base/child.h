/* SPDX-License-Identifier: Apache-2.0 */
/* A program in a process of its own, watched until it ends: for work that may crash, hang or eat all memory.
 *
 * It gets its input on standard input and answers on file descriptor 3. What it prints besides, on standard output and
 * standard error, is noise, of which the last line is kept for messages. It has a process group of its own, so that
 * whatever it started ends with it, and it ends with us. */
#ifndef BERTH_BASE_CHILD_H
#define BERTH_BASE_CHILD_H

#include "base/arena.h"

enum { BERTH_CHILD_ANSWER_FD = 3, BERTH_CHILD_WORDS = 400 };

typedef struct berth_child_job {
    const char *const *argv; /* argv[0] is the path; NULL ends it */
    const char *input;
    size_t input_size;
    const char *const *environment; /* "NAME=value" beside our own, NULL ends it; or NULL */
    double seconds;                 /* until it is ended; INFINITY: no limit */
    double memory_bytes;            /* resident, until it is ended; INFINITY: no limit */
    size_t most_answer;             /* bytes; more are refused */
} berth_child_job;

typedef enum berth_child_end {
    BERTH_CHILD_EXITED,
    BERTH_CHILD_SIGNALLED, /* it crashed, or someone ended it */
    BERTH_CHILD_TOO_LONG,  /* ended by us, as the others */
    BERTH_CHILD_TOO_LARGE,
    BERTH_CHILD_TOO_MUCH, /* the answer */
    BERTH_CHILD_CANCELLED,
} berth_child_end;

typedef struct berth_child_result {
    berth_child_end end;
    int code;           /* exit status, or signal */
    const char *answer; /* in the arena, with a NUL behind it */
    size_t answer_size;
    double seconds;
    double peak_bytes;             /* resident, as the system counted it */
    char words[BERTH_CHILD_WORDS]; /* the last line that it said, "" if none */
} berth_child_result;

/* However the child ends, that is the result, and BERTH_OK. BERTH_E_IO: it could not be started; BERTH_E_NOMEM. */
berth_status berth_child_run(berth_ctx *ctx, berth_arena *arena, const berth_child_job *job,
                             berth_child_result *result);

/* How it ended, in a few words: "crashed (SIGSEGV): <last line>". */
void berth_child_describe(const berth_child_result *result, char *text, size_t size);

#endif
