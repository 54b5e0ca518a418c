/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/terminal.h"
#include "reading/list.h"
#include "record/rows.h"
#include "xferbench/mode.h"

/* The parts of the text for people. A page (src/report) shows them in its own way. */

#define XB_TABLE_LABEL 9 /* the width of "warning" and the like before their text */

/* Whether a case has a row. Pairs of devices stand in matrices; how far processes differ, only a
 * row can say. Cases that were not run are counted in a note. */
bool xb_table_has_row(const struct xb_record *record, const struct xb_record_case *test);

/* Adds on what a record was measured: "2 x NVIDIA H200, PCIe Gen5 x16, driver 580.1, CUDA 13.0". */
void xb_table_name_devices(struct xb_words *words, const struct xb_record *record);

enum xb_row_kind { XB_ROWS_ALONE, XB_ROWS_TOGETHER, XB_ROWS_ALL };

/* The rows of what ran alone, at the same time, or all with those of pairs. Release with
 * xb_table_free. */
struct xb_table *xb_table_of_rows(const struct xb_record *record, enum xb_row_kind which);

/* Why rows have no figure, what to beware of, and what kept the run from its end: what is skipped,
 * noisy or warned of in a line each if `brief`. Prints nothing where there is nothing to say. */
void xb_table_notes(FILE *stream, const struct xb_record *record, bool brief,
                    const struct xb_reading_list *reading);

/* Texts that differ in their numbers only, as "known only to within 4 %" and "... 13 %" do: one
 * text says them all, "known only to within 4 to 13 %". */

#define XB_ALIKE_NUMBERS 8 /* those behind them must be equal */

struct xb_alike {
    const char *text; /* the first of them */
    struct xb_alike_number {
        const char *begin, *end;
        const char *least, *most; /* where the texts have them */
    } numbers[XB_ALIKE_NUMBERS];
    size_t count;
};

/* Begins with one text. It and all that are added must outlast the struct. */
struct xb_alike xb_alike_begin(const char *text);
/* Adds a text. False if it differs in more than numbers: nothing changes then. */
bool xb_alike_add(struct xb_alike *alike, const char *text);
/* Adds the text that says them all, from that place of the first one on. */
void xb_alike_say(const struct xb_alike *alike, size_t from, struct xb_words *words);

/* Prints the cases of pairs of devices: a matrix for each mode, variant, direction, size and
 * parameters, with sources down and destinations across. `first`: nothing stands above, so that no
 * empty line is needed. `brief`: of pairs that are alike a line is enough. */
void xb_matrix_print(FILE *stream, const struct xb_record *record, bool first, bool brief);

/* Prints the cases of several NUMA nodes, or of all there are, in the same way, with nodes down and
 * devices across, and what to know of them below. A device's own node is marked. */
void xb_matrix_print_nodes(FILE *stream, const struct xb_record *record);

/* Prints a matrix below its title, with so many spaces between its columns; those that do not fit
 * into a line stand below. */
struct xb_cells;
void xb_cells_print(FILE *stream, const struct xb_cells *cells, size_t gap);

/* Takes a matrix as texts and numbers (plot/pictures.h), of which only the picture's description is
 * lacking; it lasts until this returns. A cell of several pairs or devices together has no number,
 * because it is of another size than the rest. `left_out` cells are in further rows or columns. */
typedef void xb_matrix_use(void *argument, struct xb_cells *cells, size_t left_out);

/* Calls `use` for each matrix of a record, those of pairs first. */
void xb_matrix_each(const struct xb_record *record, xb_matrix_use *use, void *argument);

/* Prints each grid of pieces (modes/readings/piece_grid.h): in a cell the fastest way and its GB/s.
 */
void xb_grids_print(FILE *stream, const struct xb_record *record);
#define XB_GRID_WORDS                                                                              \
    "Words begin ways of --batch; one: call with all pieces; =: another is as fast."
/* Calls `use` for each of them. */
void xb_grids_each(const struct xb_record *record, xb_matrix_use *use, void *argument);

/* What a group of bars has in common, in the order in which groups are printed. */
enum xb_bar_kind { XB_BAR_TO, XB_BAR_BACK, XB_BAR_OTHER, XB_BAR_KINDS };

/* A case and what is known of it. */
struct xb_bar {
    const struct xb_record_case *test;
    const struct xb_figure *figure; /* that people ask the method for */
    struct xb_statistics s;         /* of that figure, in GB/s or in seconds */
    enum xb_bar_kind kind;
    bool is_time;     /* the figure is */
    bool is_encoded;  /* its data crosses the link in another form */
    double rank;      /* rises from the best: bars stand in this order */
    int decimals;     /* of its rate */
    double copy_time; /* of a small copy, from the call until it is done; else INFINITY */
    const char *flaw; /* why it counts for less: "" for nothing */
    size_t method;    /* the same for what differs only in what stands across */
    size_t place;     /* of its value across; behind all of them if it has none */
    uint64_t part;    /* what has tables of its own: the size, where a parameter is swept */
    char name[96];
};

/* Results of several sizes, devices or methods; or, for each mode in which one is swept, of several
 * values of a parameter. */
struct xb_bars {
    const struct xb_record *record;
    struct xb_parameters parameters;
    const size_t *sweeps; /* for each case the number of the sweep that it is of; 0: none */
    size_t sweep;         /* the number of the one that these bars show */
    const struct xb_option *swept; /* the parameter in it; NULL: size or device */
    struct xb_bar *bars;           /* in the order in which they are printed */
    size_t count;
    size_t name_width;  /* of the longest, so that columns of several tables are aligned */
    bool is_beside;     /* devices stand beside each other */
    bool names_devices; /* there are several */
};

/* Calls `visit` with the bars that no parameter is swept in, then with those of each sweep. They
 * last as long as the call. */
typedef void xb_bars_visit(void *argument, const struct xb_bars *view);
void xb_bars_each(const struct xb_record *record, xb_bars_visit *visit, void *argument);

/* Prints the results as bars, the fastest first; of several sizes, devices or values of a parameter
 * as a small matrix, and of one method as its curve. `only_sweeps`: nothing of one value. */
void xb_bars_print(FILE *stream, const struct xb_record *record, bool only_sweeps);

/* Orders of two struct xb_bar. What stands in one table: the same figure, of data in the same form,
 * the same way. Bars of one table, best first: those that count for less stand last. */
int xb_bars_by_table(const struct xb_bar *a, const struct xb_bar *b);
int xb_bars_by_rank(const void *a, const void *b);
/* By device, then by what has tables of its own. */
int xb_bars_by_device(const struct xb_bar *a, const struct xb_bar *b);

/* What bars of a table have in common: "To the GPU", "Both ways, and within the GPU". */
#define XB_BARS_TITLE 64
const char *xb_bars_title(const struct xb_bar *bars, size_t count, bool names_devices, char *title);
/* What stands across: a size, a device, the value of the parameter that is swept. */
uint64_t xb_bars_across(const struct xb_bars *view, const struct xb_record_case *test);
/* What the device's link carries that way, in GB/s; 0: not known, or not to be compared. */
double xb_bars_ceiling(const struct xb_bars *view, const struct xb_bar *bars, size_t count);
