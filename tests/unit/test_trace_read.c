/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_read.h"
#include "checks.h"
#include "trace/trace.h"

#include <string.h>

#include "testing.h"

/* An event with the members that all have, and more. */
#define EVENT(phase, name, process, thread, more)                                                  \
    "{\"ph\":\"" phase "\",\"name\":\"" name "\",\"pid\":" process ",\"tid\":" thread more "}"
#define CASE EVENT("M", "process_name", "1", "0", ",\"args\":{\"name\":\"pipeline\"}")
#define TRACK EVENT("M", "thread_name", "1", "1", ",\"args\":{\"name\":\"stream 0\"}")
#define SPAN                                                                                       \
    EVENT("X", "Memcpy HtoD", "1", "1",                                                            \
          ",\"cat\":\"copy\",\"ts\":2.5,\"dur\":10,"                                               \
          "\"args\":{\"bytes\":4096,\"stage\":\"in\",\"item\":3}")
#define ARROW EVENT("s", "submits", "1", "1", ",\"cat\":\"ac2g\",\"id\":1,\"ts\":2")
#define COUNTER EVENT("C", "GB/s HtoD", "1", "0", ",\"ts\":2,\"args\":{\"value\":1}")
#define FILE_OF(events) "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" events "],\"otherData\":{}}"
/* A case with a track and a span of these members. */
#define FILE_WITH(members) FILE_OF(CASE "," TRACK "," EVENT("X", "n", "1", "1", "," members))

static enum xb_status read(const char *text, cJSON **tree, struct xb_trace *trace,
                           struct xb_error *error)
{
    struct xb_json_reader reader = {.place = {.path = "folder/t.json"}};
    *tree = xb_json_read(&reader, text, strlen(text));
    assert_non_null(*tree);
    return xb_trace_read("folder/t.json", *tree, trace, error);
}

static void a_trace_is_read(NO_STATE)
{
    cJSON *tree;
    struct xb_trace trace;
    struct xb_error error;
    const char *text = FILE_OF(CASE "," TRACK "," SPAN "," ARROW "," COUNTER);
    assert_int_equal(read(text, &tree, &trace, &error), XB_OK);
    assert_int_equal(trace.case_count, 1);
    const struct xb_trace_case *own = &trace.cases[0];
    assert_string_equal(own->name, "pipeline");
    assert_int_equal(own->track_count, 1);
    assert_string_equal(own->tracks[0], "stream 0");
    assert_int_equal(own->span_count, 1);
    const struct xb_trace_span *span = &own->spans[0];
    assert_string_equal(span->name, "Memcpy HtoD");
    assert_int_equal(span->kind, XB_SPAN_COPY);
    assert_string_equal(span->stage, "in");
    assert_int_equal(span->bytes, 4096);
    assert_true(span->track == 0 && span->begin == 2.5e-6 && span->end > 12.49e-6 &&
                span->end < 12.51e-6);
    xb_trace_free(&trace);
    cJSON_Delete(tree);
}

static void a_trace_without_events_has_no_cases(NO_STATE)
{
    cJSON *tree;
    struct xb_trace trace;
    struct xb_error error;
    assert_int_equal(read(FILE_OF(""), &tree, &trace, &error), XB_OK);
    assert_int_equal(trace.case_count, 0);
    xb_trace_free(&trace);
    cJSON_Delete(tree);
}

static void what_is_wrong_is_told(NO_STATE)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"{}", "traceEvents"},
        {"{\"traceEvents\":{}}", "traceEvents"},
        {FILE_OF("1"), "traceEvents[0]"},
        {FILE_OF(CASE "," TRACK ",{\"ph\":\"X\"}"), "traceEvents[2]"},
        {FILE_OF(EVENT("B", "n", "1", "1", "")), "\"B\""},
        {FILE_OF(EVENT("M", "n", "0", "1", "")), "pid"},
        {FILE_OF(EVENT("M", "n", "1001", "1", "")), "pid"},
        {FILE_OF(EVENT("M", "n", "1", "1e9", "")), "tid"},
        {FILE_OF(EVENT("M", "thread_name", "1", "0", ",\"args\":{\"name\":\"x\"}")), "tid"},
        {FILE_OF(EVENT("X", "n", "1", "0", "")), "tid"},
        {FILE_OF(TRACK "," SPAN), "process_name of process 1"},
        {FILE_OF(CASE "," SPAN), "thread_name of thread 1"},
        {FILE_WITH("\"cat\":\"x\",\"ts\":1,\"dur\":1,\"args\":{}"), "must be \"work\", \"call\""},
        {FILE_WITH("\"cat\":\"copy\",\"ts\":-1,\"dur\":1,\"args\":{}"), "ts"},
        {FILE_WITH("\"cat\":\"copy\",\"ts\":1,\"dur\":null,\"args\":{}"), "dur"},
        {FILE_WITH("\"cat\":\"copy\",\"ts\":1e300,\"dur\":1,\"args\":{}"), "ts"},
        {FILE_WITH("\"cat\":\"copy\",\"ts\":1,\"dur\":1"), "args"},
        {FILE_WITH("\"cat\":\"copy\",\"ts\":1,\"dur\":1,\"args\":{\"bytes\":-1}"), "bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *tree;
        struct xb_trace trace;
        struct xb_error error;
        assert_int_equal(read(rows[i].text, &tree, &trace, &error), XB_ERR_USAGE);
        assert_has(error.message, "folder/t.json");
        assert_has(error.message, rows[i].says);
        assert_null(trace.cases);
        cJSON_Delete(tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_is_read),
        cmocka_unit_test(a_trace_without_events_has_no_cases),
        cmocka_unit_test(what_is_wrong_is_told),
    };
    return cmocka_run_group_tests_name("trace_read", tests, NULL, NULL);
}
