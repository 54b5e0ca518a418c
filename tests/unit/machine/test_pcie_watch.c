/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* nftw */
#include "cases.h"
#include "machine/pcie.h"
#include "pcie_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>

#define DEVICE PCIE_FIXTURE_DEVICE
#define ROOT_PORT "0000:00:01.0"
#define GEN1 "2.5 GT/s PCIe\n"
#define GEN4 "16.0 GT/s PCIe\n"
#define GEN5 "32.0 GT/s PCIe\n"

/* Rounds of readings that have ended, of any watch. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    unsigned long count;
} rounds = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void count_round(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&rounds.lock);
    rounds.count++;
    pthread_cond_broadcast(&rounds.changed);
    pthread_mutex_unlock(&rounds.lock);
}

/* Waits for a round that began after this call: the one that ends first may have begun before. */
static void wait_reading(void)
{
    pthread_mutex_lock(&rounds.lock);
    unsigned long end = rounds.count + 2;
    while (rounds.count < end)
        pthread_cond_wait(&rounds.changed, &rounds.lock);
    pthread_mutex_unlock(&rounds.lock);
}

static enum xb_status watch_start(const char *root, const char *bdf,
                                  const struct xb_pcie_path *path, double interval,
                                  struct xb_pcie_watch **watch, struct xb_error *error)
{
    const struct xb_pcie_watch_task task = {root, bdf, path, interval, count_round, NULL};
    return xb_pcie_watch_start(&task, watch, error);
}

static struct xb_pcie_watch *start(const char *root, const char *scenario, double interval)
{
    struct xb_pcie_path path;
    struct xb_pcie_watch *watch = NULL;
    struct xb_error error;

    pcie_fixture_scenario(root, scenario);
    xb_pcie_path_read(root, DEVICE, &path);
    assert_true(path.present);
    assert_int_equal(watch_start(root, DEVICE, &path, interval, &watch, &error), XB_OK);
    memset(&path, 0xa5, sizeof path); /* it is copied */
    return watch;
}

static struct xb_pcie_load stop(struct xb_pcie_watch *watch)
{
    struct xb_pcie_load load;

    memset(&load, 0xa5, sizeof load);
    xb_pcie_watch_stop(watch, &load);
    return load;
}

/* ---- texts ---- */

static void *tree;
static struct xb_pcie_watch *watched;

static void begin(void)
{
    if (tree != NULL)
        assert_int_equal(remove_tree(&tree), 0);
    assert_int_equal(make_tree(&tree), 0);
}

/* watch SCENARIO [PAUSE] */
static void run_watch(UNTOLD, char **words)
{
    watched = start(tree, words[1], words[2] != NULL ? number_of(words[2]) : 0.001);
}

static void run_arm(UNTOLD, char **words)
{
    xb_pcie_watch_arm(watched, words[0][0] == 'a');
}

static void run_wait(UNTOLD, char **words)
{
    (void)words;
    wait_reading();
}

/* set BDF NAME TEXT; see BDF NAME TEXT: and it is read */
static void run_set(UNTOLD, char **words)
{
    char text[64];
    snprintf(text, sizeof text, "%s\n", words[3]);
    pcie_fixture_set(tree, words[1], words[2], text);
    if (words[0][1] == 'e' && words[0][2] == 'e')
        wait_reading();
}

static void run_unplug(UNTOLD, char **words)
{
    (void)words;
    pcie_fixture_unplug(tree, DEVICE);
}

static void run_plug(UNTOLD, char **words)
{
    (void)words;
    pcie_fixture_link(tree, DEVICE, "devices/pci0000:00/0000:00:01.0/" DEVICE);
}

static void tell_load(FILE *told, NO_WORDS)
{
    struct xb_pcie_load load = stop(watched);
    for (size_t i = 0; i < load.count; i++) {
        const struct xb_pcie_seen *seen = &load.hops[i];
        fprintf(told, "hop %zu: %s, %gx%u, %u changes, %u drops\n", i,
                seen->readings == 0        ? "not read"
                : seen->readings < 1000000 ? "read"
                                           : "too often",
                seen->speed_gts, seen->width, seen->changes, seen->drops);
    }
    if (load.gone)
        fputs("gone\n", told);
}

static const struct verb verbs[] = {
    {"watch", run_watch}, {"arm", run_arm}, {"disarm", run_arm},    {"wait", run_wait},
    {"set", run_set},     {"see", run_set}, {"unplug", run_unplug}, {"plug", run_plug},
    {"tell", tell_load},  {NULL, NULL},
};

TEST(links_are_watched)
{
    run_cases("machine/pcie_watch", verbs, begin);
    assert_int_equal(remove_tree(&tree), 0);
}

