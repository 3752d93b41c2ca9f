// One round of joining contigs, up to the partner of each: k-mers are sampled and grouped by their hash, the links that they lead to are
// counted, and contigs are compared. The rules, which are those of the CPU, are in compress/overlap: joiner in joinround.go, sampler,
// kmerGroups and proposals in joinkmers.go.
#pragma once
#include "place.cuh"

#define NO_LINK (~0ull)

// Sampler says which k-mers are selected; see sampler in package overlap. threshold is the bound of the low bits of a hash.
struct Sampler {
  u32 threshold, ends, part, parts;
};

static __device__ __forceinline__ Sampler sampler_of(u64 a, u64 b) { return {(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)}; }

// last_at_most returns the index of the last of values lo..hi-1, which ascend, that is at most x; lo if there is none.
static __device__ __forceinline__ u32 last_at_most(const u64 *values, u32 lo, u32 hi, u64 x) {
  while (lo + 1 < hi) {
    u32 m = lo + (hi - lo) / 2;
    if (values[m] <= x) lo = m;
    else hi = m;
  }
  return lo;
}

// each_kmer calls f(hash, contig, at) with the selected k-mers that begin in the KMER_BASES bases of the thread, in their order. Contig c
// begins at byte start[c] of packed. All threads of the block call it; range is shared memory, which may be reused after the next barrier.
template <class F>
static __device__ __forceinline__ void each_kmer(const u64 *packed, const u64 *start, const u32 *length, u32 contigs, u64 bytes, Sampler s,
                                                 u32 *range, F f) {
  u64 tile = (u64)blockIdx.x * (KMER_TILE / 4), byte = tile + threadIdx.x * (KMER_BASES / 4);
  if (threadIdx.x == 0) range[0] = last_at_most(start, 0, contigs, tile);
  if (threadIdx.x == 32) range[1] = last_at_most(start, 0, contigs, tile + KMER_TILE / 4 - 1) + 1;
  __syncthreads();
  if (byte >= bytes) return;
  u32 c = last_at_most(start, range[0], range[1], byte);
  u64 first = start[c];
  u32 n = length[c];
  for (int k = 0; k < KMER_BASES; k++) {
    if (k % 4 == 0 && k > 0) {
      byte++;
      if (byte >= bytes) return;
      if (c + 1 < contigs && start[c + 1] <= byte) {
        while (c + 1 < contigs && start[c + 1] <= byte) c++; // contigs may be empty
        first = start[c];
        n = length[c];
      }
    }
    u64 at = 4 * (byte - first) + k % 4;
    if (at + SEED_LEN > n) continue;
    u64 x = load_bases(packed, 4 * byte + k % 4) & first_bases(SEED_LEN), y = reverse_complement(x, SEED_LEN);
    u64 h = mix64(x < y ? x : y);
    if (((u32)h < s.threshold || at < s.ends || at + SEED_LEN - 1 + s.ends >= n) && (s.parts <= 1 || (u32)(h >> 20) % s.parts == s.part))
      f((u32)(h >> 32), c, (u32)at << 1 | (y < x ? 1 : 0));
  }
}

