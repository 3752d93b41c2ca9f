// Line ends of the text, and running totals, each in one pass over its input.
#pragma once
#include "warp.cuh"

// newlines returns a bit for each byte of the word that is '\n'.
static __device__ __forceinline__ u32 newlines(u32 w) {
  u32 z = __vcmpeq4(w, 0x0a0a0a0au) & 0x08040201u;
  return (z * 0x01010101u) >> 24;
}

// lines writes the offset of every '\n' among the first n bytes of the text to ends, in
// order, as far as capacity goes, and counts all of them. Every thread makes a bit mask of a
// 64-byte lane; the tile is loaded 16 bytes a thread. Bytes from n to the next multiple of
// 16 must be readable and no line ends. state: 1 + tiles words, zero.
extern "C" __global__ void __launch_bounds__(THREADS)
lines(const u8 *text, u64 n, u32 *ends, u64 capacity, u64 *state, u32 *info, u32 *step) {
  mark(step, STEP_LINES);
  __shared__ u64 masks[THREADS];
  __shared__ u32 sums[WARPS], tile_number, tile_before;
  u32 tile = next_tile(state, &tile_number);
  u64 base = (u64)tile * LINE_TILE;
  uint4 v[4];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    u64 at = base + (u64)(k * THREADS + threadIdx.x) * 16;
    v[k] = at < n ? __ldg((const uint4 *)(text + at)) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int k = 0; k < 4; k++)
    ((u16 *)masks)[k * THREADS + threadIdx.x] =
        newlines(v[k].x) | newlines(v[k].y) << 4 | newlines(v[k].z) << 8 | newlines(v[k].w) << 12;
  __syncthreads();
  u64 m = masks[threadIdx.x];
  u32 total, at = block_exclusive(__popcll(m), sums, &total);
  if (threadIdx.x < 32) {
    u32 before = look_back(state, tile, total, threadIdx.x);
    if (threadIdx.x == 0) {
      tile_before = before;
      if (tile == gridDim.x - 1) info[INFO_LINES] = before + total;
    }
  }
  __syncthreads();
  at += tile_before;
  base += (u64)threadIdx.x * 64;
  while (m) {
    if (at < capacity) ends[at] = (u32)base + __ffsll(m) - 1;
    at++;
    m &= m - 1;
  }
}

// count_lines counts the '\n' among n bytes of the text from from on, in each COUNT_PIECE of them; counts
// begins with zeros. A thread block takes COUNT_TILE bytes.
extern "C" __global__ void __launch_bounds__(THREADS)
count_lines(const u8 *text, u64 from, u64 n, u32 *counts, u32 *step) {
  mark(step, STEP_COUNT_LINES);
  __shared__ u32 sums[WARPS];
  u64 begin = (u64)blockIdx.x * COUNT_TILE, end = begin + COUNT_TILE < n ? begin + COUNT_TILE : n;
  u32 own = 0;
  for (u64 at = begin + 4 * threadIdx.x; at < end; at += 4 * THREADS) {
    if (end - at >= 8) {
      own += __popc(newlines(load4(text, (int)(from + at))));
      continue;
    }
    // Near the end, no byte beyond it is loaded.
    for (u64 i = at; i < at + 4 && i < end; i++) own += text[from + i] == '\n';
  }
  u32 total;
  block_exclusive(own, sums, &total);
  if (threadIdx.x == 0) atomicAdd(counts + begin / COUNT_PIECE, total);
}

// scan replaces each of the n values by the sum of those before it; the sum of all goes to
// *total. The array must have room up to a multiple of 4. state: 1 + tiles words, zero.
extern "C" __global__ void __launch_bounds__(THREADS)
scan(u32 *values, u64 n, u64 *state, u32 *total, u32 *step) {
  mark(step, STEP_SCAN);
  __shared__ u32 sums[WARPS], tile_number, tile_before;
  u32 tile = next_tile(state, &tile_number);
  u64 base = (u64)tile * SCAN_TILE + threadIdx.x * SCAN_ITEMS;
  u32 v[SCAN_ITEMS], own = 0;
#pragma unroll
  for (int k = 0; k < SCAN_ITEMS; k += 4) {
    if (base + k + 4 <= n) {
      *(uint4 *)(v + k) = *(const uint4 *)(values + base + k);
    } else {
#pragma unroll
      for (int j = k; j < k + 4; j++) v[j] = base + j < n ? values[base + j] : 0;
    }
  }
#pragma unroll
  for (int k = 0; k < SCAN_ITEMS; k++) own += v[k];
  u32 all, before = block_exclusive(own, sums, &all);
  if (threadIdx.x < 32) {
    u32 earlier = look_back(state, tile, all, threadIdx.x);
    if (threadIdx.x == 0) {
      tile_before = earlier;
      if (tile == gridDim.x - 1) *total = earlier + all;
    }
  }
  __syncthreads();
  before += tile_before;
#pragma unroll
  for (int k = 0; k < SCAN_ITEMS; k++) {
    u32 x = v[k];
    v[k] = before;
    before += x;
  }
#pragma unroll
  for (int k = 0; k < SCAN_ITEMS; k += 4) {
    if (base + k + 4 <= n) {
      *(uint4 *)(values + base + k) = *(uint4 *)(v + k);
    } else {
#pragma unroll
      for (int j = k; j < k + 4; j++)
        if (base + j < n) values[base + j] = v[j];
    }
  }
}
