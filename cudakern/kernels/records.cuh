// The record table: four lines a record, checked, and the columns that keep input order.
#pragma once
#include "warp.cuh"

struct Lines {
  u32 name, name_len; // after the '@', without CR
  u32 seq, seq_len;
  u32 plus, plus_len; // after the '+'
  u32 qual, qual_len;
  u32 cr;
  bool marked; // the first line begins with '@', the third with '+'
};

// find_lines finds the four lines of record r; every lane of the warp gets the whole result.
static __device__ __forceinline__ Lines find_lines(const u8 *text, const u32 *ends, u32 r, u32 lane) {
  u32 k = lane & 3;
  u32 line = 4 * r + k;
  u32 start = line == 0 ? 0 : __ldg(ends + line - 1) + 1;
  u32 len = __ldg(ends + line) - start;
  bool cr = len > 0 && text[start + len - 1] == '\r';
  if (cr) len--;
  u32 first = len > 0 ? text[start] : 0;
  bool wrong = (k == 0 && first != '@') || (k == 2 && first != '+');
  Lines l;
  l.cr = __ballot_sync(FULL, cr) & 15;
  l.marked = (__ballot_sync(FULL, wrong) & 15) == 0;
  l.name = __shfl_sync(FULL, start, 0) + 1;
  l.name_len = __shfl_sync(FULL, len, 0) - 1;
  l.seq = __shfl_sync(FULL, start, 1);
  l.seq_len = __shfl_sync(FULL, len, 1);
  l.plus = __shfl_sync(FULL, start, 2) + 1;
  l.plus_len = __shfl_sync(FULL, len, 2) - 1;
  l.qual = __shfl_sync(FULL, start, 3);
  l.qual_len = __shfl_sync(FULL, len, 3);
  return l;
}

// span_outside returns whether n bytes of the text have any that are no qualities, '!' to '~';
// each lane of the warp returns that for its own share.
static __device__ __forceinline__ bool span_outside(const u8 *text, u32 from, u32 n, u32 lane) {
  bool bad = false;
  u32 words = n / 4;
  for (u32 k = lane; k < words; k += 32) {
    u32 w = load4(text, from + 4 * k);
    u32 above = w | ((w & 0x7f7f7f7fu) + 0x01010101u);
    u32 under = ~((w | 0x80808080u) - 0x21212121u);
    bad |= ((above | under) & 0x80808080u) != 0;
  }
  u32 rest = 4 * words + lane;
  if (rest < n) {
    u32 c = text[from + rest];
    bad |= c < '!' || c > '~';
  }
  return bad;
}

// What is computed over a thread block's records. Atomic operations at one address are slow, so
// there is one a block and not one a record.
struct Common {
  u32 least, most, all, any, bad; // lengths, AND and OR of the codes, smallest bad ordinal
};

// report adds what a thread block's records have in common to the info words. of_warp is
// WARPS structures of shared memory.
static __device__ __forceinline__ void report(Common c, Common *of_warp, u32 lane, u32 *info) {
  if (lane == 0) of_warp[threadIdx.x / 32] = c;
  __syncthreads();
  if (threadIdx.x != 0) return;
#pragma unroll
  for (int w = 1; w < WARPS; w++) {
    Common o = of_warp[w];
    c.least = min(c.least, o.least);
    c.most = max(c.most, o.most);
    c.all &= o.all;
    c.any |= o.any;
    c.bad = min(c.bad, o.bad);
  }
  // Minimum, maximum, AND, OR: the result does not depend on the order of the blocks.
  atomicMin(info + INFO_MIN_LEN, c.least);
  atomicMax(info + INFO_MAX_LEN, c.most);
  atomicAnd(info + INFO_CODE_AND, c.all);
  atomicOr(info + INFO_CODE_OR, c.any);
  atomicMin(info + INFO_BAD, c.bad);
}

