// The inverse Burrows-Wheeler transform. The rank of the suffix that begins one symbol later is computed for each rank (unsort_next). The
// text is followed from all splitters at once, ranks that a hash chooses, until the next splitter (unsort_walk). Where each splitter is in
// the text follows from the distances, by pointer jumping (Wyllie, "The complexity of parallel computations", 1979), and then the
// symbols are copied there.
#pragma once
#include "suffixes.cuh"

static_assert(UNSORT_GAP % 8 == 0, "pieces are written 8 symbols at a time");

// unsort_count is suffix_count for the symbols of a transform.
extern "C" __global__ void __launch_bounds__(THREADS)
unsort_count(const u8 *transformed, u64 n, u32 *counts, u32 *step) {
  mark(step, STEP_UNSORT_COUNT);
  count_digits<SUFFIX_DIGITS, SUFFIX_ROUNDS>(n, counts, [=](u64 i) { return (u32)transformed[i]; });
}

// unsort_next writes, for each rank, that of the suffix that begins one symbol later; counts are the running totals of those of
// unsort_count. Suffixes that begin with one symbol are in the order of the places of that symbol in the transform, but the last
// suffix of the text, which no suffix follows, is the first of its symbol; it is followed by the text again.
extern "C" __global__ void __launch_bounds__(THREADS)
unsort_next(const u8 *transformed, u64 n, u64 origin, const u32 *counts, u32 *next, u32 *step) {
  mark(step, STEP_UNSORT_NEXT);
  __shared__ u32 place[WARPS][SUFFIX_DIGITS];
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u64 base = (u64)blockIdx.x * SUFFIX_TILE + warp * (SUFFIX_ROUNDS * 32) + lane;
  u32 digit[SUFFIX_ROUNDS], rank[SUFFIX_ROUNDS];
#pragma unroll
  for (int j = 0; j < SUFFIX_ROUNDS; j++) digit[j] = base + j * 32 < n ? transformed[base + j * 32] : SUFFIX_DIGITS;
  rank_digits(place, rank, [&](int j) { return digit[j]; });
  place_digit(place, threadIdx.x, counts[(u64)threadIdx.x * gridDim.x + blockIdx.x]);
  __syncthreads();
  u32 last = transformed[origin], first = counts[(u64)last * gridDim.x];
#pragma unroll
  for (int j = 0; j < SUFFIX_ROUNDS; j++) {
    u64 i = base + j * 32;
    if (i >= n) continue;
    u32 to = place[warp][digit[j]] + rank[j];
    if (digit[j] == last && i <= origin) to = i == origin ? first : to + 1;
    next[to] = (u32)i;
  }
}

// mixed is a permutation of the numbers below 2^bits, and unmixed the inverse of it. The splitters are the ranks that it makes small.
static __device__ __forceinline__ u32 mixed(u32 x, u32 bits) {
  u32 half = (bits + 1) / 2, mask = 0xffffffffu >> (32 - bits);
  x ^= x >> half;
  x = x * 0x9E3779B1u & mask;
  x ^= x >> half;
  x = x * 0x85EBCA6Bu & mask;
  return x ^ x >> half;
}

static __device__ __forceinline__ u32 unmixed(u32 x, u32 bits) {
  u32 half = (bits + 1) / 2, mask = 0xffffffffu >> (32 - bits);
  x ^= x >> half;
  x = x * 0xA5CB9243u & mask; // the inverses of the constants above
  x ^= x >> half;
  x = x * 0x0E8B2F51u & mask;
  return x ^ x >> half;
}

#define SYMBOL_STEPS 4096 // steps of ranks of which the first symbol is looked up

