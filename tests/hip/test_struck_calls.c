/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * With HIP: each call of the runtime fails, once or from then on. The rows say so, or it changes no
 * figure. In one process, one run after the other: a process for each of these runs would take ten
 * times as long. What the kernels' compiler is asked fails in test_failing_calls.py: it is a
 * process of its own.
 */

#include "../unit/testing.h"
#include <regex.h>

#include "../doubles/hip_cpu/control.h"
#include "../unit/run_fixture.h"
#include "../unit/sanitized.h"
#include "backends/hip/library.h"

extern const struct xb_backend xb_hip_backend;

/* From one call that fails to the next: each call in every other kind of row, and with a sanitizer,
 * which makes each run several times as long, in every tenth. */
#define STEP (IS_SANITIZED ? 10 : 2)

/* A row of every kind of work: one each, so that what is closed is closed at the end alone. */
#define ROW_LIST(X)                                                                                \
    X(PAGEABLE, "--mode=pageable --staging=driver --direction=h2d")                                \
    X(REGISTERED, "--mode=pinned --direction=h2d")                                                 \
    X(ALLOC, "--mode=pinned --direction=d2h --host-memory=alloc")                                  \
    X(ASYNC, "--mode=async --direction=bidir")                                                     \
    X(DOUBLE_BUFFER, "--mode=double-buffer")                                                       \
    X(ZERO_COPY, "--mode=zero-copy --direction=d2h")                                               \
    X(FAULT, "--mode=managed --direction=d2h --managed=fault")                                     \
    X(PREFETCH, "--mode=managed --direction=h2d --managed=prefetch")                               \
    X(ADVISE, "--mode=managed --direction=h2d --managed=advise")                                   \
    X(DIRECT, "--mode=peer --pairs=0:1 --peer-path=direct-read --direction=d2d")                   \
    X(STAGED, "--mode=peer --pairs=0:1 --peer-path=staged --direction=bidir")                      \
    X(BY_CALL, "--mode=batch --batch=call --direction=h2d")                                        \
    X(BY_GRAPH, "--mode=batch --batch=graph --direction=d2h")                                      \
    X(PITCHED, "--mode=batch --batch=pitched --layout=rows --direction=h2d")                       \
    X(QUANTIZED, "--mode=quantize --to=fp16 --encode-chunk=4K --threads=1")                        \
    X(LOCKED, "--mode=pin --pin-by=used --direction=h2d")                                          \
    X(SYNCHRONOUS, "--mode=pinned --direction=h2d --call=sync")                                    \
    X(POOLED, "--mode=pinned --direction=h2d --gpu-memory=pool")                                   \
    X(ALL, "--mode=all") /* many rows */                                                           \
    X(ASYNC_D2H, "--mode=async --direction=d2h")
#define ROW_NAME(name, words) name,
#define ROW_TEXT(name, words) words,
enum row { ROW_LIST(ROW_NAME) COUNT, ROWS = ALL };
static const char *const words_of[] = {ROW_LIST(ROW_TEXT)};

/* Which call of a function fails. */
struct strike {
    enum row row;
    const char *call;
    unsigned long number;
    bool repeated; /* and all behind it */
};

/* What comes of a run; `fixture` has its rows. */
struct outcome {
    struct strike strike;
    struct fixture fixture;
    enum xb_status opened;
    struct xb_error error;  /* where it was not opened */
    unsigned long made;     /* calls of strike.call */
    unsigned long in_use;   /* struck calls of CLOSING that closed nothing */
    bool keeps_access;      /* it was to take a device's access to another back, and could not */
    size_t errors, skipped; /* rows */
};

static void progress(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    (void)argument;
    (void)run;
    (void)samples;
    (void)bandwidth;
}

