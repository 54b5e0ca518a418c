/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strverscmp */
#include "folder.h"

#include <errno.h>
#include <fts.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    int order = strverscmp((*a)->fts_name, (*b)->fts_name);
    return order != 0 ? order : strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_document(const FTSENT *entry)
{
    static const char *const endings[] = {".json", ".jsonl", ".ndjson"};
    struct stat file;
    bool is_named = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t length = strlen(endings[i]);
        is_named =
            is_named || (entry->fts_namelen > length &&
                         strcmp(entry->fts_name + entry->fts_namelen - length, endings[i]) == 0);
    }
    switch (entry->fts_info) {
    case FTS_F:
    case FTS_DEFAULT: /* a pipe or a device: it will be named as such */
    case FTS_NS:
    case FTS_SLNONE:
        return is_named;
    case FTS_SL: /* links to folders are not followed, but a link to a file counts like the file */
        return is_named && !(stat(entry->fts_accpath, &file) == 0 && S_ISDIR(file.st_mode));
    default:
        return false;
    }
}

void xb_folder_each(const char *path, xb_folder_found *found, void *argument)
{
    char *const paths[] = {(char *)path, NULL}; /* which fts_open(3) does not write to */
    FTS *tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);
    const FTSENT *entry = NULL;
    bool goes_on = true;
    while (goes_on && tree != NULL) {
        errno = 0;
        entry = fts_read(tree);
        if (entry == NULL)
            break;
        if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
            goes_on = found(argument, entry->fts_path, entry->fts_errno);
        else if (is_document(entry))
            goes_on = found(argument, entry->fts_path, 0);
    }
    /* Where the list breaks off, what follows would be missing, and nobody would know. */
    if (goes_on && errno != 0)
        (void)found(argument, path, errno);
    if (tree != NULL)
        fts_close(tree);
}
