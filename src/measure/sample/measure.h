/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "measure/run.h"
#include "sampler.h"

/* The last work of a device: what it was, and when it ended, on the clock of src/base/clock.h. */
struct xb_work {
    struct xb_case test; /* its mode is NULL: none yet */
    double end;
    double seconds;      /* that its latest sample took */
    uint64_t iterations; /* in that sample */
};

/* One reading of every hop of a device's path, not counted yet. An idle link trains down, so a
 * reading proves what the link is only if it ended before the data had arrived. So a look is made
 * between the release of a repetition and the wait for it, and counted once its time is known. */
struct xb_link_look {
    double end; /* on the clock of base/clock.h */
    struct {
        double speed_gts;
        unsigned width; /* 0: not readable */
    } hops[XB_PCIE_HOPS];
};

/* Reads the path of a device that is open: its hops, and the sizes of packets. */
void xb_link_load_open(const struct xb_run *run, struct xb_run_device *device);

/* Reads speed and width of every hop now. Takes some ten microseconds a hop. */
void xb_link_look_make(const struct xb_run *run, const struct xb_run_device *device,
                       struct xb_link_look *look);

/* Counts the look in device->load if data was still on its way when it ended: `begin` is when the
 * first operation could start, on the same clock, and `seconds` what all took. */
void xb_link_look_count(const struct xb_link_look *look, double begin, double seconds,
                        struct xb_run_device *device);

/* What was read of the counters of a device's link. */
struct xb_witness {
    unsigned looks;
    uint32_t last; /* of the bytes in the direction of the data, at the latest look */
    double least;  /* bytes counted during a repetition, divided by those it moved */
};

/* One device (or pair) at work. A case has one lane; simultaneous devices have one each. */
struct xb_lane {
    struct xb_mode_context context;
    struct xb_mode_context made; /* as the context was before its first setup */
    struct xb_run_device *where;
    struct xb_result *result;
    struct xb_work *last_work;      /* of the device; the runner keeps it from case to case */
    struct xb_work *peer_last_work; /* of a pair's destination, else NULL */
    struct xb_sampler sampler;
    struct xb_binding binding; /* of the thread that set the lane up */
    /* For a case with a NUMA node: the host buffer of any placement with the least of its pages
     * there. */
    struct xb_places worst;
    /* Where the host memory lay that the row tells of, in the latest placement, and whether it is
     * page-locked; it may be gone by then. */
    bool has_places, is_pinned;
    struct xb_places places;
    double setup_seconds;     /* of all setups so far */
    struct xb_timing timing;  /* of the latest repetition */
    double released;          /* then, on the clock of base/clock.h */
    double lag;               /* from the first release of any to the first on its device */
    struct xb_link_look look; /* at the link, during that repetition */
};

/* How often one operation alone is timed by the host's clock at least, where the samples do not
 * tell that; of so many the warm-up keeps what it tells. */
#define XB_ALONE_REPETITIONS 3u

/* One case while it is measured. Zero-initialise what is below the line. */
struct xb_measurement {
    struct xb_run *run;
    const struct xb_run_observer *observer;
    struct xb_result *result; /* of the whole; with one lane, the lane's. Several lanes have theirs
                                 behind it, in their order */
    size_t row_count;         /* of these in all */
    struct xb_lane *lanes;
    size_t lane_count;
    /* ---- */
    unsigned placements; /* of the host's memory that the case is measured in */
    unsigned placement;  /* the one that it is in, from 0 */
    uint64_t iterations; /* in one sample */
    bool held;           /* the queues stand still while a sample is enqueued */
    bool looks_at_links; /* during repetitions; not during those that are samples,
                            unless the run is until_deadline */
    struct xb_witness witness;
    double last_wall; /* seconds that the latest repetition took, restoring included */
    struct xb_samples warm_up;
    /* The latest repetitions of the warm-up that were one operation alone, in any order. */
    struct xb_timing alone[XB_ALONE_REPETITIONS];
    size_t alone_count; /* how many there were, those that are not kept included */
};

