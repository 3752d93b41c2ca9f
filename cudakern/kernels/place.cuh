// The index of the k-mers of a pseudogenome, and the search for the places of reads, one thread a read. The rules, which are those
// of the CPU, are in compress/overlap: kmerIndex in kmerindex.go, search in place.go.
#pragma once
#include "warp.cuh"

// The parameters of a search, 8 bits each in one word; see PlaceMode.
struct PlaceMode {
  u32 k, sample_mask, seed_step, bases_per_candidate, bases_per_more_seed, good, most, bases_per_mismatch;
};

static __device__ __forceinline__ PlaceMode place_mode(u64 m) {
  return {(u32)m & 255, (u32)(m >> 8) & 255, (u32)(m >> 16) & 255, (u32)(m >> 24) & 255, (u32)(m >> 32) & 255, (u32)(m >> 40) & 255,
          (u32)(m >> 48) & 255, (u32)(m >> 56)};
}

// load_bases returns the 32 bases from `at` on, the first one in the lowest bits. The word after the last base must be readable.
static __device__ __forceinline__ u64 load_bases(const u64 *packed, u64 at) {
  const u64 *p = packed + (at >> 5);
  u32 shift = 2 * ((u32)at & 31);
  u64 lo = __ldg(p);
  return shift == 0 ? lo : lo >> shift | __ldg(p + 1) << (64 - shift);
}

// reverse_complement returns the reverse complement of the n bases in the low bits of x; 0 < n <= 32.
static __device__ __forceinline__ u64 reverse_complement(u64 x, u32 n) {
  x = __brevll(~x);
  x = (x >> 1 & 0x5555555555555555ull) | (x & 0x5555555555555555ull) << 1;
  return x >> (64 - 2 * n);
}

static __device__ __forceinline__ u64 first_bases(u32 n) { return n >= 32 ? ~0ull : (1ull << 2 * n) - 1; }

// mix64 is the finaliser of SplitMix64.
static __device__ __forceinline__ u64 mix64(u64 x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ x >> 31;
}

// A read in the memory of the device.
struct Read {
  const u64 *packed;
  u64 first; // its first base in packed
  u32 n;     // bases
  const Run *run, *run_end;
};

static __device__ __forceinline__ Read read_of(const Reads *reads, u64 i) {
  Read r = {(const u64 *)reads->packed, 4 * (reads->offsets ? ((const u64 *)reads->offsets)[i] : i * reads->stride),
            reads->lengths ? ((const u32 *)reads->lengths)[i] : (u32)reads->length, 0, 0};
  if (((const u32 *)reads->masked)[i >> 5] >> (i & 31) & 1) {
    const Run *runs = (const Run *)reads->runs, *end = runs + reads->run_count;
    u64 lo = 0, hi = reads->run_count;
    while (lo < hi) {
      u64 m = lo + (hi - lo) / 2;
      if (runs[m].read < i) lo = m + 1;
      else hi = m;
    }
    for (r.run = r.run_end = runs + lo; r.run_end < end && r.run_end->read == i;) r.run_end++;
  }
  return r;
}

static __device__ __forceinline__ u32 record_of(const Places *places, u64 read) {
  return ((const u32 *)places->records)[read];
}

// bit_of returns bit i of an array of words.
static __device__ __forceinline__ bool bit_of(u64 words, u64 i) { return ((const u32 *)words)[i >> 5] >> (i & 31) & 1; }

// without_runs returns mismatches of bases i..i+31 of a read, on the strand of the pseudogenome, without those in its runs.
static __device__ __noinline__ u64 without_runs(const Read &r, bool reversed, u32 i, u64 d) {
  for (const Run *run = r.run; run < r.run_end && d; run++) {
    u32 from = reversed ? r.n - run->start - run->length : run->start, to = from + run->length;
    from = from > i ? (from - i < 32 ? from - i : 32) : 0; // of the 32 bases
    to = to > i ? (to - i < 32 ? to - i : 32) : 0;
    if (from < to) d &= ~(first_bases(to) & ~first_bases(from));
  }
  return d;
}

// mismatches returns a word in which bit 2*j is set if base i+j of a read that is at pos of the pseudogenome differs from it. *bases
// becomes the bases of the read there.
static __device__ __forceinline__ u64 mismatches(const Read &r, bool reversed, const u64 *pg, u64 pos, u32 i, u64 *bases) {
  u32 m = r.n - i < 32 ? r.n - i : 32;
  u64 b = reversed ? reverse_complement(load_bases(r.packed, r.first + r.n - i - m), m) : load_bases(r.packed, r.first + i);
  u64 d = load_bases(pg, pos + i) ^ b;
  d = (d | d >> 1) & 0x5555555555555555ull & first_bases(m);
  if (r.run < r.run_end && d) d = without_runs(r, reversed, i, d);
  *bases = b;
  return d;
}

