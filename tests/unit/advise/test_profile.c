/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of every kind, small and made by hand, and what is no trace. */
#define _GNU_SOURCE /* nftw */
#include "trace/profile.h"

#ifdef HAS_ZLIB
#include <zlib.h>
#endif

#include "testing.h"

#define WITH_TREE(test) TEST_WITH(test, make_tree, remove_tree)

#include "fixture_tree.h"

#define AT "\"pid\":9,\"tid\":9,"
#define CALL(name, ts, link, more)                                                                 \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name "\"," AT "\"ts\":" ts                \
    ",\"dur\":2,\"args\":{\"correlation\":" link more "}}"
#define COPY(name, ts, link, more)                                                                 \
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy " name "\",\"pid\":0,\"tid\":7,"       \
    "\"ts\":" ts ",\"dur\":1.5,\"args\":{\"device\":0,\"stream\":7,\"correlation\":" link more     \
    "}}"

static struct xb_profiles got;
static struct xb_error error;

static enum xb_status read_again(const char *root, const char *text)
{
    char path[PATH_MAX];
    write_file(root, "trace.json", text);
    snprintf(path, sizeof path, "%s/trace.json", root);
    memset(&error, 0, sizeof error);
    enum xb_status status = xb_profiles_read(&got, path, &error);
    xb_profiles_sort(&got);
    if (status != XB_OK)
        assert_non_null(strstr(error.message, path));
    return status;
}

static void read_text(void **state, const char *text)
{
    xb_profiles_free(&got);
    assert_int_equal(read_again(*state, text), XB_OK);
}

static const struct xb_activity *activity(size_t program, size_t place)
{
    assert_in_range(program, 0, got.count - 1);
    assert_in_range(place, 0, got.items[program].count - 1);
    return &got.items[program].activities[place];
}

static const char *name_of(const struct xb_activity *of)
{
    return got.names[of->name];
}

WITH_TREE(reads_what_pytorch_wrote)
{
    read_text(state, "\n{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0}],\"traceEvents\":[\n"
                     "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#12\"," AT
                     "\"ts\":1712195495519689.047,\"dur\":100,\"args\":{}},"
                     "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::\\\"]}{copy_\\\\\"," AT
                     "\"ts\":1712195495519690,\"dur\":9.001},"
                     "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a.py(3): f#x\"," AT
                     "\"ts\":1712195495519690,\"dur\":20},"
                     "{\"ph\":\"X\",\"cat\":\"gpu_user_annotation\",\"name\":\"no\"," AT
                     "\"ts\":1,\"dur\":9},{\"ph\":\"i\",\"name\":\"no\"}," CALL(
                         "cudaMemcpyAsync", "1712195495519691.5", "3",
                         "") "," COPY("HtoD (Pageable -> "
                                      "Device)",
                                      "1712195495519692."
                                      "0015",
                                      "3",
                                      ",\"bytes\":\"4096"
                                      "\"") ","
                                            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,"
                                            "\"args\":{\"name\":\"GPU\"}},"
                                            "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":9,"
                                            "\"args\":{\"name\":\"python3\"}}"
                                            "],\"traceName\":\"x\"}\n");
    assert_int_equal(got.count, 1);
    assert_string_equal(got.source, "PyTorch's profiler");
    assert_true(got.is_pytorch && !got.is_hip && !got.lacks_calls && !got.items[0].is_cut);
    assert_int_equal(got.items[0].process, 9);
    assert_string_equal(got.items[0].name, "python3");
    assert_int_equal(got.items[0].count, 5);
    assert_string_equal(name_of(activity(0, 0)), "ProfilerStep");
    assert_int_equal(activity(0, 0)->begin, 1712195495519689000); /* 47 ns are less than is kept */
    assert_int_equal(activity(0, 0)->range, XB_RANGE_MARK);
    assert_int_equal(activity(0, 1)->range, XB_RANGE_LINE); /* the longer one */
    assert_string_equal(name_of(activity(0, 1)), "a.py(3): f#x");
    assert_string_equal(name_of(activity(0, 2)), "aten::\"]}{copy_\\");
    assert_int_equal(activity(0, 2)->end, 1712195495519699001);
    assert_int_equal(activity(0, 3)->kind, XB_ACTIVITY_CALL);
    assert_int_equal(activity(0, 3)->device, -1);
    const struct xb_activity *copy = activity(0, 4);
    assert_int_equal(copy->begin, 1712195495519692000);
    assert_int_equal(copy->end - copy->begin, 1500);
    assert_int_equal(copy->bytes, 4096);
    assert_int_equal(copy->link, activity(0, 3)->link);
    assert_int_equal(copy->device, 0);
    assert_int_equal(copy->way, XB_WAY_TO_GPU);
    assert_int_equal(copy->host, XB_HOST_MEMORY_PAGEABLE);
    assert_int_not_equal(copy->track, activity(0, 3)->track);
    assert_int_equal(activity(0, 2)->track, activity(0, 3)->track); /* one thread */
}

