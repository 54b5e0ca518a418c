/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Reports made by hand, for the tests of what is written about them. */

#include "link/report.h"
#include "testing.h"

#define NASTY "a \"q\" | 'b' `c` $(d) \\ <e>;\nsecond\r\tline \xff\xc0 end \xe2\x82"
#define GPUS 2

struct format {
    const char *name;
    xb_link_writer *write;
};

#define FORMATS ((size_t)5)

extern const struct format formats[FORMATS];

struct node {
    struct xb_link_report report;
    struct xb_link_device devices[GPUS];
    struct xb_verdict verdicts[GPUS];
    struct xb_link_pair pairs[GPUS];
    struct xb_pair_verdict pair_verdicts[GPUS];
};

int link_setup(void **state);
int link_teardown(void **state);
#define RUN_TEST(name) TEST_WITH(name, link_setup, link_teardown)

void add_reason(struct xb_verdict *verdict, enum xb_level level, const char *code,
                const char *text);

/* One GPU, and nothing is wrong. */
void make_healthy(struct node *n);

/* GPU 0 is well, GPU 1 has lost half of its lanes and counts errors. */
void make_critical(struct node *n);

/* No driver. */
void make_nothing(struct node *n);

/* In a virtual machine: no bridge, nothing that only root of the host may read. */
void make_vm(struct node *n);

/* The GPU's own link leads to the switch on its package only; above the slot is another switch. */
void make_amd(struct node *n);

/* The third attempt was the good one. */
void make_retried(struct node *n);

/* The deadline came: one device was not begun, and vanished besides. */
void make_cut(struct node *n);

/* Copies from GPU 0 to GPU 1 are well; the other way they are slow in both attempts. */
void make_peers(struct node *n);

/* Texts that could break a format, wherever one comes from outside; and as much as there can be. */
void make_nasty(struct node *n);

struct kind {
    const char *name;
    void (*make)(struct node *n);
};

#define KINDS ((size_t)9)

extern const struct kind kinds[KINDS];

/* Puts the facts into the verdicts that the devices, as they are now, have. */
void find_facts(struct node *n);

/* What a format writes; release with free(). */
char *told(xb_link_writer *write, const struct xb_link_report *report);
/* What a format writes about the devices as they are now; release with free(). */
char *link_text(xb_link_writer *write, struct node *n);

bool is_utf8(const char *text);