// count_mismatches returns in how many bases a read at pos of the pseudogenome differs from it. Beyond limit it stops early.
static __device__ __forceinline__ u32 count_mismatches(const Read &r, bool reversed, const u64 *pg, u64 pos, u32 limit) {
  u32 d = 0;
  u64 bases;
  for (u32 i = 0; i < r.n && d <= limit; i += 32) d += __popcll(mismatches(r, reversed, pg, pos, i, &bases));
  return d;
}

// indexed_kmer computes the hash of the k-mer at base p of the pseudogenome, and the entry of the index, which are those of
// kmerIndex. It returns false if the k-mer is not of the sample.
static __device__ __forceinline__ bool indexed_kmer(const u64 *pg, u64 p, PlaceMode mode, u64 *hash, u64 *entry) {
  u64 w = load_bases(pg, p) & first_bases(mode.k), r = reverse_complement(w, mode.k);
  u64 h = mix64(w < r ? w : r);
  if (h & mode.sample_mask) return false;
  *hash = h;
  *entry = h << INDEX_SEGMENT_BITS >> (64 - INDEX_KEY_BITS) << 34 | 1ull << 33 | (u64)(r < w) << 32 | p;
  return true;
}

// index_count counts the sampled k-mers at bases from..from+count-1 by the segment of their hash.
extern "C" __global__ void __launch_bounds__(THREADS)
index_count(const u64 *pg, u64 from, u64 count, u64 mode_word, u32 *counts, u32 *step) {
  mark(step, STEP_INDEX_COUNT);
  __shared__ u32 own[1 << INDEX_SEGMENT_BITS];
  for (u32 i = threadIdx.x; i < 1 << INDEX_SEGMENT_BITS; i += THREADS) own[i] = 0;
  __syncthreads();
  u64 base = (u64)blockIdx.x * (THREADS * INDEX_ITEMS) + threadIdx.x, hash, entry;
  PlaceMode mode = place_mode(mode_word);
  for (u32 k = 0; k < INDEX_ITEMS; k++) {
    u64 i = base + k * THREADS;
    if (i < count && indexed_kmer(pg, from + i, mode, &hash, &entry)) atomicAdd(own + (hash >> (64 - INDEX_SEGMENT_BITS)), 1u);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < 1 << INDEX_SEGMENT_BITS; i += THREADS)
    if (own[i]) atomicAdd(counts + i, own[i]);
}

// index_insert inserts the sampled k-mers at bases from..from+count-1 into the slots, which are 0 before. An entry takes the place of
// one of a larger position, which is then inserted anew (Shun and Blelloch, "Phase-concurrent hash tables for determinism", SPAA
// 2014). So along the slots that are searched for a key, positions ascend, in whatever order the threads run. An entry is left out
// if `most` entries of its key are before it; some of those remain, so that a search must end after `most`.
extern "C" __global__ void __launch_bounds__(THREADS)
index_insert(const u64 *pg, u64 from, u64 count, u64 mode_word, const u64 *segments, u64 *slots, u32 *step) {
  mark(step, STEP_INDEX_INSERT);
  u64 i = (u64)blockIdx.x * THREADS + threadIdx.x, hash, entry;
  PlaceMode mode = place_mode(mode_word);
  if (i >= count || !indexed_kmer(pg, from + i, mode, &hash, &entry)) return;
  u32 segment = (u32)(hash >> (64 - INDEX_SEGMENT_BITS));
  u64 first = segments[segment], end = segments[segment + 1];
  u64 at = first + ((entry >> 34) * (end - first) >> INDEX_KEY_BITS);
  u32 same = 0;
  // The entry that was counted last. One that another thread moves onwards may be met again; it has no larger position.
  long long last = -1;
  for (;;) {
    u64 there = *(volatile u64 *)(slots + at);
    if (there != 0 && (u32)there < (u32)entry) {
      if (there >> 34 == entry >> 34 && (u32)there > last) {
        last = (u32)there;
        if (++same == mode.most) return;
      }
      if (++at == end) at = first;
      continue;
    }
    if (atomicCAS(slots + at, there, entry) != there) continue; // another thread has changed the slot
    if (there == 0) return;
    entry = there;
    at = first + ((entry >> 34) * (end - first) >> INDEX_KEY_BITS);
    same = 0;
    last = -1;
  }
}

// place_limit returns the limit of a read: a place must have fewer mismatches. It is 0 for a read that is not to be placed.
static __device__ __forceinline__ u32 place_limit(const Reads *reads, const Places *places, PlaceMode mode, u64 retry, u64 i) {
  u32 n = reads->lengths ? ((const u32 *)reads->lengths)[i] : (u32)reads->length;
  if (n < mode.k || n > OVERLAPPED) return 0;
  u32 limit = n / mode.bases_per_mismatch + 1, record = record_of(places, i);
  if (((const u32 *)places->positions)[record] == FULL) return limit;
  if (retry == RETRY_NONE || (retry == RETRY_POOR && !bit_of(places->poor, record))) return 0;
  u32 now = ((const u8 *)places->mismatches)[record];
  if (retry == RETRY_MISMATCHED && now <= mode.good) return 0;
  return now < limit ? now : limit;
}

