/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that read and write the host's memory at the same time: what their shape changes. Prints
 * GB/s each way, the median of 7, for one device and for all at once. nvcc -O3 -arch=native.
 *
 * shape: `two` kernels on two streams, one a way, whose blocks each stride through the memory; two
 * whose blocks always take what comes next (`in order`); or `one` whose every other warp goes the
 * other way. buffers: of the host, one a way or the same for both. blocks: of 256 threads a
 * multiprocessor and kernel; `all`: as many as there is work, which start in order. loads: under
 * way in a thread. again: how often a thread copies its piece before it goes on, in place of going
 * through all of the memory four times.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CALL(call)                                                                                 \
    do {                                                                                           \
        cudaError_t code = (call);                                                                 \
        if (code != cudaSuccess) {                                                                 \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define THREADS 256
static const size_t bytes = 512u << 20; /* each way */

template <int LOADS>
__global__ void copy(uint4 *target, const uint4 *source, size_t items, int again)
{
    for (size_t first = (size_t)blockIdx.x * THREADS * LOADS + threadIdx.x; first < items;
         first += (size_t)gridDim.x * THREADS * LOADS)
        for (int i = 0; i < again; i++) {
            uint4 moved[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++)
                moved[k] = __ldcg(source + first + k * THREADS);
#pragma unroll
            for (int k = 0; k < LOADS; k++)
                __stcg(target + first + k * THREADS, moved[k]);
        }
}

template <int LOADS>
__global__ void tickets(uint4 *target, const uint4 *source, size_t items, unsigned *next)
{
    __shared__ unsigned tile;
    for (;;) {
        if (threadIdx.x == 0)
            tile = atomicAdd(next, 1);
        __syncthreads();
        size_t first = (size_t)tile * THREADS * LOADS + threadIdx.x;
        __syncthreads();
        if (first >= items)
            return;
        uint4 moved[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            moved[k] = __ldcg(source + first + k * THREADS);
#pragma unroll
        for (int k = 0; k < LOADS; k++)
            __stcg(target + first + k * THREADS, moved[k]);
    }
}

__global__ void both(uint4 *device, uint4 *host, size_t items, int again)
{
    for (size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x; i < items;
         i += (size_t)gridDim.x * THREADS)
        for (int k = 0; k < again; k++) {
            if (i / 32 % 2)
                __stcg(device + i, __ldcg(host + i));
            else
                __stcg(host + i, __ldcg(device + i));
        }
}

struct shape {
    const char *shape, *buffers;
    int blocks, loads, again; /* blocks 0: all */
};

static const shape shapes[] = {
    {"two", "two", 2, 4, 1},      {"two", "two", 4, 4, 1},      {"two", "two", 2, 1, 1},
    {"two", "same", 2, 4, 1},     {"in order", "two", 2, 4, 1}, {"in order", "two", 4, 4, 1},
    {"in order", "two", 4, 1, 1}, {"one", "same", 4, 1, 1},     {"one", "same", 8, 1, 1},
    {"one", "same", 0, 1, 1},     {"one", "same", 0, 1, 16},    {"two", "two", 2, 4, 16},
};

struct device {
    uint4 *memory[2], *host[2];
    cudaStream_t streams[2];
    cudaEvent_t begin, end, other;
    unsigned *next;
    int multiprocessors;
};

static void submit(device &d, const shape &s)
{
    int passes = s.again == 1 ? 4 : 1;
    size_t items = bytes / 16;
    CALL(cudaEventRecord(d.begin, d.streams[0]));
    CALL(cudaStreamWaitEvent(d.streams[1], d.begin, 0));
    for (int pass = 0; pass < passes; pass++) {
        if (s.shape[0] == 'o') { /* half of 2 * bytes goes each way */
            size_t blocks = s.blocks ? (size_t)s.blocks * d.multiprocessors : 2 * items / THREADS;
            both<<<blocks, THREADS, 0, d.streams[0]>>>(d.memory[0], d.host[0], 2 * items, s.again);
            continue;
        }
        for (int way = 0; way < 2; way++) {
            uint4 *host = d.host[0] + (s.buffers[0] == 't' ? way * items : 0);
            uint4 *memory = d.memory[0] + way * items;
            uint4 *to = way ? host : memory, *from = way ? memory : host;
            unsigned blocks = s.blocks * d.multiprocessors;
            if (s.shape[0] == 'i') {
                CALL(cudaMemsetAsync(d.next + way, 0, 4, d.streams[way]));
                if (s.loads == 4)
                    tickets<4>
                        <<<blocks, THREADS, 0, d.streams[way]>>>(to, from, items, d.next + way);
                if (s.loads == 1)
                    tickets<1>
                        <<<blocks, THREADS, 0, d.streams[way]>>>(to, from, items, d.next + way);
            } else if (s.loads == 4)
                copy<4><<<blocks, THREADS, 0, d.streams[way]>>>(to, from, items, s.again);
            else
                copy<1><<<blocks, THREADS, 0, d.streams[way]>>>(to, from, items, s.again);
        }
    }
    CALL(cudaEventRecord(d.other, d.streams[1]));
    CALL(cudaStreamWaitEvent(d.streams[0], d.other, 0));
    CALL(cudaEventRecord(d.end, d.streams[0]));
}

int main(void)
{
    int count = 0;
    CALL(cudaGetDeviceCount(&count));
    std::vector<device> devices(count);
    for (int i = 0; i < count; i++) {
        device &d = devices[i];
        CALL(cudaSetDevice(i));
        CALL(cudaMalloc(&d.memory[0], 2 * bytes));
        CALL(cudaHostAlloc(&d.host[0], 2 * bytes, cudaHostAllocMapped));
        CALL(cudaMalloc(&d.next, 2048));
        CALL(cudaMemset(d.memory[0], 1, 2 * bytes));
        CALL(cudaMemcpy(d.host[0], d.memory[0], 2 * bytes, cudaMemcpyDefault));
        for (int k = 0; k < 2; k++)
            CALL(cudaStreamCreateWithFlags(&d.streams[k], cudaStreamNonBlocking));
        CALL(cudaEventCreate(&d.begin));
        CALL(cudaEventCreate(&d.end));
        CALL(cudaEventCreate(&d.other));
        CALL(cudaDeviceGetAttribute(&d.multiprocessors, cudaDevAttrMultiProcessorCount, i));
    }
    printf("GB/s each way; devices all at once: each one's\n"
           "%-9s %-8s %-7s %-6s %-6s  %7s  at once\n",
           "shape", "buffers", "blocks", "loads", "again", "alone");
    for (const shape &s : shapes) {
        printf("%-9s %-8s ", s.shape, s.buffers);
        if (s.blocks)
            printf("%-7d ", s.blocks);
        else
            printf("%-7s ", "all");
        printf("%-6d %-6d ", s.loads, s.again);
        for (int together = 0; together < (count > 1 ? 2 : 1); together++) {
            int used = together ? count : 1;
            std::vector<std::vector<double>> rates(used);
            for (int turn = 0; turn < 9; turn++) {
                for (int i = 0; i < used; i++) {
                    CALL(cudaSetDevice(i));
                    submit(devices[i], s);
                }
                for (int i = 0; i < used; i++) {
                    float ms = 0;
                    CALL(cudaSetDevice(i));
                    CALL(cudaDeviceSynchronize());
                    CALL(cudaEventElapsedTime(&ms, devices[i].begin, devices[i].end));
                    if (turn > 1)
                        rates[i].push_back((s.again == 1 ? 4 : s.again) * (double)bytes / ms / 1e6);
                }
            }
            for (int i = 0; i < used; i++) {
                std::sort(rates[i].begin(), rates[i].end());
                printf("%8.2f", rates[i][rates[i].size() / 2]);
            }
            printf(" ");
        }
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