// kmer_count counts the selected k-mers of each tile of the bytes of packed bases.
extern "C" __global__ void __launch_bounds__(THREADS)
kmer_count(const u64 *packed, const u64 *start, const u32 *length, u64 contigs, u64 bytes, u64 sampler_a, u64 sampler_b, u32 *counts,
           u32 *step) {
  mark(step, STEP_KMER_COUNT);
  __shared__ u32 range[2], sums[WARPS];
  u32 own = 0, total;
  each_kmer(packed, start, length, (u32)contigs, bytes, sampler_of(sampler_a, sampler_b), range, [&](u32, u32, u32) { own++; });
  block_exclusive(own, sums, &total);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

// kmer_write writes the hash of each selected k-mer, and its contig << 32 | at, in the order of contigs and places. counts are the
// running totals of those of kmer_count.
extern "C" __global__ void __launch_bounds__(THREADS)
kmer_write(const u64 *packed, const u64 *start, const u32 *length, u64 contigs, u64 bytes, u64 sampler_a, u64 sampler_b, const u32 *counts,
           u32 *hashes, u64 *where, u32 *step) {
  mark(step, STEP_KMER_WRITE);
  __shared__ u32 range[2], sums[WARPS];
  u32 own = 0, total;
  Sampler s = sampler_of(sampler_a, sampler_b);
  each_kmer(packed, start, length, (u32)contigs, bytes, s, range, [&](u32, u32, u32) { own++; });
  u32 to = counts[blockIdx.x] + block_exclusive(own, sums, &total);
  __syncthreads();
  each_kmer(packed, start, length, (u32)contigs, bytes, s, range, [&](u32 hash, u32 c, u32 at) {
    hashes[to] = hash;
    where[to] = (u64)c << 32 | at;
    to++;
  });
}

// kmer_groups writes for each of n k-mers, which are sorted by hash, its contig and place in this order, and at its index in the order of
// contigs and places the index of the first one with its hash; FULL if that is of the same contig.
extern "C" __global__ void __launch_bounds__(THREADS)
kmer_groups(const u32 *hashes, const u32 *order, const u64 *where, u64 n, u64 *sorted, u32 *groups, u32 *step) {
  mark(step, STEP_KMER_GROUPS);
  u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  u32 ordinal = order[i], hash = hashes[i];
  u64 w = where[ordinal];
  sorted[i] = w;
  // The first one with the hash: in steps that double, then by halving.
  u64 lo = 0, hi = i; // hashes[hi] == hash, and those before lo are smaller
  for (u64 distance = 1; hi > 0; distance *= 2) {
    u64 at = distance < i ? i - distance : 0;
    if (hashes[at] != hash) {
      lo = at + 1;
      break;
    }
    hi = at;
  }
  while (lo < hi) {
    u64 m = lo + (hi - lo) / 2;
    if (hashes[m] == hash) hi = m;
    else lo = m + 1;
  }
  groups[ordinal] = where[order[hi]] >> 32 == w >> 32 ? FULL : (u32)hi;
}

// kmer_first writes the index of the first k-mer of each contig among all n, and n after the last contig.
extern "C" __global__ void __launch_bounds__(THREADS)
kmer_first(const u64 *where, u64 n, u64 contigs, u32 *first, u32 *step) {
  mark(step, STEP_KMER_FIRST);
  u64 c = (u64)blockIdx.x * THREADS + threadIdx.x;
  if (c > contigs) return;
  u64 lo = 0, hi = n;
  while (lo < hi) {
    u64 m = lo + (hi - lo) / 2;
    if (where[m] >> 32 < c) lo = m + 1;
    else hi = m;
  }
  first[c] = (u32)lo;
}

// Round is a JoinRound with pointers.
struct Round {
  const u64 *packed, *start;
  const u32 *length;
  const u64 *reads;
  u64 read_bases;
  const u8 *settled;
  u32 contigs;
  u64 kmers;
  const u32 *first, *groups;
  const u64 *where, *sorted;
  u32 *left;
  u64 *links, *compared;
};

static __device__ __forceinline__ Round round_of(const JoinRound *j) {
  return {(const u64 *)j->packed, (const u64 *)j->start, (const u32 *)j->length, (const u64 *)j->reads, j->read_bases,
          (const u8 *)j->settled, (u32)j->contigs, j->kmers, (const u32 *)j->first, (const u32 *)j->groups, (const u64 *)j->where,
          (const u64 *)j->sorted, (u32 *)j->left, (u64 *)j->links, (u64 *)j->compared};
}

// Proposals is a hash table of links: the number of k-mers that lead to each, and the first that does.
struct Proposals {
  u64 *link;
  u32 *votes, *first;
  u32 mask; // number of slots, a power of two, less 1
};

// clear_slot empties a slot.
static __device__ __forceinline__ void clear_slot(Proposals p, u32 i) {
  p.link[i] = NO_LINK;
  p.votes[i] = 0;
  p.first[i] = FULL;
}

// add_proposal counts a k-mer, number `at` of those of the contig, that leads to a link. It returns whether the link is new.
static __device__ __forceinline__ bool add_proposal(Proposals p, u64 link, u32 at) {
  u32 i = (u32)(link * 0x9e3779b97f4a7c15ull >> 32) & p.mask;
  u64 there;
  while ((there = atomicCAS(p.link + i, NO_LINK, link)) != NO_LINK && there != link) i = (i + 1) & p.mask;
  atomicAdd(p.votes + i, 1u);
  atomicMin(p.first + i, at);
  return there == NO_LINK;
}

// proposal_key orders proposals: those with more votes first, of as many, those that were found first.
static __device__ __forceinline__ u64 proposal_key(Proposals p, u32 i) {
  u32 votes = p.votes[i];
  return (u64)(MOST_VOTES - (votes < MOST_VOTES ? votes : MOST_VOTES)) << 32 | p.first[i];
}

// find_proposals adds the links that k-mers from..from+31 of contig c, of n bases, lead to, of the `count` that it has. All lanes of a
// warp call it; 16 lanes look at the members of a group. It adds to *distinct the number of new links, and stops when that exceeds limit.
static __device__ __forceinline__ void find_proposals(const Round &a, Proposals p, u32 c, u32 n, u32 from, u32 count, u32 lane, u32 *distinct,
                                                      u32 limit) {
  u32 base = a.first[c] + from, own = from + lane < count ? a.groups[base + lane] : FULL, member = lane & 15;
  bool is_settled = a.settled && a.settled[c];
  u32 grouped = __ballot_sync(FULL, own != FULL);
  while (grouped && *distinct <= limit) {
    // The next two k-mers that have a group.
    u32 one = __ffs(grouped) - 1;
    grouped &= grouped - 1;
    u32 two = grouped ? __ffs(grouped) - 1 : 32;
    grouped &= grouped - 1;
    u32 k = lane < 16 ? one : two;
    u64 at = (u64)__shfl_sync(FULL, own, k & 31) + member;
    u64 w = k < 32 && member < PARTNER_GROUP && at < a.kmers ? a.sorted[at] : ~0ull;
    u32 other = (u32)(w >> 32);
    // Members ascend by contig, and the contig itself is one of them. Those from it on don't count, nor does what is behind the group.
    u32 before = __ballot_sync(FULL, other < c) >> (lane & 16) & 0xffff;
    bool fresh = false;
    if (member < (u32)__ffs(~before) - 1 && !(is_settled && a.settled[other])) {
      u32 here = (u32)a.where[base + k], there = (u32)w;
      u32 reversed = (here ^ there) & 1, offset = here >> 1;
      if (reversed) offset = n - SEED_LEN - offset;
      int start = (int)(there >> 1) - (int)offset;
      fresh = add_proposal(p, (u64)other << 32 | (u64)(u32)(start + LINK_ZERO) << 1 | reversed, (from + k) * 16 + member);
    }
    *distinct += __popc(__ballot_sync(FULL, fresh));
  }
}

// An overlap of contig c, of n bases, with the contig that a link leads to.
struct Overlap {
  u64 mine, theirs; // the first base of each in packed
  u32 n, at;        // bases of contig c; the base of it, or of its reverse complement, with which the overlap begins
  int length, limit;
  bool reversed;
};

static __device__ __forceinline__ Overlap overlap_of(const Round &a, u32 c, u32 n, u64 link) {
  u32 to = (u32)(link >> 32);
  int start = (int)(link >> 1 & 0x7fffffff) - LINK_ZERO, m = (int)a.length[to];
  int lo = start > 0 ? start : 0, hi = start + (int)n < m ? start + (int)n : m;
  Overlap o = {4 * a.start[c], 4 * a.start[to] + lo, n, (u32)(lo - start), hi - lo, 0, (link & 1) != 0};
  if (o.length < SEED_LEN) return o;
  o.limit = o.length / 24 + 1 + (o.length < 100 ? o.length : 100) / 20;
  u64 bases = a.reads[c] * a.read_bases;
  if (bases > n) {
    u64 most = (u64)o.length * n * 2 / (3 * bases);
    if (most < (u64)o.limit) o.limit = (int)most;
  }
  return o;
}

// different returns in how many of the bases i..i+31 of an overlap the contigs differ.
static __device__ __forceinline__ u32 different(const Round &a, const Overlap &o, u32 i) {
  u32 m = (u32)o.length - i < 32 ? (u32)o.length - i : 32, at = o.at + i;
  u64 b = o.reversed ? reverse_complement(load_bases(a.packed, o.mine + o.n - at - m), m) : load_bases(a.packed, o.mine + at);
  u64 x = load_bases(a.packed, o.theirs + i) ^ b;
  return __popcll((x | x >> 1) & 0x5555555555555555ull & first_bases(m));
}

// partners finds the partner of each contig, a warp a contig: links[c] is the link to it, or NO_LINK. Contigs of many k-mers, or with
// proposals for which the table is too small, are appended to large instead.
extern "C" __global__ void __launch_bounds__(THREADS)
partners(const JoinRound *round, u32 *large, u32 *large_count, u32 *step) {
  mark(step, STEP_PARTNERS);
  __shared__ u64 links[WARPS][PROPOSAL_SLOTS];
  __shared__ u32 votes[WARPS][PROPOSAL_SLOTS], firsts[WARPS][PROPOSAL_SLOTS];
  Round a = round_of(round);
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32, c = blockIdx.x * WARPS + warp;
  if (c >= a.contigs) return;
  u32 left = a.left[c], n = a.length[c], count = a.first[c + 1] - a.first[c];
  if (left == 0 || count == 0) {
    if (lane == 0) a.links[c] = NO_LINK;
    return;
  }
  Proposals p = {links[warp], votes[warp], firsts[warp], PROPOSAL_SLOTS - 1};
  u32 distinct = 0;
  const u32 most = PROPOSAL_SLOTS - 32; // a step adds up to 24
  if (count <= PROPOSAL_KMERS) {
    for (u32 i = lane; i < PROPOSAL_SLOTS; i += 32) clear_slot(p, i);
    __syncwarp();
    for (u32 from = 0; from < count && distinct <= most; from += 32) find_proposals(a, p, c, n, from, count, lane, &distinct, most);
    __syncwarp();
  }
  if (count > PROPOSAL_KMERS || distinct > most) {
    if (lane == 0) large[atomicAdd(large_count, 1u)] = c;
    return;
  }
  u32 budget = left < MOST_PARTNERS ? left : MOST_PARTNERS, used = 0;
  if (budget > distinct) budget = distinct;
  u64 found = NO_LINK, from = 0;
  while (used < budget && found == NO_LINK) {
    // The best proposal that was not compared; its slot is in the lowest bits.
    u64 best = ~0ull;
    for (u32 i = lane; i < PROPOSAL_SLOTS; i += 32) {
      if (p.link[i] == NO_LINK) continue;
      u64 key = proposal_key(p, i) << 16 | i;
      if (key >= from && key < best) best = key;
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
      u64 other = __shfl_xor_sync(FULL, best, d);
      if (other < best) best = other;
    }
    from = best + 1;
    used++;
    u64 link = p.link[best & 0xffff];
    Overlap o = overlap_of(a, c, n, link);
    if (o.length < SEED_LEN) continue;
    int differ = 0;
    for (u32 i = 0; i < (u32)o.length && differ <= o.limit; i += 32 * 32) {
      u32 d = i + 32 * lane < (u32)o.length ? different(a, o, i + 32 * lane) : 0;
#pragma unroll
      for (int k = 16; k > 0; k /= 2) d += __shfl_xor_sync(FULL, d, k);
      differ += (int)d;
    }
    if (differ <= o.limit) found = link;
  }
  if (lane == 0) {
    a.links[c] = found;
    a.left[c] = left - used;
    if (used) atomicAdd(a.compared, (u64)used);
  }
}

// partners_large does what partners does for `count` contigs, a thread block a contig. Each thread block has a table of `slots` slots, a
// power of two, in memory of the device. Contigs for which it is too small are appended to larger.
extern "C" __global__ void __launch_bounds__(THREADS)
partners_large(const JoinRound *round, const u32 *large, u64 count, u64 *tables, u64 slots, u32 *larger, u32 *larger_count, u32 *step) {
  mark(step, STEP_PARTNERS_LARGE);
  __shared__ u32 distinct, histogram[256], taken, sums[WARPS];
  __shared__ u64 keys[MOST_PARTNERS], links[MOST_PARTNERS], ordered[MOST_PARTNERS];
  Round a = round_of(round);
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u64 *table = tables + (u64)blockIdx.x * slots * (PROPOSAL_BYTES / 8);
  for (u64 item = blockIdx.x; item < count; item += gridDim.x) {
    u32 c = large[item], n = a.length[c], left = a.left[c], kmers = a.first[c + 1] - a.first[c];
    // A table of twice as many slots as there can be proposals is never too small.
    u64 own = 1024;
    while (own < slots && own < 2 * PARTNER_GROUP * (u64)kmers) own *= 2;
    u32 most = own < 2 * PARTNER_GROUP * (u64)kmers ? (u32)(own / 2) : FULL; // warps add up to 32 * PARTNER_GROUP each before they see it
    Proposals p = {table, (u32 *)(table + own), (u32 *)(table + own) + own, (u32)(own - 1)};
    for (u64 i = threadIdx.x; i < own; i += THREADS) clear_slot(p, (u32)i);
    if (threadIdx.x == 0) distinct = taken = 0;
    __syncthreads();
    for (u32 from = 32 * warp; from < kmers; from += 32 * WARPS) {
      u32 more = 0, so_far = __shfl_sync(FULL, lane == 0 ? atomicAdd(&distinct, 0u) : 0, 0);
      if (so_far > most) break;
      find_proposals(a, p, c, n, from, kmers, lane, &more, FULL);
      if (lane == 0 && more) atomicAdd(&distinct, more);
    }
    __syncthreads();
    u32 all = distinct;
    __syncthreads();
    if (all > most) {
      if (threadIdx.x == 0) larger[atomicAdd(larger_count, 1u)] = c;
      continue;
    }
    u32 budget = left < MOST_PARTNERS ? left : MOST_PARTNERS;
    if (budget > all) budget = all;
    // The key of the last proposal to be compared: its bits are found eight at a time, from the highest.
    u64 last = 0;
    u32 rank = budget; // of that key among those that begin with the bits of last
    for (int shift = 32; shift >= 0 && budget > 0; shift -= 8) {
      for (u32 i = threadIdx.x; i < 256; i += THREADS) histogram[i] = 0;
      __syncthreads();
      for (u64 i = threadIdx.x; i < own; i += THREADS) {
        if (p.link[i] == NO_LINK) continue;
        u64 key = proposal_key(p, (u32)i);
        if (key >> shift >> 8 == last) atomicAdd(histogram + (key >> shift & 255), 1u);
      }
      __syncthreads();
      u32 digit = 0;
      while (histogram[digit] < rank) rank -= histogram[digit++];
      last = last << 8 | digit;
      __syncthreads();
    }
    for (u64 i = threadIdx.x; i < own && budget > 0; i += THREADS) {
      if (p.link[i] == NO_LINK) continue;
      u64 key = proposal_key(p, (u32)i);
      if (key > last) continue;
      u32 to = atomicAdd(&taken, 1u);
      keys[to] = key;
      links[to] = p.link[i];
    }
    __syncthreads();
    if (threadIdx.x < budget) {
      u32 to = 0;
      for (u32 i = 0; i < budget; i++) to += keys[i] < keys[threadIdx.x];
      ordered[to] = links[threadIdx.x];
    }
    __syncthreads();
    u64 found = NO_LINK;
    u32 used = 0;
    while (used < budget && found == NO_LINK) {
      u64 link = ordered[used++];
      Overlap o = overlap_of(a, c, n, link);
      if (o.length < SEED_LEN) continue;
      long long differ = 0;
      for (u32 i = 0; i < (u32)o.length && differ <= o.limit; i += 32 * THREADS) {
        u32 at = i + 32 * threadIdx.x, d = 0;
        block_exclusive(at < (u32)o.length ? different(a, o, at) : 0, sums, &d);
        __syncthreads();
        differ += d;
      }
      if (differ <= o.limit) found = link;
    }
    if (threadIdx.x == 0) {
      a.links[c] = found;
      a.left[c] = left - used;
      if (used) atomicAdd(a.compared, (u64)used);
    }
    __syncthreads();
  }
}