// unsort_walk follows the text from each splitter to the next one.
extern "C" __global__ void __launch_bounds__(THREADS)
unsort_walk(const struct Unsort *work, u32 *step) {
  mark(step, STEP_UNSORT_WALK);
  __shared__ u32 first[SUFFIX_DIGITS + 1]; // rank of the first suffix that begins with a symbol or a larger one
  __shared__ u8 symbol_of[SYMBOL_STEPS];   // of the first rank of each step
  const struct Unsort u = *work;
  u32 n = (u32)u.size, origin = (u32)u.origin, splitters = (u32)u.splitters, bits = (u32)u.bits;
  const u32 *counts = (const u32 *)u.counts;
  first[threadIdx.x] = counts[(u64)threadIdx.x * u.tiles];
  if (threadIdx.x == 0) first[SUFFIX_DIGITS] = n;
  __syncthreads();
  u32 shift = bits > 12 ? bits - 12 : 0;
  for (u32 i = threadIdx.x; i < SYMBOL_STEPS; i += THREADS) {
    u64 r = (u64)i << shift;
    u32 lo = 0, hi = SUFFIX_DIGITS - 1; // the last symbol whose first rank is not above r
    while (lo < hi) {
      u32 middle = (lo + hi + 1) / 2;
      if (first[middle] <= r) {
        lo = middle;
      } else {
        hi = middle - 1;
      }
    }
    symbol_of[i] = (u8)lo;
  }
  __syncthreads();
  u64 number = (u64)blockIdx.x * THREADS + threadIdx.x;
  if (number > splitters) return;
  u32 id = (u32)number, r = id == splitters ? origin : unmixed(id, bits);
  u64 *nodes = (u64 *)u.nodes, *owners = (u64 *)u.owners;
  if (r >= n || (id < splitters && r == origin)) {
    nodes[id] = (u64)(splitters + 1) << 32;
    return;
  }
  const u32 *next = (const u32 *)u.next;
  u64 *pieces = (u64 *)u.pieces;
  u64 piece = id, word = 0;
  u32 length = 0, to;
  for (;;) {
    u32 s = symbol_of[r >> shift];
    while (first[s + 1] <= r) s++;
    word |= (u64)s << 8 * (length & 7);
    length++;
    r = next[r];
    to = r == origin ? splitters : mixed(r, bits);
    bool ends = to <= splitters && (to < splitters || r == origin);
    if ((length & 7) == 0 || ends) {
      pieces[(piece * UNSORT_GAP + ((length - 1) & (UNSORT_GAP - 1))) / 8] = word;
      word = 0;
    }
    if (ends) break;
    if ((length & (UNSORT_GAP - 1)) == 0) {
      if (length >= UNSORT_MOST) {
        *(u32 *)u.failed = 1;
        to = splitters + 1;
        break;
      }
      u32 e = atomicAdd((u32 *)u.extra, 1);
      owners[e] = (u64)(length / UNSORT_GAP) << 32 | id;
      piece = (u64)splitters + 1 + e;
    }
  }
  nodes[id] = (u64)to << 32 | length;
}

// unsort_jump replaces the successor of each splitter by that of the successor, and adds up the distances. The origin is the end.
extern "C" __global__ void __launch_bounds__(THREADS)
unsort_jump(const u64 *nodes, u64 splitters, u64 *nodes_out, u32 *step) {
  mark(step, STEP_UNSORT_JUMP);
  u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
  if (i > splitters) return;
  u64 node = nodes[i];
  u32 to = (u32)(node >> 32);
  if (to < splitters) {
    u64 other = nodes[to];
    node = (other & ~0xffffffffull) | (u32)(node + other);
  }
  nodes_out[i] = node;
}

// unsort_copy copies the pieces to the text, a warp a piece. lengths are the nodes before unsort_jump, and nodes those after it, which have
// the distance to the end of the text.
extern "C" __global__ void __launch_bounds__(THREADS)
unsort_copy(const u8 *pieces, const u64 *owners, u64 splitters, u64 extra, const u64 *lengths, const u64 *nodes, u64 n, u8 *text,
            u32 *step) {
  mark(step, STEP_UNSORT_COPY);
  u64 piece = (u64)blockIdx.x * WARPS + threadIdx.x / 32;
  u32 lane = threadIdx.x & 31;
  if (piece > splitters + extra) return;
  u64 owner = piece <= splitters ? piece : owners[piece - splitters - 1];
  u32 id = (u32)owner, skip = (u32)(owner >> 32) * UNSORT_GAP, length = (u32)lengths[id], left = (u32)nodes[id];
  if (length <= skip || left > n || nodes[id] >> 32 != splitters) return;
  u64 at = n - left + skip;
  u32 size = length - skip < UNSORT_GAP ? length - skip : UNSORT_GAP;
  if (at + size > n) return;
  const u8 *from = pieces + piece * UNSORT_GAP;
  for (u32 i = lane; i < size; i += 32) text[at + i] = from[i];
}