static void run(struct outcome *outcome, enum row row)
{
    const struct xb_run_observer observer = {.progress = progress};
    const char *words[16] = {"--size=64K", "--samples=1", "--time-limit=1us", "--warm-up", "1us"};
    char text[96];
    char *rest = text;
    snprintf(text, sizeof text, "%s", words_of[row]);
    for (size_t i = 5; (words[i] = strtok_r(rest, " ", &rest)) != NULL;)
        i++;
    describe_machine(); /* each time: the mode pin has the host's memory checked from then on */
    standin_begin_anew();
    outcome->opened = start(&outcome->fixture, words, &outcome->error);
    if (outcome->opened == XB_OK)
        go(&outcome->fixture, &observer);
    outcome->in_use = standin_struck_in_use();
    outcome->keeps_access = standin_calls_of("hipDeviceDisablePeerAccess") <
                            standin_calls_of("hipDeviceEnablePeerAccess");
    outcome->errors = outcome->skipped = 0;
    const struct xb_run *done = &outcome->fixture.run;
    for (size_t i = 0; i < done->case_count; i++) {
        outcome->errors += done->results[i].row.status == XB_RESULT_ERROR;
        outcome->skipped += done->results[i].row.status == XB_RESULT_SKIPPED;
    }
}

static void leave(struct outcome *outcome)
{
    finish(&outcome->fixture);
    assert_int_equal(standin_left(), 0);
}

static void check_all_ok(const struct outcome *outcome)
{
    const struct xb_run *done = &outcome->fixture.run;
    assert_int_equal(outcome->opened, XB_OK);
    expect_all(&outcome->fixture, XB_RESULT_OK);
    assert_true(done->case_count > 0);
    for (size_t i = 0; i < done->case_count; i++)
        assert_int_equal(done->results[i].row.verified, XB_VERIFIED_TRUE);
}

/* How often the row makes each of xb_hip_symbols where nothing fails. */
static unsigned long made[COUNT][64];

static void count_calls(enum row row)
{
    struct outcome outcome = {.opened = XB_OK};
    run(&outcome, row);
    check_all_ok(&outcome);
    assert_true(xb_hip_symbol_count <= COUNT_OF(made[row]));
    for (size_t i = 0; i < xb_hip_symbol_count; i++)
        made[row][i] = standin_calls_of(xb_hip_symbols[i].name);
    leave(&outcome);
}

static unsigned long calls_made(enum row row, const char *call)
{
    for (size_t i = 0; i < xb_hip_symbol_count; i++)
        if (strcmp(xb_hip_symbols[i].name, call) == 0)
            return made[row][i];
    fail_msg("the backend knows no %s", call);
    return 0;
}

static void strike_once(struct outcome *outcome)
{
    const struct strike *strike = &outcome->strike;
    char failing[96];
    snprintf(failing, sizeof failing, "%s:%lu%s", strike->call, strike->number,
             strike->repeated ? "+" : "");
    assert_int_equal(setenv("XB_STANDIN_FAIL", failing, 1), 0);
    run(outcome, strike->row);
    assert_int_equal(unsetenv("XB_STANDIN_FAIL"), 0);
    outcome->made = standin_calls_of(strike->call);
}

/* Has the call fail. How often the hot ones are made hangs on the machine's speed: where this run
 * made fewer, an earlier one is struck. */
static void strike(struct outcome *outcome)
{
    for (int attempt = 0; attempt < 10; attempt++) {
        strike_once(outcome);
        if (outcome->made >= outcome->strike.number)
            return;
        leave(outcome);
        outcome->strike.number = outcome->made > 1 ? outcome->made * 3 / 4 : 1;
    }
    fail_msg("%s was never struck", outcome->strike.call);
}

/* ---- what a failure may do ---- */

enum nature {
    /* Nobody is left to be told: what was measured is measured, and nothing can be done about it.
     */
    TEARDOWN = 1,
    /* Something to be told of a device or a pair, which is then not told. */
    FACT = 2,
    /* Who closes something also selects its device and waits for it: the stand-in tells these calls
     * from the others. */
    CLOSES = 4,
    /* Without the architecture there are no kernels; rows without kernels stay. */
    OF_KERNELS = 8,
    /* Asked when the run is planned, and again when the device is opened: the second counts. */
    ASKED_TWICE = 16,
    OF_MODULES = 32,
    /* What is called alike in every row, before it: tried in some. */
    BEFORE_ROWS = 64,
    /* No call of a device, one that stands in for another, or the compiler's. */
    IN_NO_ROW = 128,
};

