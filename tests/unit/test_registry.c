/* SPDX-License-Identifier: Apache-2.0 */
#include "xferbench/registry.h"

#include "../doubles/fake_backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct xb_mode *const no_modes[] = {NULL};
static const struct xb_backend_entry no_backends[] = {{.name = NULL}};

static void refuse_backend(const struct xb_backend *backend, const char *part)
{
    const struct xb_backend_entry list[] = {{.name = "fake", .backend = backend}, {.name = NULL}};
    struct xb_error error = {0};
    assert_int_equal(xb_registry_check(list, no_modes, &error), XB_ERR_INTERNAL);
    if (strstr(error.message, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.message, part);
}

static void test_the_real_lists_pass(void **state)
{
    (void)state;
    struct xb_error error;
    assert_int_equal(xb_registry_check(xb_backends, xb_modes, &error), XB_OK);
}

static void test_backend_tables_are_checked(void **state)
{
    (void)state;
    struct xb_backend table = xb_fake_backend;
    table.abi = XB_BACKEND_ABI + 1;
    refuse_backend(&table, "version");
    table = xb_fake_backend;
    table.name = "other";
    refuse_backend(&table, "calls itself other");
    table = xb_fake_backend;
    table.name = NULL;
    refuse_backend(&table, "calls itself nothing");
    refuse_backend(NULL, "does not say why");
}

/* Every mandatory slot, one at a time; the optional ones may be missing. */
static void test_each_missing_slot_is_named(void **state)
{
    (void)state;
#define WITHOUT(slot)                                                                              \
    do {                                                                                           \
        struct xb_backend table = xb_fake_backend;                                                 \
        table.slot = NULL;                                                                         \
        refuse_backend(&table, #slot);                                                             \
    } while (0)
    WITHOUT(driver_open);
    WITHOUT(driver_close);
    WITHOUT(device_info);
    WITHOUT(device_open);
    WITHOUT(device_close);
    WITHOUT(device_memory);
    WITHOUT(buffer_allocate);
    WITHOUT(buffer_free);
    WITHOUT(queue_open);
    WITHOUT(queue_close);
    WITHOUT(queue_copy);
    WITHOUT(queue_fill);
    WITHOUT(queue_check);
    WITHOUT(queue_wait_event);
    WITHOUT(queue_wait);
    WITHOUT(event_open);
    WITHOUT(event_close);
    WITHOUT(event_record);
    WITHOUT(event_elapsed);
    struct xb_backend table = xb_fake_backend;
    table.buffer_register = NULL;
    table.queue_hold = NULL;
    table.queue_release = NULL;
    const struct xb_backend_entry list[] = {{.name = "fake", .backend = &table}, {.name = NULL}};
    struct xb_error error;
    assert_int_equal(xb_registry_check(list, no_modes, &error), XB_OK);
}

static void test_names_are_unique(void **state)
{
    (void)state;
    struct xb_error error = {0};
    const struct xb_backend_entry backends[] = {
        {.name = "fake", .backend = &xb_fake_backend},
        {.name = "fake", .absent_reason = "it is there already"},
        {.name = NULL}};
    assert_int_equal(xb_registry_check(backends, no_modes, &error), XB_ERR_INTERNAL);
    assert_non_null(strstr(error.message, "two backends"));
    const struct xb_mode *const modes[] = {xb_modes[0], xb_modes[0], NULL};
    assert_int_equal(xb_registry_check(no_backends, modes, &error), XB_ERR_INTERNAL);
    assert_non_null(strstr(error.message, "two modes"));
}

static void refuse_mode(const struct xb_mode *mode)
{
    struct xb_error error = {0};
    const struct xb_mode *const modes[] = {mode, NULL};
    assert_int_equal(xb_registry_check(no_backends, modes, &error), XB_ERR_INTERNAL);
    assert_string_not_equal(error.message, "");
}

static void test_modes_are_checked(void **state)
{
    (void)state;
    const struct xb_mode whole = *xb_mode_find("pageable");
#define MODE_WITHOUT(field)                                                                        \
    do {                                                                                           \
        struct xb_mode mode = whole;                                                               \
        mode.field = 0;                                                                            \
        refuse_mode(&mode);                                                                        \
    } while (0)
    MODE_WITHOUT(name);
    MODE_WITHOUT(summary);
    MODE_WITHOUT(description);
    MODE_WITHOUT(directions);
    MODE_WITHOUT(variant);
    MODE_WITHOUT(needs);
    MODE_WITHOUT(setup);
    MODE_WITHOUT(prepare);
    MODE_WITHOUT(submit);
    MODE_WITHOUT(verify);
}

static void test_capabilities_need_their_slots(void **state)
{
    (void)state;
    struct xb_backend table = xb_fake_backend;
    struct xb_device_info info = {.capabilities = XB_CAP_HOLD | XB_CAP_REGISTER,
                                  .held_operations = 1};
    struct xb_error error;
    assert_int_equal(xb_registry_check_device(&table, &info, &error), XB_OK);
    table.queue_hold = NULL;
    assert_int_equal(xb_registry_check_device(&table, &info, &error), XB_ERR_INTERNAL);
    table = xb_fake_backend;
    table.buffer_register = NULL;
    assert_int_equal(xb_registry_check_device(&table, &info, &error), XB_ERR_INTERNAL);
    info.held_operations = 0; /* a hold nothing fits behind */
    assert_int_equal(xb_registry_check_device(&xb_fake_backend, &info, &error), XB_ERR_INTERNAL);
}

static void test_find(void **state)
{
    (void)state;
    assert_ptr_equal(xb_backend_find("fake")->backend, &xb_fake_backend);
    assert_null(xb_backend_find("cuda2"));
    assert_string_equal(xb_mode_find("async")->name, "async");
    assert_null(xb_mode_find("asyn"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_real_lists_pass),
        cmocka_unit_test(test_backend_tables_are_checked),
        cmocka_unit_test(test_each_missing_slot_is_named),
        cmocka_unit_test(test_names_are_unique),
        cmocka_unit_test(test_modes_are_checked),
        cmocka_unit_test(test_capabilities_need_their_slots),
        cmocka_unit_test(test_find),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
