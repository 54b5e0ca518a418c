/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* asprintf */
#include "barrier.h"

#include "base/clock.h"
#include "base/day_time.h"
#include "base/interrupt.h"
#include "base/note.h"
#include "base/output.h"
#include "node.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define CODE 16 /* hexadecimal digits of a nonce and of a set */
#define NAME (XB_NODE_NAME + 32)
#define FILE_NAME (NAME + 64)
/* So often it looks for a signal. */
#define GLANCE_S 0.05
/* Clocks that are further apart than this make "at once" untrue. */
#define MOST_APART_S 1.0

/* How long one process waits between two looks into the folder. All of them together load the file
 * server: each reads four names of every process. Beyond a thousand processes that stays at two
 * million names a second, because the interval grows with the square of their number. */
static double interval_of(uint64_t tasks)
{
    double many = (double)tasks;
    return fmax(many * 2e-3, 0.02) * fmax(many / 1000, 1);
}

/* How long before the start the one that tells it does so: time for three looks of every process,
 * and for a slow file server. */
static double lead_of(uint64_t tasks)
{
    return 3 * interval_of(tasks) + 1;
}

/* ---- the names in the folder ---- */

struct names {
    char **items;
    size_t count, room;
};

static void free_names(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (struct names){.count = 0};
}

