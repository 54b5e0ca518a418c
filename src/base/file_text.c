/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* strverscmp, FNM_EXTMATCH */
#include "file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum xb_status check_kind(const char *path, mode_t mode, bool pipes, struct xb_error *error)
{
    if (S_ISREG(mode) || (pipes && S_ISFIFO(mode)))
        return XB_OK;
    if (S_ISDIR(mode))
        return XB_FAIL(error, XB_ERR_USAGE, "%.300s: is a directory; name a file in it", path);
    const char *kind = S_ISFIFO(mode)   ? "a pipe"
                       : S_ISCHR(mode)  ? "a character device"
                       : S_ISBLK(mode)  ? "a block device"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a thing of another kind";
    return XB_FAIL(error, XB_ERR_USAGE, "%.300s: is %s%s", path, kind,
                   pipes ? ", neither a regular file nor a pipe" : "; name a regular file");
}

static enum xb_status refuse_size(const char *path, size_t largest, struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_USAGE,
                   "%.300s: larger than %zu MiB, which is the most that is read", path,
                   largest >> 20);
}

/* The call left its errno. */
static enum xb_status fail_to(const char *done, const char *call, const char *path,
                              struct xb_error *error)
{
    int code = errno;
    return XB_FAIL_ERRNO(error, call, code, "%.300s: cannot be %s: %s", path, done, strerror(code));
}

/* Reads the file once more and compares. The file's times are not enough: they have the resolution
 * of the kernel's tick, a few milliseconds, and a write within one tick does not change them. A
 * file that can no longer be read counts as changed. */
static bool has_same_text(int descriptor, const char *text, size_t length)
{
    char part[16384];
    for (size_t at = 0; at < length;) {
        size_t size = length - at < sizeof part ? length - at : sizeof part;
        ssize_t got = pread(descriptor, part, size, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 || memcmp(part, text + at, (size_t)got) != 0)
            return false;
        at += (size_t)got;
    }
    return true;
}

/* The caller frees *text even if this fails. */
static enum xb_status read_open(int descriptor, const char *path, size_t largest, bool pipes,
                                char **text, size_t *length, struct xb_error *error)
{
    struct stat file;
    if (fstat(descriptor, &file) != 0)
        return fail_to("read", "fstat", path, error);
    /* Check the kind again: another file may have this path since the caller's stat(). */
    XB_TRY(check_kind(path, file.st_mode, pipes, error));
    if (S_ISREG(file.st_mode) && file.st_size > (off_t)largest)
        return refuse_size(path, largest, error);
    size_t room = (S_ISREG(file.st_mode) ? (size_t)file.st_size : largest) + 1;
    *text = malloc(room + 1);
    if (*text == NULL)
        return XB_FAIL(error, XB_ERR_MEMORY, "no memory to read %.300s", path);
    for (*length = 0; *length < room;) {
        ssize_t got = read(descriptor, *text + *length, room - *length);
        if (got == 0)
            break;
        if (got > 0)
            *length += (size_t)got;
        else if (errno != EINTR)
            return fail_to("read", "read", path, error);
    }
    if (*length > largest)
        return refuse_size(path, largest, error);
    (*text)[*length] = '\0';
    /* Refuses a file that somebody wrote while we read it: the text may be half old, half new.
     * Renaming another file over it is harmless, because we still read the old one. That changes
     * st_ctim, so we do not look at it. */
    struct stat after;
    if (!S_ISREG(file.st_mode))
        return XB_OK;
    bool same = has_same_text(descriptor, *text, *length);
    if (fstat(descriptor, &after) != 0)
        return fail_to("read", "fstat", path, error);
    if (same && (size_t)after.st_size == *length && after.st_mtim.tv_sec == file.st_mtim.tv_sec &&
        after.st_mtim.tv_nsec == file.st_mtim.tv_nsec)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_USAGE,
                   "%.300s: changed while it was read; try again when its writer is done", path);
}

enum xb_status xb_file_text_read(const char *path, size_t largest, bool pipes, char **text,
                                 size_t *length, struct xb_error *error)
{
    struct stat file;
    /* Look before opening: open() alone can act on a device, and it waits for a pipe's writer. */
    if (stat(path, &file) != 0)
        return fail_to("read", "stat", path, error);
    XB_TRY(check_kind(path, file.st_mode, pipes, error));
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (pipes ? 0 : O_NONBLOCK));
    if (descriptor < 0)
        return fail_to("opened", "open", path, error);
    *text = NULL;
    enum xb_status status = read_open(descriptor, path, largest, pipes, text, length, error);
    close(descriptor);
    if (status != XB_OK) {
        free(*text);
        *text = NULL;
    }
    return status;
}

static int compare_names(const FTSENT **a, const FTSENT **b)
{
    int order = strverscmp((*a)->fts_name, (*b)->fts_name);
    return order != 0 ? order : strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool is_document(const FTSENT *entry)
{
    struct stat file;
    bool is_named = fnmatch("?*.@(json|jsonl|ndjson)", entry->fts_name, FNM_EXTMATCH) == 0;
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