/* Numbers at the end tell turns apart, and versions of calls: groups of copies need the rest. */
WITH_TREE(numbers_at_the_end_of_names_go)
{
    static const struct {
        const char *category, *name, *kept;
    } rows[] = {
        {"user_annotation", "step 17", "step"},
        {"user_annotation", "ProfilerStep#5", "ProfilerStep"},
        {"nvtx", "batch - 3", "batch"},
        {"nvtx", "epoch_1:2", "epoch_1"},
        {"cpu_op", "aten::to, op_id = 12", "aten::to, op_id"},
        {"cpu_op", "layer4", "layer4"},
        {"cpu_op", "AddmmBackward0", "AddmmBackward0"},
        {"cpu_op", "copy_", "copy_"},
        {"user_annotation", "12", "12"},
        {"user_annotation", "#12", "#12"},
        {"user_annotation", "", ""},
        {"python_function", "a.py(3): f 7", "a.py(3): f 7"},
        {"kernel", "add 7", "add 7"},
        {"cuda_runtime", "cudaMemcpyAsync_v3020", "cudaMemcpyAsync"},
        {"cuda_driver", "cuMemcpyHtoD_v2", "cuMemcpyHtoD"},
        {"cuda_runtime", "cudaCopy_2", "cudaCopy_2"},
        {"cuda_runtime", "_v2", "_v2"},
        {"cuda_runtime", "copy_v", "copy_v"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "[{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\"," AT "\"ts\":1,\"dur\":1}]",
                 rows[i].category, rows[i].name);
        read_text(state, text);
        assert_string_equal(name_of(activity(0, 0)), rows[i].kept);
    }
}

/* ROCm's copies have no bytes: their calls do. */
WITH_TREE(calls_of_hip_have_bytes)
{
    read_text(
        state,
        "[" CALL("hipMemcpyWithStream", "1", "1", ",\"size\":\"2560\"") "," CALL(
            "hipMemcpyAsync", "2", "2",
            ",\"size\":\"0xa0\"") "," CALL("hipLaunchKernel", "3", "4",
                                           ",\"size\":\"7\"") "," COPY("DtoH (Device -> Host)", "7",
                                                                       "2", "") "]");
    assert_true(got.is_hip && !got.is_pytorch);
    assert_string_equal(got.source, "a Chrome trace");
    assert_int_equal(activity(0, 0)->bytes, 2560);
    assert_int_equal(activity(0, 1)->bytes, 160);
    assert_int_equal(activity(0, 2)->bytes, 0);
    assert_int_equal(activity(0, 3)->bytes, 0);
    assert_int_equal(activity(0, 3)->host, XB_HOST_MEMORY_UNKNOWN);
    assert_int_equal(activity(0, 3)->way, XB_WAY_BACK);
}

#define OWN(pid, tid, cat, name, ts, args)                                                         \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"cat\":\"" cat           \
    "\",\"ts\":" ts ",\"dur\":1,\"args\":{" args "}},"
#define THREAD(pid, tid, name)                                                                     \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":" pid ",\"tid\":" tid                          \
    ",\"args\":{\"name\":\"" name "\"}},"
#define CHANGED(pid, tid, cat, ts, dur, args)                                                      \
    "{\"ph\":\"X\",\"name\":\"n\",\"pid\":" pid ",\"tid\":" tid ",\"cat\":\"" cat "\",\"ts\":" ts  \
    ",\"dur\":" dur ",\"args\":" args "}"
#define CASE(pid, name)                                                                            \
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" pid ",\"tid\":0,\"args\":{\"name\":\"" name \
    "\"}},"