static bool add_name(struct names *names, const char *name)
{
    if (names->count == names->room) {
        size_t room = names->room > 0 ? 2 * names->room : 64;
        char **items = realloc(names->items, room * sizeof *items);
        if (items == NULL)
            return false;
        names->items = items;
        names->room = room;
    }
    names->items[names->count] = strdup(name);
    return names->items[names->count] != NULL && ++names->count > 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Whether the name begins with this word and a dot. */
static bool is_of(const char *name, const char *word)
{
    size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && name[length] == '.';
}

/* The part of a name after its last dot; it has one. */
static const char *last_part(const char *name)
{
    return strrchr(name, '.') + 1;
}

/* ---- one process in the folder ---- */

struct meeting {
    const struct xb_barrier *barrier;
    int folder; /* its descriptor */
    char name[NAME];
    char here[FILE_NAME];
    char set[CODE + 1]; /* "" before it has answered */
    double answered;    /* the time of day before it did so */
    bool tells;         /* its `here` file is the first of the set: it tells the time */
    bool looked;        /* which of its two names the file `look` has */
    struct names all;   /* in the folder as it was last read, sorted */
};

static enum xb_status refuse_call(const struct meeting *meeting, const char *call, int code,
                                  struct xb_error *error)
{
    return XB_FAIL_ERRNO(error, call, code, "--barrier: cannot use the folder '%.200s': %s: %s",
                         meeting->barrier->folder, strerror(code), xb_output_advice(code));
}

static enum xb_status create(const struct meeting *meeting, const char *file,
                             struct xb_error *error)
{
    int fd = openat(meeting->folder, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return refuse_call(meeting, "open", errno, error);
    if (close(fd) != 0) /* NFS may report only here that it could not create the file */
        return refuse_call(meeting, "close", errno, error);
    return XB_OK;
}

static enum xb_status open_folder(struct meeting *meeting, struct xb_error *error)
{
    const char *folder = meeting->barrier->folder;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return refuse_call(meeting, "mkdir", errno, error);
    meeting->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return meeting->folder >= 0 ? XB_OK : refuse_call(meeting, "open", errno, error);
}

/* A client of NFS may show a folder as it was half a minute ago, unless it changes it itself. Where
 * the server's answer is lost, the client asks for the same once more: the server then says that
 * the file is not there, which it has renamed already. */
static enum xb_status change_folder(struct meeting *meeting, struct xb_error *error)
{
    char from[FILE_NAME], to[FILE_NAME];
    snprintf(from, sizeof from, "look.%s.%d", meeting->name, meeting->looked);
    snprintf(to, sizeof to, "look.%s.%d", meeting->name, !meeting->looked);
    if (renameat(meeting->folder, from, meeting->folder, to) != 0) {
        int code = errno;
        if (code != ENOENT || faccessat(meeting->folder, to, F_OK, 0) != 0)
            return refuse_call(meeting, "rename", code, error);
    }
    meeting->looked = !meeting->looked;
    return XB_OK;
}

/* A folder that changes while it is read may show a name twice; each counts once. */
static void sort_names(struct names *names)
{
    size_t count = 0;
    qsort(names->items, names->count, sizeof *names->items, by_text);
    for (size_t i = 0; i < names->count; i++) {
        if (count > 0 && strcmp(names->items[i], names->items[count - 1]) == 0)
            free(names->items[i]);
        else
            names->items[count++] = names->items[i];
    }
    names->count = count;
}

static enum xb_status read_names(struct meeting *meeting, DIR *stream, struct xb_error *error)
{
    const struct dirent *entry = NULL;
    errno = 0;
    while ((entry = readdir(stream)) != NULL) {
        if (!add_name(&meeting->all, entry->d_name))
            return XB_FAIL(error, XB_ERR_MEMORY, "no memory for the files of --barrier");
        errno = 0;
    }
    if (errno != 0) /* it was not read to its end */
        return refuse_call(meeting, "readdir", errno, error);
    sort_names(&meeting->all);
    return XB_OK;
}

static enum xb_status read_folder(struct meeting *meeting, struct xb_error *error)
{
    free_names(&meeting->all);
    enum xb_status status = change_folder(meeting, error);
    if (status != XB_OK)
        return status;
    int fd = openat(meeting->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (stream == NULL) {
        int code = errno;
        if (fd >= 0)
            (void)close(fd);
        return refuse_call(meeting, "opendir", code, error);
    }
    status = read_names(meeting, stream, error);
    (void)closedir(stream);
    return status;
}

/* How many names begin with the word and, where `end` is not "", end with that. */
static size_t count_of(const struct meeting *meeting, const char *word, const char *end)
{
    size_t count = 0;
    for (size_t i = 0; i < meeting->all.count; i++) {
        const char *name = meeting->all.items[i];
        count += is_of(name, word) && (end[0] == '\0' || strcmp(last_part(name), end) == 0);
    }
    return count;
}

/* A digest of the names of all that are here: FNV-1a, 64 bits. Nobody but chance is to be kept from
 * making two sets alike. */
static void digest_of(const struct meeting *meeting, char digest[CODE + 1])
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < meeting->all.count; i++) {
        const char *name = meeting->all.items[i];
        for (size_t k = 0; is_of(name, "here") && k <= strlen(name); k++) /* with the zero */
            hash = (hash ^ (unsigned char)name[k]) * UINT64_C(1099511628211);
    }
    snprintf(digest, CODE + 1, "%016" PRIx64, hash);
}

/* ---- what goes wrong ---- */

/* The process of "here.NAME.NONCE". */
static void add_process(struct xb_words *words, const char *here)
{
    const char *name = here + strlen("here.");
    if (words->length > 0)
        xb_words_add(words, ", ");
    xb_words_add(words, "%.*s", (int)(last_part(here) - 1 - name), name);
}

#define MOST_NAMES 12 /* in a message */

/* "gpu001, gpu002 and 3 more": those that are here. */
static const char *who_came(const struct meeting *meeting, struct xb_words *words)
{
    size_t told = 0;
    size_t more = 0;
    for (size_t i = 0; i < meeting->all.count; i++) {
        if (!is_of(meeting->all.items[i], "here"))
            continue;
        if (told < MOST_NAMES && words->length < 300)
            add_process(words, meeting->all.items[i]), told++;
        else
            more++;
    }
    if (more > 0)
        xb_words_add(words, " and %zu more", more);
    return words->text;
}

static enum xb_status refuse_used(const struct meeting *meeting, const char *name,
                                  struct xb_error *error)
{
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--barrier: '%.200s' was used before by %.100s: name a new folder for each run, "
                   "and give each process its own node name or rank",
                   meeting->barrier->folder, name);
}

static enum xb_status refuse_too_many(const struct meeting *meeting, size_t here,
                                      struct xb_error *error)
{
    struct xb_words words = {.length = 0};
    return XB_FAIL(error, XB_ERR_USAGE,
                   "--barrier: %zu processes came to '%.100s', but %" PRIu64 " should (%s): name "
                   "a new folder, or give another number with --barrier-tasks",
                   here, meeting->barrier->folder, meeting->barrier->tasks,
                   who_came(meeting, &words));
}

