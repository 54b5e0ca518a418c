/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "run_fixture.h"

#include "machine/host_memory.h"

void hurry(void *argument, const struct xb_run *run, size_t samples, double bandwidth)
{
    (void)argument;
    (void)run;
    (void)bandwidth;
    if (samples == 0)
        atomic_fetch_add(&clock_ahead_ns, 20000000);
}

void fail_call(unsigned n)
{
    xb_fake.fail_at = xb_fake.calls + n;
    xb_fake.failures = 0;
}

unsigned next_failing(unsigned n, unsigned step)
{
    return xb_fake.failures > 0 ? n + step : 0;
}

/* ---- the altered fake ---- */

struct xb_backend altered_backend;
const struct xb_backend *fixture_backend = &altered_backend;
struct altered altered;

/* Buffers of registered memory, in the order in which they were made. */
static const struct xb_buffer *registered[64];

#define ALTERED_LARGE (1u << 20)

/* ---- notes of what is done ---- */

enum kind { QUEUE, BUFFER, EVENT, KINDS };

static FILE *notes;
static const void *numbered[KINDS][64];

void note_steps(FILE *stream)
{
    notes = stream;
    memset(numbered, 0, sizeof numbered);
}

static unsigned number_of(enum kind kind, const void *object)
{
    unsigned i = 0;
    while (numbered[kind][i] != NULL && numbered[kind][i] != object)
        assert_true(++i < COUNT_OF(numbered[kind]));
    numbered[kind][i] = object;
    return i + 1;
}

static void note_copy(const char *name, const struct xb_queue *queue,
                      const struct xb_buffer *target, uint64_t to, const struct xb_buffer *source,
                      uint64_t from, uint64_t bytes)
{
    if (notes == NULL)
        return;
    unsigned source_number = number_of(BUFFER, source);
    fprintf(notes, "  queue %u: %s %llu B from %u+%llu to %u+%llu\n", number_of(QUEUE, queue), name,
            (unsigned long long)bytes, source_number, (unsigned long long)from,
            number_of(BUFFER, target), (unsigned long long)to);
}

static enum xb_status compute(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t offset,
                              uint64_t bytes, uint64_t steps, struct xb_error *error)
{
    if (notes != NULL)
        fprintf(notes, "  queue %u: %llu steps on %llu B of %u+%llu\n", number_of(QUEUE, queue),
                (unsigned long long)steps, (unsigned long long)bytes, number_of(BUFFER, buffer),
                (unsigned long long)offset);
    return xb_fake_backend.queue_compute(queue, buffer, offset, bytes, steps, error);
}

static enum xb_status decode(struct xb_queue *queue, const struct xb_decoding *decoding,
                             struct xb_error *error)
{
    note_copy("restore", queue, decoding->target, decoding->target_offset, decoding->source,
              decoding->source_offset, decoding->bytes);
    if (notes != NULL)
        fprintf(notes, "    of %llu B\n", (unsigned long long)decoding->source_bytes);
    return xb_fake_backend.queue_decode(queue, decoding, error);
}

static enum xb_status event_record(struct xb_event *event, struct xb_queue *queue,
                                   struct xb_error *error)
{
    if (notes != NULL)
        fprintf(notes, "  queue %u: record %u\n", number_of(QUEUE, queue), number_of(EVENT, event));
    return xb_fake_backend.event_record(event, queue, error);
}

static enum xb_status wait_event(struct xb_queue *queue, struct xb_event *event,
                                 struct xb_error *error)
{
    if (notes != NULL)
        fprintf(notes, "  queue %u: after %u\n", number_of(QUEUE, queue), number_of(EVENT, event));
    return xb_fake_backend.queue_wait_event(queue, event, error);
}

static enum xb_status event_wait(struct xb_event *event, struct xb_error *error)
{
    if (notes != NULL)
        fprintf(notes, "  host: wait for %u\n", number_of(EVENT, event));
    return xb_fake_backend.event_wait(event, error);
}