WITH_TREE(reads_our_own)
{
    static const char text[] = "{\"traceEvents\":[" CASE("1", "one")
        THREAD("1", "1", "thread 0 (submits)") THREAD("1", "2", "stream 0")
            OWN("1", "1", "call", "queue_copy", "0", "\"correlation\":1")
                OWN("1", "1", "wait", "queue_wait", "2", "\"correlation\":7")
                    OWN("1", "2", "copy", "Memcpy HtoD (Pinned -> Device)", "1",
                        "\"bytes\":5,\"correlation\":1") CASE("2", "two")
                        OWN("2", "1", "kernel", "fill", "4", "\"bytes\":6,\"correlation\":2")
                            OWN("2", "1", "kernel", "copy by kernel", "5", "\"bytes\":7")
                                OWN("2", "1", "kernel", "compute", "6",
                                    "\"bytes\":8,\"stage\":\"compute\"")
                                    OWN("2", "2", "work", "read", "7", "\"bytes\":9");
    char whole[sizeof text + 64];
    snprintf(whole, sizeof whole, "%s],\"otherData\":{\"tool\":\"xferbench 1.0\"}}", text);
    read_text(state, whole);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(got.source, "xferbench --trace");
        assert_int_equal(got.count, 2);
        assert_string_equal(got.items[0].name, "one");
        assert_int_equal(got.items[0].count, 3);
        assert_int_equal(got.items[0].track_count, 2);
        assert_string_equal(got.items[0].tracks[0].name, "thread 0 (submits)");
        assert_int_equal(got.items[0].tracks[0].track, activity(0, 0)->track);
        assert_string_equal(got.items[0].tracks[1].name, "stream 0");
        assert_int_equal(got.items[0].tracks[1].track, activity(0, 1)->track);
        assert_int_equal(activity(0, 2)->kind, XB_ACTIVITY_WAIT);
        assert_int_equal(activity(0, 2)->link, 0);
        assert_int_equal(activity(0, 2)->stage, 0);
        assert_string_equal(got.names[activity(1, 2)->stage], "compute");
        assert_int_equal(activity(1, 2)->bytes, 8);
        assert_int_equal(activity(0, 0)->link, 1);
        assert_int_equal(activity(0, 1)->link, 1);
        assert_int_equal(activity(0, 1)->host, XB_HOST_MEMORY_PINNED);
        assert_int_equal(activity(0, 1)->device, -1);
        assert_int_not_equal(activity(0, 1)->track, activity(0, 0)->track);
        assert_int_equal(activity(1, 0)->track, activity(1, 1)->track);
        assert_int_not_equal(activity(1, 0)->track, activity(0, 0)->track); /* another process */
        assert_string_equal(got.items[1].name, "two");
        assert_int_equal(activity(1, 0)->kind, XB_ACTIVITY_FILL);
        assert_int_equal(activity(1, 0)->link, 2);
        assert_int_equal(activity(1, 1)->kind, XB_ACTIVITY_COPY);
        assert_int_equal(activity(1, 1)->bytes, 7);
        assert_int_equal(activity(1, 2)->kind, XB_ACTIVITY_KERNEL);
        assert_int_equal(activity(1, 3)->kind, XB_ACTIVITY_WORK);
        assert_int_equal(got.items[0].is_cut, i);
        read_text(state, text); /* without its end */
    }
    xb_profiles_free(&got); /* from memory it is the same */
    assert_int_equal(xb_events_read(&got, "t.json", -1, whole, strlen(whole), &error), XB_OK);
    assert_int_equal(got.count, 2);
    assert_int_equal(got.items[1].count, 4);
    assert_false(got.items[0].is_cut);
    assert_int_equal(xb_events_read(&got, "t.json", -1, "[1]", 3, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "t.json: byte 1: no event begins here"));
}