static enum xb_status give_up(const struct meeting *meeting, struct xb_error *error)
{
    const struct xb_barrier *barrier = meeting->barrier;
    char set[CODE + 1]; /* its own answer's, else what it would have answered */
    digest_of(meeting, set);
    size_t here = count_of(meeting, "here", "");
    size_t answered = count_of(meeting, "seen", meeting->set[0] != '\0' ? meeting->set : set);
    struct xb_words words = {.length = 0};
    const char *why = xb_interrupt_signal() != 0 ? "a signal came" : "the time was up";
    if (here < barrier->tasks)
        return XB_FAIL(error, XB_ERR_STOPPED,
                       "--barrier: %zu of %" PRIu64 " processes came to '%.100s', then %s: start "
                       "all of them with a new folder, or say how many there are with "
                       "--barrier-tasks. These came: %s",
                       here, barrier->tasks, barrier->folder, why, who_came(meeting, &words));
    return XB_FAIL(error, XB_ERR_STOPPED,
                   "--barrier: all %" PRIu64 " processes came to '%.100s', but only %zu answered, "
                   "then %s: the others ended, or their files are of an earlier run. Name a new "
                   "folder. These came: %s",
                   barrier->tasks, barrier->folder, answered, why, who_came(meeting, &words));
}

/* ---- the steps ---- */

static enum xb_status name_process(struct meeting *meeting, struct xb_error *error)
{
    const struct xb_barrier *barrier = meeting->barrier;
    uint64_t nonce = 0;
    if (barrier->rank >= 0)
        snprintf(meeting->name, sizeof meeting->name, "%s.%" PRId64, barrier->node, barrier->rank);
    else
        snprintf(meeting->name, sizeof meeting->name, "%s", barrier->node);
    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        return refuse_call(meeting, "getrandom", errno, error);
    snprintf(meeting->here, sizeof meeting->here, "here.%s.%016" PRIx64, meeting->name, nonce);
    return XB_OK;
}

/* Nobody else may have this name here, now or before. */
static enum xb_status claim(const struct meeting *meeting, struct xb_error *error)
{
    char file[FILE_NAME];
    struct xb_error ignored;
    snprintf(file, sizeof file, "claim.%s", meeting->name);
    enum xb_status status = create(meeting, file, error);
    if (status == XB_OK || error->native_code != EEXIST)
        return status;
    snprintf(file, sizeof file, "used.%s", meeting->name);
    (void)create(meeting, file, &ignored); /* somebody else may have done so */
    return refuse_used(meeting, meeting->name, error);
}

static enum xb_status come(struct meeting *meeting, struct xb_error *error)
{
    char look[FILE_NAME];
    enum xb_status status = open_folder(meeting, error);
    if (status == XB_OK)
        status = name_process(meeting, error);
    if (status == XB_OK)
        status = claim(meeting, error);
    snprintf(look, sizeof look, "look.%s.0", meeting->name);
    if (status == XB_OK)
        status = create(meeting, look, error);
    return status == XB_OK ? create(meeting, meeting->here, error) : status;
}

/* Whether this process is the first of those that are here. */
static bool is_first(const struct meeting *meeting)
{
    for (size_t i = 0; i < meeting->all.count; i++)
        if (is_of(meeting->all.items[i], "here"))
            return strcmp(meeting->all.items[i], meeting->here) == 0;
    return false;
}

static enum xb_status answer(struct meeting *meeting, struct xb_error *error)
{
    char file[FILE_NAME];
    digest_of(meeting, meeting->set);
    meeting->tells = is_first(meeting);
    meeting->answered = xb_day_time_now();
    snprintf(file, sizeof file, "seen.%s.%s", meeting->name, meeting->set);
    return create(meeting, file, error);
}

/* The time that the set was told; 0 for none yet. */
static double find_start(const struct meeting *meeting)
{
    char word[sizeof "start." + CODE];
    snprintf(word, sizeof word, "start.%s", meeting->set);
    for (size_t i = 0; i < meeting->all.count; i++)
        if (is_of(meeting->all.items[i], word))
            return strtod(last_part(meeting->all.items[i]), NULL) * 1e-6;
    return 0;
}

