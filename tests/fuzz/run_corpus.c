/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: run_corpus FOLDER
 *
 * Gives every file of a folder to the fuzz target that it is linked with, where there is no
 * libFuzzer to do so.
 */
#define _POSIX_C_SOURCE 200809L /* scandir */
#include "target.h"

#include <dirent.h>

#define LARGEST ((size_t)1 << 20)

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Its name goes out first: where the target ends the program, it is the last line. */
static int run_file(const char *folder, const char *name, uint8_t *data)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    puts(path);
    fflush(stdout);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return 1;
    }
    size_t size = fread(data, 1, LARGEST, file);
    int failed = ferror(file) || size == LARGEST;
    if (failed)
        fprintf(stderr, "%s: cannot be read, or is too large\n", path);
    else
        (void)LLVMFuzzerTestOneInput(data, size);
    fclose(file);
    return failed;
}

int main(int argc, char **argv)
{
    struct dirent **entries = NULL;
    uint8_t *data = malloc(LARGEST);
    int count = argc == 2 ? scandir(argv[1], &entries, is_visible, alphasort) : -1;
    if (data == NULL || count <= 0) {
        fprintf(stderr, "usage: run_corpus FOLDER (that has files)\n");
        free(data);
        return 2;
    }
    int failed = 0;
    for (int i = 0; i < count; i++) {
        failed |= run_file(argv[1], entries[i]->d_name, data);
        free(entries[i]);
    }
    free(entries);
    free(data);
    printf("%d files\n", count);
    return failed;
}
