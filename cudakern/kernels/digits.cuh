// What the radix sorts have in common. A tile is ROUNDS items of each thread of a thread block; an item has a digit below D. Each warp
// holds a run of neighbours and ranks them 32 at a time, so equal digits keep their order.
#pragma once
#include "warp.cuh"

// count_digits counts each tile's digits; the counts of one digit are contiguous. digit(i) is that of item i of n.
template <u32 D, int ROUNDS, class Digit>
static __device__ __forceinline__ void count_digits(u64 n, u32 *counts, Digit digit) {
  __shared__ u32 count[D];
  for (u32 d = threadIdx.x; d < D; d += THREADS) count[d] = 0;
  __syncthreads();
  u64 base = (u64)blockIdx.x * (ROUNDS * THREADS);
#pragma unroll
  for (int k = 0; k < ROUNDS; k++) {
    u64 i = base + k * THREADS + threadIdx.x;
    if (i < n) atomicAdd(count + digit(i), 1);
  }
  __syncthreads();
  for (u32 d = threadIdx.x; d < D; d += THREADS) counts[(u64)d * gridDim.x + blockIdx.x] = count[d];
}

// rank_digits sets rank[j] to how many digits equal to its own the warp had before item j of the thread, and place[warp] to how often each
// digit occurs in the warp. digit(j) is that of item j; a digit of D is none.
template <u32 D, int ROUNDS, class Digit>
static __device__ __forceinline__ void rank_digits(u32 (*place)[D], u32 (&rank)[ROUNDS], Digit digit) {
  u32 lane = threadIdx.x & 31, *own = place[threadIdx.x / 32];
  for (u32 d = threadIdx.x; d < WARPS * D; d += THREADS) place[0][d] = 0;
  __syncthreads();
#pragma unroll
  for (int j = 0; j < ROUNDS; j++) {
    u32 d = digit(j), alike = __match_any_sync(FULL, d), leader = __ffs(alike) - 1, before = 0;
    if (lane == leader && d < D) {
      before = own[d];
      own[d] = before + __popc(alike);
    }
    rank[j] = __shfl_sync(FULL, before, leader) + __popc(alike & ((1u << lane) - 1));
    __syncwarp();
  }
  __syncthreads();
}

// place_digit replaces how often a digit occurs in each warp by where the first one of the warp goes; at is where that of the tile does.
template <u32 D> static __device__ __forceinline__ void place_digit(u32 (*place)[D], u32 digit, u32 at) {
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    u32 c = place[w][digit];
    place[w][digit] = at;
    at += c;
  }
}
