/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_SINKS_JSON_COMMON_H
#define XFERBENCH_SINKS_JSON_COMMON_H

#include "xferbench/options.h"
#include "xferbench/topology.h"

#include "json_tree.h"

/* The sections that every document has in common. As in json_tree.h: NULL where memory is short. */

/* The program: name, version, compiler, build type. */
cJSON *xb_json_tool(void);
/* Now: ISO 8601, UTC, whole seconds. */
cJSON *xb_json_timestamp(void);
/* The machine. `topology` may be NULL: the number of NUMA nodes is then null. */
cJSON *xb_json_host(const struct xb_topology *topology);
/* The runtime that moved the data. */
cJSON *xb_json_backend(const struct xb_backend *backend, const struct xb_probe *probe);
/* The environment variables that steer CUDA and HIP. */
cJSON *xb_json_environment(void);
/* Every option in effect, by its name; the rows of `config` must outlive the tree. */
cJSON *xb_json_config(const struct xb_config *config);

#endif
