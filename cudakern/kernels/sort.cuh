// Stable radix sort of the reads by signature: two passes, 9 and 8 bits, so that reads of one
// signature stay in input order.
#pragma once
#include "digits.cuh"

static_assert(SORT_PASSES * DIGIT_BITS >= 2 * SIG_K + 1, "the passes must cover all signatures and SIG_NONE");

// sort_count counts each tile's digits; the counts of one digit are contiguous.
extern "C" __global__ void __launch_bounds__(THREADS)
sort_count(const u32 *key, u64 n, u64 shift, u32 *counts, u32 *step) {
  mark(step, STEP_SORT_COUNT);
  count_digits<DIGITS, SORT_ROUNDS>(n, counts, [=](u64 i) { return key[i] >> shift & (DIGITS - 1); });
}

// sort_scatter moves keys and ordinals to the offsets that are the running totals of the counts. Equal digits keep their order.
// order null: the ordinals are 0, 1, 2, ...
extern "C" __global__ void __launch_bounds__(THREADS)
sort_scatter(const u32 *key, const u32 *order, u64 n, u64 shift, const u32 *counts, u32 *key_out, u32 *order_out, u32 *step) {
  mark(step, STEP_SORT_SCATTER);
  __shared__ u32 place[WARPS][DIGITS];
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u32 base = blockIdx.x * SORT_TILE + warp * (SORT_ROUNDS * 32) + lane;
  u32 k[SORT_ROUNDS], rank[SORT_ROUNDS];
#pragma unroll
  for (int j = 0; j < SORT_ROUNDS; j++) k[j] = base + j * 32 < n ? key[base + j * 32] : 0;
  rank_digits(place, rank, [&](int j) { return base + j * 32 < n ? k[j] >> shift & (DIGITS - 1) : DIGITS; });
  for (u32 d = threadIdx.x; d < DIGITS; d += THREADS) place_digit(place, d, counts[(u64)d * gridDim.x + blockIdx.x]);
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