static enum xb_status queue_wait(struct xb_queue *queue, struct xb_error *error)
{
    if (notes != NULL)
        fprintf(notes, "  host: wait for queue %u\n", number_of(QUEUE, queue));
    return xb_fake_backend.queue_wait(queue, error);
}

/* ---- what it does in another way ---- */

static unsigned once_or(unsigned times)
{
    return times == 0 ? 1 : times;
}

static enum xb_status open_device(struct xb_driver *driver, unsigned index,
                                  struct xb_device **device, struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.device_open(driver, index, device, error);
    if (status != XB_OK)
        return status;
    (*device)->backend = &altered_backend;
    (*device)->info.host_clock = altered.host_clock;
    (*device)->info.engine_by_history = altered.engine_by_history;
    return XB_OK;
}

/* What is asked of the one that is broken does nothing. */
static void damage_if(bool is_broken, unsigned broken)
{
    if (broken > 0)
        xb_fake.damage = is_broken ? XB_DAMAGE_NOTHING_COPIED : XB_DAMAGE_NONE;
}

static void pass(double seconds)
{
    atomic_fetch_add(&clock_ahead_ns, (long long)(seconds * 1e9));
}

static enum xb_status allocate(struct xb_device *device, enum xb_memory memory, uint64_t bytes,
                               struct xb_buffer **buffer, struct xb_error *error)
{
    bool is_registered = memory == XB_MEMORY_REGISTERED;
    if (bytes >= ALTERED_LARGE)
        pass(memory == XB_MEMORY_PINNED ? altered.allocate_s
             : is_registered            ? altered.register_s
                                        : 0);
    if (is_registered && altered.most_buffers > 0 &&
        altered.registered_buffers == altered.most_buffers)
        return XB_FAIL(error, XB_ERR_MEMORY, "the host is full");
    enum xb_status status = xb_fake_backend.buffer_allocate(device, memory, bytes, buffer, error);
    if (status == XB_OK && is_registered && altered.registered_buffers < COUNT_OF(registered))
        registered[altered.registered_buffers++] = *buffer;
    return status;
}

static enum xb_status lock(struct xb_device *device, void *address, uint64_t bytes,
                           struct xb_buffer **buffer, struct xb_error *error)
{
    pass(altered.lock_s);
    return xb_fake_backend.buffer_register(device, address, bytes, buffer, error);
}

static void release(struct xb_buffer *buffer)
{
    if (buffer != NULL && buffer->memory != XB_MEMORY_DEVICE && buffer->bytes >= ALTERED_LARGE)
        pass(altered.free_s);
    xb_fake_backend.buffer_free(buffer);
}

/* How many copies stand for one of these. */
static unsigned times_of(const struct xb_buffer *target, const struct xb_buffer *source,
                         uint64_t bytes)
{
    const struct xb_buffer *host = target->memory == XB_MEMORY_DEVICE ? source : target;
    if (host->memory == XB_MEMORY_PAGEABLE && altered.pageable_copies > 0)
        return altered.pageable_copies;
    if (host->bytes == bytes && altered.whole_copies[0] > 0)
        return altered.whole_copies[altered.copies_seen++ % 2];
    for (size_t i = 0; i < COUNT_OF(altered.slow_buffers); i++)
        if (altered.slow_buffers[i] > 0 && registered[i] == host && i < altered.registered_buffers)
            return altered.slow_buffers[i];
    return altered.copies_get_slower ? ++altered.copies_seen : once_or(altered.copies);
}

static enum xb_status copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                           struct xb_buffer *source, uint64_t from, uint64_t bytes,
                           struct xb_error *error)
{
    unsigned device = queue->device->info.index + 1;
    note_copy("copy", queue, target, to, source, from, bytes);
    unsigned times = times_of(target, source, bytes) * (device == altered.slow_device ? 2 : 1);
    enum xb_status status = XB_OK;
    damage_if(device == altered.broken_device, altered.broken_device);
    if (target->memory == XB_MEMORY_REGISTERED || source->memory == XB_MEMORY_REGISTERED)
        damage_if(++altered.registered_copies == altered.wrong_copy, altered.wrong_copy);
    for (unsigned i = 0; status == XB_OK && i < times; i++)
        status = xb_fake_backend.queue_copy(queue, target, to, source, from, bytes, error);
    return status;
}

