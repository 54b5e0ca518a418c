/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_REPORT_PAGE_INTERNAL_H
#define XFERBENCH_REPORT_PAGE_INTERNAL_H

#include <stdarg.h>

struct xb_page;

/* The longest text of a paragraph or cell; what is more is cut, and said to be. */
#define XB_PAGE_TEXT 4096
#define XB_PAGE_CUT " [cut]"

struct xb_page;

/* Writes a text, escaped. */
void xb_page_put(struct xb_page *page, const char *format, va_list arguments);

#endif