// place_select writes the numbers of those of the reads from..to-1 that are to be placed to indices, in any order, and adds their number to
// *count.
extern "C" __global__ void __launch_bounds__(THREADS)
place_select(const Reads *reads, const Places *places, u64 mode_word, u64 retry, u64 from, u64 to, u32 *indices, u32 *count, u32 *step) {
  mark(step, STEP_PLACE_SELECT);
  __shared__ u32 sums[WARPS], first;
  u64 i = from + (u64)blockIdx.x * THREADS + threadIdx.x;
  bool chosen = i < to && place_limit(reads, places, place_mode(mode_word), retry, i) > 0;
  u32 all, before = block_exclusive(chosen, sums, &all);
  if (threadIdx.x == 0 && all > 0) first = atomicAdd(count, all);
  __syncthreads();
  if (chosen) indices[first + before] = (u32)i;
}

// place searches for the places of the count reads in indices, and stores those that it finds.
extern "C" __global__ void __launch_bounds__(THREADS)
place(const Reads *reads, const Places *places, const u32 *indices, u64 count, u64 retry, u64 pg_length, const u64 *segments,
      const u64 *slots, u64 mode_word, u32 *step) {
  mark(step, STEP_PLACE);
  if ((u64)blockIdx.x * THREADS + threadIdx.x >= count) return;
  u64 i = indices[(u64)blockIdx.x * THREADS + threadIdx.x];
  PlaceMode mode = place_mode(mode_word);
  const u64 *pg = (const u64 *)places->sequence;
  const Read read = read_of(reads, i);
  u32 n = read.n, best = place_limit(reads, places, mode, retry, i);
  long long pos = -1;
  bool reversed = false;
  u32 left_to_try = n / mode.bases_per_candidate, seeds_left = 0xffffffffu;
  int left = 0, right = (int)n - (int)mode.k;
  bool from_right = false;
  u64 mask = first_bases(mode.k);
  while (left <= right) {
    // The next k-mer of the read, which is a seed if it is of the sample.
    int at = from_right ? right-- : left++;
    u64 w = load_bases(read.packed, read.first + at) & mask;
    u64 r = reverse_complement(w, mode.k);
    u64 hash = mix64(w < r ? w : r);
    if (hash & mode.sample_mask) continue;
    if (from_right) right -= mode.seed_step - 1;
    else left += mode.seed_step - 1;
    from_right = !from_right;
    // Its candidates.
    u32 segment = (u32)(hash >> (64 - INDEX_SEGMENT_BITS));
    u64 first = __ldg(segments + segment), end = __ldg(segments + segment + 1);
    u64 key = hash << INDEX_SEGMENT_BITS >> (64 - INDEX_KEY_BITS);
    u64 slot = first + (key * (end - first) >> INDEX_KEY_BITS);
    key = key << 1 | 1;
    long long known = pos; // the best place before this seed, which is not compared again
    bool known_reversed = reversed;
    seeds_left--;
    u32 same = 0;
    for (bool more = true; more && same < mode.most;) {
      u64 e = __ldg(slots + slot);
      if (e == 0) break;
      if (++slot == end) slot = first;
      if (e >> 33 != key) continue;
      same++;
      bool other = ((e >> 32 & 1) != 0) != (r < w);
      for (int strand = 0; strand < (r == w ? 2 : 1); strand++) {
        if (strand) other = true;
        long long p = (long long)(u32)e - (other ? (long long)(n - mode.k) - at : at);
        if (p < 0 || p + n > pg_length || (p == known && other == known_reversed)) continue;
        if (left_to_try == 0) {
          more = false;
          break;
        }
        left_to_try--;
        u32 d = count_mismatches(read, other, pg, p, best);
        if (d < best) {
          best = d;
          pos = p;
          reversed = other;
          seeds_left = n / mode.bases_per_more_seed;
        } else if (d == best && pos >= 0 && (p < pos || (p == pos && reversed))) {
          pos = p;
          reversed = other;
        }
        if (best == 0) {
          more = false;
          break;
        }
      }
    }
    if ((pos >= 0 && best <= mode.good) || left_to_try == 0 || seeds_left == 0) break;
  }
  if (pos < 0) return;
  u32 record = record_of(places, i), bit = 1u << (record & 31), *words = (u32 *)places->reversed + (record >> 5);
  ((u32 *)places->positions)[record] = (u32)pos;
  ((u8 *)places->mismatches)[record] = (u8)best;
  if (reversed != bit_of(places->stored_reversed, i)) atomicOr(words, bit);
  else atomicAnd(words, ~bit);
}