static enum xb_status kernel_copy(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                  struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                  enum xb_access access, unsigned together, struct xb_error *error)
{
    enum xb_status status = XB_OK;
    note_copy("kernel copies", queue, target, to, source, from, bytes);
    bool is_local = target->memory == XB_MEMORY_DEVICE && source->memory == XB_MEMORY_DEVICE;
    unsigned times = is_local ? 1 : once_or(altered.mapped_copies);
    for (unsigned i = 0; status == XB_OK && i < times; i++)
        status = xb_fake_backend.queue_kernel_copy(queue, target, to, source, from, bytes, access,
                                                   together, error);
    return status;
}

static enum xb_status copy_peer(struct xb_queue *queue, struct xb_buffer *target, uint64_t to,
                                struct xb_buffer *source, uint64_t from, uint64_t bytes,
                                struct xb_error *error)
{
    note_copy("copy to peer", queue, target, to, source, from, bytes);
    damage_if(target->device->info.index + 1 == altered.broken_peer, altered.broken_peer);
    return xb_fake_backend.queue_copy_peer(queue, target, to, source, from, bytes, error);
}

static enum xb_status prefetch(struct xb_queue *queue, struct xb_buffer *buffer, uint64_t bytes,
                               bool to_device, struct xb_error *error)
{
    enum side to = to_device ? SIDE_DEVICE : SIDE_HOST;
    note_copy(to_device ? "prefetch to the device" : "prefetch to the host", queue, buffer, 0,
              buffer, 0, bytes);
    *(to_device ? &altered.vain_to_device : &altered.vain_to_host) += altered.pages == to;
    altered.pages = to;
    return xb_fake_backend.queue_prefetch(queue, buffer, bytes, to_device, error);
}

static enum xb_status kernel_pieces(struct xb_queue *queue, struct xb_pieces *list, unsigned blocks,
                                    bool bulk, struct xb_error *error)
{
    unsigned times = altered.pages == SIDE_DEVICE ? 1 : once_or(altered.fault_times);
    enum xb_status status = XB_OK;
    for (unsigned i = 0; status == XB_OK && i < times; i++)
        status = xb_fake_backend.queue_kernel_pieces(queue, list, blocks, bulk, error);
    if (status == XB_OK && altered.wrong_piece > 0)
        status = xb_fake_backend.queue_kernel_copy(queue, list->target, altered.wrong_piece,
                                                   list->source, altered.wrong_piece, 8,
                                                   XB_ACCESS_SEQUENTIAL, 1, error);
    return status;
}

static enum xb_status elapsed(struct xb_event *begin, struct xb_event *end, double *seconds,
                              struct xb_error *error)
{
    enum xb_status status = xb_fake_backend.event_elapsed(begin, end, seconds, error);
    *seconds *= once_or(altered.event_times);
    return status;
}

static enum xb_status open_blocking(struct xb_device *device, struct xb_queue **queue,
                                    struct xb_error *error)
{
    altered.blocking_queues++;
    return xb_fake_backend.queue_open_blocking(device, queue, error);
}

/* ---- runs ---- */

void describe_machine(void)
{
    setenv("HWLOC_SYNTHETIC", "numa:1 pu:2", 1);
    setenv("HWLOC_THISSYSTEM", "1", 1); /* with one node nothing is bound, on any system */
    xb_host_memory_trust(true);
}

