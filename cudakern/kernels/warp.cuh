// Building blocks shared by the kernels: unaligned loads, scans over a thread block,
// and the running total over tiles (decoupled look-back; Merrill and Garland,
// "Single-pass Parallel Prefix Scan with Decoupled Look-back", NVIDIA 2016).
#pragma once
#include "../shared.h"

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

#define FULL 0xffffffffu // all lanes of a warp; all bits

// mark writes the number of the kernel that has begun to host memory. Kernels of a stream run
// one after another, so after a fault it is the number of the one that failed.
static __device__ __forceinline__ void mark(u32 *step, u32 number) {
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *(volatile u32 *)step = number;
    __threadfence_system();
  }
}

// load4 reads four bytes from any address of the text; the words around it must be readable.
static __device__ __forceinline__ u32 load4(const u8 *text, int at) {
  const u8 *p = text + at;
  u32 shift = ((u64)p & 3) * 8;
  const u32 *w = (const u32 *)((u64)p & ~3ull);
  u32 lo = __ldg(w);
  if (shift == 0) return lo;
  return __funnelshift_r(lo, __ldg(w + 1), shift);
}

// copy_span copies n bytes from the text with one warp, in words aligned at the destination.
static __device__ __forceinline__ void copy_span(u8 *dst, u32 to, const u8 *text, u32 from, u32 n, u32 lane) {
  u32 head = (0u - to) & 3;
  if (head > n) head = n;
  if (lane < head) dst[to + lane] = text[from + lane];
  u32 words = (n - head) / 4;
  for (u32 k = lane; k < words; k += 32)
    *(u32 *)(dst + to + head + 4 * k) = load4(text, from + head + 4 * k);
  u32 done = head + 4 * words;
  if (lane < n - done) dst[to + done + lane] = text[from + done + lane];
}

// block_exclusive returns the sum of v over the threads before this one; *total gets the
// sum over all. sums is WARPS words of shared memory, which may be reused after the next barrier.
static __device__ __forceinline__ u32 block_exclusive(u32 v, u32 *sums, u32 *total) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u32 x = v;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    u32 y = __shfl_up_sync(FULL, x, d);
    if (lane >= d) x += y;
  }
  if (lane == 31) sums[warp] = x;
  __syncthreads();
  u32 before = 0, all = 0;
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    if (w < warp) before += sums[w];
    all += sums[w];
  }
  *total = all;
  return before + x - v;
}

// A tile's word in the running total: 0 while unknown, else a state and a sum.
#define TILE_OWN 1ull     // the tile's own sum
#define TILE_THROUGH 2ull // the sum of all tiles up to and with it

// next_tile numbers the tiles in the order in which thread blocks begin, so that a tile only
// ever waits for tiles that already run.
static __device__ __forceinline__ u32 next_tile(u64 *state, u32 *shared) {
  if (threadIdx.x == 0) *shared = (u32)atomicAdd(state, 1ull);
  __syncthreads();
  return *shared;
}

// look_back publishes the tile's own sum and returns the sum of the tiles before it. One
// warp calls it. Sums of integers: the result does not depend on which tile is first.
static __device__ u32 look_back(u64 *state, u32 tile, u32 own, u32 lane) {
  volatile u64 *words = state + 1;
  if (lane == 0) words[tile] = ((tile == 0 ? TILE_THROUGH : TILE_OWN) << 32) | own;
  if (tile == 0) return 0;
  u32 before = 0;
  for (int last = (int)tile - 1;; last -= 32) {
    int t = last - (int)lane;
    u64 w;
    do {
      w = t >= 0 ? words[t] : TILE_THROUGH << 32;
    } while (__any_sync(FULL, (w >> 32) == 0));
    u32 through = __ballot_sync(FULL, (w >> 32) == TILE_THROUGH);
    u32 stop = through ? __ffs(through) - 1 : 31;
    u32 v = lane <= stop ? (u32)w : 0;
#pragma unroll
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(FULL, v, d);
    before += v;
    if (through) break;
  }
  if (lane == 0) words[tile] = (TILE_THROUGH << 32) | (before + own);
  return before;
}