static enum xb_status tell_start(const struct meeting *meeting, double *start,
                                 struct xb_error *error)
{
    char file[FILE_NAME];
    double when = xb_day_time_now() + lead_of(meeting->barrier->tasks);
    double microseconds = round(when * 1e6);
    snprintf(file, sizeof file, "start.%s.%.0f", meeting->set, microseconds);
    enum xb_status status = create(meeting, file, error);
    if (status == XB_OK)
        *start = microseconds * 1e-6; /* exactly the number that the others read */
    return status;
}

/* Nobody tells the time before this process has answered, nor later than this process reads it. A
 * time that says so comes from a clock that is not this node's. */
static enum xb_status check_clocks(const struct meeting *meeting, double start,
                                   struct xb_error *error)
{
    double told = start - lead_of(meeting->barrier->tasks);
    double behind = told - xb_day_time_now();
    double ahead = meeting->answered - told;
    if (behind <= MOST_APART_S && ahead <= MOST_APART_S)
        return XB_OK;
    return XB_FAIL(error, XB_ERR_SYSTEM,
                   "--barrier: the nodes' clocks are apart: that of %.100s is at least %.1f s %s "
                   "that of the node which told the time to begin. Synchronise the clocks of all "
                   "nodes, for example with chronyd",
                   meeting->barrier->node, fmax(behind, ahead),
                   behind > ahead ? "behind" : "ahead of");
}

/* No later than this does it wait, answer or tell the time: the others must not count on it. */
static bool is_over(const struct xb_barrier *barrier)
{
    return xb_interrupt_signal() != 0 || xb_clock_now() >= barrier->until;
}

/* All have answered: nobody is refused any more, or some would begin without the others. *start is
 * 0 until the time is known. */
static enum xb_status go(const struct meeting *meeting, double *start, struct xb_error *error)
{
    *start = find_start(meeting);
    if (*start > 0)
        return check_clocks(meeting, *start, error);
    return meeting->tells && !is_over(meeting->barrier) ? tell_start(meeting, start, error) : XB_OK;
}

/* One look: what can be done now. */
static enum xb_status look(struct meeting *meeting, double *start, struct xb_error *error)
{
    uint64_t tasks = meeting->barrier->tasks;
    enum xb_status status = read_folder(meeting, error);
    if (status != XB_OK)
        return status;
    if (meeting->set[0] != '\0' && count_of(meeting, "seen", meeting->set) == tasks)
        return go(meeting, start, error);
    for (size_t i = 0; i < meeting->all.count; i++)
        if (is_of(meeting->all.items[i], "used"))
            return refuse_used(meeting, meeting->all.items[i] + strlen("used."), error);
    size_t here = count_of(meeting, "here", "");
    if (here > tasks)
        return refuse_too_many(meeting, here, error);
    bool is_to_answer = here == tasks && meeting->set[0] == '\0' && !is_over(meeting->barrier);
    return is_to_answer ? answer(meeting, error) : XB_OK; /* the next look tells who else has */
}

/* Waits until the next look. */
static void pause_between(const struct xb_barrier *barrier)
{
    double end = fmin(xb_clock_now() + interval_of(barrier->tasks), barrier->until);
    double left = end - xb_clock_now();
    while (left > 0 && xb_interrupt_signal() == 0) {
        struct timespec time = {.tv_nsec = (long)(fmin(left, GLANCE_S) * 1e9)};
        (void)nanosleep(&time, NULL);
        left = end - xb_clock_now();
    }
}

enum xb_status xb_barrier_meet(const struct xb_barrier *barrier, double *start,
                               struct xb_error *error)
{
    struct meeting meeting = {.barrier = barrier, .folder = -1};
    enum xb_status status = come(&meeting, error);
    *start = 0;
    while (status == XB_OK && *start == 0) {
        bool is_last = is_over(barrier);
        status = look(&meeting, start, error);
        if (status != XB_OK || *start > 0)
            break;
        if (is_last)
            status = give_up(&meeting, error);
        else
            pause_between(barrier);
    }
    if (status != XB_OK)
        *start = 0;
    free_names(&meeting.all);
    if (meeting.folder >= 0)
        (void)close(meeting.folder);
    return status;
}