/* What calls are whose names begin so. */
static const struct {
    const char *prefix;
    unsigned nature;
} natures[] = {
    {"hipFree", TEARDOWN},
    {"hipHostFree", TEARDOWN},
    {"hipHostUnregister", TEARDOWN},
    {"hipStreamDestroy", TEARDOWN},
    {"hipEventDestroy", TEARDOWN},
    {"hipModuleUnload", TEARDOWN | BEFORE_ROWS},
    {"hipDeviceDisablePeerAccess", TEARDOWN},
    {"hipGraphDestroy", TEARDOWN},
    {"hipGraphExecDestroy", TEARDOWN},
    {"hipMemPoolTrimTo", TEARDOWN},
    {"hipExtGetLinkTypeAndHopCount", FACT | BEFORE_ROWS},
    {"hipSetDevice", CLOSES},
    {"hipStreamSynchronize", CLOSES},
    {"hipGetDevicePropertiesR0600", OF_KERNELS | BEFORE_ROWS},
    {"hipGetDeviceProperties", OF_KERNELS | BEFORE_ROWS | IN_NO_ROW},
    {"hipGetError", BEFORE_ROWS | IN_NO_ROW},
    {"hipGet", BEFORE_ROWS},
    {"hipDeviceGetUuid", FACT | BEFORE_ROWS},
    {"hipDeviceGetName", ASKED_TWICE | BEFORE_ROWS},
    {"hipDeviceGetPCIBusId", ASKED_TWICE | BEFORE_ROWS},
    {"hipDeviceGetAttribute", ASKED_TWICE | BEFORE_ROWS},
    {"hipDeviceGet", BEFORE_ROWS},
    {"hipDeviceTotalMem", ASKED_TWICE | BEFORE_ROWS},
    {"hipDeviceCanAccess", BEFORE_ROWS},
    {"hipRuntime", BEFORE_ROWS},
    {"hipModuleLoadData", OF_MODULES | BEFORE_ROWS},
    {"hipModuleGetFunction", OF_MODULES | BEFORE_ROWS},
    {"hiprtc", IN_NO_ROW},
};

/* Whether the call is of one of those natures. */
static bool is(const char *call, unsigned nature)
{
    for (size_t i = 0; i < COUNT_OF(natures); i++)
        if (strncmp(call, natures[i].prefix, strlen(natures[i].prefix)) == 0)
            return (natures[i].nature & nature) != 0;
    return false;
}

/* Whether the large BAR or the memory pool is. */
static bool is_said_to_be_unknown(const struct xb_run *run)
{
    for (size_t d = 0; d < run->device_count; d++) {
        const struct xb_device_info *info = &run->devices[d].info;
        if (strstr(xb_device_lacks(info, XB_CAP_POOL), "does not tell") != NULL)
            return true;
        for (size_t i = 0; i < info->fact_count; i++)
            if (strcmp(info->facts[i].key, "large_bar") == 0 &&
                strcmp(info->facts[i].value, "unknown") != 0)
                return false;
    }
    return true;
}

/* Whether no row has failed for a reason that is known. */
static bool is_harmless(const struct outcome *outcome)
{
    const struct xb_run *done = &outcome->fixture.run;
    const struct strike *at = &outcome->strike;
    if (is(at->call, TEARDOWN | FACT | OF_KERNELS))
        return true;
    if (is(at->call, CLOSES))
        return outcome->in_use == 0;
    if (strcmp(at->call, "hipDeviceGetAttribute") == 0 && is_said_to_be_unknown(done))
        return true;
    if (at->repeated)
        return false;
    if (is(at->call, ASKED_TWICE))
        return at->number <= outcome->made / 2;
    if (strcmp(at->call, "hipMemAdvise") == 0) /* taking advice back, at the end */
        return at->number + 2 > outcome->made;
    /* Code from the cache that does not load is compiled anew. */
    return is(at->call, OF_MODULES);
}

static void check_devices(const struct outcome *outcome)
{
    const struct xb_run *done = &outcome->fixture.run;
    const struct strike *at = &outcome->strike;
    for (size_t i = 0; i < done->device_count; i++) {
        const struct xb_device_info *info = &done->devices[i].info;
        assert_non_null(strstr(info->name, "stand-in"));
        assert_string_not_equal(info->pci_bdf, "");
        if (at->repeated && strcmp(at->call, "hipDeviceGetUuid") == 0)
            assert_string_equal(info->uuid, "");
    }
    if (at->repeated && at->number == 1 && strcmp(at->call, "hipExtGetLinkTypeAndHopCount") == 0)
        for (size_t i = 0; i < done->case_count; i++)
            assert_string_equal(detail(&done->results[i], "link"), "");
}

