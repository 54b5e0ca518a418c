/* SPDX-License-Identifier: Apache-2.0 */
#ifndef XFERBENCH_MODES_PIPELINE_PROOF_H
#define XFERBENCH_MODES_PIPELINE_PROOF_H

#include "pipeline_source.h"
#include "xferbench/result.h"

/* The proof that every byte of the files arrived and was computed on: of each item the device's
 * digest has come back, and the host calculates what it has to be. */

/* `digests` is what came back, a word an item; `scratch` holds an item. Fills result->row.verified
 * and the reason. Blocks. */
XB_MUST_CHECK enum xb_status xb_pipeline_prove(const struct xb_source *source,
                                               const unsigned long long *digests, uint64_t steps,
                                               void *scratch, struct xb_result *result,
                                               struct xb_error *error);

#endif
