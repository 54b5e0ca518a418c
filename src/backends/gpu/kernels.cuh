/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels for all GPUs: nvcc compiles them into the program, hipRTC at run time for an AMD
 * device. So they use only what both know: built-in types, no system headers. launch.c launches
 * them. */
#include "kernels.h"
#include "lanes.h"

#include "codecs/for_decode.h"
#include "codecs/lz4_decode.h"
#include "codecs/widen.h"

typedef unsigned long long u64;

#define THREADS XB_GPU_THREADS
#define AT_ONCE XB_GPU_AT_ONCE
#define LANES XB_GPU_LANES
#define TILE (AT_ONCE * THREADS)
/* This thread's number, and how many there are. */
#define THIS_THREAD ((u64)blockIdx.x * blockDim.x + threadIdx.x)
#define ALL_THREADS ((u64)gridDim.x * blockDim.x)
#define XB_KERNEL extern "C" __global__ void __launch_bounds__(XB_GPU_THREADS)

/* Makes the compiler assume that the word changed here. Each instruction set has its own letter for
 * "any register of 64 bits". */
#if defined(__AMDGCN__)
#define OPAQUE(word) asm volatile("" : "+v"(word))
#elif defined(__CUDACC__)
#define OPAQUE(word) asm volatile("" : "+l"(word))
#else
#define OPAQUE(word) asm volatile("" : "+r"(word))
#endif

XB_KERNEL xb_kernel_fill(u64 *memory, u64 bytes, struct xb_pattern pattern)
{
    u64 words = bytes / 8;
    u64 first = THIS_THREAD;
    for (u64 i = first; i < words; i += ALL_THREADS)
        memory[i] = xb_pattern_word(pattern, i);
    if (first < bytes % 8) /* each of the first threads writes one byte behind the last word */
        ((unsigned char *)memory)[words * 8 + first] =
            (unsigned char)(xb_pattern_word(pattern, words) >> (8 * first));
}

/* Counts the bytes in which two words differ. Looks only at the lowest `count` bytes. */
__device__ static void compare(u64 read, u64 wanted, u64 offset, unsigned count,
                               struct xb_gpu_check *found)
{
    u64 difference = read ^ wanted;
    if (difference == 0)
        return;
    u64 wrong = 0;
    u64 lowest = 0;
    for (unsigned byte = count; byte-- > 0;) {
        if (((difference >> (8 * byte)) & 0xFF) != 0) {
            wrong++;
            lowest = byte;
        }
    }
    if (wrong != 0) {
        atomicAdd(&found->wrong_bytes, wrong);
        atomicMin(&found->first_offset, offset + lowest);
    }
}

XB_KERNEL xb_kernel_check(const u64 *memory, u64 bytes, struct xb_pattern pattern,
                          struct xb_gpu_check *found)
{
    u64 words = bytes / 8;
    u64 first = THIS_THREAD;
    for (u64 i = first; i < words; i += ALL_THREADS)
        compare(memory[i], xb_pattern_word(pattern, i), i * 8, 8, found);
    if (first < bytes % 8) {
        u64 read = ((const unsigned char *)memory)[words * 8 + first];
        u64 wanted = (xb_pattern_word(pattern, words) >> (8 * first)) & 0xFF;
        compare(read, wanted, words * 8 + first, 1, found);
    }
}

/* Spins until gate->released >= number, or for `limit` cycles of the device's clock. Adds up the
 * cycles of each turn, which reads host memory and takes microseconds, because AMD's counter may
 * have only 20 bits (gfx11, and gfx10.3 with ROCm before 6.1: llvm/llvm-project pull request
 * 80211). A turn that made those overflow would only make the hold last longer. */
#if defined(__AMDGCN__)
#define COUNTER_MASK 0xFFFFFULL
#else
#define COUNTER_MASK (~0ULL)
#endif
XB_KERNEL xb_kernel_hold(volatile struct xb_gpu_gate *gate, unsigned number, u64 limit)
{
    u64 last = (u64)clock64();
    u64 elapsed = 0;
    while (gate->released < number) {
        u64 now = (u64)clock64();
        elapsed += (now - last) & COUNTER_MASK;
        last = now;
        if (elapsed > limit) {
            gate->expired = 1;
            break;
        }
    }
    __threadfence_system();
}

/* Copies the bytes behind the last whole T. They are fewer than a block has threads, so each thread
 * copies at most one. */