void reset_fake(void)
{
    describe_machine(); /* again: the mode pin has the host's memory checked from then on */
    xb_fake_reset();
    altered = (struct altered){.copies = 1};
    altered_backend = xb_fake_backend;
    altered_backend.device_open = open_device;
    altered_backend.buffer_allocate = allocate;
    altered_backend.buffer_register = lock;
    altered_backend.buffer_free = release;
    altered_backend.queue_copy = copy;
    altered_backend.queue_kernel_copy = kernel_copy;
    altered_backend.queue_copy_peer = copy_peer;
    altered_backend.queue_prefetch = prefetch;
    altered_backend.queue_kernel_pieces = kernel_pieces;
    altered_backend.event_elapsed = elapsed;
    altered_backend.queue_compute = compute;
    altered_backend.queue_decode = decode;
    altered_backend.event_record = event_record;
    altered_backend.queue_wait_event = wait_event;
    altered_backend.event_wait = event_wait;
    altered_backend.queue_wait = queue_wait;
    altered_backend.queue_open_blocking = open_blocking;
}

int reset(void **state)
{
    (void)state;
    reset_fake();
    return 0;
}

#define MAX_ARGUMENTS 32

enum xb_status start(struct fixture *f, const char *const *arguments, struct xb_error *error)
{
    static char *argv[MAX_ARGUMENTS + 4];
    int argc = 0;
    bool given = false, warm_up_given = false;
    argv[argc++] = (char *)"run";
    for (size_t i = 0; arguments[i] != NULL; i++) {
        assert_true(argc < MAX_ARGUMENTS);
        warm_up_given = warm_up_given || strcmp(arguments[i], "--warm-up") == 0;
        given = given || strncmp(arguments[i], "--samples", 9) == 0 ||
                strcmp(arguments[i], "--time-limit") == 0;
        argv[argc++] = (char *)arguments[i];
    }
    if (!given) {
        argv[argc++] = (char *)"--samples=2";
        argv[argc++] = (char *)"--time-limit=10ms";
    }
    if (!warm_up_given)
        argv[argc++] = (char *)"--warm-up=1ms";
    argv[argc] = NULL;
    memset(f, 0, sizeof *f);
    enum xb_status status = xb_config_parse(xb_run_rows(), argc, argv, &f->config, error);
    if (status != XB_OK)
        return status;
    f->run.asked = xb_run_options_of(&f->config);
    f->run.backend = fixture_backend;
    status = fixture_backend->driver_open(&f->run.driver, &f->run.probe, error);
    return status == XB_OK ? xb_plan(&f->run, error) : status;
}

void plan(struct fixture *f, const char *const *arguments)
{
    struct xb_error error = {0};
    if (start(f, arguments, &error) != XB_OK)
        fail_msg("%s", error.message);
}

void go(struct fixture *f, const struct xb_run_observer *observer)
{
    const struct xb_run_observer usual = {.progress = hurry};
    struct xb_error error = {0};
    if (xb_run_execute(&f->run, observer != NULL ? observer : &usual, &error) != XB_OK)
        fail_msg("%s", error.message);
    assert_int_equal(f->run.done_count, f->run.case_count);
}

void execute(struct fixture *f, const char *const *arguments,
             const struct xb_run_observer *observer)
{
    plan(f, arguments);
    go(f, observer);
}

static void plan_words(struct fixture *f, const char *format, va_list arguments)
{
    static char text[1000];
    const char *words[MAX_ARGUMENTS];
    size_t count = 0;
    assert_in_range(vsnprintf(text, sizeof text, format, arguments), 1, sizeof text - 1);
    for (char *rest = text, *word = strsep(&rest, " "); word != NULL; word = strsep(&rest, " ")) {
        assert_true(count + 1 < MAX_ARGUMENTS);
        words[count++] = word;
    }
    words[count] = NULL;
    plan(f, words);
}

void plan_line(struct fixture *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    plan_words(f, format, arguments);
    va_end(arguments);
}

void run_line(struct fixture *f, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    plan_words(f, format, arguments);
    va_end(arguments);
    go(f, NULL);
}