/*
 * Sets the case up, measures it, verifies it and takes it down again. Its results are final
 * afterwards, whatever happened.
 */
void xb_measure(struct xb_measurement *measurement);

/* XB_ERR_UNSUPPORTED, with what is lacking, where the device cannot do the variant. */
enum xb_status xb_measure_check_capabilities(const struct xb_case *test,
                                             const struct xb_device_info *device,
                                             struct xb_error *error);
/* Why a case both ways at once is skipped where latencies are asked for. */
#define XB_MEASURE_NO_LATENCY                                                                      \
    "latency is that of a single operation, and both ways at once are several"

/* Takes the bytes between two events at the same time, and their seconds. */
#define XB_MEASURE_WRONG_CLOCK                                                                     \
    "the events around a copy of %.0f bytes are %g s apart: the device's clock is wrong"

/* Makes the result an error row. */
void xb_result_fail(struct xb_result *result, const struct xb_error *error);
/* Makes it a skipped row because a signal or the deadline came "before ..." what `before` says. */
void xb_result_cut(struct xb_result *result, const char *before);
/* Gives a row without figures its status and reason: XB_ERR_UNSUPPORTED is skipped, XB_ERR_STOPPED
 * and XB_OK are cut, all others have failed. */
void xb_result_end(struct xb_result *result, enum xb_status status, const struct xb_error *error,
                   const char *before);

/* sampling.c: warms up, has the references timed and takes the samples of one placement. The lanes
 * are set up and their samplers open. Leaves the results without samples where it was stopped
 * before the first. */
enum xb_status xb_measure_sample(struct xb_measurement *measurement, struct xb_error *error);

/* witness.c: reads how many bytes the device has counted on its PCIe link, before the warm-up and
 * after each of its first repetitions, and tells in the result how many crossed for an iteration
 * (link_bytes) and how many times the bytes moved that is (link_bytes_ratio). Nothing where the
 * case's bytes do not cross such a link once, or the device counts none. Takes 0.4 ms, four times a
 * case at most: not within what is timed. */
void xb_witness_look(struct xb_measurement *measurement);

/* references.c: times what the mode of a case of one lane wants to be compared with, and measures
 * what it costs. XB_ERR_RUNTIME also where the data of a reference is wrong. */
enum xb_status xb_measure_beside(struct xb_measurement *measurement, struct xb_error *error);

/* residence.c. Binds the calling thread near the lane's device, or to the NUMA node that is named:
 * XB_ERR_UNSUPPORTED where that cannot be had. */
enum xb_status xb_residence_bind(const struct xb_measurement *measurement, struct xb_lane *lane,
                                 struct xb_error *error);

/* For a lane that has taken its samples: where a NUMA node is named, XB_ERR_RUNTIME if its host
 * memory lies elsewhere. */
enum xb_status xb_residence_check(const struct xb_measurement *measurement, struct xb_lane *lane,
                                  struct xb_error *error);

/* Says where the lane's host memory lies and its threads run, and what is to be doubted of it. */
void xb_residence_tell(const struct xb_measurement *measurement, const struct xb_lane *lane);

/* recorder.c: after the last sample, records one more iteration where the run or the figures of
 * the mode's stages ask for it. Returns only what made that iteration fail. */
enum xb_status xb_measure_record(struct xb_measurement *measurement, struct xb_error *error);

/*
 * Where the host's memory lies decides how fast copies both ways at once are, by a
 * fifth on some machines, while samples of one placement agree (docs/measurement.md). One placement
 * would have a narrow interval around a figure that the next process does not find. So such a case
 * is set up and sampled in several placements, and its interval is that of the median over them.
 */

/* For lanes that are set up: finds how many placements the case is measured in, and has their
 * memory ready. Fills measurement->placements. Warns where memory is short of it. */
void xb_placements_open(struct xb_measurement *measurement);

