/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Every mode on a real device, over copies that go wrong in every way of damage.h: no such row may
 * be ok or verified. Before that, without damage, every row is. Exits with 77 where no device can
 * be tested; a row that is skipped is printed with its reason.
 */
#include "../doubles/damage.h"
#include "measure/run.h"
#include "record/mode_list.h"
#include "run/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

static const struct {
    enum xb_damage damage;
    const char *name;
} damages[] = {
    {XB_DAMAGE_NONE, "no damage"},
    {XB_DAMAGE_BIT_FLIPPED, "a word wrong"},
    {XB_DAMAGE_BLOCKS_SWAPPED, "two blocks swapped"},
    {XB_DAMAGE_SHIFTED_2MIB, "shifted by 2 MiB"},
    {XB_DAMAGE_LAST_BYTE_LOST, "last byte lost"},
    {XB_DAMAGE_NOTHING_COPIED, "nothing copied"},
    {XB_DAMAGE_PIECE_LOST, "a piece lost"},
    {XB_DAMAGE_PIECE_MISPLACED, "a piece misplaced"},
};

struct tally {
    unsigned rows, skipped, failed;
};

/* Whether a row is what it must be under that damage. */
static bool row_is_right(const struct xb_result *result, enum xb_damage damage)
{
    if (result->row.status == XB_RESULT_SKIPPED)
        return result->reason[0] != '\0' && result->row.verified != XB_VERIFIED_TRUE;
    if (damage == XB_DAMAGE_NONE)
        return result->row.status == XB_RESULT_OK && result->row.verified == XB_VERIFIED_TRUE;
    if (result->row.status != XB_RESULT_ERROR || result->row.verified == XB_VERIFIED_TRUE)
        return false;
    /* Found by verification, and not by some call that failed before it; but what copies nothing
     * may take no time, and then the clock is found out first. */
    return result->row.verified == XB_VERIFIED_FALSE ||
           (damage == XB_DAMAGE_NOTHING_COPIED && strstr(result->reason, "clock is wrong") != NULL);
}

static void judge(const struct xb_result *result, size_t d, struct tally *tally)
{
    static const char *const verified[] = {"unknown", "true", "false"};
    bool right = row_is_right(result, damages[d].damage);
    bool skipped = result->row.status == XB_RESULT_SKIPPED;
    tally->rows++;
    tally->skipped += skipped;
    tally->failed += !right;
    if (right && !skipped)
        return;
    printf("%s: %s, %s %s, %s, %llu bytes: %s, verified %s: %s\n", right ? "skipped" : "FAILED",
           damages[d].name, result->test.mode->name, result->test.variant,
           xb_direction_name(result->test.direction), (unsigned long long)result->test.bytes,
           xb_result_status_name(result->row.status), verified[result->row.verified],
           result->reason);
}

static enum xb_status execute(struct xb_run *run, struct xb_config *config, int argc, char **argv,
                              struct xb_error *error)
{
    enum xb_status status = xb_config_parse(xb_run_rows(), argc, argv, config, error);
    if (status != XB_OK)
        return status;
    run->asked = xb_run_options_of(config);
    status = run->backend->driver_open(&run->driver, &run->probe, error);
    if (status == XB_OK)
        status = xb_plan(run, error);
    if (status == XB_OK)
        status = xb_run_execute(run, NULL, error);
    return status;
}

/* Every variant, and many chunks: slots and rings are used again and again. */
static const struct {
    const char *option, *value;
} settings[] = {
    {"chunk", "1000008"},
    /* Not by what copies take, of which pipeline has some from other memory than its samples. */
    {"kernel-time", "20us"},
    {"host-memory", "registered,alloc,write-combined"},
    {"access", "sequential,strided,random"},
    {"managed", "fault,prefetch,advise"},
    {"by", "engine,kernel"},
};

/* A case of pipeline in a row has one slot, of a chunk: what comes from 2 MiB further on in it must
 * have as much behind it, or nothing is damaged. */
#define CHUNK_TO_SHIFT "3000008"

static bool takes(const struct xb_mode *mode, const char *option)
{
    for (size_t i = 0; mode->options != NULL && mode->options[i] != NULL; i++)
        if (strcmp(mode->options[i]->name, option) == 0)
            return true;
    return false;
}

struct command {
    char words[24][64];
    char *argv[25];
    int argc;
};

static void add_word(struct command *command, const char *word)
{
    command->argv[command->argc] = command->words[command->argc];
    snprintf(command->words[command->argc++], sizeof command->words[0], "%s", word);
}

