/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/registry.h"
#include "doubles/fake_backend.h"
#include "measure/engine/stage.h"
#include "measure/run.h"
#include "record/mode_list.h"
#include "testing.h"

static void refuse_backend(const struct xb_backend *backend, const char *part)
{
    const struct xb_backend_entry list[] = {{.name = "fake", .backend = backend}, {.name = NULL}};
    struct xb_error error = {0};
    assert_int_equal(xb_registry_check(list, &error), XB_ERR_INTERNAL);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

TEST(test_the_real_lists_pass)
{
    struct xb_error error;
    assert_int_equal(xb_registry_check(xb_backends, &error), XB_OK);
    assert_int_equal(xb_modes_check(xb_modes, &error), XB_OK);
}

#define REFUSE_TABLE(part, ...)                                                                    \
    do {                                                                                           \
        struct xb_backend table = xb_fake_backend;                                                 \
        __VA_ARGS__;                                                                               \
        refuse_backend(&table, part);                                                              \
    } while (0)

TEST(test_backend_tables_are_checked)
{
    REFUSE_TABLE("version", table.abi = XB_BACKEND_ABI + 1);
    REFUSE_TABLE("calls itself other", table.name = "other");
    REFUSE_TABLE("calls itself nothing", table.name = NULL);
    REFUSE_TABLE("lack its `kernels`", table.queue_compute = xb_queue_compute,
                 table.kernels = NULL);
    refuse_backend(NULL, "does not say why");
}

static void clear(struct xb_backend *table, const struct xb_slot *slot)
{
    memset((char *)table + slot->offset, 0, sizeof table->driver_open);
}

static enum xb_status check_list(const struct xb_backend *table)
{
    const struct xb_backend_entry list[] = {{.name = "fake", .backend = table}, {.name = NULL}};
    struct xb_error error;
    return xb_registry_check(list, &error);
}

/* Every slot, one at a time: only what every backend needs, or the rest of its group, must be
 * there.
 */
TEST(test_each_missing_slot_is_named)
{
    struct xb_backend least = xb_fake_backend;
    for (const struct xb_slot *slot = xb_slots; slot->name != NULL; slot++) {
        struct xb_backend table = xb_fake_backend;
        clear(&table, slot);
        if (slot->needs == XB_SLOT_ALWAYS || slot->needs == XB_SLOT_PEERS ||
            slot->needs == XB_SLOT_PROFILER)
            refuse_backend(&table, slot->name);
        else
            assert_int_equal(check_list(&table), XB_OK);
        if (slot->needs != XB_SLOT_ALWAYS)
            clear(&least, slot);
    }
    assert_int_equal(check_list(&least), XB_OK);
}

/* Behind the names all of a table is slots. */
TEST(test_every_slot_is_listed)
{
    size_t at = offsetof(struct xb_backend, driver_open);
    for (const struct xb_slot *slot = xb_slots; slot->name != NULL; slot++) {
        assert_int_equal(slot->offset, at);
        at += sizeof xb_fake_backend.driver_open;
    }
    assert_int_equal(at, sizeof(struct xb_backend));
}

TEST(test_names_are_unique)
{
    struct xb_error error = {0};
    const struct xb_backend_entry backends[] = {
        {.name = "fake", .backend = &xb_fake_backend},
        {.name = "fake", .absent_reason = "it is there already"},
        {.name = NULL}};
    assert_int_equal(xb_registry_check(backends, &error), XB_ERR_INTERNAL);
    assert_non_null(strstr(error.message, "two backends"));
    const struct xb_mode *const modes[] = {xb_modes[0], xb_modes[0], NULL};
    assert_int_equal(xb_modes_check(modes, &error), XB_ERR_INTERNAL);
    assert_non_null(strstr(error.message, "two modes"));
}

static void expect_mode(enum xb_status status, const struct xb_mode *mode)
{
    struct xb_error error = {0};
    const struct xb_mode *const modes[] = {mode, NULL};
    assert_int_equal(xb_modes_check(modes, &error), status);
    assert_int_equal(error.message[0] != '\0', status != XB_OK);
}
#define REFUSE_MODE(mode) expect_mode(XB_ERR_INTERNAL, (mode))
#define ACCEPT_MODE(mode) expect_mode(XB_OK, (mode))
/* A change to what is as it should be, alone. */
#define WITH(status, what, ...)                                                                    \
    do {                                                                                           \
        const __typeof__(what) right_ = (what);                                                    \
        __VA_ARGS__;                                                                               \
        expect_mode(status, &mode);                                                                \
        (what) = right_;                                                                           \
    } while (0)
#define REFUSE_WITH(...) WITH(XB_ERR_INTERNAL, __VA_ARGS__)
#define ACCEPT_WITH(...) WITH(XB_OK, __VA_ARGS__)

static void says_nothing(struct xb_reading *reading)
{
    (void)reading;
}

/* A mode of pairs is asked for pairs, any other for a device at a size or at all of them. */
TEST(test_lines_of_the_reading_are_checked)
{
    struct xb_reading_line lines[] = {
        {.label = "twelve chars", .code = "XB-NOTHING", .say = says_nothing}, {.label = NULL}};
    struct xb_mode mode = *xb_mode_find("pageable");
    mode.reading = lines;
    ACCEPT_MODE(&mode);
    REFUSE_WITH(mode, mode.pairs = true);
    REFUSE_WITH(lines[0], lines[0].say_of_sizes = says_nothing); /* one of the two */
    ACCEPT_WITH(lines[0], lines[0].say_of_sizes = says_nothing, lines[0].say = NULL);
    REFUSE_WITH(lines[0], lines[0].say = NULL);
    REFUSE_WITH(lines[0], lines[0].code = NULL);
    REFUSE_WITH(lines[0], lines[0].label = "thirteen chrs");
}

TEST(test_modes_are_checked)
{
#define FIELD(name)                                                                                \
    {                                                                                              \
        offsetof(struct xb_mode, name), sizeof(((struct xb_mode *)NULL)->name)                     \
    }
    static const struct {
        size_t at, bytes;
    } needed[] = {FIELD(name),    FIELD(summary), FIELD(description), FIELD(directions),
                  FIELD(variant), FIELD(buffers), FIELD(setup),       FIELD(prepare),
                  FIELD(submit),  FIELD(verify),  FIELD(by_default)};
    struct xb_mode mode = *xb_mode_find("pageable");
    mode.variant_option = NULL;
    mode.variant = "malloc";
    for (size_t i = 0; i < COUNT_OF(needed); i++)
        REFUSE_WITH(mode, memset((char *)&mode + needed[i].at, 0, needed[i].bytes));
    mode.by_default = XB_D2D; /* which it does not know */
    mode.directions = XB_H2D | XB_D2H;
    REFUSE_MODE(&mode);
}

TEST(test_parameters_of_modes_are_checked)
{
    struct xb_option option = {XB_COUNT("sides", "N", 1, 6), .default_text = "6"};
    struct xb_mode mode = *xb_mode_find("local");
    mode.parameters = XB_PARAMETERS({&option, NULL});
    mode.options = XB_OPTIONS(&option);
    ACCEPT_MODE(&mode);
    REFUSE_WITH(option, option.default_text = NULL);
    REFUSE_WITH(mode, mode.options = NULL);
}

static enum xb_status run_nothing(struct xb_mode_context *context, const struct xb_turn *turn,
                                  struct xb_error *error)
{
    (void)context;
    (void)turn;
    (void)error;
    return XB_OK;
}

/* What the runner drives must be what it can drive. */
TEST(test_stages_of_modes_are_checked)
{
    struct xb_stage stages[XB_STAGES + 2] = {
        {.name = "read", .engine = XB_ENGINE_HOST, .run = run_nothing},
        {.name = "in", .engine = XB_ENGINE_COPY, .run = run_nothing},
        {.name = "kernel", .engine = XB_ENGINE_COMPUTE, .run = run_nothing},
    };
    const struct xb_stage right = stages[1];
    struct xb_mode mode = *xb_mode_find("double-buffer");
    const struct xb_figure *const figures[] = {mode.references[0].figure, NULL};
    const struct xb_figure stranger = {.name = "stranger", .unit = XB_UNIT_RATIO};
    mode.stages = stages;
    mode.figures = figures;
    mode.references = NULL;
    ACCEPT_MODE(&mode);
    REFUSE_WITH(stages[1], stages[1].run = NULL);
    REFUSE_WITH(stages[1], stages[1].engine = XB_ENGINE_HOST); /* not the first */
    REFUSE_WITH(stages[1], stages[1].name = "");
    REFUSE_WITH(stages[1], stages[1].name = "copy in");
    REFUSE_WITH(stages[1], stages[1].name = "read");
    REFUSE_WITH(stages[1], stages[1].busy = &stranger);
    REFUSE_WITH(stages[1], stages[1].wait = &stranger);
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    for (size_t i = 0; i < XB_STAGES - 2; i++) {
        ACCEPT_MODE(&mode);
        stages[3 + i] = right;
        stages[3 + i].name = names[i];
    }
    REFUSE_MODE(&mode); /* one too many */
    stages[XB_STAGES].name = NULL;
    ACCEPT_MODE(&mode);
    REFUSE_WITH(mode, mode.submit = xb_mode_find("pinned")->submit);
    ACCEPT_WITH(mode, mode.submit = xb_mode_find("pinned")->submit, mode.stages = NULL);
    REFUSE_WITH(mode, mode.stages = NULL);
}

TEST(test_references_of_modes_are_checked)
{
    struct xb_mode mode = *xb_mode_find("double-buffer"); /* of three stages */
    struct xb_line_part part = {.stages = 1u << 2};
    struct xb_reference references[] = {{.figure = mode.references[0].figure, .part = &part},
                                        {.figure = NULL}};
    mode.references = references;
    ACCEPT_MODE(&mode);
    REFUSE_WITH(part, part.stages = 1u << 3);
    part.stages = 0; /* all */
    ACCEPT_MODE(&mode);
    REFUSE_WITH(references[0], references[0].submit = xb_line_submit); /* either */
    REFUSE_WITH(references[0], references[0].part = NULL);             /* or */
    ACCEPT_WITH(references[0], references[0].part = NULL, references[0].submit = xb_line_submit);
    mode.stages = NULL;
    mode.submit = xb_mode_find("pinned")->submit;
    REFUSE_MODE(&mode); /* no line to take it from */
}

/* A latency that compare did not judge by, or took for a rate, would be one that nobody watches. */
TEST(test_latencies_of_modes_are_checked)
{
    struct xb_figure latency = *xb_mode_find("loads")->latency;
    const struct xb_figure *figures[] = {&latency, NULL};
    struct xb_mode mode = *xb_mode_find("loads");
    mode.latency = &latency;
    REFUSE_MODE(&mode); /* not one of its figures */
    latency.name = "another_latency";
    mode.figures = figures;
    ACCEPT_MODE(&mode);
    REFUSE_WITH(latency, latency.gates = false);
    REFUSE_WITH(latency, latency.unit = XB_UNIT_RATIO);
    REFUSE_WITH(latency, latency.more_is_better = true);
}

static void refuse_device(const struct xb_backend *backend, uint32_t capability, const char *part)
{
    struct xb_device_info info = {.capabilities = capability, .held_operations = 1};
    struct xb_error error = {0};
    assert_int_equal(xb_registry_check_device(backend, &info, &error), XB_ERR_INTERNAL);
    assert_non_null(strstr(error.message, part));
    info.capabilities = 0; /* what is not claimed need not be there */
    assert_int_equal(xb_registry_check_device(backend, &info, &error), XB_OK);
}

static unsigned slots_behind(uint32_t capabilities)
{
    unsigned count = 0;
    for (const struct xb_slot *slot = xb_slots; slot->name != NULL; slot++)
        count += (slot->needs & capabilities) != 0;
    return count;
}

TEST(test_capabilities_need_their_slots)
{
    struct xb_device_info info = {.capabilities = UINT32_MAX, .held_operations = 1};
    struct xb_error error;
    assert_int_equal(xb_registry_check_device(&xb_fake_backend, &info, &error), XB_OK);
    for (const struct xb_slot *slot = xb_slots; slot->name != NULL; slot++)
        for (uint32_t i = 0; i < XB_CAPABILITIES; i++) {
            struct xb_backend table = xb_fake_backend;
            clear(&table, slot);
            if ((slot->needs & 1u << i) != 0)
                refuse_device(&table, 1u << i, slot->name);
        }
    /* Those that slots stand behind, as backend.h says. */
    assert_int_equal(slots_behind(XB_CAP_KERNELS), 10);
    assert_int_equal(slots_behind(XB_CAP_GRAPH), 5);
    assert_int_equal(slots_behind(XB_CAP_FILE), 4);
    assert_int_equal(slots_behind(XB_CAP_BATCH), 3);
    assert_int_equal(slots_behind(XB_CAP_MANAGED | XB_CAP_HOLD), 4);
    assert_int_equal(slots_behind(XB_CAP_REGISTER | XB_CAP_ROWS | XB_CAP_POOL), 3);
    info.held_operations = 0; /* a hold nothing fits behind */
    assert_int_equal(xb_registry_check_device(&xb_fake_backend, &info, &error), XB_ERR_INTERNAL);
}

/* The lists that go by a bit's or a value's number. */
TEST(test_everything_has_a_name)
{
    const char *const capabilities[] = {"register", "write-combined", "hold",  "kernels", "mapped",
                                        "managed",  "batch",          "graph", "rows",    "file",
                                        "pool",     "pageable",       "bulk"};
    assert_int_equal(XB_CAPABILITIES, COUNT_OF(capabilities));
    for (size_t i = 0; i < XB_CAPABILITIES; i++)
        assert_string_equal(xb_capability_names[i], capabilities[i]);
    assert_null(xb_capability_names[XB_CAPABILITIES]);
    assert_int_equal(XB_CAP_MANAGED, 1 << 5);
    assert_int_equal(XB_CAP_ROWS, 1 << 8);
    assert_int_equal(XB_CAP_FILE, 1 << 9);
    assert_int_equal(XB_CAP_PAGEABLE, 1 << 11);
    assert_int_equal(XB_CAP_BULK, 1 << 12);
    const char *const memories[] = {"device",         "pageable", "pinned", "registered",
                                    "write-combined", "mapped",   "managed"};
    for (size_t i = 0; i < 7; i++)
        assert_string_equal(xb_memory_name((enum xb_memory)i), memories[i]);
    for (size_t i = 0; i < 14; i++) {
        const struct xb_device device = {.info.capabilities = i < 7 ? 0 : XB_CAP_PAGEABLE};
        assert_int_equal(xb_memory_in_reach((enum xb_memory)(i % 7), &device),
                         i % 7 == 0 || i % 7 >= 5 || i == 8);
    }
}

TEST(test_find)
{
    assert_ptr_equal(xb_backend_find("fake")->backend, &xb_fake_backend);
    assert_null(xb_backend_find("cuda2"));
    assert_string_equal(xb_mode_find("async")->name, "async");
    assert_null(xb_mode_find("asyn"));
}
