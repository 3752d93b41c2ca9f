// Stable radix sort of the reads by signature: two passes, 9 and 8 bits, so that reads of one
// signature stay in input order.
#pragma once
#include "warp.cuh"

static_assert(SORT_PASSES * DIGIT_BITS >= 2 * SIG_K + 1, "the passes must cover all signatures and SIG_NONE");

// sort_count counts each tile's digits; the counts of one digit are contiguous.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_count(const u32 *key, u64 n, u64 shift, u32 *counts, u32 *step) {
  mark(step, STEP_SORT_COUNT);
  __shared__ u32 count[DIGITS];
  for (u32 d = threadIdx.x; d < DIGITS; d += THREADS) count[d] = 0;
  __syncthreads();
  u32 base = blockIdx.x * SORT_TILE;
#pragma unroll
  for (int k = 0; k < SORT_ROUNDS; k++) {
    u32 i = base + k * THREADS + threadIdx.x;
    if (i < n) atomicAdd(count + (key[i] >> shift & (DIGITS - 1)), 1);
  }
  __syncthreads();
  for (u32 d = threadIdx.x; d < DIGITS; d += THREADS) counts[d * gridDim.x + blockIdx.x] = count[d];
}

// sort_scatter moves keys and ordinals to the offsets that are the running totals of the counts. A warp
// holds a run of neighbours and ranks them 32 at a time, so equal digits keep their order.
// order null: the ordinals are 0, 1, 2, ...
extern "C" __global__ void __launch_bounds__(THREADS)
sort_scatter(const u32 *key, const u32 *order, u64 n, u64 shift, const u32 *counts, u32 *key_out, u32 *order_out, u32 *step) {
  mark(step, STEP_SORT_SCATTER);
  __shared__ u32 place[WARPS][DIGITS];
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  for (u32 d = threadIdx.x; d < WARPS * DIGITS; d += THREADS) place[0][d] = 0;
  __syncthreads();
  u32 base = blockIdx.x * SORT_TILE + warp * (SORT_ROUNDS * 32) + lane;
  u32 k[SORT_ROUNDS], rank[SORT_ROUNDS];
#pragma unroll
  for (int j = 0; j < SORT_ROUNDS; j++) {
    u32 i = base + j * 32;
    k[j] = i < n ? key[i] : 0;
    u32 digit = i < n ? k[j] >> shift & (DIGITS - 1) : DIGITS;
    u32 alike = __match_any_sync(FULL, digit);
    u32 leader = __ffs(alike) - 1, before = 0;
    if (lane == leader && digit < DIGITS) {
      before = place[warp][digit];
      place[warp][digit] = before + __popc(alike);
    }
    rank[j] = __shfl_sync(FULL, before, leader) + __popc(alike & ((1u << lane) - 1));
    __syncwarp();
  }
  __syncthreads();
  for (u32 d = threadIdx.x; d < DIGITS; d += THREADS) {
    u32 at = counts[d * gridDim.x + blockIdx.x];
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
      u32 c = place[w][d];
      place[w][d] = at;
      at += c;
    }
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < SORT_ROUNDS; j++) {
    u32 i = base + j * 32;
    if (i >= n) break;
    u32 to = place[warp][k[j] >> shift & (DIGITS - 1)] + rank[j];
    key_out[to] = k[j];
    order_out[to] = order ? order[i] : i;
  }
}