static void check_error(const struct xb_result *result, const char *call)
{
    if (strcmp(result->error.call, call) != 0 || strstr(result->reason, call) == NULL)
        fail_msg("%s failed, and a row says: %s", call, result->reason);
    assert_int_not_equal(result->error.native_code, 0);
}

/* Kernels that cannot be had are no error of what needs none. */
static void check_skipped(const struct xb_result *result, const char *call)
{
    assert_true(is(call, OF_KERNELS));
    expect_reason(result, XB_RESULT_SKIPPED, "'kernels'");
    expect_reason(result, XB_RESULT_SKIPPED, "does not tell the device's architecture");
    assert_true((result->test.mode->capabilities(&result->test) & XB_CAP_KERNELS) != 0);
}

static void check_rows(const struct outcome *outcome)
{
    const struct xb_run *done = &outcome->fixture.run;
    for (size_t i = 0; i < done->case_count; i++) {
        const struct xb_result *result = &done->results[i];
        if (result->row.status == XB_RESULT_OK) {
            assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
            continue;
        }
        assert_int_equal(result->bandwidth.n, 0);
        assert_int_not_equal(result->row.verified, XB_VERIFIED_TRUE);
        if (result->row.status == XB_RESULT_ERROR)
            check_error(result, outcome->strike.call);
        else
            check_skipped(result, outcome->strike.call);
    }
}

static void check(const struct outcome *outcome)
{
    const char *call = outcome->strike.call;
    if (outcome->opened != XB_OK) { /* the backend cannot run */
        assert_true(strcmp(call, "hipRuntimeGetVersion") == 0 ||
                    strcmp(call, "hipGetDeviceCount") == 0);
        assert_string_equal(outcome->error.call, call);
        assert_int_equal(outcome->error.status, XB_ERR_UNAVAILABLE);
        return;
    }
    check_rows(outcome);
    if (outcome->errors > 0 || outcome->skipped == outcome->fixture.run.case_count)
        return;
    if (!is_harmless(outcome))
        fail_msg("call %lu of %s failed, and nobody was told", outcome->strike.number, call);
    check_devices(outcome);
}

static void strike_and_check(struct strike at)
{
    struct outcome outcome = {.strike = at};
    strike(&outcome);
    check(&outcome);
    leave(&outcome);
}

/* ---- each call, in every kind of row ---- */

static void strike_call(enum row row, const char *call, unsigned long count)
{
    unsigned long middle = (count + 1) / 2;
    strike_and_check((struct strike){row, call, 1, false});
    if (is(call, CLOSES)) { /* the others: each in turn, below */
        strike_and_check((struct strike){row, call, 1, true});
        return;
    }
    if (middle > 1)
        strike_and_check((struct strike){row, call, middle, false});
    if (count > middle)
        strike_and_check((struct strike){row, call, count, false});
    strike_and_check((struct strike){row, call, middle, true});
    if (middle > 1 && is(call, TEARDOWN | FACT)) /* the others: in all modes, below */
        strike_and_check((struct strike){row, call, 1, true});
}

static void test_each_call(NO_STATE)
{
    for (enum row row = 0; row < ROWS; row++)
        for (size_t i = row % STEP; i < xb_hip_symbol_count; i += STEP) {
            const char *call = xb_hip_symbols[i].name;
            bool is_alike = row != REGISTERED && row != ZERO_COPY && row != DIRECT;
            if (made[row][i] > 0 && !(is(call, BEFORE_ROWS) && is_alike))
                strike_call(row, call, made[row][i]);
        }
}

static void test_rows_make_every_call(NO_STATE)
{
    for (size_t i = 0; i < xb_hip_symbol_count; i++) {
        unsigned long sum = 0;
        for (enum row row = 0; row < ROWS; row++)
            sum += made[row][i];
        if (sum == 0 && !is(xb_hip_symbols[i].name, IN_NO_ROW))
            fail_msg("no row makes the call %s", xb_hip_symbols[i].name);
    }
}

