/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* What else goes on beside copies that are only told of, on a host, a device and a clock that are
 * stand-ins. */
#include "link/session.h"
#include "machine/environment.h"
#include "testing.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

static struct {
    bool has_library, has_stat;
    double load_s;
    int probes_open;
    uint32_t step_us;                /* of time, between two looks */
    uint64_t time_us, own_us, looks; /* so far */
    uint32_t sent;
} world;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    uint64_t us = clock == CLOCK_PROCESS_CPUTIME_ID ? world.own_us : world.time_us;
    *time =
        (struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000};
    return 0;
}

/* Of 16 CPUs a half is busy, whoever keeps it so. It is the last thing that a look asks. */
bool __wrap_xb_cpu_times_read(const char *path, struct xb_cpu_times *times)
{
    assert_string_equal(path, "/proc/stat");
    world.looks++;
    world.time_us += world.step_us;
    world.own_us += 2 * world.step_us; /* two of the busy CPUs are its own */
    world.sent += 1000000;
    *times = (struct xb_cpu_times){.total = 0};
    if (world.has_stat)
        *times =
            (struct xb_cpu_times){.total = world.looks * 32, .busy = world.looks * 16, .cpus = 16};
    return world.has_stat;
}

struct xb_memory_probe *__wrap_xb_memory_probe_open(void)
{
    world.probes_open++;
    return (struct xb_memory_probe *)&world;
}

void __wrap_xb_memory_probe_close(struct xb_memory_probe *probe)
{
    world.probes_open -= probe != NULL;
}

/* One load in three is slow: the median is not. */
double __wrap_xb_memory_probe_time(struct xb_memory_probe *probe)
{
    assert_ptr_equal(probe, &world);
    return world.looks % 3 == 2 ? 10 * world.load_s : world.load_s;
}

static void device_health(struct xb_driver *driver, unsigned index, unsigned parts,
                          struct xb_device_health *health)
{
    (void)driver;
    assert_int_equal(index, 3);
    memset(health, 0, sizeof *health);
    if (!world.has_library)
        return;
    if (parts == XB_HEALTH_TRAFFIC) {
        health->counted[XB_PCIE_RETRAINS] = true;
        health->counts[XB_PCIE_RETRAINS] = 10 + world.looks;
        health->traffic_known = true;
        health->bytes_sent = world.sent;
        health->bytes_received = 2 * world.sent;
    } else {
        assert_int_equal(parts, XB_HEALTH_CLOCKS);
        health->clocks_known = true;
        health->memory_clock_mhz = 2000;
        health->memory_clock_best_mhz = 3201;
        health->slowed_by_hardware = true;
        strcpy(health->throttle, "hardware power brake");
    }
}

static const struct xb_backend backend = {.name = "stand-in", .device_health = device_health};
static struct xb_result results[2];
static struct xb_run run = {.results = results, .case_count = 2};

static struct xb_conditions *start(void)
{
    static struct xb_driver driver = {.backend = &backend};
    struct xb_error error;
    if (run.topology == NULL)
        assert_int_equal(xb_topology_open(&run.topology, &error), XB_OK);
    results[0].test.direction = XB_H2D;
    results[1].test.direction = XB_D2H;
    run.done_count = 0;
    world.sent = UINT32_MAX - 1500000; /* so it wraps */
    static const struct xb_device_info info = {.index = 3, .pci_bdf = "0000:0f:00.0"};
    return xb_conditions_open(&driver, &info);
}

/* Looks so often, where it looks in each fourth round. */
static void look(struct xb_conditions *conditions, unsigned count)
{
    for (unsigned i = 0; i < 4 * count; i++)
        xb_conditions_look(conditions);
}

static int begin(NO_STATE)
{
    memset(&world, 0, sizeof world);
    world.has_library = world.has_stat = true;
    world.load_s = 100e-9;
    world.step_us = 20000;
    return 0;
}

