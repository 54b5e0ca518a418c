/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include "answer_internal.h"

void xb_answer_line(struct xb_answering *answering, const struct xb_words *words)
{
    struct xb_answer *answer = answering->answer;
    if (answer->count == XB_ANSWER_LINES)
        return;
    const char *line = xb_arena_print(answering->texts, "%s", words->text);
    answering->failed = answering->failed || line == NULL;
    if (line != NULL)
        answer->lines[answer->count++] = line;
}

void xb_answer_subject(struct xb_answering *answering, const struct xb_words *words)
{
    const char *subject = xb_arena_print(answering->texts, "%s", words->text);
    answering->failed = answering->failed || subject == NULL;
    if (subject != NULL)
        answering->answer->subject = subject;
}

enum xb_status xb_answer_make(const struct xb_report_document *document, struct xb_arena **texts,
                              struct xb_answer *answer, struct xb_error *error)
{
    struct xb_answering answering = {.texts = texts, .answer = answer};
    *answer = (struct xb_answer){.subject = "", .look = ""};
    if (document->record != NULL)
        xb_answer_record(&answering, document->record);
    if (document->link != NULL)
        xb_answer_link(&answering, document->link);
    if (document->comparison != NULL)
        xb_answer_comparison(&answering, document->comparison);
    if (document->tree != NULL)
        xb_answer_tree(&answering, document);
    if (answer->count == 0) {
        const struct xb_words nothing = {.text = "It has no figures."};
        xb_answer_line(&answering, &nothing);
    }
    return answering.failed ? XB_FAIL(error, XB_ERR_MEMORY, "no memory for a report") : XB_OK;
}
