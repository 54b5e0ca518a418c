// SPDX-License-Identifier: Apache-2.0
// XB_ABOUT
// Build and run: nvcc -O2 job.cu -o job && ./job

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include <cuda_runtime.h>

static const size_t in_bytes = XB_IN_BYTES;
static const size_t out_bytes = XB_OUT_BYTES;
static const double promised_seconds = XB_PROMISED_SECONDS; // for one job
static const int device = XB_DEVICE;
static const int runs = XB_RUNS;
static const size_t chunk_bytes = XB_CHUNK_BYTES; // go in at a time, each with its own kernel
static const size_t chunk_count = (in_bytes + chunk_bytes - 1) / chunk_bytes;
static const int stream_count = XB_STREAMS;
XB_KERNEL static const double kernel_seconds = XB_KERNEL_SECONDS;
#if XB_BY_HELPERS
static const int helper_count = XB_HELPERS; // threads that copy; 0: the caller does
static const size_t slot_count = XB_SLOTS;  // copies that helpers work on, at most
#endif
XB_RING static const size_t slot_bytes = XB_SLOT_BYTES; // of page-locked memory

// Ends the program if a call failed, and says which and why.
#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t code_ = (call);                                                                \
        if (code_ != cudaSuccess) {                                                                \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(code_));      \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// What your program works on, and where that lies on the GPU.
static char *in, *out, *device_in, *device_out;
XB_COPIED static char *staged_in, *staged_out; // XB_KIND, between the two
static cudaStream_t streams[stream_count];
static cudaEvent_t begin, ends[stream_count];

// A chunk of the input, and what the kernel makes of it.
struct Part {
    size_t in_at, in_bytes, out_at, out_bytes;
};

// Each chunk makes its share of the output, in words of 4 bytes.
static Part part_of(size_t index)
{
    Part part;
    part.in_at = index * chunk_bytes;
    part.in_bytes = std::min(chunk_bytes, in_bytes - part.in_at);
    double share = double(out_bytes) / double(in_bytes);
    size_t next = size_t(double(part.in_at + part.in_bytes) * share) / 4 * 4;
    part.out_at = size_t(double(part.in_at) * share) / 4 * 4;
    part.out_bytes = (index + 1 < chunk_count ? next : out_bytes) - part.out_at;
    return part;
}

#if XB_KERNEL
// This stands in for YOUR KERNEL: it reads all of the input, computes for `steps` steps and writes
// all of the output. Put yours here, and teach is_right() what it makes.
__global__ void stand_in(const unsigned *in, size_t in_words, unsigned *out, size_t out_words,
                         unsigned steps, unsigned zero)
{
    size_t words = in_words > out_words ? in_words : out_words;
    size_t stride = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < words; i += stride) {
        unsigned word = in[i < in_words ? i : i % in_words];
        unsigned state = word;
        for (unsigned step = 0; step < steps; step++)
            state = (state ^ (state >> 15)) * 747796405u + 2891336453u;
        state &= zero; // `zero` is 0, which the compiler does not know: it has to do the steps
        if (i < out_words)
            out[i] = word + 1 + state;
        else if (state != 0)
            out[0] = state;
    }
}

static unsigned steps = 1;

static void start_kernel(const Part &part, cudaStream_t on)
{
    size_t in_words = (part.in_bytes + 3) / 4, out_words = (part.out_bytes + 3) / 4;
    unsigned blocks =
        unsigned(std::min((std::max(in_words, out_words) + 255) / 256, size_t(65536)));
    stand_in<<<blocks, 256, 0, on>>>((const unsigned *)(device_in + part.in_at), in_words,
                                     (unsigned *)(device_out + part.out_at), out_words, steps, 0);
    CHECK(cudaGetLastError());
}
#endif

#if XB_BY_HELPERS
// Helpers copy host memory in turns: each copies its share of one turn, then of the next.
struct Turn {
    char *to;
    const char *from;
    size_t bytes;
};
static Turn turns[slot_count];
static std::atomic<int> shares_done[slot_count];
static std::atomic<size_t> turns_begun(0);
static std::atomic<bool> is_ending(false);

static void copy_share(size_t turn, int helper)
{
    const Turn &now = turns[turn % slot_count];
    size_t share = std::max(now.bytes / size_t(std::max(helper_count, 1)) + 1, size_t(128) << 10);
    size_t at = share * size_t(helper);
    if (at < now.bytes)
        memcpy(now.to + at, now.from + at, std::min(share, now.bytes - at));
    shares_done[turn % slot_count]++;
}

