/* SPDX-License-Identifier: Apache-2.0 */
#include "document_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "lacking_json.h"
#include "testing.h"

/* Whichever piece is lacking: the reader says so, and the sanitizer finds nothing left. */
TEST(says_that_there_is_no_memory)
{
    struct xb_error error;
    struct xb_record record;
    enum xb_status status = XB_ERR_MEMORY;
    size_t piece = 0;
    cJSON *documents[] = {result_tree(), result_tree()};
    cJSON *tree = merge(2, 2, documents);
    char *text = cJSON_PrintUnformatted(tree);
    cJSON_Delete(tree);
    while (status != XB_OK) {
        lack_json_piece(++piece);
        status = xb_record_parse(PATH, text, strlen(text), &record, &error);
        if (status == XB_OK)
            break;
        assert_int_equal(status, XB_ERR_MEMORY);
        assert_non_null(strstr(error.message, "no memory"));
        assert_non_null(strstr(error.message, PATH));
        assert_null(record.texts);
    }
    lack_json_piece(0);
    assert_true(piece > 500); /* the tree alone has as many */
    xb_record_free(&record);
    free(text);
}
