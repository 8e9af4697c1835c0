/* SPDX-License-Identifier: Apache-2.0 */
/* The child answers on a socket of its own; we poll the three channels and look at the limits between two looks. */
#include "base/child.h"

#include "base/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ; /* NOLINT(readability-redundant-declaration) */

enum { TICK_MS = 20, CHUNK = 1 << 16, NOT_STARTED = 127 };
static const double page_bytes = 4096;

typedef struct watch {
    berth_ctx *ctx;
    const berth_child_job *job;
    berth_child_result *result;
    pid_t pid;
    int input, answer, noise; /* our ends; -1: closed */
    size_t written;
    BERTH_VEC(char) bytes; /* of the answer */
    char words[BERTH_CHILD_WORDS];
    size_t n_words;
    double start;
} watch;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void shut(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* --- starting --------------------------------------------------------------------------------------------------- */

/* In the child, between fork and exec: nothing but system calls. */
static void become(const berth_child_job *job, char *const *environment, pid_t parent, int input, int answer,
                   int noise) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(NOT_STARTED);
    /* None of the ends may lie where another is to go. */
    int in = fcntl(input, F_DUPFD, 10), out = fcntl(answer, F_DUPFD, 10), other = fcntl(noise, F_DUPFD, 10);
    if (in < 0 || out < 0 || other < 0) _exit(NOT_STARTED);
    dup2(in, STDIN_FILENO);
    dup2(other, STDOUT_FILENO);
    dup2(other, STDERR_FILENO);
    dup2(out, BERTH_CHILD_ANSWER_FD);
    close(in);
    close(out);
    close(other);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    execve(job->argv[0], (char *const *)job->argv, environment);
    dprintf(STDERR_FILENO, "cannot start %s: %s\n", job->argv[0], strerror(errno));
    _exit(NOT_STARTED);
}

static bool has_name(const char *entry, const char *other) {
    size_t n = strcspn(entry, "=");
    return strncmp(entry, other, n) == 0 && other[n] == '=';
}

/* Ours, but for the names that the job gives. */
static char **make_environment(berth_arena *arena, const char *const *extra) {
    size_t n = 0, n_extra = 0, at = 0;
    while (environ[n]) n++;
    while (extra && extra[n_extra]) n_extra++;
    char **out = berth_arena_push(arena, n + n_extra + 1, sizeof *out);
    if (!out) return NULL;
    for (size_t i = 0; i < n; i++) {
        bool is_given = false;
        for (size_t k = 0; k < n_extra; k++) is_given |= has_name(extra[k], environ[i]);
        if (!is_given) out[at++] = environ[i];
    }
    for (size_t k = 0; k < n_extra; k++) out[at++] = (char *)extra[k];
    return out;
}

/* A socket rather than a pipe, because writing to one whose reader is gone need not raise a signal. Both ends are
 * closed in whatever else is started. */
static bool open_channel(int fds[2]) {
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0;
}

static berth_status start(watch *w, char *const *environment) {
    int input[2] = {-1, -1}, answer[2] = {-1, -1}, noise[2] = {-1, -1};
    pid_t parent = getpid();
    bool open = open_channel(input) && open_channel(answer) && open_channel(noise);
    w->start = now();
    if (open) w->pid = fork();
    if (open && w->pid == 0) become(w->job, environment, parent, input[1], answer[1], noise[1]);
    int error = errno;
    shut(&input[1]);
    shut(&answer[1]);
    shut(&noise[1]);
    w->input = input[0];
    w->answer = answer[0];
    w->noise = noise[0];
    if (!open || w->pid < 0) return berth_fail(w->ctx, BERTH_E_IO, "cannot start a process: %s", strerror(error));
    setpgid(w->pid, w->pid);
    fcntl(w->answer, F_SETFL, O_NONBLOCK);
    fcntl(w->noise, F_SETFL, O_NONBLOCK);
    return BERTH_OK;
}

/* --- watching --------------------------------------------------------------------------------------------------- */

static void feed(watch *w) {
    while (w->written < w->job->input_size) {
        ssize_t n =
            send(w->input, w->job->input + w->written, w->job->input_size - w->written, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (n < 0) break; /* it does not want to know */
        w->written += (size_t)n;
    }
    shut(&w->input);
}

/* False: no memory, or more than allowed (then the result says so). */
static bool take_answer(watch *w, const char *bytes, size_t n) {
    if (w->bytes.n + n > w->job->most_answer) {
        w->result->end = BERTH_CHILD_TOO_MUCH;
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (!berth_vec_push(berth_ctx_allocator(w->ctx), &w->bytes, bytes[i])) return false;
    return true;
}

/* Only the last line that is not empty is kept. */
static void take_noise(watch *w, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') {
            if (w->n_words > 0) {
                w->words[w->n_words] = 0;
                memcpy(w->result->words, w->words, w->n_words + 1);
            }
            w->n_words = 0;
        } else if (w->n_words + 1 < sizeof w->words) {
            w->words[w->n_words++] = bytes[i] >= ' ' || bytes[i] < 0 ? bytes[i] : ' ';
        }
    }
}