// records checks the records, a warp each in turn, and writes the columns len (bases),
// name_at (bytes of the name and its line end) and code (form). A record that the kernels don't
// support, valid or not, is reported as INFO_BAD and counts as empty.
extern "C" __global__ void __launch_bounds__(THREADS)
records(const u8 *text, const u32 *ends, u64 n, u32 *len, u32 *name_at, u8 *code, u32 *info, u32 *step) {
  mark(step, STEP_RECORDS);
  __shared__ Common of_warp[WARPS];
  u32 lane = threadIdx.x & 31;
  Common common = {FULL, 0, 255, 0, FULL};
  for (u32 r = blockIdx.x * WARPS + threadIdx.x / 32; r < n; r += gridDim.x * WARPS) {
    Lines l = find_lines(text, ends, r, lane);
    bool bad = !l.marked || l.seq_len != l.qual_len;
    u32 c = l.cr;
    if (!bad) {
      bool mine = span_outside(text, l.qual, l.qual_len, lane);
      if (l.plus_len != 0) {
        c |= CODE_NAME;
        if (l.plus_len != l.name_len) {
          mine = true;
        } else {
          for (u32 k = lane; k < l.name_len; k += 32) mine |= text[l.plus + k] != text[l.name + k];
        }
      }
      bad = __any_sync(FULL, mine);
    }
    u32 bases = bad ? 0 : l.seq_len;
    if (lane == 0) {
      len[r] = bases;
      name_at[r] = bad ? 0 : l.name_len + 1;
      code[r] = c;
    }
    common.least = min(common.least, bases);
    common.most = max(common.most, bases);
    common.all &= c;
    common.any |= c;
    if (bad) common.bad = min(common.bad, r);
  }
  report(common, of_warp, lane, info);
}

// map_quals replaces each of n qualities by its entry in the table, 16 a thread. The array
// must have room up to a multiple of 16.
extern "C" __global__ void __launch_bounds__(THREADS) map_quals(u8 *quals, u64 n, const u8 *table, u32 *step) {
  mark(step, STEP_MAP_QUALS);
  __shared__ u8 to[256];
  to[threadIdx.x] = table[threadIdx.x];
  __syncthreads();
  u64 at = ((u64)blockIdx.x * THREADS + threadIdx.x) * 16;
#pragma unroll
  for (int k = 0; k < 16; k += 4) {
    if (at + k + 4 <= n) {
      u32 w = *(const u32 *)(quals + at + k);
      *(u32 *)(quals + at + k) = to[w & 255] | to[w >> 8 & 255] << 8 | to[w >> 16 & 255] << 16 | (u32)to[w >> 24] << 24;
    } else {
      for (int j = k; j < k + 4 && at + j < n; j++) quals[at + j] = to[quals[at + j]];
    }
  }
}

// columns copies the names, each with a '\n', and the qualities to where their running
// totals say, a warp a record; either may be left out (null).
extern "C" __global__ void __launch_bounds__(THREADS)
columns(const u8 *text, const u32 *ends, u64 n, const u32 *len, const u32 *name_at, const u32 *qual_at, u64 names_total,
        u8 *names, u8 *quals, u32 *step) {
  mark(step, STEP_COLUMNS);
  u32 lane = threadIdx.x & 31;
  u32 r = blockIdx.x * WARPS + threadIdx.x / 32;
  if (r >= n) return;
  if (names != 0) {
    u32 from = (r == 0 ? 0 : __ldg(ends + 4 * r - 1) + 1) + 1;
    u32 to = name_at[r];
    u32 bytes = (r + 1 < n ? name_at[r + 1] : (u32)names_total) - to;
    copy_span(names, to, text, from, bytes - 1, lane);
    if (lane == 0) names[to + bytes - 1] = '\n';
  }
  if (quals != 0) copy_span(quals, qual_at[r], text, __ldg(ends + 4 * r + 2) + 1, len[r], lane);
}
