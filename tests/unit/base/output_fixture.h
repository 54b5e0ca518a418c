/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Outputs in an empty folder. */

#include "base/output.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* Each test runs in an empty directory of its own. */
extern char directory[PATH_MAX];
int setup(void **state);
int teardown(void **state);
#define RUN_TEST(name) TEST_WITH(name, setup, teardown)

/* Whether the file system of that directory has O_TMPFILE. */
bool has_unnamed_files(void);

/* In the working directory, whatever their names. */
size_t file_count(void);
void write_file(const char *path, const char *text);
void assert_content(const char *path, const char *expected);
mode_t mode_of(const char *path);

enum xb_status open_at(struct xb_output *output, const char *path, double deadline,
                       struct xb_error *error);
/* These three fail the test where it does not work. */
void open_output(struct xb_output *output, const char *path);
void commit(struct xb_output *output);
void replace(const char *path, const char *text);
/* Opening fails, names the path and the errno, and leaves nothing behind. */
void assert_refused(const char *path, int code, const char *name);