/* The rows that need what fails are errors, and the others are not. */
static void test_from_the_first_on_in_all_modes(NO_STATE)
{
    for (size_t i = 0; i < xb_hip_symbol_count; i++) {
        const char *call = xb_hip_symbols[i].name;
        if (made[ALL][i] > 0 && !is(call, TEARDOWN | FACT)) /* these: above */
            strike_and_check((struct strike){ALL, call, 1, true});
    }
}

/* Each is another call of one function. */
static void test_each_attribute(NO_STATE)
{
    unsigned long count = calls_made(REGISTERED, "hipDeviceGetAttribute");
    for (unsigned long number = 1; number <= count; number += STEP)
        strike_and_check((struct strike){REGISTERED, "hipDeviceGetAttribute", number, false});
}

/* ---- every single wait and choice of a device: one that nobody is told of is a wrong figure ----
 */

/* Whether the call closed something. */
static bool strike_in_turn(struct strike at)
{
    struct outcome outcome = {.strike = at};
    bool closed = false;
    strike_once(&outcome);
    assert_int_equal(outcome.opened, XB_OK);
    if (outcome.made < at.number) { /* it made fewer, and none failed */
        check_all_ok(&outcome);
    } else if (outcome.in_use > 0 && !outcome.keeps_access) {
        assert_int_equal(outcome.fixture.run.case_count, 1);
        if (outcome.errors != 1)
            fail_msg("call %lu of %s failed, and nobody was told", at.number, at.call);
        check_error(&outcome.fixture.run.results[0], at.call);
    } else {
        check_all_ok(&outcome);
        closed = true;
    }
    leave(&outcome);
    return closed;
}

static void strike_each(struct strike at)
{
    unsigned long closing = 0;
    unsigned long count = calls_made(at.row, at.call);
    for (at.number = 1; at.number <= count; at.number += STEP)
        closing += strike_in_turn(at);
    assert_true(closing < count / 2); /* most are for work */
}

/* Alone, and with all behind it: from some wait on, only those are left that close streams. Four
 * streams both ways make the most kinds of waits. */
static void test_each_wait(NO_STATE)
{
    strike_each((struct strike){.row = ASYNC, .call = "hipStreamSynchronize"});
    strike_each((struct strike){.row = ASYNC, .call = "hipStreamSynchronize", .repeated = true});
}

/* Every kind of memory that is freed, and two devices. */
static void test_each_choice(NO_STATE)
{
    static const enum row rows[] = {PAGEABLE, ALLOC,   PREFETCH, ASYNC_D2H,
                                    DIRECT,   BY_CALL, BY_GRAPH};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        strike_each((struct strike){.row = rows[i], .call = "hipSetDevice"});
}

/* Also compiles the kernels, if no run has before: then all rows find them in the cache. */
static int count_all_calls(NO_STATE)
{
    fixture_backend = &xb_hip_backend;
    count_calls(ZERO_COPY);
    for (enum row row = 0; row < COUNT; row++)
        count_calls(row);
    return 0;
}

/* Nothing fails. The stand-in is AMD's roctx too: it is in this program as a profiler puts it
 * there.
 */
static void test_a_profiler_learns_of_cases_and_samples(NO_STATE)
{
    struct outcome outcome = {.opened = XB_OK};
    regex_t expected;
    assert_int_equal(regcomp(&expected, "^c(s\\))+<S(s\\))+\\)>\\)$", REG_EXTENDED | REG_NOSUB), 0);
    run(&outcome, REGISTERED);
    check_all_ok(&outcome);
    if (regexec(&expected, standin_told_profiler(), 0, NULL, 0) != 0)
        fail_msg("the profiler was told: %s", standin_told_profiler());
    regfree(&expected);
    leave(&outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_profiler_learns_of_cases_and_samples),
        cmocka_unit_test(test_each_call),
        cmocka_unit_test(test_rows_make_every_call),
        cmocka_unit_test(test_from_the_first_on_in_all_modes),
        cmocka_unit_test(test_each_attribute),
        cmocka_unit_test(test_each_wait),
        cmocka_unit_test(test_each_choice),
    };
    return cmocka_run_group_tests_name("struck_calls", tests, count_all_calls, NULL);
}
