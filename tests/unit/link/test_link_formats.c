/* SPDX-License-Identifier: Apache-2.0 */
#include "checks.h"
#include "link_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "testing.h"

/* Counts past the arrays' ends are not believed: they come from another process, which may have
 * died while it wrote them. */
RUN_TEST(counts_are_not_believed)
{
    struct node *n = *state;
    const struct xb_link_limits none = {0};
    make_critical(n);
    for (size_t i = 0; i < GPUS; i++) {
        struct xb_link_device *device = &n->devices[i];
        for (size_t j = 0; j < XB_LINK_ATTEMPTS; j++) {
            device->attempts[j] = device->attempts[0];
            device->attempts[j].at_rest.count = device->attempts[j].after.count = 1000;
            device->attempts[j].load.count = 1000;
        }
        device->attempt_count = 1000;
        xb_verdict_of_device(device, &none, &n->verdicts[i]);
        assert_true(n->verdicts[i].best < XB_LINK_ATTEMPTS);
        assert_int_equal(n->verdicts[i].facts.hop_count, XB_PCIE_HOPS);
    }
    for (size_t i = 0; i < FORMATS; i++)
        free(link_text(formats[i].write, n));
}

RUN_TEST(formats_report_a_full_disk)
{
    struct node *n = *state;
    make_critical(n);
    find_facts(n);
    for (size_t i = 0; i < FORMATS; i++) {
        for (int buffered = 0; buffered < 2; buffered++) {
            struct xb_error error = {0};
            FILE *full = fopen("/dev/full", "w");
            assert_non_null(full);
            if (!buffered)
                setvbuf(full, NULL, _IONBF, 0);
            assert_int_equal(formats[i].write(full, &n->report, &error), XB_ERR_SYSTEM);
            assert_int_equal(error.native_code, ENOSPC);
            fclose(full);
        }
    }
}

/* `test_link_formats DIRECTORY` writes every report in every format, as KIND.FORMAT: to be held
 * against the schema, to be checked by others' tools, and to be looked at. */
static int write_examples(const char *directory)
{
    int failed = 0;
    for (size_t i = 0; i < KINDS * FORMATS; i++) {
        char path[512];
        struct xb_error error;
        void *made = NULL;
        if (link_setup(&made) != 0)
            return 1;
        kinds[i / FORMATS].make(made);
        find_facts(made);
        snprintf(path, sizeof path, "%s/%s.%s", directory, kinds[i / FORMATS].name,
                 formats[i % FORMATS].name);
        FILE *file = fopen(path, "w");
        if (file == NULL)
            return 1;
        failed |= formats[i % FORMATS].write(file, &((struct node *)made)->report, &error) != XB_OK;
        failed |= fclose(file) != 0;
        link_teardown(&made);
    }
    return failed;
}

int main(int argc, char **argv)
{
    return argc == 2 ? write_examples(argv[1]) : run_topic("link_formats");
}