/* What there is to read; false: stop watching. */
static bool drain(watch *w, int *fd, bool is_answer) {
    char bytes[CHUNK];
    while (*fd >= 0) {
        ssize_t n = read(*fd, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        if (n <= 0) {
            shut(fd);
        } else if (is_answer) {
            if (!take_answer(w, bytes, (size_t)n)) return false;
        } else {
            take_noise(w, bytes, (size_t)n);
        }
    }
    return true;
}

static double resident_bytes(pid_t pid) {
    char path[64];
    double size = 0, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%lf %lf", &size, &resident) != 2) resident = 0;
    fclose(file);
    return resident * page_bytes;
}

/* Whether one of our limits ends it. */
static bool is_over(watch *w) {
    if (now() - w->start > w->job->seconds)
        w->result->end = BERTH_CHILD_TOO_LONG;
    else if (w->job->memory_bytes < INFINITY && resident_bytes(w->pid) > w->job->memory_bytes)
        w->result->end = BERTH_CHILD_TOO_LARGE;
    else if (berth_cancelled(w->ctx))
        w->result->end = BERTH_CHILD_CANCELLED;
    else
        return false;
    return true;
}

/* Until it closes its answer or has ended; false: it is to be ended. */
static bool attend(watch *w, int *status, struct rusage *usage, bool *ended) {
    while (!*ended) {
        struct pollfd fds[3] = {{w->answer, POLLIN, 0}, {w->noise, POLLIN, 0}, {w->input, POLLOUT, 0}};
        poll(fds, 3, TICK_MS);
        if (w->input >= 0) feed(w);
        if (!drain(w, &w->noise, false) || !drain(w, &w->answer, true)) return false;
        *ended = wait4(w->pid, status, WNOHANG, usage) == w->pid;
        if (!*ended && is_over(w)) return false;
    }
    return drain(w, &w->noise, false) && drain(w, &w->answer, true);
}

static void end(watch *w, int *status, struct rusage *usage, bool ended) {
    kill(-w->pid, SIGKILL); /* and whatever it left behind */
    if (ended) return;
    kill(w->pid, SIGKILL); /* if it had no group yet */
    while (wait4(w->pid, status, 0, usage) < 0 && errno == EINTR) continue;
}

static berth_status finish(watch *w, berth_arena *arena, int status, const struct rusage *usage, bool good) {
    berth_child_result *r = w->result;
    r->seconds = now() - w->start;
    r->peak_bytes = 1024.0 * (double)usage->ru_maxrss;
    if (w->n_words > 0) take_noise(w, "\n", 1);
    bool ours = r->end != BERTH_CHILD_EXITED;
    if (!good && !ours) return berth_fail_nomem(w->ctx);
    r->code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (!ours && WIFSIGNALED(status)) r->end = BERTH_CHILD_SIGNALLED;
    r->answer_size = w->bytes.n;
    r->answer = berth_arena_string(arena, w->bytes.items, w->bytes.n);
    if (!r->answer) return berth_fail_nomem(w->ctx);
    if (r->end == BERTH_CHILD_EXITED && r->code == NOT_STARTED)
        return berth_fail(w->ctx, BERTH_E_IO, "%s", *r->words ? r->words : "a process could not be started");
    return BERTH_OK;
}

berth_status berth_child_run(berth_ctx *ctx, berth_arena *arena, const berth_child_job *job,
                             berth_child_result *result) {
    watch w = {.ctx = ctx, .job = job, .result = result, .pid = -1};
    *result = (berth_child_result){0};
    char **environment = make_environment(arena, job->environment);
    if (!environment) return berth_fail_nomem(ctx);
    int status = 0;
    bool ended = false, good = false;
    struct rusage usage = {0};
    berth_status done = start(&w, environment);
    if (done == BERTH_OK) {
        good = attend(&w, &status, &usage, &ended);
        end(&w, &status, &usage, ended);
        done = finish(&w, arena, status, &usage, good);
    }
    shut(&w.input);
    shut(&w.answer);
    shut(&w.noise);
    berth_vec_free(berth_ctx_allocator(ctx), &w.bytes);
    return done;
}

void berth_child_describe(const berth_child_result *result, char *text, size_t size) {
    int n = 0;
    switch (result->end) {
    case BERTH_CHILD_EXITED: n = snprintf(text, size, "ended with status %d", result->code); break;
    case BERTH_CHILD_SIGNALLED:
        n = snprintf(text, size, "was ended by signal %d (%s)", result->code, strsignal(result->code));
        break;
    case BERTH_CHILD_TOO_LONG:
        n = snprintf(text, size, "took longer than its %.0f s and was ended", result->seconds);
        break;
    case BERTH_CHILD_TOO_LARGE: n = snprintf(text, size, "took more memory than allowed and was ended"); break;
    case BERTH_CHILD_TOO_MUCH: n = snprintf(text, size, "answered without end and was ended"); break;
    case BERTH_CHILD_CANCELLED: n = snprintf(text, size, "was ended because we are to stop"); break;
    }
    if (*result->words && n > 0 && (size_t)n < size) snprintf(text + n, size - (size_t)n, ": %s", result->words);
}
