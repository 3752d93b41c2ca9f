// The stored reads: in the order of the sort, in the signature's orientation, two bits a base.
#pragma once
#include "warp.cuh"

// arrange puts the reads' places in stored order and writes, for the running totals, the
// bytes and the bases of each stored read and a 1 where a bin begins.
extern "C" __global__ void __launch_bounds__(THREADS)
arrange(const u32 *key, const u32 *order, u64 n, const u32 *len, const u32 *place, u32 *stored_place, u32 *packed_at, u32 *bases_at,
        u32 *bin_at, u32 *step) {
  mark(step, STEP_ARRANGE);
  u32 i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  u32 r = order[i], bases = len[r];
  stored_place[i] = place[r];
  packed_at[i] = (bases + 3) / 4;
  bases_at[i] = bases;
  bin_at[i] = i == 0 || key[i] != key[i - 1];
}

// bin_starts writes where each bin begins.
extern "C" __global__ void __launch_bounds__(THREADS)
bin_starts(const u32 *key, u64 n, const u32 *bin_at, const u32 *bases_at, BinStart *out, u32 *step) {
  mark(step, STEP_BIN_STARTS);
  u32 i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  u32 k = key[i];
  if (i > 0 && key[i - 1] == k) return;
  BinStart *b = out + bin_at[i];
  b->signature = k;
  b->first = i;
  b->bases = bases_at[i];
}

// four_bases packs four letters: base j of the word at bits 2j. What is no base becomes 0.
static __device__ __forceinline__ u32 four_bases(u32 w, bool reverse) {
  if (reverse) w = __byte_perm(w, 0, 0x0123);
  u32 x = w >> 1 & 0x03030303u; // A 0, C 1, T 2, G 3
  u32 pick = (x & 3) | (x >> 4 & 0x30) | (x >> 8 & 0x300) | (x >> 12 & 0x3000);
  u32 letters = __byte_perm(0x47544341u, 0, pick); // the base that each byte would have to be
  u32 is_base = __vcmpeq4(w & 0xdfdfdfdfu, letters);
  u32 code = x ^ (x >> 1 & 0x01010101u);
  if (reverse) code ^= 0x03030303u;
  code &= is_base;
  return (code | code >> 6 | code >> 12 | code >> 18) & 0xff;
}

// pack writes the bases of each stored read, a warp a read, a byte (four bases) a lane. The
// text must be readable for 8 bytes before and after.
extern "C" __global__ void __launch_bounds__(THREADS)
pack(const u8 *text, const u32 *ends, u64 n, const u32 *order, const u32 *len, const u32 *stored_place, const u32 *packed_at, u8 *packed,
     u32 *step) {
  mark(step, STEP_PACK);
  u32 lane = threadIdx.x & 31;
  u32 i = blockIdx.x * WARPS + threadIdx.x / 32;
  if (i >= n) return;
  u32 r = order[i];
  int seq = (int)(__ldg(ends + 4 * r) + 1), bases = (int)len[r];
  bool reverse = stored_place[i] & 1;
  u8 *out = packed + packed_at[i];
  int bytes = (bases + 3) / 4;
  for (int k = lane; k < bytes; k += 32) {
    int left = bases - 4 * k;
    u32 v = four_bases(load4(text, reverse ? seq + left - 4 : seq + 4 * k), reverse);
    out[k] = left < 4 ? v & ((1u << 2 * left) - 1) : v;
  }
}
