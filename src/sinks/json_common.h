/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_JSON_COMMON_H
#define XFERBENCH_SINKS_JSON_COMMON_H

#include "xferbench/options.h"
#include "xferbench/result.h"
#include "xferbench/topology.h"

#include "json_tree.h"

#include <time.h>

/* The sections that every document has in common. As in json_tree.h: NULL where memory is short. */

/* The program: name, version, compiler, build type. */
cJSON *xb_json_tool(void);
/* A time of day: ISO 8601, UTC, whole seconds. */
cJSON *xb_json_time(time_t when);
/* Now. */
cJSON *xb_json_timestamp(void);
/* The machine. `topology` may be NULL: the number of NUMA nodes is then null. */
cJSON *xb_json_host(const struct xb_topology *topology);
/* The runtime that moved the data. */
cJSON *xb_json_backend(const struct xb_backend *backend, const struct xb_probe *probe);
/* The environment variables that steer CUDA and HIP. */
cJSON *xb_json_environment(void);
/* Every option in effect, by its name; the rows of `config` must outlive the tree. */
cJSON *xb_json_config(const struct xb_config *config);
/* A description of values: median, interval (null where there is none), range and spread. */
cJSON *xb_json_statistics(const struct xb_statistics *statistics);
/* true, false, or null where it is not known. */
cJSON *xb_json_verified(enum xb_verified verified);

#endif