template <typename T> __device__ static void copy_rest(T *target, const T *source, u64 bytes)
{
    u64 offset = bytes / sizeof(T) * sizeof(T) + threadIdx.x;
    if (blockIdx.x == 0 && offset < bytes)
        ((unsigned char *)target)[offset] = ((const unsigned char *)source)[offset];
}

/* Loops over the tiles of a block: `first` is the thread's first item of each. */
#define EACH_TILE(first, items)                                                                    \
    for (u64 first = (u64)blockIdx.x * TILE + threadIdx.x; first < (items);                        \
         first += (u64)gridDim.x * TILE)
/* Loops over what LANES neighbouring threads do together, `step` items at a time. */
#define EACH_OF_GROUP(first, items, step)                                                          \
    for (u64 first = THIS_THREAD / LANES * (step), groups = ALL_THREADS / LANES; first < (items);  \
         first += groups * (step))
/* Loops over what a thread does at once, and over its items of a tile that are there: `first` + k *
 * THREADS. */
#define EACH_AT_ONCE(k) _Pragma("unroll") for (unsigned k = 0; k < AT_ONCE; k++)
#define EACH_ITEM(k, first, items) EACH_AT_ONCE(k) if ((first) + k * THREADS < (items))

/* A block copies one tile after the other. A thread copies AT_ONCE items of it and starts all its
 * loads before its first store waits for one. Neighbouring threads copy neighbouring items, so that
 * the loads of a warp cover whole lines. */
template <typename T> __device__ static void copy_sequential(T *target, const T *source, u64 bytes)
{
    u64 items = bytes / sizeof(T);
    EACH_TILE(first, items) {
        T moved[AT_ONCE];
        EACH_ITEM(k, first, items)
            moved[k] = source[first + k * THREADS];
        EACH_ITEM(k, first, items)
            target[first + k * THREADS] = moved[k];
    }
    copy_rest(target, source, bytes);
}

/* Copies 16 bytes at once, if both sides are aligned to that: the link then carries the fewest
 * requests. */
XB_KERNEL xb_kernel_copy_wide(uint4 *target, const uint4 *source, u64 bytes)
{
    copy_sequential(target, source, bytes);
}

XB_KERNEL xb_kernel_copy_words(u64 *target, const u64 *source, u64 bytes)
{
    copy_sequential(target, source, bytes);
}

/* Copies words in another order. The order is a template argument, so that it is not decided anew
 * for every word. */
template <enum xb_access ACCESS>
__device__ static void copy_scattered(u64 *target, const u64 *source, u64 bytes)
{
    u64 words = bytes / 8;
    EACH_TILE(first, words) {
        u64 index[AT_ONCE];
        u64 moved[AT_ONCE];
        EACH_ITEM(k, first, words) {
            index[k] = xb_access_word(ACCESS, words, first + k * THREADS);
            moved[k] = source[index[k]];
        }
        EACH_ITEM(k, first, words)
            target[index[k]] = moved[k];
    }
    copy_rest(target, source, bytes);
}

XB_KERNEL xb_kernel_copy_strided(u64 *target, const u64 *source, u64 bytes)
{
    copy_scattered<XB_ACCESS_STRIDED>(target, source, bytes);
}

XB_KERNEL xb_kernel_copy_random(u64 *target, const u64 *source, u64 bytes)
{
    copy_scattered<XB_ACCESS_RANDOM>(target, source, bytes);
}

/* Each thread computes AT_ONCE words, one step of each in turn, so that the steps of other words
 * hide the latency of a step. */
XB_KERNEL xb_kernel_compute(u64 *memory, u64 words, u64 steps)
{
    EACH_TILE(first, words) {
        u64 word[AT_ONCE];
        EACH_AT_ONCE(k)
            word[k] = first + k * THREADS < words ? memory[first + k * THREADS] : 0;
#pragma unroll 4
        for (u64 step = 0; step < steps; step++) {
            EACH_AT_ONCE(k) {
                word[k] = xb_compute_step(word[k]);
                /* Without this the compiler combines the steps that it unrolls into one
                 * multiplication, because their factors are constants. With it, the machine code
                 * of sm_75, 90 and 120 has one multiplication for each step, in a loop. */
                OPAQUE(word[k]);
            }
        }
        EACH_ITEM(k, first, words)
            memory[first + k * THREADS] = word[k];
    }
}

XB_KERNEL xb_kernel_clear(u64 *word)
{
    *word = 0;
}

