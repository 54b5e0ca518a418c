/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_FLEET_ORIGIN_H
#define XFERBENCH_FLEET_ORIGIN_H

#include "base/json_read.h"

#include <time.h>

/* From which node a document comes, and when it was measured. Texts belong to the tree. */
struct xb_fleet_origin {
    const char *node; /* its name for launcher and scheduler, else its host name; NULL: none */
    const char *hostname, *backend, *driver; /* NULL: not known */
    time_t written;                          /* 0: not known */
    double began, late_s;                    /* NAN: not known */
    bool unsynchronised;
    unsigned rank, ranks; /* which of how many processes of a launcher; 0 ranks: not known */
};

/* For a document of any kind with a host. The reader keeps the error if something is wrong. */
struct xb_fleet_origin xb_fleet_origin_read(struct xb_json_reader *reader, const cJSON *document);

#endif
