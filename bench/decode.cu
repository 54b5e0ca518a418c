/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a GPU restores the formats without loss, alone: `for` by bits a value, `lz4` on text, on
 * words of zeros and on random bytes, by several ways to share a block. Everything is checked.
 * Prints GB/s of the original, the median of 9. usage: decode [--blocks N], of 64 KiB each; 8,192
 * unless given.
 *
 *   nvcc -O3 -arch=sm_90 -Iinclude -Isrc bench/decode.cu src/codecs/{for,codec,lz4_compress}.c \
 *        src/codecs/narrow_{plain,avx2,avx512}.c -l:liblz4.a -o decode
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "made_data.h"

extern "C" {
#include "codecs/formats.h"
}

/* The ways differ in how many lanes share a block; the kernels' own text knows only warps. */
#if defined(__CUDA_ARCH__)
#define GROUP (~0u >> (32 - reader->lanes) << (threadIdx.x & 31 & ~(reader->lanes - 1)))
#define XB_LANES_SYNC() __syncwarp(GROUP)
#define XB_LANES_TAKE(mine, lane, bytes) __shfl_sync(GROUP, mine, lane, reader->lanes)
#endif
#include "codecs/for_decode.h"
#include "codecs/lz4_decode.h"

#define CALL(call)                                                                                 \
    do {                                                                                           \
        cudaError_t code = (call);                                                                 \
        if (code != cudaSuccess) {                                                                 \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(code));                          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define THREADS 128

__global__ void __launch_bounds__(THREADS)
    decode_for(const unsigned char *chunk, unsigned long long encoded, unsigned char *target,
               unsigned long long bytes, unsigned *refused)
{
    unsigned long long block =
        ((unsigned long long)blockIdx.x * THREADS + threadIdx.x) / XB_FOR_LANES;
    if (block < xb_for_blocks(bytes) &&
        !xb_for_decode_lane(chunk, encoded, target, bytes, block, threadIdx.x % XB_FOR_LANES))
        atomicAdd(refused, 1);
}

/* How a block is restored: by the general text alone; with short sequences that are stored at once;
 * or with short sequences that are stored late, which is the text's own way. */
enum way { GENERAL, AT_ONCE, LATE };

template <enum way WAY, unsigned LANES>
__device__ int decompress(const unsigned char *in, unsigned length, unsigned char *target,
                          unsigned size, unsigned lane)
{
    if (WAY == LATE)
        return xb_lz4_decompress(in, length, target, size, lane, LANES);
    struct xb_lz4_reader reader = {in, length, 0, 0, 0, lane, LANES};
    struct xb_lz4_writer writer = {target, size, 0, {}, {}};
    enum xb_lz4_step step = XB_LZ4_MORE;
    for (unsigned slot = 0; slot < XB_LZ4_SLOTS; slot++)
        writer.late[slot] = XB_LZ4_NOTHING;
    xb_lz4_look(&reader);
    while (step == XB_LZ4_MORE) {
        if (WAY == GENERAL || !xb_lz4_short_sequence(&reader, &writer, 0))
            step = xb_lz4_sequence(&reader, &writer);
        else
            xb_lz4_store_all(&writer, lane);
    }
    return step == XB_LZ4_END;
}

template <enum way WAY, unsigned LANES>
__global__ void __launch_bounds__(THREADS)
    decode_lz4(const unsigned char *chunk, unsigned long long encoded, unsigned char *target,
               unsigned long long bytes, unsigned *refused)
{
    unsigned long long block = ((unsigned long long)blockIdx.x * THREADS + threadIdx.x) / LANES;
    unsigned lane = threadIdx.x % LANES;
    if (block >= xb_lz4_blocks(bytes))
        return;
    struct xb_lz4_found found = xb_lz4_find(chunk, encoded, bytes, block);
    target += block * XB_LZ4_BLOCK;
    if (found.in != NULL && found.stored)
        xb_lz4_copy_stored(target, found.in, found.size, lane, LANES);
    else if (found.in == NULL ||
             !decompress<WAY, LANES>(found.in, found.length, target, found.size, lane))
        atomicAdd(refused, 1);
}

typedef void (*kernel)(const unsigned char *, unsigned long long, unsigned char *,
                       unsigned long long, unsigned *);

struct place {
    unsigned char *chunk, *target; /* the device's */
    unsigned *refused;
};

static void measure(const char *what, kernel decode, unsigned blocks_of_threads,
                    const std::vector<unsigned char> &original,
                    const std::vector<unsigned char> &encoded, size_t encoded_bytes,
                    struct place place)
{
    cudaEvent_t begin, end;
    CALL(cudaEventCreate(&begin));
    CALL(cudaEventCreate(&end));
    CALL(cudaMemcpy(place.chunk, encoded.data(), encoded_bytes, cudaMemcpyHostToDevice));
    CALL(cudaMemset(place.target, 0xA5, original.size()));
    CALL(cudaMemset(place.refused, 0, 4));
    std::vector<float> times;
    for (int round = 0; round < 10; round++) {
        CALL(cudaEventRecord(begin));
        decode<<<blocks_of_threads, THREADS>>>(place.chunk, encoded_bytes, place.target,
                                               original.size(), place.refused);
        CALL(cudaEventRecord(end));
        CALL(cudaEventSynchronize(end));
        float time;
        CALL(cudaEventElapsedTime(&time, begin, end));
        if (round > 0)
            times.push_back(time);
    }
    std::sort(times.begin(), times.end());
    std::vector<unsigned char> restored(original.size());
    unsigned refused;
    CALL(cudaMemcpy(restored.data(), place.target, restored.size(), cudaMemcpyDeviceToHost));
    CALL(cudaMemcpy(&refused, place.refused, 4, cudaMemcpyDeviceToHost));
    bool right = refused == 0 && restored == original;
    printf("%-28s %8.1f GB/s, %.2f times smaller, %s\n", what,
           (double)original.size() / times[times.size() / 2] / 1e6,
           (double)original.size() / (double)encoded_bytes, right ? "right" : "WRONG");
    if (!right)
        exit(1);
}

static unsigned launch(size_t bytes, size_t block, unsigned lanes)
{
    return (unsigned)(((bytes + block - 1) / block * lanes + THREADS - 1) / THREADS);
}

int main(int count, char **words)
{
    size_t blocks =
        count == 3 && strcmp(words[1], "--blocks") == 0 ? strtoul(words[2], NULL, 10) : 8192;
    size_t bytes = blocks * XB_LZ4_BLOCK;
    if (blocks == 0 || bytes > XB_FORMAT_CHUNK_MOST)
        return 2;
    std::vector<unsigned char> original(bytes), encoded(xb_for_bound(bytes) + xb_lz4_bound(bytes));
    struct place place;
    CALL(cudaMalloc(&place.chunk, encoded.size()));
    CALL(cudaMalloc(&place.target, bytes));
    CALL(cudaMalloc(&place.refused, 4));
    static const unsigned widths[] = {0, 4, 8, 11, 16, 24, 32};
    for (unsigned bits : widths) {
        char what[64];
        snprintf(what, sizeof what, "for, %u bits", bits);
        made_integers((uint32_t *)original.data(), bytes / 4, bits);
        size_t length = xb_for_encode(original.data(), bytes, encoded.data());
        measure(what, decode_for, launch(bytes, XB_FOR_BLOCK_BYTES, XB_FOR_LANES), original,
                encoded, length, place);
    }
    static const struct {
        const char *name;
        kernel decode;
        unsigned lanes;
    } ways[] = {{"general", decode_lz4<GENERAL, 32>, 32},
                {"at once", decode_lz4<AT_ONCE, 32>, 32},
                {"late", decode_lz4<LATE, 32>, 32},
                {"late, 16 lanes", decode_lz4<LATE, 16>, 16},
                {"late, 8 lanes", decode_lz4<LATE, 8>, 8}};
    static const char *const kinds[] = {"text", "zeros", "random"};
    for (const char *kind : kinds) {
        if (kind == kinds[0])
            made_text((char *)original.data(), bytes);
        else if (kind == kinds[1])
            memset(original.data(), 0, bytes);
        else
            made_integers((uint32_t *)original.data(), bytes / 4, 32);
        size_t length = xb_lz4_encode(original.data(), bytes, encoded.data());
        for (const auto &way : ways) {
            char what[64];
            snprintf(what, sizeof what, "lz4, %s, %s", kind, way.name);
            measure(what, way.decode, launch(bytes, XB_LZ4_BLOCK, way.lanes), original, encoded,
                    length, place);
        }
    }
    return 0;
}