/* A reading that began in time and ended out of it. The pipe holds it up in the middle. */
TREE_TEST(does_not_count_what_took_too_long)
{
    struct xb_pcie_watch *watch = start(*state, "vm", 0.001);
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/" DEVICE "/current_link_speed", (const char *)*state);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    xb_pcie_watch_arm(watch, true);
    int feed = open(path, O_WRONLY); /* waits for the reader */
    assert_true(feed >= 0);
    pcie_fixture_set(*state, DEVICE, "current_link_speed", GEN1);
    xb_pcie_watch_arm(watch, false);
    xb_pcie_watch_arm(watch, true);
    assert_int_equal(write(feed, GEN5, sizeof GEN5 - 1), sizeof GEN5 - 1);
    assert_int_equal(close(feed), 0);
    wait_reading();
    struct xb_pcie_load load = stop(watch);
    assert_in_range(load.hops[0].readings, 1, 1000000);
    assert_true(load.hops[0].speed_gts == 2.5);
}

TEST(watches_what_was_never_there)
{
    struct xb_pcie_path path;
    struct xb_pcie_watch *watch = NULL;
    struct xb_error error;

    xb_pcie_path_read(XB_PCI_DEVICES, "ffff:ff:1f.7", &path);
    assert_int_equal(watch_start(XB_PCI_DEVICES, "ffff:ff:1f.7", &path, 0.001, &watch, &error),
                     XB_OK);
    xb_pcie_watch_arm(watch, true);
    wait_reading();
    struct xb_pcie_load load = stop(watch);
    assert_int_equal(load.count, 0);
    assert_false(load.gone); /* it cannot vanish */
}

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* As /proc/PID/task/TID/stat has it; '?' for a thread that is not there. */
static char state_of_thread(const char *tid)
{
    char path[64 + NAME_MAX], state = '?';

    snprintf(path, sizeof path, "/proc/self/task/%s/stat", tid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return state;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    fclose(file);
    return state;
}

static bool all_other_threads_sleep(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    bool sleep = true;

    assert_non_null(tasks);
    while ((task = readdir(tasks)) != NULL)
        if (task->d_name[0] != '.' && strtol(task->d_name, NULL, 10) != getpid())
            sleep = sleep && state_of_thread(task->d_name) == 'S';
    closedir(tasks);
    return sleep;
}

TREE_TEST(does_not_stop_at_leisure)
{
    double begin = now();
    struct xb_pcie_watch *watch = start(*state, "healthy", 60.0);

    while (!all_other_threads_sleep()) /* in its pause */
        sched_yield();
    stop(watch);
    assert_true(now() - begin < 30.0);
}

TREE_TEST(pauses_between_readings)
{
    struct xb_pcie_watch *watch = start(*state, "healthy", 0.05);
    double begin = now();

    for (int i = 0; i < 3; i++)
        wait_reading();
    /* The first may have begun just now; two pauses lie between the three. */
    assert_true(now() - begin >= 0.09);
    stop(watch);
}

TEST(refuses_a_name_that_is_too_long)
{
    static char root[5000];
    struct xb_pcie_path path = {0};
    struct xb_pcie_watch *watch = NULL;
    struct xb_error error;

    memset(root, 'a', sizeof root - 1);
    assert_int_equal(watch_start(root, DEVICE, &path, 0.001, &watch, &error), XB_ERR_SYSTEM);
    assert_null(watch);
}

/* It is for the program's own thread to be interrupted. */
static volatile sig_atomic_t signalled;
static pthread_t taker;
static void take_signal(int number)
{
    signalled = number;
    taker = pthread_self();
}

TREE_TEST(leaves_signals_to_others)
{
    struct xb_pcie_watch *watch = start(*state, "healthy", 0.001);
    struct sigaction action = {.sa_handler = take_signal};
    struct sigaction before;
    sigset_t blocked, mask;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    /* Blocked here, so that the watch's thread is the only one that could take it. */
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &blocked, &mask), 0);
    assert_int_equal(sigismember(&mask, SIGUSR1), 0); /* starting has left the mask as it was */
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    wait_reading();
    wait_reading();
    assert_int_equal(signalled, 0);
    stop(watch);
    assert_int_equal(pthread_sigmask(SIG_SETMASK, &mask, NULL), 0);
    assert_int_equal(signalled, SIGUSR1);
    assert_true(pthread_equal(taker, pthread_self()));
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
}

static void *arm_often(void *argument)
{
    for (int i = 0; i < 2000; i++)
        xb_pcie_watch_arm(argument, i % 2 == 0);
    return NULL;
}

/* For ThreadSanitizer, and for the end: armed or not is what the last call said. */
TREE_TEST(may_be_armed_by_any_thread)
{
    struct xb_pcie_watch *watch = start(*state, "gen1", 0.0);
    pthread_t threads[2];

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, arm_often, watch), 0);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    xb_pcie_watch_arm(watch, false);
    pcie_fixture_set(*state, DEVICE, "current_link_speed", GEN5);
    wait_reading();
    wait_reading();
    assert_false(stop(watch).hops[0].speed_gts == 32.0);
}