/* All of a mode, in every direction. Pairs need the second device. */
static void make_command(struct command *command, const struct xb_mode *mode, enum xb_damage damage)
{
    /* Whether a copy is right does not take a warm device. */
    static const char *const fixed[] = {"run", "--samples",    "2",   "--warm-up",
                                        "1ms", "--time-limit", "10ms"};
    char directions[64] = "";
    for (unsigned d = 0; d < XB_DIRECTIONS; d++)
        if ((mode->directions >> d & 1u) != 0)
            snprintf(directions + strlen(directions), sizeof directions - strlen(directions),
                     "%s%s", directions[0] != '\0' ? "," : "",
                     xb_direction_name((enum xb_direction)(1u << d)));
    memset(command, 0, sizeof *command);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add_word(command, fixed[i]);
    add_word(command, "--size");
    add_word(command, takes(mode, "to") ? "8M,8388604" : "8M,8388607"); /* float32 values */
    add_word(command, "--mode");
    add_word(command, mode->name);
    add_word(command, "--direction");
    add_word(command, directions);
    add_word(command, "--device");
    add_word(command, mode->pairs ? "0,1" : "0");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        char name[32];
        bool is_to_shift = damage == XB_DAMAGE_SHIFTED_2MIB && takes(mode, "order") &&
                           strcmp(settings[i].option, "chunk") == 0;
        if (!takes(mode, settings[i].option))
            continue;
        snprintf(name, sizeof name, "--%s", settings[i].option);
        add_word(command, name);
        add_word(command, is_to_shift ? CHUNK_TO_SHIFT : settings[i].value);
    }
}

/* One mode under one damage. */
static void test_mode(const struct xb_backend *backend, const struct xb_mode *mode, size_t d,
                      struct tally *tally)
{
    const bool damaged = damages[d].damage != XB_DAMAGE_NONE;
    struct command command;
    struct xb_config config = {0};
    struct xb_run run = {.backend = backend};
    struct xb_error error;
    char text[1024];
    make_command(&command, mode, damages[d].damage);
    xb_damaged_how = damages[d].damage;
    xb_damage_count = 0;
    if (execute(&run, &config, command.argc, command.argv, &error) != XB_OK) {
        printf("FAILED: %s, %s: %s\n", damages[d].name, mode->name,
               xb_error_text(&error, text, sizeof text));
        tally->failed++;
    }
    unsigned skipped = tally->skipped;
    for (size_t i = 0; i < run.done_count; i++)
        judge(&run.results[i], d, tally);
    /* A run in which nothing was damaged would prove nothing. */
    bool measured = tally->skipped - skipped < run.done_count;
    if (damaged && measured && xb_damage_count == 0) {
        printf("FAILED: %s, %s: no operation was damaged\n", damages[d].name, mode->name);
        tally->failed++;
    }
    xb_run_free(&run);
    xb_config_free(&config);
}

static unsigned test_backend(const struct xb_backend *inner, unsigned device_count)
{
    const struct xb_backend *backend = xb_damaged_wrap(inner);
    struct tally all = {0};
    printf("backend %s, %u devices\n", inner->name, device_count);
    for (const struct xb_mode *const *mode = xb_modes; *mode != NULL; mode++) {
        struct tally tally = {0};
        if ((*mode)->pairs && device_count < 2) {
            printf("skipped: %s: it needs two devices, and there is one\n", (*mode)->name);
            continue;
        }
        for (size_t d = 0; d < sizeof damages / sizeof damages[0]; d++)
            test_mode(backend, *mode, d, &tally);
        printf("%s: %u rows, %u skipped, %u failed\n", (*mode)->name, tally.rows, tally.skipped,
               tally.failed);
        all.rows += tally.rows;
        all.skipped += tally.skipped;
        all.failed += tally.failed;
    }
    if (all.rows == all.skipped) {
        printf("FAILED: not a single row was measured\n");
        all.failed++;
    }
    return all.failed;
}

/* With a backend's name: that one alone; else the first that can run. */
int main(int argc, char **argv)
{
    struct xb_error error = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (const struct xb_backend_entry *entry = xb_backends; entry->name != NULL; entry++) {
        struct xb_driver *driver = NULL;
        struct xb_probe probe;
        if (entry->backend == NULL || !entry->backend->automatic ||
            (argc > 1 && strcmp(entry->name, argv[1]) != 0))
            continue;
        if (entry->backend->driver_open(&driver, &probe, &error) != XB_OK) {
            printf("backend %s: not tested, cannot run here: %s\n", entry->name, error.message);
            continue;
        }
        entry->backend->driver_close(driver);
        return test_backend(entry->backend, probe.device_count) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    printf("skipped: no device that can be tested\n");
    return SKIPPED;
}
