// Voting on the bases of the pseudogenome, and what follows from the votes: which mismatches several reads share, and which reads are
// poorly placed. The rules, which are those of the CPU, are in compress/overlap: consensus.go, votes.go and poor.go.
#pragma once
#include "place.cuh"

// A read on the pseudogenome.
struct Placed {
  Read read;
  u32 pos, record;
  bool reversed; // the stored read is on the reverse strand
};

// placed_read loads read i, and returns whether it has a place and bases.
static __device__ __forceinline__ bool placed_read(const Reads *reads, const Places *places, u64 i, Placed *r) {
  if (i >= reads->count) return false;
  r->record = record_of(places, i);
  r->pos = ((const u32 *)places->positions)[r->record];
  if (r->pos == FULL) return false;
  r->read = read_of(reads, i);
  r->reversed = bit_of(places->reversed, r->record) != bit_of(places->stored_reversed, i);
  return r->read.n > 0;
}

// each_mismatch calls f(offset, base) with the mismatches of a read, in its order on the pseudogenome.
template <class F> static __device__ __forceinline__ void each_mismatch(const Places *places, const Placed &r, F f) {
  for (u32 i = 0; i < r.read.n; i += 32) {
    u64 b, d = mismatches(r.read, r.reversed, (const u64 *)places->sequence, r.pos, i, &b);
    for (; d; d &= d - 1) {
      u32 at = __ffsll(d) - 1;
      f(i + at / 2, (u32)(b >> at) & 3);
    }
  }
}

// vote_count counts, at positions lo..hi-1, how many reads have each base other than the pseudogenome's: four counters a position; and by
// how much more reads begin at a position than end before it: one counter a position.
extern "C" __global__ void __launch_bounds__(THREADS)
vote_count(const Reads *reads, const Places *places, u64 lo, u64 hi, u32 *bases, u32 *depth, u32 *step) {
  mark(step, STEP_VOTE_COUNT);
  Placed r;
  if (!placed_read(reads, places, (u64)blockIdx.x * THREADS + threadIdx.x, &r)) return;
  u64 end = (u64)r.pos + r.read.n;
  if (r.pos >= hi || end <= lo) return;
  atomicAdd(depth + (r.pos > lo ? r.pos - lo : 0), 1u);
  if (end < hi) atomicAdd(depth + (end - lo), FULL); // one less
  each_mismatch(places, r, [&](u32 i, u32 base) {
    u64 p = (u64)r.pos + i;
    if (p >= lo && p < hi) atomicAdd(bases + (p - lo) * 4 + base, 1u);
  });
}

static __device__ __forceinline__ bool is_shared(u32 reads, u32 depth) { return reads >= 2 + depth / 128; }

// vote sets the bases at positions lo..hi-1 to the most frequent ones, and the bits of the mismatches that several reads share. before[i]
// is the number of reads that cover the position before lo+i. A thread takes four positions; lo is a multiple of four.
extern "C" __global__ void __launch_bounds__(THREADS)
vote(const Places *places, u64 lo, u64 hi, const u32 *bases, const u32 *before, u32 *step) {
  mark(step, STEP_VOTE);
  u64 first = ((u64)blockIdx.x * THREADS + threadIdx.x) * 4;
  if (lo + first >= hi) return;
  u32 packed = ((u8 *)places->sequence)[(lo + first) / 4], set = 0;
  for (u32 k = 0; k < 4 && lo + first + k < hi; k++) {
    uint4 x = ((const uint4 *)bases)[first + k];
    if ((x.x | x.y | x.z | x.w) == 0) continue;
    u32 depth = before[first + k + 1], most = x.x, best = 0, old = packed >> 2 * k & 3;
    if (x.y > most) most = x.y, best = 1;
    if (x.z > most) most = x.z, best = 2;
    if (x.w > most) most = x.w, best = 3;
    u32 others = x.x + x.y + x.z + x.w, now = most + others > depth ? best : old;
    packed = (packed & ~(3u << 2 * k)) | now << 2 * k;
    u32 count[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
    for (u32 c = 0; c < 4; c++)
      if (c != now && is_shared(c == old ? depth - others : count[c], depth)) set |= 1u << (4 * k + c);
  }
  ((u8 *)places->sequence)[(lo + first) / 4] = (u8)packed;
  if (places->shared) ((u16 *)places->shared)[(lo + first) / 4] = (u16)set;
}

// vote_poor counts anew the mismatches of the reads that may be poorly placed, and sets the bit of those that are.
extern "C" __global__ void __launch_bounds__(THREADS)
vote_poor(const Reads *reads, const Places *places, u32 *step) {
  mark(step, STEP_VOTE_POOR);
  Placed r;
  if (!placed_read(reads, places, (u64)blockIdx.x * THREADS + threadIdx.x, &r) || r.read.n > OVERLAPPED) return;
  u8 *miss = (u8 *)places->mismatches + r.record;
  if (*miss < POOR_MISMATCHES) return;
  u32 all = 0, several = 0, n = r.read.n;
  each_mismatch(places, r, [&](u32 i, u32 base) {
    u64 p = (u64)r.pos + i;
    all++;
    several += ((const u8 *)places->shared)[p >> 1] >> ((p & 1) * 4 + base) & 1;
  });
  *miss = (u8)(all < 255 ? all : 255);
  if (all >= POOR_MISMATCHES && all > n / 50 && (several >= POOR_MISMATCHES || all > n / 8) && n >= SEED_LEN)
    atomicOr((u32 *)places->poor + (r.record >> 5), 1u << (r.record & 31));
}
