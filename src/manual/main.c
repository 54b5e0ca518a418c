/* SPDX-License-Identifier: Apache-2.0 */
/* xferbench_manual FOLDER DATE: writes the man page and the completions into the folder. */
#include "manual.h"

#include <errno.h>
#include <string.h>

static const char *page_date;

static void write_page(FILE *stream)
{
    xb_manual_write_page(stream, page_date);
}

static const struct {
    const char *name;
    void (*write)(FILE *stream);
} files[] = {
    {"xferbench.1", write_page},
    {"xferbench.bash", xb_manual_write_bash},
    {"_xferbench", xb_manual_write_zsh},
    {"xferbench.fish", xb_manual_write_fish},
};

static bool write_file(const char *folder, size_t index)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", folder, files[index].name) >= (int)sizeof path)
        return false;
    FILE *stream = fopen(path, "w");
    if (stream == NULL) {
        fprintf(stderr, "xferbench_manual: cannot write %s: %s\n", path, strerror(errno));
        return false;
    }
    files[index].write(stream);
    bool is_whole = ferror(stream) == 0;
    if (fclose(stream) == 0 && is_whole)
        return true;
    fprintf(stderr, "xferbench_manual: %s is not whole: %s\n", path, strerror(errno));
    return false;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: xferbench_manual FOLDER DATE\n");
        return 2;
    }
    page_date = argv[2];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!write_file(argv[1], i))
            return 1;
    return 0;
}
