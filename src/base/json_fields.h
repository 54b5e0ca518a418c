/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "json_read.h"
#include "json_write.h"

/*
 * A table of fields binds the members of a JSON object to the members of a struct. The same table
 * writes the object and reads it, so that neither can say what the other does not.
 *
 *     static const struct xb_field point_fields[] = {
 *         XB_FIELD("x_m", DOUBLE, struct point, x),
 *         XB_FIELD("name", TEXT, struct point, name, XB_NULL_IF_EMPTY),
 *         XB_FIELDS_END};
 *
 * A reader needs every member of the table but those that were added later, in any order, and
 * passes over others.
 */
enum xb_field_kind {
    XB_FIELD_FLAG,                   /* bool */
    XB_FIELD_MAYBE,                  /* enum: 0 not known (null), 1 true, 2 false */
    XB_FIELD_UNSIGNED,               /* unsigned */
    XB_FIELD_UINT64,                 /* uint64_t, up to 2^53 unless `most` says less */
    XB_FIELD_SIZE = XB_FIELD_UINT64, /* size_t */
    XB_FIELD_COUNTER, /* uint64_t of any value: a double holds large ones only roughly, so 2^64 is
                         read as the largest there is */
    XB_FIELD_INDEX,   /* int or what is as long; below 0 is written as null, which is read as -1 */
    XB_FIELD_INT64,   /* int64_t, up to 2^53 to either side of 0 */
    XB_FIELD_DOUBLE,  /* 0 or more; NAN is written as null where XB_NULL_IF_NAN is given */
    XB_FIELD_TEXT,    /* char array; a text that is too long for it is cut when it is read */
    XB_FIELD_ADDRESS, /* the same, and a PCI address */
    XB_FIELD_STRING,  /* const char *; read into the reader's texts */
    XB_FIELD_WORD,    /* enum, by the names that `word` gives for 0 to `most` */
    XB_FIELD_OBJECT,  /* struct with a table of its own */
    XB_FIELD_ITEMS, /* array of structs in the struct itself; `count` of them, `most` at the most */
    XB_FIELD_LIST,  /* pointer to such structs, which lie in the reader's texts when read */
    XB_FIELD_NUMBERS, /* pointer to doubles, which lie there too; `most` is that of each */
    XB_FIELD_CUSTOM   /* what no other kind says: `write` and `read` */
};

enum {
    XB_FIELD_EMPTY_IS_NULL = 1, /* 0, "" and NULL stand for what is not known */
    XB_FIELD_NAN_IS_NULL = 2,
    XB_FIELD_POSITIVE = 4, /* what is known is a number above 0, or a text that is not empty */
    XB_FIELD_ADDED = 8     /* older files lack it, which is read as null */
};

/* Reads one item of an array; `to` is what the array lies in. */
typedef void xb_field_item(struct xb_json_reader *reader, const cJSON *item, size_t index,
                           void *to);

struct xb_field {
    const char *key;
    enum xb_field_kind kind;
    unsigned flags;
    size_t offset, size; /* of the member; of an array the size of an item */
    size_t known;   /* 1 + offset of a bool that is false for null, or 0. Members that share it are
                       known together: one null is enough */
    size_t needs;   /* 1 + offset of an unsigned: while that is 0, null is written; or 0 */
    size_t present; /* 1 + offset of a pointer: NULL is written as null, but not read; or 0 */
    size_t count;   /* of an array: offset of the number of items, a size_t */
    uint64_t least, most; /* of whole numbers, and of the items of a list; `most` 0: of the type */
    const struct xb_field *fields;
    const char *(*word)(int value);
    /* In place of what the kind does, where they are set. */
    void (*write)(struct xb_json *json, const struct xb_field *field, const void *from);
    void (*read)(struct xb_json_reader *reader, const cJSON *object, const struct xb_field *field,
                 void *to);
    xb_field_item *item; /* of a list: in place of reading `fields` */
};

#define XB_ROW(key_, kind_, ...)                                                                   \
    {                                                                                              \
        .key = (key_), .kind = XB_FIELD_##kind_, ##__VA_ARGS__                                     \
    }