/* What word `index` adds to a digest: without MIXED it is the sum of the words. */
template <bool MIXED> __device__ static u64 digest_word(u64 word, u64 index)
{
    return MIXED ? xb_digest_word(word, index) : word;
}

/* What words `index` and `index` + 1 add, from one load. */
template <bool MIXED> __device__ static u64 digest_pair(uint4 pair, u64 index)
{
    return digest_word<MIXED>((u64)pair.y << 32 | pair.x, index) +
           digest_word<MIXED>((u64)pair.w << 32 | pair.z, index + 1);
}

/* What the words outside the pairs add: one in front, one behind, and the bytes behind the last
 * whole word, with zeros behind them. */
template <bool MIXED>
__device__ static u64 digest_ends(const u64 *memory, u64 bytes, u64 head, u64 pairs)
{
    u64 words = bytes / 8;
    u64 sum = 0;
    for (u64 i = 0; i < head; i++)
        sum += digest_word<MIXED>(memory[i], i);
    for (u64 i = head + 2 * pairs; i < words; i++)
        sum += digest_word<MIXED>(memory[i], i);
    u64 last = 0;
    for (unsigned byte = 0; byte < bytes % 8; byte++)
        last |= (u64)((const unsigned char *)memory)[words * 8 + byte] << (8 * byte);
    return bytes % 8 != 0 ? sum + digest_word<MIXED>(last, words) : sum;
}

/* Adds the digest to *digest. A block takes one tile of pairs of words after the other, as
 * copy_sequential does. The lanes of a warp add up theirs, and one of them adds to memory: all
 * additions go to one address, where they wait for each other. */
