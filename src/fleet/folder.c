/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* fts, strverscmp */
#include "folder.h"

#include <errno.h>
#include <fts.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

/* Sorts by name: the order of the file system differs from machine to machine. */
static int compare_names(const FTSENT **a, const FTSENT **b)
{
    int order = strverscmp((*a)->fts_name, (*b)->fts_name);
    return order != 0 ? order : strcmp((*a)->fts_name, (*b)->fts_name);
}

enum xb_status xb_folder_open(struct xb_folder *folder, const char *path, struct xb_error *error)
{
    char *const paths[] = {(char *)path, NULL}; /* which fts_open(3) does not write to */
    *folder = (struct xb_folder){.path = path};
    folder->tree = fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, compare_names);
    if (folder->tree == NULL)
        return XB_FAIL_ERRNO(error, "fts_open", errno, "%.300s: no memory to read the folder",
                             path);
    return XB_OK;
}

static bool ends_with(const FTSENT *entry, const char *ending)
{
    size_t length = strlen(ending);
    return entry->fts_namelen > length &&
           strcmp(entry->fts_name + entry->fts_namelen - length, ending) == 0;
}

static bool is_document(const FTSENT *entry)
{
    return ends_with(entry, ".json") || ends_with(entry, ".jsonl") || ends_with(entry, ".ndjson");
}

/* Links to folders are not followed, but a link to a file counts like the file. */
static bool leads_to_folder(const FTSENT *entry)
{
    struct stat file;
    return stat(entry->fts_accpath, &file) == 0 && S_ISDIR(file.st_mode);
}

/* The next of the tree, of any kind; NULL after the last, and with errno where the list breaks off:
 * without that, what follows would be missing, and nobody would know. */
static const FTSENT *read_entry(struct xb_folder *folder)
{
    errno = 0;
    const FTSENT *entry = !folder->is_over ? fts_read(folder->tree) : NULL;
    folder->is_over = entry == NULL;
    return entry;
}

const struct xb_folder_entry *xb_folder_next(struct xb_folder *folder)
{
    const FTSENT *entry;
    while ((entry = read_entry(folder)) != NULL) {
        folder->entry = (struct xb_folder_entry){.path = entry->fts_path};
        switch (entry->fts_info) {
        case FTS_DNR:
        case FTS_ERR:
            folder->entry.failure = entry->fts_errno;
            return &folder->entry;
        case FTS_F:
        case FTS_DEFAULT: /* a pipe or a device: it will be named as such */
        case FTS_NS:
        case FTS_SLNONE:
            if (is_document(entry))
                return &folder->entry;
            break;
        case FTS_SL:
            if (is_document(entry) && !leads_to_folder(entry))
                return &folder->entry;
            break;
        default:
            break;
        }
    }
    folder->entry = (struct xb_folder_entry){.path = folder->path, .failure = errno};
    return folder->entry.failure != 0 ? &folder->entry : NULL;
}

void xb_folder_close(struct xb_folder *folder)
{
    if (folder->tree != NULL)
        fts_close(folder->tree);
    folder->tree = NULL;
}