#define XB_AT(type, member) .offset = offsetof(type, member)
#define XB_FIELD(key_, kind_, type, member, ...)                                                   \
    XB_ROW(key_, kind_, XB_AT(type, member), .size = sizeof(((type *)0)->member), ##__VA_ARGS__)
/* A struct within the struct. */
#define XB_OBJECT(key_, type, member, fields_, ...)                                                \
    XB_ROW(key_, OBJECT, XB_AT(type, member), .fields = (fields_), ##__VA_ARGS__)
/* An object of its own in the JSON for members that lie in the same struct. */
#define XB_PART(key_, fields_, ...) XB_ROW(key_, OBJECT, .fields = (fields_), ##__VA_ARGS__)
#define XB_ITEMS(key_, type, member, count_, most_, fields_, ...)                                  \
    XB_ROW(key_, ITEMS, XB_AT(type, member), .size = sizeof(((type *)0)->member[0]),               \
           .count = offsetof(type, count_), .most = (most_), .fields = (fields_), ##__VA_ARGS__)
#define XB_LIST(key_, type, member, count_, most_, fields_, ...)                                   \
    XB_ROW(key_, LIST, XB_AT(type, member), .size = sizeof(*((type *)0)->member),                  \
           .count = offsetof(type, count_), .most = (most_), .fields = (fields_), ##__VA_ARGS__)
#define XB_NUMBERS(key_, type, member, count_, ...)                                                \
    XB_ROW(key_, NUMBERS, XB_AT(type, member), .count = offsetof(type, count_), ##__VA_ARGS__)
/* An object, array or value by two functions, which get the whole struct. */
#define XB_CUSTOM(key_, write_, read_, ...)                                                        \
    XB_ROW(key_, CUSTOM, .write = (write_), .read = (read_), ##__VA_ARGS__)
#define XB_FIELDS_END XB_ROW(NULL, CUSTOM)

#define XB_NULL_IF_EMPTY .flags = XB_FIELD_EMPTY_IS_NULL
#define XB_NULL_IF_NAN .flags = XB_FIELD_NAN_IS_NULL
#define XB_ADDED_NULL_IF_NAN .flags = (XB_FIELD_ADDED | XB_FIELD_NAN_IS_NULL)
#define XB_ABOVE_0 .flags = XB_FIELD_POSITIVE
#define XB_NOT_EMPTY .flags = XB_FIELD_POSITIVE
/* A rate or the like: above 0, and 0 is written as null. */
#define XB_RATE .flags = (XB_FIELD_POSITIVE | XB_FIELD_EMPTY_IS_NULL)
/* A text that is not empty, and null stands for NULL. */
#define XB_TEXT_OR_NULL XB_RATE
#define XB_KNOWN(type, member) .known = (offsetof(type, member) + 1)
#define XB_NEEDS(type, member) .needs = (offsetof(type, member) + 1)
#define XB_PRESENT(type, member) .present = (offsetof(type, member) + 1)

/* Puts the members into the innermost open object. */
void xb_fields_put(struct xb_json *json, const struct xb_field *fields, const void *from);
/* Puts them there as an object under that key, or as an array's item (NULL). */
void xb_fields_put_object(struct xb_json *json, const char *key, const struct xb_field *fields,
                          const void *from);

/* Reads the members of `object` into *to, which is zeroed before; refuses what is missing or wrong.
 */
void xb_fields_read(struct xb_json_reader *reader, const cJSON *object,
                    const struct xb_field *fields, void *to);
/* Reads the object that `object` has under that key. */
void xb_fields_read_object(struct xb_json_reader *reader, const cJSON *object, const char *key,
                           const struct xb_field *fields, void *to);

/* Whether a reader takes null for the field. */
bool xb_field_may_be_null(const struct xb_field *field);

/* Zeroed room for `count` things in the reader's texts. NULL: the reader has failed. */
void *xb_fields_room(struct xb_json_reader *reader, size_t count, size_t size);
/* A copy in the reader's texts; the text itself where it has none, or has failed. */
const char *xb_fields_keep_text(struct xb_json_reader *reader, const char *text);

/* Calls `read` for each of at most `most` items of that array. Returns how many; 0 if it fails. */
size_t xb_fields_read_each(struct xb_json_reader *reader, const cJSON *object, const char *key,
                           size_t most, xb_field_item *read, void *to);
