/* SPDX-License-Identifier: Apache-2.0 */
/* How a backend of the list is named, looked for and opened. */
#include "backends/registry.h"
#include "record/mode_list.h"
#include "rows.h"

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

/* "name | broken": the backend that is opened, and which were refused on the way. */
static void say_opened(const struct row *row, char said[ROW_TEXT])
{
    char refused[100] = "";
    struct xb_probe probe = {.check_count = 7};
    assert_int_equal(set_up(NULL), 0);
    if (row->count > 1)
        works.driver_open = fail_to_open;
    const struct xb_driver *driver = xb_backend_open_first(row->part[0], &probe, note, refused);
    say_also(
        said, "%s with %u devices; refused: %s", driver != NULL ? driver->backend->name : "none",
        driver != NULL ? (unsigned)probe.device_count : 0, refused[0] != '\0' ? refused : "nobody");
    assert_true(driver == NULL || probe.check_count == 0); /* nothing is left of the one before */
    assert_true(refused[0] != '\0' || probe.check_count == 0);
    assert_int_equal(open_drivers, driver != NULL);
}
TEST_ROWS(the_first_that_can_run_is_opened, say_opened)

/* "which | room" */
static void say_names(const struct row *row, char said[ROW_TEXT])
{
    char text[64];
    enum xb_backend_kind which = strcmp(row->part[0], "all") == 0         ? XB_BACKENDS_ALL
                                 : strcmp(row->part[0], "automatic") == 0 ? XB_BACKENDS_AUTOMATIC
                                                                          : XB_BACKENDS_BY_NAME;
    assert_int_equal(set_up(NULL), 0);
    say_also(said, "%s", xb_backend_names(which, text, row_number(row, 1)));
}
TEST_ROWS(names_are_those_of_the_list, say_names)

static void say_checked(const struct row *row, char said[ROW_TEXT])
{
    struct xb_error error = {0};
    assert_int_equal(set_up(NULL), 0);
    enum xb_status status = xb_backend_check_name(row->part[0], &error);
    if (status == XB_OK)
        say_also(said, "ok");
    else
        say_refused(said, status, &error);
}
TEST_ROWS(a_wrong_name_is_told, say_checked)