/* Whether this placement has its share of the samples: `fixed` are asked for (0: as many as the
 * time limit gives), `taken` it has, in `elapsed` seconds. For a case in several placements. */
bool xb_placement_is_full(const struct xb_measurement *measurement, uint64_t fixed, size_t taken,
                          double elapsed);

/* Notes that the samples from `before` on are of this placement. */
void xb_placement_close(struct xb_measurement *measurement, size_t before);

/* Computes how far the placements are apart. XB_ERR_MEMORY only. */
enum xb_status xb_placements_compare(struct xb_result *result, struct xb_error *error);

/* If its samples never agree, a path is warmed up for this share of the time limit at most. */
#define XB_WARM_UP_MOST 0.25

/*
 * A device of a run on its way to being open. Creating its context takes a tenth of a second, so
 * several devices are opened at the same time, each in a thread of its own, which is bound near its
 * device: the driver's own memory for the device then lies there too.
 */
struct xb_opening {
    const struct xb_run *run;
    size_t position; /* in run->devices */
    /* ---- what came of it, once xb_opening_wait has returned ---- */
    struct xb_device *device; /* NULL where it failed, and before */
    enum xb_status status;
    struct xb_error error;
    /* ---- private ---- */
    bool has_thread;
    pthread_t thread;
    atomic_bool done;
};

/* Begins to open the `wanted` ones of `count` devices. A single one is opened only when somebody
 * waits for it, unless `also_one`. Set `run` and `position` of all before; zero the rest. The run's
 * topology must be open and its devices described; do not change them until you have waited for
 * all. */
void xb_openings_begin(struct xb_opening *openings, const bool *wanted, size_t count,
                       bool also_one);

/*
 * Waits until all that have begun are done, so that nothing is measured while a context is created.
 * Gives up after 10 seconds, or when the run should stop: a device that hangs must not cost the
 * rows of the others. Whoever needs that one waits for it.
 */
void xb_openings_settle(struct xb_opening *openings, size_t count);

/* Waits until the device is open or has failed; opens it if nobody has begun to. Blocks, as
 * device_open does. A device that failed is not tried again. */
void xb_opening_wait(struct xb_opening *opening);

/* Waits for the device if somebody has begun to open it, and closes it. */
void xb_opening_close(struct xb_opening *opening);

/*
 * Makes one repetition of a case on every lane: restores what the last one moved, enqueues all,
 * releases all, then waits for all. *seconds is what the slowest lane took, all iterations
 * together, and later than the first it was released. That is the time of all: lanes whose clock is
 * of one device count from the earliest start of any of them; the clocks of several devices cannot
 * be compared, and these start when the host releases them. Blocks. Each lane's timing is in
 * lane->timing. With `held` no lane starts before all are enqueued. A `submit` of NULL is that of
 * each lane's mode.
 */
enum xb_status xb_measure_repeat(struct xb_measurement *measurement, xb_submit *submit,
                                 uint64_t iterations, bool held, double *seconds,
                                 struct xb_error *error);

/* Puts back what the last repetition moved, on every lane whose mode needs that. Blocks. */
enum xb_status xb_measure_restore(const struct xb_measurement *measurement, struct xb_error *error);

/* What a lane's latest repetition took, by the clock that times this lane. */
double xb_lane_seconds(const struct xb_lane *lane);

/* How many operations an iteration puts behind the holds of a device: all lanes of one together,
 * because what bounds them may be the device's, and the most of any. */
uint64_t xb_most_operations(const struct xb_measurement *measurement);

/* Whether there is no time for another repetition, if that takes as long as the last one. */
bool xb_measure_out_of_time(const struct xb_measurement *measurement);

/* Notes that a signal or the deadline ends the case now. */
void xb_measure_note_cut(struct xb_measurement *measurement);

/* Tells the observer that there are so many samples, the last of which took `seconds`. */
void xb_measure_tell(const struct xb_measurement *measurement, size_t samples, double seconds);
