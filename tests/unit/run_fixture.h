/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Runs over the fake backend, from the command line's words to the results. Its virtual time is
 * exact: the right answers follow from what its operations cost (fake_backend.h). A byte takes an
 * engine 1 ns, and the n-th queue of a device is n times as slow as the first.
 *
 * The host's clock goes on by itself here, but a test can also put it forward. Every warm-up sample
 * does: with the 10 ms that start() gives a case, one warm-up sample is enough.
 */
#include "backends/registry.h"
#include "doubles/fake_backend.h"
#include "measure/run.h"
#include "run/request.h"
#include "testing.h"

#include <math.h>
#include <stdatomic.h>

#define MIB 1048576.0
/* What a chunk of 1 MiB takes a copy engine by the first queue. */
#define CHUNK_S (MIB * XB_FAKE_SECONDS_PER_BYTE)

/* ---- the clock: clock_gettime() is run_clock.c's, in the whole program ---- */

/* How far the clock is put forward. */
extern atomic_llong clock_ahead_ns;
/* For the thread that calls: from now on a look at the clock takes 1 us, and else it shows what
 * `seconds` tells. Until it is called with NULL. */
void clock_be_virtual(double (*seconds)(void));

/* An observer's callback, which others call first. */
void hurry(void *argument, const struct xb_run *run, size_t samples, double bandwidth);

/* ---- the backend ---- */

/* What runs are made with: a copy of the fake's table, in which a test replaces functions. */
extern struct xb_backend altered_backend;
extern const struct xb_backend *fixture_backend; /* &altered_backend, but for HIP's own tests */

enum side { SIDE_UNKNOWN, SIDE_HOST, SIDE_DEVICE };

/* What it does in another way than the fake. Devices are counted from 1; 0: none. */
extern struct altered {
    unsigned copies;          /* that stand for one; 0: one */
    unsigned mapped_copies;   /* kernels that stand for one to or from host memory; 0: one */
    unsigned broken_device;   /* whose copies do nothing */
    unsigned slow_device;     /* whose copies take twice as long */
    unsigned broken_peer;     /* to which peer copies do nothing */
    unsigned pageable_copies; /* that stand for one of pageable memory; 0: as of any */
    unsigned whole_copies[2]; /* the same of all of a page-locked buffer, in turn */
    double allocate_s; /* what it takes the host to make a page-locked buffer of 1 MiB or more, */
    double register_s; /* to make such a one and register it, */
    double lock_s;     /* to register what is there, */
    double free_s;     /* and to free any */
    bool host_clock;   /* events carry the host's clock */
    bool engine_by_history;   /* the runtime chooses engines by what ran before */
    bool copies_get_slower;   /* each takes one copy longer than the one before */
    unsigned slow_buffers[8]; /* copies to or from the n-th registered buffer take so many times as
                                 long; 0: once */
    unsigned most_buffers;    /* registered ones that there is memory for; 0: any number */
    unsigned wrong_copy;      /* the so-many-th with registered memory does nothing; 0: none */
    unsigned event_times;     /* as long as they are, the events say; 0: once */
    unsigned fault_times; /* as long lists of pieces take whose pages are on the host; 0: once */
    unsigned wrong_piece; /* lists of pieces write 8 bytes more, at this place; 0: nowhere */
    enum side pages;      /* where a prefetch has put them */
    unsigned vain_to_device, vain_to_host; /* prefetches that found the pages there */
    unsigned copies_seen, registered_copies, registered_buffers, blocking_queues;
} altered;

/* Has all that is done with queues written to that stream, a line each, its queues, buffers and
 * events numbered as they come; until it is called with NULL. */
void note_steps(FILE *stream);

/* Has the n-th call of the fake's table fail that comes from now on. Of all of them, more coarsely
 * as they repeat themselves, until none is met:
 *
 *     for (unsigned n = 1; n > 0; n = next_failing(n, 1 + n / 8)) {
 *         plan_line(&f, ...);
 *         fail_call(n);
 */
void fail_call(unsigned n);
unsigned next_failing(unsigned n, unsigned step);

/* ---- a run ---- */

struct fixture {
    struct xb_config config;
    struct xb_run run;
};

/* Plans the run. Two samples a case and 1 ms of warm-up where nothing else is said. */
enum xb_status start(struct fixture *f, const char *const *arguments, struct xb_error *error);
void plan(struct fixture *f, const char *const *arguments);
/* Measures what is planned. An observer of NULL hurries. */
void go(struct fixture *f, const struct xb_run_observer *observer);
void execute(struct fixture *f, const char *const *arguments,
             const struct xb_run_observer *observer);
/* Releases the run, which must have left nothing behind. */
void finish(struct fixture *f);

/* By one text, whose words are apart by single spaces. */
void plan_line(struct fixture *f, const char *format, ...) __attribute__((format(printf, 2, 3)));
void run_line(struct fixture *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define PLAN(f, ...) plan((f), WORDS(__VA_ARGS__))
#define RUN(f, ...) execute((f), WORDS(__VA_ARGS__), NULL)

/* Runs the planned cases by a copy of their mode, in which the test has replaced functions. */
struct xb_mode *replace_mode(struct fixture *f);

/* On a machine with one NUMA node, and memory enough: to look at the one that this is takes longer
 * than a short run does else, a hundred files for hwloc and a few for the memory of each buffer. */
void describe_machine(void);

/* Sets up a test: the fake as it is, the altered one like it. reset_fake(): once more within it. */
void reset_fake(void);
int reset(void **state);

#define RUN_TEST(name) TEST_WITH(name, reset, NULL)

/* ---- looking at results ---- */

/* What is ok was verified, too. */
void expect_status(const struct xb_result *result, enum xb_result_status status);
void expect_all(const struct fixture *f, enum xb_result_status status);
void expect_reason(const struct xb_result *result, enum xb_result_status status, const char *part);
/* The proof found wrong bytes in each. */
void expect_all_wrong(const struct fixture *f);
bool warns(const struct xb_result *result, const char *part);

/* Equal but for rounding: virtual times are sums and differences of doubles. */
void expect_near(double actual, double expected, const char *what);
/* NULL for none. */
const struct xb_result_figure *figure_of(const struct xb_result *result, const char *name);
/* Every sample of the figure is that. */
void expect_samples(const struct xb_result *result, const char *name, double value);
/* The figure was computed, and is that. */
void expect_computed(const struct xb_result *result, const char *name, double value);
/* NAN for none. */
double detail_number(const struct xb_result *result, const char *key);
void expect_number(const struct xb_result *result, const char *key, double number);
/* "" for none. */
const char *detail(const struct xb_result *result, const char *key);