static void help(int helper)
{
    for (size_t turn = 0;; turn++) {
        for (int tries = 0; turns_begun <= turn; tries++) {
            if (is_ending)
                return;
            if (tries < 20000)
                std::this_thread::yield();
            else // nothing has come for long: leave the CPU to others
                std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        copy_share(turn, helper);
    }
}

static void begin_turn(char *to, const char *from, size_t bytes)
{
    turns[turns_begun % slot_count] = {to, from, bytes};
    shares_done[turns_begun % slot_count] = 0;
    size_t turn = turns_begun++; // and the helpers begin
    if (helper_count == 0)
        copy_share(turn, 0);
}

static void finish_turn(size_t turn)
{
    while (shares_done[turn % slot_count] < std::max(helper_count, 1))
        std::this_thread::yield();
}
#endif

#if XB_COPIED
static void copy_by_helpers(char *to, const char *from, size_t bytes)
{
    begin_turn(to, from, bytes);
    finish_turn(turns_begun - 1);
}
#endif

#if XB_RING
static char *slots;
static cudaEvent_t crossed[slot_count]; // the GPU is done with that slot

// Starts the copy of a chunk between the GPU's memory and the slot of that turn.
static void cross(size_t turn, char *device, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
{
    size_t slot = turn % slot_count;
    char *pinned = slots + slot * slot_bytes;
    bool is_in = kind == cudaMemcpyHostToDevice;
    char *to = is_in ? device : pinned, *from = is_in ? pinned : device;
    CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
    CHECK(cudaEventRecord(crossed[slot], stream));
}

// Helpers fill slots. Each slot crosses to the GPU as soon as it is full.
static void copy_in(cudaStream_t stream)
{
    size_t count = (in_bytes + slot_bytes - 1) / slot_bytes, first = turns_begun, filling = 0;
    for (size_t i = 0; i < count; i++) {
        for (; filling < count && filling < i + slot_count - 2; filling++) {
            size_t slot = (first + filling) % slot_count, at = filling * slot_bytes;
            if (filling >= slot_count)
                CHECK(cudaEventSynchronize(crossed[slot]));
            begin_turn(slots + slot * slot_bytes, in + at, std::min(slot_bytes, in_bytes - at));
        }
        finish_turn(first + i);
        cross(first + i, device_in + i * slot_bytes,
              std::min(slot_bytes, in_bytes - i * slot_bytes), cudaMemcpyHostToDevice, stream);
    }
}

// Slots cross from the GPU. Helpers empty each slot that has crossed.
static void copy_out(cudaStream_t stream)
{
    size_t count = (out_bytes + slot_bytes - 1) / slot_bytes, first = turns_begun, crossing = 0;
    for (size_t i = 0; i < count; i++) {
        for (; crossing < count && crossing < i + slot_count - 1; crossing++) {
            if (crossing >= slot_count)
                finish_turn(first + crossing - slot_count);
            size_t at = crossing * slot_bytes;
            cross(first + crossing, device_out + at, std::min(slot_bytes, out_bytes - at),
                  cudaMemcpyDeviceToHost, stream);
        }
        size_t slot = (first + i) % slot_count, at = i * slot_bytes;
        CHECK(cudaEventSynchronize(crossed[slot]));
        begin_turn(out + at, slots + slot * slot_bytes, std::min(slot_bytes, out_bytes - at));
    }
    for (size_t turn = first; turn < first + count; turn++)
        finish_turn(turn);
}
#endif

#if XB_PREFETCH
// Has the pages of managed memory move: to that GPU, or to the host for cudaCpuDeviceId.
static void prefetch(size_t bytes, int to, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
    cudaMemLocation place = {};
    place.type = to < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = to < 0 ? 0 : to;
    CHECK(cudaMemPrefetchAsync(XB_SENT, bytes, place, 0, stream));
#else
    CHECK(cudaMemPrefetchAsync(XB_SENT, bytes, to, stream));
#endif
}
#endif

#if XB_MANAGED
// Reads a byte of each page of managed memory, which brings it to the host.
static void touch(size_t bytes)
{
    for (size_t at = 0; at < bytes; at += 4096)
        (void)*(volatile char *)(XB_SENT + at);
}
#endif

// Does one job and returns when the output is there. Without copies it runs the kernel alone.
static void run_job(bool copies)
{
#if XB_COPIED
    if (copies)
        copy_by_helpers(staged_in, in, in_bytes);
#endif
    CHECK(cudaEventRecord(begin, streams[0]));
    for (size_t i = 0; i < chunk_count; i++) {
        const Part part = part_of(i);
        cudaStream_t stream = streams[i % stream_count]; // keeps the steps of a chunk in order
        if (copies) {
            XB_RING copy_in(stream);
            XB_PREFETCH prefetch(in_bytes, device, stream);
#if XB_COPIES
            CHECK(cudaMemcpyAsync(device_in + part.in_at, XB_SENT + part.in_at, part.in_bytes,
                                  cudaMemcpyHostToDevice, stream));
#endif
        }
        XB_KERNEL start_kernel(part, stream);
        if (copies && part.out_bytes > 0) {
            XB_RING copy_out(stream);
            XB_PREFETCH prefetch(out_bytes, cudaCpuDeviceId, stream);
#if XB_COPIES
            CHECK(cudaMemcpyAsync(XB_RECEIVED + part.out_at, device_out + part.out_at,
                                  part.out_bytes, cudaMemcpyDeviceToHost, stream));
#endif
        }
    }
    for (int i = 0; i < stream_count; i++)
        CHECK(cudaEventRecord(ends[i], streams[i]));
    for (int i = 0; i < stream_count; i++)
        CHECK(cudaStreamSynchronize(streams[i]));
#if XB_FAULTS
    if (copies)
        touch(out_bytes);
#endif
#if XB_COPIED
    if (copies && out_bytes > 0)
        copy_by_helpers(out, staged_out, out_bytes);
#endif
}

// Tells how long the latest job took by the GPU's clock.
static double event_seconds()
{
    float milliseconds = 0;
    for (int i = 0; i < stream_count; i++) {
        float own = 0;
        CHECK(cudaEventElapsedTime(&own, begin, ends[i]));
        milliseconds = std::max(milliseconds, own);
    }
    return milliseconds / 1e3;
}

static char *allocate(size_t bytes)
{
    size_t pages = (bytes / 4096 + 1) * 4096;
#if XB_ALLOCATED
    void *memory = NULL;
    CHECK(XB_ALLOCATE(&memory, pages)); // once: it takes longer than many copies
#else
    void *memory = aligned_alloc(4096, pages);
    if (memory == NULL) {
        fprintf(stderr, "there is no memory of %zu bytes\n", pages);
        exit(1);
    }
#endif
    memset(memory, 0, pages);
#if XB_REGISTERED
    CHECK(cudaHostRegister(memory, pages, 0)); // once: it takes longer than many copies
#endif
    return (char *)memory;
}

static void fill(unsigned seed)
{
    for (size_t i = 0; i < in_bytes; i++)
        in[i] = char(((i + seed) * 2654435761u) >> 24);
    if (out != in)
        memset(out, 0xff, out_bytes);
}

// Checks that all that was given arrived and that all of the output is what the kernel makes of it.
static bool is_right(const std::vector<char> &given)
{
    bool right = true;
#if XB_ON_DEVICE
    std::vector<char> arrived(given.size());
    CHECK(cudaMemcpy(arrived.data(), device_in, given.size(), cudaMemcpyDeviceToHost));
    right = arrived == given;
#endif
    for (size_t i = 0; i < chunk_count; i++) {
        const Part part = part_of(i);
        for (size_t at = 0; at < part.out_bytes; at += 4) {
            unsigned expected = 0;
#if XB_KERNEL
            memcpy(&expected, &given[part.in_at + at % ((part.in_bytes + 3) / 4 * 4)], 4);
            expected += 1;
#endif
            const size_t bytes = std::min(part.out_bytes - at, size_t(4));
            right = memcmp(out + part.out_at + at, &expected, bytes) == 0 && right;
        }
    }
    return right;
}

static void begin_all()
{
    CHECK(cudaSetDevice(device));
    for (int i = 0; i < stream_count; i++) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        CHECK(cudaEventCreate(&ends[i]));
    }
    CHECK(cudaEventCreate(&begin));
    in = allocate(in_bytes);
    out = XB_OUT;
#if XB_COPIED
    CHECK(XB_ALLOCATE((void **)&staged_in, in_bytes + 4));
    staged_out = staged_in;
    XB_ON_DEVICE CHECK(XB_ALLOCATE((void **)&staged_out, out_bytes + 1));
#endif
#if XB_RING
    CHECK(cudaMallocHost((void **)&slots, slot_count * slot_bytes));
    for (size_t i = 0; i < slot_count; i++)
        CHECK(cudaEventCreate(&crossed[i]));
#endif
#if XB_MANAGED
    device_in = device_out = XB_SENT; // one address for both sides, and one memory in and out
#endif
#if XB_ZERO_COPY
    CHECK(cudaHostGetDevicePointer((void **)&device_in, XB_SENT, 0));
    device_out = device_in; // the kernel works in place
#endif
#if XB_ON_DEVICE
    CHECK(cudaMalloc((void **)&device_in, in_bytes + 4)); // in whole words
    CHECK(cudaMalloc((void **)&device_out, out_bytes + 4));
    CHECK(cudaMemset(device_in, 0, in_bytes + 4));
    CHECK(cudaMemset(device_out, 0, out_bytes + 4));
    CHECK(cudaDeviceSynchronize());
#endif
}

static void end_all()
{
    for (int i = 0; i < stream_count; i++) {
        CHECK(cudaEventDestroy(ends[i]));
        CHECK(cudaStreamDestroy(streams[i]));
    }
    CHECK(cudaEventDestroy(begin));
    for (char *memory : {in, out != in ? out : NULL}) {
        if (memory == NULL)
            continue;
#if XB_ALLOCATED
        CHECK(XB_FREE(memory));
#else
        XB_REGISTERED CHECK(cudaHostUnregister(memory));
        free(memory);
#endif
    }
#if XB_COPIED
    CHECK(XB_FREE(staged_in));
    XB_ON_DEVICE CHECK(XB_FREE(staged_out));
#endif
#if XB_RING
    CHECK(cudaFreeHost(slots));
    for (size_t i = 0; i < slot_count; i++)
        CHECK(cudaEventDestroy(crossed[i]));
#endif
#if XB_ON_DEVICE
    CHECK(cudaFree(device_in));
    CHECK(cudaFree(device_out));
#endif
}

int main()
{
    begin_all();
#if XB_BY_HELPERS
    std::vector<std::thread> helpers;
    for (int i = 0; i < helper_count; i++)
        helpers.emplace_back(help, i);
#endif
    double kernel = 0;
#if XB_KERNEL
#if XB_ZERO_COPY
    char *mapped = device_in;
    CHECK(cudaMalloc((void **)&device_in, in_bytes + 4)); // your kernel alone, without the link
    device_out = device_in;
#endif
    for (int tries = 0; tries < 16; tries++) { // until it takes as long as your kernel
        run_job(false);
        kernel = event_seconds();
        if (tries < 15)
            steps = unsigned(std::max(1.0, steps * std::min(kernel_seconds / kernel, 8.0)));
    }
#if XB_ZERO_COPY
    CHECK(cudaFree(device_in));
    device_in = device_out = mapped;
#endif
#endif
    fill(1);
    for (int i = 0; i < 3; i++) // warms up
        run_job(true);
    std::vector<double> seconds, of_events;
    for (int i = 0; i < runs; i++) {
        XB_MANAGED touch(in_bytes); // as who writes the next input does: not timed
        const auto from = std::chrono::steady_clock::now();
        run_job(true);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - from;
        seconds.push_back(took.count());
        of_events.push_back(event_seconds());
    }
    fill(2); // what earlier jobs left behind does not pass for this one's data
    const std::vector<char> given(in, in + (in_bytes + 3) / 4 * 4); // in whole words
    run_job(true);
    const bool right = is_right(given);
    std::sort(seconds.begin(), seconds.end());
    std::sort(of_events.begin(), of_events.end());
    const double median = seconds[runs / 2], bytes = double(in_bytes) + double(out_bytes);
    printf("%.3f GB/s, %.4f ms per job; promised %.3f GB/s, %.4f ms: %.3f of that rate; "
           "%.4f ms by events, kernel %.4f ms; data %s\n",
           bytes / median / 1e9, median * 1e3, bytes / promised_seconds / 1e9,
           promised_seconds * 1e3, promised_seconds / median, of_events[runs / 2] * 1e3,
           kernel * 1e3, right ? "right" : "WRONG");
#if XB_BY_HELPERS
    is_ending = true;
    for (std::thread &helper : helpers)
        helper.join();
#endif
    end_all();
    return right ? 0 : 1;
}