TEST_WITH(tells_what_goes_on_beside_copies, begin, NULL)
{
    struct xb_link_conditions seen[2] = {{.seconds = 0}};
    struct xb_conditions *conditions = start();
    look(conditions, 1);
    assert_int_equal(world.probes_open, 0);
    xb_conditions_note(conditions, &run, false);
    look(conditions, 5); /* before the first copy has ended: nobody's */
    assert_int_equal(world.probes_open, 1);
    assert_int_equal(world.looks, 0);
    xb_conditions_note(conditions, &run, true);
    look(conditions, 3);
    xb_conditions_note(conditions, &run, true);
    world.load_s = 900e-9;
    look(conditions, 9); /* after the last copy there: nobody's */
    run.done_count = 1;
    world.load_s = 300e-9;
    xb_conditions_note(conditions, &run, true);
    look(conditions, 4);
    xb_conditions_note(conditions, &run, true);
    xb_conditions_close(conditions, seen);
    for (size_t i = 0; i < 2; i++) {
        assert_true(fabs(seen[i].seconds - (i == 0 ? 0.04 : 0.06)) < 1e-9);
        assert_int_equal(seen[i].cpus, 16);
        assert_true(fabs(seen[i].cpus_busy - 6) < 1e-9);
        assert_true(seen[i].load_s == (i == 0 ? 100e-9 : 300e-9));
        assert_true(seen[i].traffic_known);
        assert_true(fabs(seen[i].sent - 50e6) < 1);
        assert_true(fabs(seen[i].received - 100e6) < 1);
        assert_int_equal(seen[i].clocks.memory_clock_mhz, 2000);
        assert_int_equal(seen[i].retrains, i == 0 ? 2 : 3);
        assert_int_equal(seen[i].clocks.memory_clock_best_mhz, 3201);
        assert_true(seen[i].clocks.slowed_by_hardware);
        assert_string_equal(seen[i].clocks.throttle, "hardware power brake");
    }
    assert_int_equal(world.probes_open, 0);
}

/* The counters may have wrapped once more than can be seen. */
TEST_WITH(does_not_know_traffic_between_looks_far_apart, begin, NULL)
{
    struct xb_link_conditions seen[2] = {{.seconds = 0}};
    struct xb_conditions *conditions = start();
    xb_conditions_note(conditions, &run, false);
    xb_conditions_note(conditions, &run, true);
    world.step_us = 31000;
    look(conditions, 3);
    xb_conditions_note(conditions, &run, true);
    xb_conditions_close(conditions, seen);
    assert_false(seen[0].traffic_known);
    assert_int_equal(seen[0].cpus, 16);
}

TEST_WITH(tells_nothing_where_nothing_is_known, begin, NULL)
{
    for (int copies = 0; copies < 3; copies++) {
        struct xb_link_conditions seen[2] = {{.seconds = 0}};
        struct xb_conditions *conditions = start();
        world.has_library = world.has_stat = copies < 2; /* one alone is not enough */
        world.load_s = copies < 2 ? 100e-9 : 0;
        for (int i = 0; i < copies; i++) {
            xb_conditions_note(conditions, &run, true);
            look(conditions, 2);
        }
        xb_conditions_close(conditions, seen);
        for (size_t i = 0; i < 2; i++) {
            assert_int_equal(seen[i].seconds > 0, copies == 2 && i == 0);
            assert_int_equal(seen[i].cpus, 0);
            assert_true(seen[i].load_s == 0);
            assert_false(seen[i].traffic_known);
            assert_int_equal(seen[i].clocks.memory_clock_mhz, 0);
            assert_false(seen[i].clocks.slowed_by_hardware);
        }
    }
}

static void *look_on(void *conditions)
{
    look(conditions, 500);
    return NULL;
}

/* For ThreadSanitizer, beside what the other thread notes. */
TEST_WITH(looks_while_copies_are_noted, begin, NULL)
{
    struct xb_link_conditions seen[2] = {{.seconds = 0}};
    struct xb_conditions *conditions = start();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, look_on, conditions), 0);
    xb_conditions_note(conditions, &run, false);
    for (unsigned i = 0; i < 1000; i++) {
        run.done_count = i / 500;
        xb_conditions_note(conditions, &run, true);
    }
    pthread_join(thread, NULL);
    xb_conditions_close(conditions, seen);
    assert_int_equal(world.probes_open, 0);
}

/* More looks than are kept. */
TEST_WITH(keeps_the_first_looks, begin, NULL)
{
    struct xb_link_conditions seen[2] = {{.seconds = 0}};
    struct xb_conditions *conditions = start();
    xb_conditions_note(conditions, &run, false);
    xb_conditions_note(conditions, &run, true);
    look(conditions, 1000);
    xb_conditions_note(conditions, &run, true);
    xb_conditions_close(conditions, seen);
    assert_true(fabs(seen[0].seconds - 255 * 0.02) < 1e-9);
    assert_true(fabs(seen[0].cpus_busy - 6) < 1e-9);
}

static int close_topology(NO_STATE)
{
    xb_topology_close(run.topology);
    return 0;
}
GROUP(NULL, close_topology)
