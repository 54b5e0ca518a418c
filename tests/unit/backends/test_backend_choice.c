/* SPDX-License-Identifier: Apache-2.0 */
/* How a backend of the list is named, looked for and opened. */
#include "backends/registry.h"

#include "record/mode_list.h"

#include "testing.h"

/* Two that are automatic and cannot be had, one that can, and one that has to be named. */
static struct xb_backend broken, works, named;
const struct xb_backend_entry xb_backends[] = {{.name = "absent", .absent_reason = "left out"},
                                               {.name = "broken", .backend = &broken},
                                               {.name = "works", .backend = &works},
                                               {.name = "named", .backend = &named},
                                               {.name = NULL}};
const struct xb_mode *const xb_modes[] = {NULL};

static unsigned open_drivers;

static enum xb_status fail_to_open(struct xb_driver **driver, struct xb_probe *probe,
                                   struct xb_error *error)
{
    (void)driver;
    snprintf(probe->checks[probe->check_count].what, sizeof probe->checks[0].what, "its library");
    probe->check_count++;
    return XB_FAIL(error, XB_ERR_UNAVAILABLE, "it is broken");
}

static struct xb_driver working_driver = {.backend = &works};
static struct xb_driver named_driver = {.backend = &named};

static enum xb_status open_working(struct xb_driver **driver, struct xb_probe *probe,
                                   struct xb_error *error)
{
    (void)error;
    probe->device_count = 3;
    *driver = &working_driver;
    open_drivers++;
    return XB_OK;
}

static enum xb_status open_named(struct xb_driver **driver, struct xb_probe *probe,
                                 struct xb_error *error)
{
    (void)probe;
    (void)error;
    *driver = &named_driver;
    open_drivers++;
    return XB_OK;
}

static int set_up(NO_STATE)
{
    broken = (struct xb_backend){.name = "broken", .automatic = true, .driver_open = fail_to_open};
    works = (struct xb_backend){.name = "works", .automatic = true, .driver_open = open_working};
    named = (struct xb_backend){.name = "named", .driver_open = open_named};
    open_drivers = 0;
    return 0;
}

/* Notes the names of those that were refused, and how much their probes tell. */
static void note(void *argument, const struct xb_backend_entry *entry, const struct xb_probe *probe)
{
    char *text = argument;
    size_t length = strlen(text);
    snprintf(text + length, 100 - length, "%s %zu;", entry->name, probe->check_count);
}

TEST_WITH(test_auto_takes_the_first_that_can_run, set_up, NULL)
{
    char refused[100] = "";
    struct xb_probe probe;
    assert_ptr_equal(xb_backend_open_first("auto", &probe, note, refused), &working_driver);
    assert_int_equal(probe.device_count, 3);
    assert_int_equal(probe.check_count, 0); /* nothing is left of the one before */
    assert_string_equal(refused, "absent 0;broken 1;");
    assert_int_equal(open_drivers, 1);
}

TEST_WITH(test_auto_never_takes_one_that_has_to_be_named, set_up, NULL)
{
    char refused[100] = "";
    struct xb_probe probe;
    works.driver_open = fail_to_open;
    assert_null(xb_backend_open_first("auto", &probe, note, refused));
    assert_string_equal(refused, "absent 0;broken 1;works 1;");
    assert_int_equal(open_drivers, 0);
}

TEST_WITH(test_a_name_means_that_one_alone, set_up, NULL)
{
    char refused[100] = "";
    struct xb_probe probe;
    assert_ptr_equal(xb_backend_open_first("named", &probe, note, refused), &named_driver);
    assert_string_equal(refused, "");
    assert_null(xb_backend_open_first("broken", &probe, note, refused));
    assert_null(xb_backend_open_first("absent", &probe, note, refused));
    assert_string_equal(refused, "broken 1;absent 0;");
    assert_int_equal(open_drivers, 1);
    probe.check_count = 7;
    assert_null(xb_backend_open_first("nobody", &probe, note, refused));
    assert_int_equal(probe.check_count, 0);
}

TEST_WITH(test_names_are_those_of_the_list, set_up, NULL)
{
    char text[64];
    assert_string_equal(xb_backend_names(XB_BACKENDS_ALL, text, sizeof text),
                        "absent, broken, works, named");
    assert_string_equal(xb_backend_names(XB_BACKENDS_AUTOMATIC, text, sizeof text),
                        "absent, broken, works");
    assert_string_equal(xb_backend_names(XB_BACKENDS_BY_NAME, text, sizeof text), "named");
    assert_string_equal(xb_backend_names(XB_BACKENDS_ALL, text, 10), "absent, b");
    assert_string_equal(xb_backend_names(XB_BACKENDS_BY_NAME, text, 1), "");
}

TEST_WITH(test_a_wrong_name_is_told, set_up, NULL)
{
    struct xb_error error = {0};
    assert_int_equal(xb_backend_check_name("auto", &error), XB_OK);
    assert_int_equal(xb_backend_check_name("absent", &error), XB_OK);
    assert_int_equal(xb_backend_check_name("borken", &error), XB_ERR_USAGE);
    assert_string_equal(error.message, "--backend: there is no backend 'borken'; did you mean "
                                       "'broken'? It takes absent, broken, works, named or auto");
    assert_int_equal(xb_backend_check_name("quantum", &error), XB_ERR_USAGE);
    assert_string_equal(error.message, "--backend: there is no backend 'quantum'. It takes absent, "
                                       "broken, works, named or auto");
}