template <bool MIXED>
__device__ static void make_digest(const u64 *memory, u64 bytes, u64 *digest)
{
    u64 words = bytes / 8;
    u64 head = words > 0 ? (u64)memory / 8 % 2 : 0; /* words before the first place for a pair */
    u64 pairs = (words - head) / 2;
    const uint4 *from = (const uint4 *)(memory + head);
    u64 sum = 0;
    EACH_TILE(first, pairs) {
        uint4 pair[AT_ONCE];
        EACH_ITEM(k, first, pairs)
            pair[k] = from[first + k * THREADS];
        EACH_ITEM(k, first, pairs)
            sum += digest_pair<MIXED>(pair[k], head + 2 * (first + k * THREADS));
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        sum += digest_ends<MIXED>(memory, bytes, head, pairs);
    unsigned lane = threadIdx.x % LANES;
    for (unsigned apart = XB_GPU_TOGETHER / 2; apart > 0; apart /= 2)
        sum += XB_LANES_SWAP(sum, lane, apart);
    if (lane % XB_GPU_TOGETHER == 0)
        atomicAdd(digest, sum);
}

XB_KERNEL xb_kernel_digest(const u64 *memory, u64 bytes, u64 *digest)
{
    make_digest<true>(memory, bytes, digest);
}

XB_KERNEL xb_kernel_sum(const u64 *memory, u64 bytes, u64 *sum)
{
    make_digest<false>(memory, bytes, sum);
}

/* Numbers the words from `first` on. */
XB_KERNEL xb_kernel_count(u64 *memory, u64 words, u64 first)
{
    EACH_TILE(item, words / 2) {
        EACH_ITEM(k, item, words / 2) {
            const u64 at = item + k * THREADS;
            const u64 one = first + 2 * at, next = one + 1;
            uint4 pair;
            pair.x = (unsigned)one;
            pair.y = (unsigned)(one >> 32);
            pair.z = (unsigned)next;
            pair.w = (unsigned)(next >> 32);
            ((uint4 *)memory)[at] = pair;
        }
    }
    if (words % 2 != 0 && blockIdx.x == 0 && threadIdx.x == 0)
        memory[words - 1] = first + words - 1;
}

/* Writes a chain: see xferbench/access.h. Each thread writes the words of other turns. */
XB_KERNEL xb_kernel_chain(char *memory, u64 bytes, enum xb_access access)
{
    u64 lines = bytes / XB_CHAIN_LINE;
    for (u64 i = THIS_THREAD; i < lines; i += ALL_THREADS)
        *(char **)(memory + xb_chain_offset(access, bytes, i)) =
            memory + xb_chain_offset(access, bytes, i + 1);
}

/* One thread follows a chain: that of block `turn`. There is one block of one thread for each
 * multiprocessor, and they go to different ones. If there are no more loads than lines, each word
 * is loaded once at most: no load hits its processor's cache, which begins every launch empty. */
XB_KERNEL xb_kernel_chase(const char *chain, u64 *cursor, u64 loads, unsigned turn)
{
    if (blockIdx.x != turn)
        return;
    const char *next = chain + *cursor;
    for (u64 i = 0; i < loads; i++)
        next = *(const char *const *)next;
    *cursor = (u64)(next - chain);
}

/* Copies AT_ONCE pieces at the same time, in items of T and the rest by the byte: fewer bytes than
 * there are lanes, which are loaded first and stored last. A thread starts a load for every piece
 * before its first store waits for one: the link is busy even where a piece is one load of each
 * thread. */
template <typename T>
__device__ static void copy_pieces(char *const *to, const char *const *from, const unsigned *bytes,
                                   unsigned lane)
{
    T moved[AT_ONCE];
    char last[AT_ONCE];
    unsigned items[AT_ONCE];
    unsigned most = 0;
    EACH_AT_ONCE(k) {
        items[k] = bytes[k] / sizeof(T);
        most = items[k] > most ? items[k] : most;
        if (lane < bytes[k] % sizeof(T))
            last[k] = from[k][items[k] * sizeof(T) + lane];
    }
    for (unsigned item = lane; item < most; item += LANES) {
        EACH_AT_ONCE(k)
            if (item < items[k])
                moved[k] = ((const T *)from[k])[item];
        EACH_AT_ONCE(k)
            if (item < items[k])
                ((T *)to[k])[item] = moved[k];
    }
    EACH_AT_ONCE(k)
        if (lane < bytes[k] % sizeof(T))
            to[k][items[k] * sizeof(T) + lane] = last[k];
}

/* In the largest items that both sides of all of them are aligned to. */
__device__ static void copy_aligned(char *const *to, const char *const *from, const unsigned *bytes,
                                    u64 alignment, unsigned lane)
{
    if (alignment % 16 == 0)
        copy_pieces<uint4>(to, from, bytes, lane);
    else if (alignment % 8 == 0)
        copy_pieces<u64>(to, from, bytes, lane);
    else
        copy_pieces<char>(to, from, bytes, lane);
}

/* Copies pieces of XB_GPU_PIECE_BYTES at most. LANES threads take AT_ONCE neighbouring pieces at a
 * time. */
extern "C" __global__ void __launch_bounds__(XB_GPU_PIECE_THREADS)
    xb_kernel_pieces(char *target, const char *source, const struct xb_piece *pieces, u64 count)
{
    unsigned lane = threadIdx.x % LANES;
    EACH_OF_GROUP(first, count, AT_ONCE) {
        char *to[AT_ONCE];
        const char *from[AT_ONCE];
        unsigned bytes[AT_ONCE];
        u64 alignment = 0;
        EACH_AT_ONCE(k) {
            const struct xb_piece *piece = &pieces[first + k < count ? first + k : first];
            to[k] = target + piece->target_offset;
            from[k] = source + piece->source_offset;
            bytes[k] = first + k < count ? (unsigned)piece->bytes : 0;
            alignment |= (u64)to[k] | (u64)from[k];
        }
        copy_aligned(to, from, bytes, alignment, lane);
    }
}

/* The four values of an item, from lowest to highest. */
template <typename ITEM, unsigned (*WIDEN)(unsigned)> __device__ static uint4 widen_four(ITEM item)
{
    const unsigned bits = 2 * sizeof(ITEM);
    const unsigned mask = (1u << bits) - 1;
    uint4 wide;
    wide.x = WIDEN((unsigned)item & mask);
    wide.y = WIDEN((unsigned)(item >> bits) & mask);
    wide.z = WIDEN((unsigned)(item >> 2 * bits) & mask);
    wide.w = WIDEN((unsigned)(item >> 3 * bits) & mask);
    return wide;
}

/* Widens values to 32 bits each. A thread widens AT_ONCE items of four values at a time, as
 * copy_sequential copies, so that its stores are of 16 bytes. VALUE is a quarter of an ITEM. */
template <typename ITEM, typename VALUE, unsigned (*WIDEN)(unsigned)>
__device__ static void widen(const void *source, void *target, u64 values)
{
    const ITEM *from = (const ITEM *)source;
    uint4 *to = (uint4 *)target;
    u64 items = values / 4;
    EACH_TILE(first, items) {
        ITEM item[AT_ONCE];
        EACH_ITEM(k, first, items)
            item[k] = from[first + k * THREADS];
        EACH_ITEM(k, first, items)
            to[first + k * THREADS] = widen_four<ITEM, WIDEN>(item[k]);
    }
    u64 last = items * 4 + threadIdx.x; /* each of the first threads widens one behind the items */
    if (blockIdx.x == 0 && last < values)
        ((unsigned *)target)[last] = WIDEN(((const VALUE *)source)[last]);
}

XB_KERNEL xb_kernel_widen_fp16(const void *source, void *target, u64 values)
{
    widen<u64, unsigned short, xb_widen_fp16>(source, target, values);
}

XB_KERNEL xb_kernel_widen_bf16(const void *source, void *target, u64 values)
{
    widen<u64, unsigned short, xb_widen_bf16>(source, target, values);
}

XB_KERNEL xb_kernel_widen_fp8(const void *source, void *target, u64 values)
{
    widen<unsigned, unsigned char, xb_widen_fp8>(source, target, values);
}

/* The four values of an item have one scale, as XB_INT8_BLOCK is a multiple of four. */
__device__ static float4 widen_int8_item(unsigned item, float scale)
{
    float4 wide;
    wide.x = xb_widen_int8((signed char)item, scale);
    wide.y = xb_widen_int8((signed char)(item >> 8), scale);
    wide.z = xb_widen_int8((signed char)(item >> 16), scale);
    wide.w = xb_widen_int8((signed char)(item >> 24), scale);
    return wide;
}

/* The scales come first, padded so that the values begin at a multiple of XB_FORMAT_ALIGNMENT. */
XB_KERNEL xb_kernel_widen_int8(const void *source, void *target, u64 values)
{
    const float *scales = (const float *)source;
    const signed char *bytes = (const signed char *)source + xb_int8_values_at(values);
    const unsigned *from = (const unsigned *)bytes;
    float4 *to = (float4 *)target;
    u64 items = values / 4;
    EACH_TILE(first, items) {
        unsigned item[AT_ONCE];
        float scale[AT_ONCE];
        EACH_ITEM(k, first, items) {
            item[k] = from[first + k * THREADS];
            scale[k] = scales[(first + k * THREADS) / (XB_INT8_BLOCK / 4)];
        }
        EACH_ITEM(k, first, items)
            to[first + k * THREADS] = widen_int8_item(item[k], scale[k]);
    }
    u64 last = items * 4 + threadIdx.x;
    if (blockIdx.x == 0 && last < values)
        ((float *)target)[last] = xb_widen_int8(bytes[last], scales[last / XB_INT8_BLOCK]);
}

/* Called by one of the threads that decode the block at `offset` of the target's buffer. */
__device__ static void refuse(struct xb_decode_report *report, u64 offset)
{
    atomicAdd(&report->refused_blocks, 1ULL);
    atomicMin(&report->first_refused, offset);
}

/* LANES threads decode one block after the other, each a part of the block's values. All of them
 * know whether it is refused. */
XB_KERNEL xb_kernel_for(const unsigned char *chunk, u64 encoded_bytes, unsigned char *target,
                        u64 bytes, u64 offset, struct xb_decode_report *report)
{
    u64 blocks = xb_for_blocks(bytes);
    unsigned lane = threadIdx.x % LANES;
    EACH_OF_GROUP(block, blocks, 1)
        if (!xb_for_decode_lane(chunk, encoded_bytes, target, bytes, block, lane) && lane == 0)
            refuse(report, offset + block * XB_FOR_BLOCK_BYTES);
}

/* XB_GPU_TOGETHER threads decode one block after the other, all of each block together. */
extern "C" __global__ void __launch_bounds__(XB_GPU_LZ4_THREADS)
    xb_kernel_lz4(const unsigned char *chunk, u64 encoded_bytes, unsigned char *target, u64 bytes,
                  u64 offset, struct xb_decode_report *report)
{
    u64 blocks = xb_lz4_blocks(bytes);
    unsigned lane = threadIdx.x % LANES;
    if (lane >= XB_GPU_TOGETHER)
        return;
    EACH_OF_GROUP(block, blocks, 1)
        if (!xb_lz4_decode_block(chunk, encoded_bytes, target, bytes, block, lane,
                                 XB_GPU_TOGETHER) &&
            lane == 0)
            refuse(report, offset + block * XB_LZ4_BLOCK);
}