/* What --trace does not write is left out of a file that looks as if it did, or does no harm. */
WITH_TREE(our_own_may_be_changed)
{
    static const struct {
        const char *event;
        size_t kept, left_out;
    } rows[] = {
        {"{\"ph\":\"X\"}", 0, 0},
        {"{\"ph\":\"B\",\"name\":\"n\",\"pid\":1,\"tid\":1}", 0, 0},
        {CHANGED("1", "1", "x", "1", "1", "{}"), 0, 0},
        {CHANGED("1", "1", "copy", "1e300", "1", "{}"), 0, 1},
        {CHANGED("1", "1", "copy", "1", "-1", "{}"), 0, 1},
        {CHANGED("1", "1", "copy", "1", "null", "{}"), 0, 1},
        {CHANGED("0", "1", "copy", "-1", "1", "{}"), 1, 0},
        {CHANGED("1", "0", "copy", "1", "1", "[]"), 1, 0},
        {CHANGED("1", "1e9", "copy", "1", "1", "{\"stage\":3}"), 1, 0},
        {CHANGED("\"x\"", "null", "copy", "1", "1", "{\"bytes\":-1}"), 1, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text, "{\"traceEvents\":[%s%s]}",
                 OWN("7", "1", "call", "queue_copy", "0", ""), rows[i].event);
        read_text(state, text);
        assert_null(got.items[0].name);
        assert_int_equal(got.items[0].track_count, 0);
        assert_int_equal(got.left_out, rows[i].left_out);
        assert_int_equal(got.activity_count, 1 + rows[i].kept);
        assert_int_equal(got.count, 1 + rows[i].kept);
        if (rows[i].kept > 0) {
            assert_int_equal(activity(1, 0)->bytes, 0);
            assert_int_equal(activity(1, 0)->stage, 0);
        }
    }
}

#define FACT(name, pid, arguments)                                                                 \
    "{\"ph\":\"M\",\"name\":\"" name "\",\"pid\":" pid ",\"args\":{" arguments "}},\n"
#define EXPLAIN "[" FACT("xferbench_explain", "0", "\"version\":1")

WITH_TREE(reads_what_explain_wrote)
{
    read_text(state, EXPLAIN FACT("process_name", "7", "\"name\":\"a \\\"b\\\"\"")
                         FACT("process_name", "8", "\"name\":\"c\"")
                             FACT("process_name", "9", "\"name\":\"d\"")
                                 FACT("xferbench_problem", "9", "\"text\":\"held\"")
                                     CALL("cudaMemcpy", "1", "1",
                                          "") ","
                                              "{}," FACT("xferbench_end", "7", "\"dropped\":3"));
    assert_string_equal(got.source, "xferbench explain");
    assert_int_equal(got.count, 3);
    assert_int_equal(got.items[0].process, 7);
    assert_string_equal(got.items[0].name, "a \"b\"");
    assert_int_equal(got.items[0].dropped, 3);
    assert_false(got.items[0].is_cut);
    assert_true(got.items[1].is_cut && got.items[2].is_cut); /* they said no goodbye */
    assert_null(got.items[1].problem);
    assert_string_equal(got.items[2].problem, "held");
    assert_int_equal(got.items[2].count, 1);
    /* In another file the same number is another program. */
    assert_int_equal(read_again(*state, EXPLAIN FACT("process_name", "7", "\"name\":\"e\"")),
                     XB_OK);
    assert_int_equal(got.count, 4);
    assert_int_equal(got.items[3].process, 7);
}

WITH_TREE(leaves_out_what_cannot_be)
{
    read_text(
        state,
        "[{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":-1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1e300,\"dur\":1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":1,\"dur\":inf},{\"ph\":\"B\",\"cat\":\"kernel\"},"
        "{\"ph\":\"X\",\"cat\":\"kernel\",\"ts\":2e0,\"dur\":1,\"args\":{\"device\":99999,"
        "\"stream\":-1,\"correlation\":1e10}},]");
    assert_int_equal(got.left_out, 4);
    assert_int_equal(got.items[0].count, 1);
    assert_int_equal(activity(0, 0)->begin, 2000);
    assert_int_equal(activity(0, 0)->device, -1);
    assert_int_equal(activity(0, 0)->link, 0);
    assert_true(got.lacks_calls);
}

