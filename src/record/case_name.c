/* SPDX-License-Identifier: Apache-2.0 */
#include "case_name.h"

#include "base/note.h"
#include "mode_list.h"
#include "rows.h"

#include <stdio.h>
#include <string.h>

const char *xb_method_name(const struct xb_record_case *test, char *text, size_t size)
{
    const struct xb_mode *mode = xb_mode_find(test->mode);
    const struct xb_variant_name *name = mode != NULL ? mode->names : NULL;
    while (name != NULL && name->variant != NULL && strcmp(name->variant, test->variant) != 0)
        name++;
    if (name != NULL && name->variant != NULL)
        snprintf(text, size, "%s", name->name);
    else if (mode != NULL && mode->variant_option == NULL)
        snprintf(text, size, "%s", test->mode);
    else
        snprintf(text, size, "%s %s", test->mode, test->variant);
    xb_make_plain(text);
    return text;
}

const char *xb_direction_words(const struct xb_record_case *test)
{
    if (strcmp(test->direction, "h2d") == 0)
        return "to the GPU";
    if (strcmp(test->direction, "d2h") == 0)
        return "back to the host";
    if (strcmp(test->direction, "bidir") == 0)
        return "both ways";
    return xb_case_is_of_pairs(test) ? "one way" : "within the GPU";
}