void finish(struct fixture *f)
{
    assert_int_equal(xb_fake.peers_open, 0);
    assert_int_equal(xb_fake.range_depth, 0);
    assert_int_equal(xb_fake.lists_open, 0);
    assert_int_equal(xb_fake.graphs_open, 0);
    assert_false(xb_fake.collecting || xb_fake.badly_collected);
    xb_run_free(&f->run);
    xb_config_free(&f->config);
}

struct xb_mode *replace_mode(struct fixture *f)
{
    static struct xb_mode mode;
    mode = *f->run.results[0].test.mode;
    for (size_t i = 0; i < f->run.case_count; i++)
        f->run.results[i].test.mode = &mode;
    return &mode;
}

/* ---- looking at results ---- */

void expect_status(const struct xb_result *result, enum xb_result_status status)
{
    if (result->row.status != status)
        fail_msg("%s %s %s of %llu bytes is %s: %s", result->test.mode->name, result->test.variant,
                 xb_direction_name(result->test.direction), (unsigned long long)result->test.bytes,
                 xb_result_status_name(result->row.status), result->reason);
    if (status == XB_RESULT_OK)
        assert_int_equal(result->row.verified, XB_VERIFIED_TRUE);
}

void expect_all(const struct fixture *f, enum xb_result_status status)
{
    for (size_t i = 0; i < f->run.case_count; i++)
        expect_status(&f->run.results[i], status);
}

void expect_reason(const struct xb_result *result, enum xb_result_status status, const char *part)
{
    expect_status(result, status);
    if (strstr(result->reason, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", result->reason, part);
}

void expect_all_wrong(const struct fixture *f)
{
    assert_true(f->run.case_count > 0);
    for (size_t i = 0; i < f->run.case_count; i++) {
        const struct xb_result *result = &f->run.results[i];
        expect_status(result, XB_RESULT_ERROR);
        if (strstr(result->reason, "bytes are wrong after") == NULL &&
            strstr(result->reason, "invalid encodings") == NULL)
            fail_msg("%s is no finding of a proof", result->reason);
        assert_int_equal(result->row.verified, XB_VERIFIED_FALSE);
    }
}

bool warns(const struct xb_result *result, const char *part)
{
    bool found = false;
    for (size_t i = 0; i < result->row.warning_count; i++)
        found = found || strstr(result->warnings[i], part) != NULL;
    return found;
}

void expect_near(double actual, double expected, const char *what)
{
    if (!(fabs(actual - expected) <= 1e-8 * fabs(expected)))
        fail_msg("%s is %.12g, not %.12g", what, actual, expected);
}

const struct xb_result_figure *figure_of(const struct xb_result *result, const char *name)
{
    for (size_t i = 0; i < result->figure_count; i++)
        if (strcmp(result->figures[i].figure->name, name) == 0)
            return &result->figures[i];
    return NULL;
}

void expect_samples(const struct xb_result *result, const char *name, double value)
{
    const struct xb_result_figure *figure = figure_of(result, name);
    assert_non_null(figure);
    assert_true(figure->samples.count > 0);
    for (size_t i = 0; i < figure->samples.count; i++)
        expect_near(figure->samples.values[i], value, name);
}

void expect_computed(const struct xb_result *result, const char *name, double value)
{
    const struct xb_result_figure *figure = figure_of(result, name);
    assert_non_null(figure);
    assert_int_equal(figure->samples.count, 0);
    expect_near(figure->computed, value, name);
}

double detail_number(const struct xb_result *result, const char *key)
{
    return xb_record_fact_number(xb_record_detail_find(&result->row, key));
}

void expect_number(const struct xb_result *result, const char *key, double number)
{
    expect_near(detail_number(result, key), number, key);
}

const char *detail(const struct xb_result *result, const char *key)
{
    for (size_t i = 0; i < result->row.detail_count; i++)
        if (strcmp(result->details[i].name, key) == 0)
            return xb_record_fact_text(&result->details[i]);
    return "";
}