/* Longer than what is looked at, and deeper than cJSON goes: passed over. */
WITH_TREE(passes_over_what_is_too_long)
{
    enum { MANY = 1 << 20 };
    char *text = malloc(2 * MANY + 1000), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"x\":");
    at = (char *)memset(at, '[', MANY) + MANY;
    at = (char *)memset(at, ']', MANY) + MANY;
    sprintf(at, ",\"traceEvents\":[" COPY("HtoH", "1", "1", "") "]}");
    read_text(state, text);
    assert_int_equal(got.left_out, 0); /* no event */
    assert_int_equal(activity(0, 0)->way, XB_WAY_HOST);
    at = text + sprintf(text, "[{\"x\":\"");
    at = (char *)memset(at, 'x', MANY) + MANY;
    at += sprintf(at, "\"},{\"x\":");
    at = (char *)memset(at, '[', 2000) + 2000;
    at = (char *)memset(at, ']', 2000) + 2000;
    sprintf(at, "}," COPY("DtoD", "1", "1", "") "]");
    read_text(state, text);
    assert_int_equal(got.left_out, 2);
    assert_int_equal(got.items[0].count, 1);
    free(text);
}

WITH_TREE(keeps_what_came_before_a_cut)
{
    static const char text[] =
        "{\"traceEvents\": [" COPY("DtoD", "1", "1", "") "," COPY("DtoD", "2", "2", "") "]}";
    char part[sizeof text];
    const size_t first = 17; /* the first byte of the list */
    for (size_t length = 0; length < sizeof text; length++) {
        snprintf(part, length + 1, "%s", text);
        xb_profiles_free(&got);
        enum xb_status status = read_again(*state, part);
        assert_int_equal(status, length < first ? XB_ERR_USAGE : XB_OK);
        if (status == XB_OK)
            assert_int_equal(got.items[0].is_cut, length < sizeof text - 1);
    }
    assert_int_equal(got.items[0].count, 2);
}

WITH_TREE(refuses_what_is_no_trace)
{
    static const struct {
        const char *text, *words;
    } wrong[] = {
        {"", "byte 0: this is no trace"},
        {"\"traceEvents\"", "byte 0: this is no trace"},
        {"{\"traceEvents\":{}}", "this is no trace"},
        {"{\"nodes\":[{}]}", "this is no trace"},
        {"[1]", "byte 1: no event begins here"},
        {"[[[[", "byte 1: no event begins here"},
        {"{1:2}", "byte 1: no key begins here"},
        {"{]", "byte 1: no key begins here"},
        {"{\"a\":]", "byte 5: no key begins here"},
        {"[}", "byte 1: no event begins here"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        xb_profiles_free(&got);
        assert_int_equal(read_again(*state, wrong[i].text), XB_ERR_USAGE);
        if (strstr(error.message, wrong[i].words) == NULL)
            fail_msg("%s: %s", wrong[i].text, error.message);
    }
    /* What parts values is not looked at, nor what is behind the list. */
    read_text(state, "{\"a\" 1 \"traceEvents\" [{} " COPY("DtoD", "1", "1", "")
                         COPY("DtoD", "2", "2", "") ",,:] \"b\" 2} {");
    assert_int_equal(got.items[0].count, 2);
    assert_int_equal(xb_profiles_read(&got, *state, &error), XB_ERR_USAGE); /* a folder */
    assert_int_equal(xb_profiles_read(&got, "/nowhere/at all", &error), XB_ERR_SYSTEM);
}

TEST(knows_the_names_of_copies)
{
    static const struct {
        const char *name;
        enum xb_way way;
        enum xb_host_memory host;
    } known[] = {
        {"Memcpy HtoD (Pageable -> Device)", XB_WAY_TO_GPU, XB_HOST_MEMORY_PAGEABLE},
        {"Memcpy DtoH (Device -> Pinned)", XB_WAY_BACK, XB_HOST_MEMORY_PINNED},
        {"Memcpy HtoA (Pinned -> Array)", XB_WAY_TO_GPU, XB_HOST_MEMORY_PINNED},
        {"Memcpy HtoD (Host -> Device)", XB_WAY_TO_GPU, XB_HOST_MEMORY_UNKNOWN},
        {"Unified Memory Memcpy HtoD", XB_WAY_TO_GPU, XB_HOST_MEMORY_MANAGED},
        {"Unified Device-to-Host (Managed -> Managed)", XB_WAY_BACK, XB_HOST_MEMORY_MANAGED},
        {"CopyHostToDevice", XB_WAY_TO_GPU, XB_HOST_MEMORY_UNKNOWN},
        {"CopyDeviceToHost", XB_WAY_BACK, XB_HOST_MEMORY_UNKNOWN},
        {"CopyDeviceToDevice", XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},
        {"Memcpy DtoD (Device -> Device)", XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},
        {"Array-to-Device", XB_WAY_WITHIN, XB_HOST_MEMORY_UNKNOWN},
        {"Memcpy PtoP (Device -> Device)", XB_WAY_PEER, XB_HOST_MEMORY_UNKNOWN},
        {"Memcpy HtoH (Pageable -> Pinned)", XB_WAY_HOST, XB_HOST_MEMORY_UNKNOWN},
        {"Memcpy", XB_WAY_UNKNOWN, XB_HOST_MEMORY_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        struct xb_activity copy = {.way = XB_WAY_PEER, .host = XB_HOST_MEMORY_PINNED};
        xb_copy_read_name(known[i].name, &copy);
        if (copy.way != known[i].way || copy.host != known[i].host)
            fail_msg("%s", known[i].name);
    }
}

/* Names, tracks and programs are found again, however many there are. */
TEST(keeps_names_and_tracks_once)
{
    enum { MANY = 3000 };
    char name[16];
    uint32_t names[MANY], tracks[MANY];
    xb_profiles_free(&got);
    for (int turn = 0; turn < 2; turn++)
        for (uint32_t i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "name %u", i);
            uint32_t own = xb_profiles_name(&got, name);
            uint32_t track = xb_profiles_track(&got, i / 50, (int)(i % 3) - 1, i / 3);
            names[i] = turn > 0 ? names[i] : own;
            tracks[i] = turn > 0 ? tracks[i] : track;
            assert_int_equal(names[i], own);
            assert_int_equal(tracks[i], track);
            assert_string_equal(got.names[own], name);
            assert_int_equal(xb_profiles_find(&got, i)->process, i);
            assert_int_equal(got.count, turn > 0 ? MANY : i + 1);
        }
    assert_int_equal(got.name_count,
                     3 * MANY + 1); /* with the keys of tracks and programs, and none */
    struct xb_activity backwards = {.begin = 2, .end = 1};
    assert_true(xb_profile_add(&got, &got.items[0], &backwards));
    assert_int_equal(got.left_out, 1);
    xb_profiles_free(&got);
}

/* A program is named while its name, the last one that fits, moves all names. */
WITH_TREE(names_programs_whose_names_move_all)
{
    char text[8192];
    for (int count = 0; count < 64; count++) {
        char *at = text + sprintf(text, "[");
        for (int i = 0; i < count; i++)
            at += sprintf(at, "{\"ph\":\"M\",\"name\":\"none\",\"pid\":\"p%d\"},", i);
        sprintf(at,
                FACT("process_name", "7", "\"name\":\"seven\"") CALL("cudaFree", "1", "1", "") "]");
        read_text(state, text);
        assert_string_equal(got.items[0].name, "seven");
    }
}

#ifdef HAS_ZLIB
WITH_TREE(unpacks_gzip)
{
    char path[PATH_MAX];
    static const char text[] = "[" COPY("DtoD", "1", "1", "") "," COPY("DtoD", "2", "2", "") "]";
    snprintf(path, sizeof path, "%s/trace.gz", (const char *)*state);
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, text, sizeof text - 1), sizeof text - 1);
    assert_int_equal(gzclose(file), Z_OK);
    xb_profiles_free(&got);
    assert_int_equal(xb_profiles_read(&got, path, &error), XB_OK);
    assert_int_equal(got.items[0].count, 2);
    assert_false(got.items[0].is_cut);
    assert_int_equal(truncate(path, 80), 0); /* of about 150 */
    assert_int_equal(xb_profiles_read(&got, path, &error), XB_OK);
    assert_true(got.items[1].is_cut);
    FILE *raw = fopen(path, "r+b");
    assert_non_null(raw);
    assert_int_equal(fseek(raw, 12, SEEK_SET), 0);
    assert_int_equal(fwrite("\377\377\377\377", 1, 4, raw), 4);
    assert_int_equal(fclose(raw), 0);
    assert_int_equal(xb_profiles_read(&got, path, &error), XB_ERR_USAGE);
    assert_non_null(strstr(error.message, "broken"));
}
#endif

static int free_all(NO_STATE)
{
    xb_profiles_free(&got);
    return 0;
}

GROUP(NULL, free_all)
