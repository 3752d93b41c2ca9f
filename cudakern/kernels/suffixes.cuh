// The Burrows-Wheeler transform: suffixes are sorted by keys of their first symbols, and then, as long as groups of equal ones are left, by the
// ranks of the suffixes that begin after what the members of a group are known to have in common (Larsson and Sadakane, "Faster suffix
// sorting", 2007, section 3, with a depth for each group). What is in common at least doubles from round to round, whatever the text is.
//
// A list holds suffixes that are not in order yet: where each begins, its rank so far, which is the first rank of its group, and its
// depth, the symbols that its group has in common. The members of a group are next to each other.
#pragma once
#include "digits.cuh"

static_assert(SUFFIX_DIGITS == THREADS, "a thread for each digit");
static_assert(SUFFIX_GROUP_TILE + SUFFIX_SMALL <= 9 * THREADS, "rounds of suffix_small");

// suffix_symbols sets the bits of seen (8 words) of the bytes that occur.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_symbols(const u8 *text, u64 n, u32 *seen, u32 *step) {
  mark(step, STEP_SUFFIX_SYMBOLS);
  u32 bits[8];
#pragma unroll
  for (int w = 0; w < 8; w++) bits[w] = 0;
  u64 base = (u64)blockIdx.x * SUFFIX_TILE;
  for (int k = 0; k < SUFFIX_ROUNDS; k++) {
    u64 i = base + k * THREADS + threadIdx.x;
    if (i >= n) break;
    u32 c = text[i];
#pragma unroll
    for (int w = 0; w < 8; w++) bits[w] |= (c >> 5 == w ? 1u : 0u) << (c & 31);
  }
#pragma unroll
  for (int w = 0; w < 8; w++) {
    u32 b = bits[w];
#pragma unroll
    for (int d = 16; d > 0; d /= 2) b |= __shfl_xor_sync(FULL, b, d);
    if ((threadIdx.x & 31) == 0 && b != 0) atomicOr(seen + w, b);
  }
}

// suffix_keys writes the key of each suffix: in the highest key_bits (at most 56) the numbers of its symbols, of width bits each, in the
// lowest 8 bits how many of these fit as a whole. After the end, the text goes on with the smallest symbol, whose number is 0. numbers has
// the number of each byte.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_keys(const u8 *text, u64 n, const u8 *numbers, u64 width, u64 key_bits, u64 *keys, u32 *step) {
  mark(step, STEP_SUFFIX_KEYS);
  __shared__ u8 symbol[SUFFIX_TILE + SUFFIX_PAD], number[256];
  number[threadIdx.x] = numbers[threadIdx.x];
  __syncthreads();
  u64 base = (u64)blockIdx.x * SUFFIX_TILE;
  for (u32 i = threadIdx.x; i < SUFFIX_TILE + SUFFIX_PAD; i += THREADS) symbol[i] = base + i < n ? number[text[base + i]] : 0;
  __syncthreads();
  u32 begin = threadIdx.x * SUFFIX_ROUNDS, bits = (u32)width;
  if (base + begin >= n) return;
  // Symbols are put before others, from the last suffix of the thread to the first. After the last come as many as fill a word.
  u64 word = 0, mask = ~0ull << (64 - key_bits), fit = key_bits / bits;
  u32 last = begin + SUFFIX_ROUNDS - 1;
  for (u32 i = last + 64 / bits; i > last; i--) word = (u64)symbol[i] << (64 - bits) | word >> bits;
#pragma unroll
  for (int k = SUFFIX_ROUNDS - 1; k >= 0; k--) {
    u32 i = begin + k;
    word = (u64)symbol[i] << (64 - bits) | word >> bits;
    if (base + i < n) keys[base + i] = (word & mask) | fit;
  }
}

// suffix_count counts each tile's digits; the counts of one digit are contiguous.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_count(const u64 *keys, u64 n, u64 shift, u32 *counts, u32 *step) {
  mark(step, STEP_SUFFIX_COUNT);
  count_digits<SUFFIX_DIGITS, SUFFIX_ROUNDS>(n, counts, [=](u64 i) { return (u32)(keys[i] >> shift & (SUFFIX_DIGITS - 1)); });
}

// suffix_scatter moves keys and values to the offsets that are the running totals of the counts. Equal digits keep their order. A tile is
// put in order in shared memory first, so that neighbours are written together. values null: they are 0, 1, 2, ...
extern "C" __global__ void __launch_bounds__(THREADS, 4)
suffix_scatter(const u64 *keys, const u32 *values, u64 n, u64 shift, const u32 *counts, u64 *keys_out, u32 *values_out, u32 *step) {
  mark(step, STEP_SUFFIX_SCATTER);
  __shared__ u32 place[WARPS][SUFFIX_DIGITS], offset[SUFFIX_DIGITS], sums[WARPS];
  __shared__ u64 staged[SUFFIX_TILE];
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u64 base = (u64)blockIdx.x * SUFFIX_TILE;
  u32 own = warp * (SUFFIX_ROUNDS * 32) + lane, size = n - base < SUFFIX_TILE ? (u32)(n - base) : SUFFIX_TILE;
  u64 key[SUFFIX_ROUNDS];
  u32 rank[SUFFIX_ROUNDS];
#pragma unroll
  for (int j = 0; j < SUFFIX_ROUNDS; j++) key[j] = own + j * 32 < size ? keys[base + own + j * 32] : 0;
  rank_digits(place, rank, [&](int j) { return own + j * 32 < size ? (u32)(key[j] >> shift & (SUFFIX_DIGITS - 1)) : SUFFIX_DIGITS; });
  u32 d = threadIdx.x, sum = 0, total;
#pragma unroll
  for (int w = 0; w < WARPS; w++) sum += place[w][d];
  u32 at = block_exclusive(sum, sums, &total);
  offset[d] = counts[(u64)d * gridDim.x + blockIdx.x] - at;
  place_digit(place, d, at);
  __syncthreads();
#pragma unroll
  for (int j = 0; j < SUFFIX_ROUNDS; j++) {
    if (own + j * 32 >= size) continue;
    rank[j] += place[warp][key[j] >> shift & (SUFFIX_DIGITS - 1)];
    staged[rank[j]] = key[j];
  }
  __syncthreads();
  u32 to[SUFFIX_ROUNDS];
#pragma unroll
  for (int j = 0; j < SUFFIX_ROUNDS; j++) {
    u32 i = j * THREADS + threadIdx.x;
    if (i >= size) continue;
    u64 x = staged[i];
    to[j] = offset[x >> shift & (SUFFIX_DIGITS - 1)] + i;
    keys_out[to[j]] = x;
  }
  __syncthreads();
  u32 *staged_values = (u32 *)staged;
#pragma unroll
  for (int j = 0; j < SUFFIX_ROUNDS; j++) {
    if (own + j * 32 >= size) continue;
    u64 i = base + own + j * 32;
    staged_values[rank[j]] = values ? values[i] : (u32)i;
  }
  __syncthreads();
#pragma unroll
  for (int j = 0; j < SUFFIX_ROUNDS; j++) {
    u32 i = j * THREADS + threadIdx.x;
    if (i < size) values_out[to[j]] = staged_values[i];
  }
}

// new_group reports whether a group of equal keys begins at index i.
static __device__ __forceinline__ bool new_group(const u64 *keys, u64 i, u32 shift) {
  return i == 0 || (keys[i] ^ keys[i - 1]) >> shift != 0;
}

// suffix_heads finds for each tile of sorted keys the last index at which a group of keys begins that are equal but for the lowest shift
// bits, plus 1; 0 if there is none.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_heads(const u64 *keys, u64 n, u64 shift, u32 *heads, u32 *step) {
  mark(step, STEP_SUFFIX_HEADS);
  __shared__ u32 last;
  if (threadIdx.x == 0) last = 0;
  __syncthreads();
  u64 base = (u64)blockIdx.x * SUFFIX_TILE;
  u32 own = 0;
#pragma unroll
  for (int k = 0; k < SUFFIX_ROUNDS; k++) {
    u64 i = base + k * THREADS + threadIdx.x;
    if (i < n && new_group(keys, i, (u32)shift)) own = (u32)i + 1;
  }
  if (own > 0) atomicMax(&last, own);
  __syncthreads();
  if (threadIdx.x == 0) heads[blockIdx.x] = last;
}

// block_max returns the largest v of the threads before this one, or 0; *all gets that of all. sums is WARPS words of shared memory.
static __device__ __forceinline__ u32 block_max(u32 v, u32 *sums, u32 *all) {
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u32 x = v;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    u32 y = __shfl_up_sync(FULL, x, d);
    if (lane >= d && y > x) x = y;
  }
  if (lane == 31) sums[warp] = x;
  u32 before = __shfl_up_sync(FULL, x, 1);
  if (lane == 0) before = 0;
  __syncthreads();
  u32 most = 0;
#pragma unroll
  for (int w = 0; w < WARPS; w++) {
    if (w < warp && sums[w] > before) before = sums[w];
    if (sums[w] > most) most = sums[w];
  }
  __syncthreads();
  *all = most;
  return before;
}

// suffix_carry replaces each of n values by the largest one before it, or 0. One thread block.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_carry(u32 *heads, u64 n, u32 *step) {
  mark(step, STEP_SUFFIX_CARRY);
  __shared__ u32 sums[WARPS];
  u32 carry = 0;
  for (u64 base = 0; base < n; base += THREADS) {
    u64 i = base + threadIdx.x;
    u32 v = i < n ? heads[i] : 0, all, before = block_max(v, sums, &all);
    if (i < n) heads[i] = before > carry ? before : carry;
    if (all > carry) carry = all;
  }
}

// A rank and a depth of a suffix, in one word.
static __device__ __forceinline__ u64 ranked(u32 rank, u32 depth) { return (u64)depth << 32 | rank; }

// order_after returns what orders a suffix that begins at p among those that have depth symbols in common with it: the rank of the one
// that begins depth symbols later. Past the end of the text, it is the less the further, and less than all ranks. *deeper gets what the
// suffixes of equal order have in common after that.
static __device__ __forceinline__ u32 order_after(const u64 *ranks, u64 n, u32 p, u32 depth, u32 *deeper) {
  u64 q = (u64)p + depth;
  *deeper = 0;
  if (q >= n) return SUFFIX_PAD - 1 - (u32)(q - n);
  u64 r = ranks[q];
  *deeper = (u32)(r >> 32);
  return (u32)r + SUFFIX_PAD;
}

// suffix_groups writes the list of suffixes that are sorted by their keys; heads are those of suffix_carry. For the keys of suffix_keys
// (order_bits 0), of which shift bits don't count, the rank of a group is the index at which it begins. Those of suffix_large_keys are
// the number of a group and order_bits of the order in it; bases and depths are those of that group.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_groups(const u64 *keys, const u32 *values, u64 n, u64 shift, u64 order_bits, const u32 *heads, const u32 *bases, const u32 *depths,
              const u64 *ranks, u64 text_size, u32 *at_out, u32 *rank_out, u32 *depth_out, u32 *step) {
  mark(step, STEP_SUFFIX_GROUPS);
  __shared__ u32 sums[WARPS];
  u64 base = (u64)blockIdx.x * SUFFIX_TILE;
  u32 carry = heads[blockIdx.x];
  for (int k = 0; k < SUFFIX_ROUNDS; k++) {
    u64 i = base + k * THREADS + threadIdx.x;
    bool in = i < n, begins = in && new_group(keys, i, (u32)shift);
    u32 own = begins ? (u32)i + 1 : 0, all, head = block_max(own, sums, &all);
    if (own > head) head = own;
    if (carry > head) head = carry;
    if (all > carry) carry = all;
    if (!in) continue;
    u64 key = keys[i];
    u32 rank = head - 1, depth = (u32)key & 0xff, p = values[i];
    if (order_bits) {
      u32 group = (u32)(key >> order_bits);
      rank += bases[group];
      depth = depths[group];
      if (!begins || (i + 1 < n && keys[i + 1] == key)) {
        u32 deeper;
        order_after(ranks, text_size, p, depth, &deeper);
        depth += deeper;
      }
    }
    at_out[i] = p;
    rank_out[i] = rank;
    depth_out[i] = depth;
  }
}

// The classes of the suffixes of a list, by the size of their group.
#define CLASS_ONE 0   // one: its rank is final
#define CLASS_SMALL 1 // up to SUFFIX_SMALL
#define CLASS_LARGE 2

// A thread takes so many neighbours of a tile and of the SUFFIX_SMALL ranks before it.
#define CLASS_ITEMS (SUFFIX_TILE / THREADS + 1)
static_assert(CLASS_ITEMS * THREADS == SUFFIX_TILE + SUFFIX_SMALL, "a tile and what is before it");

// Window is a tile of a list in shared memory.
struct Window {
  u32 rank[SUFFIX_TILE + 2 * SUFFIX_SMALL + 2]; // of the tile, SUFFIX_SMALL + 1 before and SUFFIX_SMALL after it
  u32 sums[WARPS];
  unsigned short place[SUFFIX_TILE]; // class << 13 | suffixes of that class before it in the tile
  unsigned short group[SUFFIX_TILE]; // large groups that begin in the tile, up to this suffix
};

// classify fills a window and returns the numbers of suffixes in small groups, in large groups, and of large groups that begin there.
static __device__ void classify(Window *w, const u32 *rank, u64 n, u32 *small, u32 *large, u32 *groups) {
  long long base = (long long)blockIdx.x * SUFFIX_TILE, before = base - SUFFIX_SMALL - 1;
  for (u32 i = threadIdx.x; i < SUFFIX_TILE + 2 * SUFFIX_SMALL + 1; i += THREADS) {
    long long j = before + i;
    w->rank[i] = j >= 0 && j < (long long)n ? rank[j] : 0xffffffffu;
  }
  __syncthreads();
  // Indexes are those of the window, of which the tile begins at SUFFIX_SMALL + 1.
  u32 from = 1 + threadIdx.x * CLASS_ITEMS, last = 0, all;
  for (u32 i = from; i < from + CLASS_ITEMS; i++)
    if (w->rank[i] != w->rank[i - 1]) last = i;
  u32 head = block_max(last, w->sums, &all); // 0: it began before the window
  u32 count = 0, begins = 0;                // small and, in the upper half, large suffixes
  for (u32 i = from; i < from + CLASS_ITEMS; i++) {
    u32 r = w->rank[i];
    bool first = r != w->rank[i - 1];
    if (first) head = i;
    long long j = before + i;
    if (i <= SUFFIX_SMALL || j >= (long long)n) continue;
    u32 k = i - SUFFIX_SMALL - 1, c = CLASS_LARGE;
    if (first && w->rank[i + 1] != r) {
      c = CLASS_ONE;
    } else if (head > 0 && i - head < SUFFIX_SMALL && w->rank[head + SUFFIX_SMALL] != r) {
      c = CLASS_SMALL;
    }
    if (c == CLASS_LARGE && first) begins++;
    w->place[k] = (unsigned short)(c << 13 | (c == CLASS_SMALL ? count & 0xffff : c == CLASS_LARGE ? count >> 16 : 0));
    w->group[k] = (unsigned short)begins;
    if (c != CLASS_ONE) count += c == CLASS_SMALL ? 1 : 1 << 16;
  }
  u32 total, groups_before, count_before = block_exclusive(count, w->sums, &total);
  __syncthreads();
  groups_before = block_exclusive(begins, w->sums, groups);
  *small = total & 0xffff;
  *large = total >> 16;
  for (u32 i = from; i < from + CLASS_ITEMS; i++) {
    if (i <= SUFFIX_SMALL || before + i >= (long long)n) continue;
    u32 k = i - SUFFIX_SMALL - 1, c = w->place[k] >> 13;
    if (c != CLASS_ONE) w->place[k] += (unsigned short)(c == CLASS_SMALL ? count_before & 0xffff : count_before >> 16);
    w->group[k] += (unsigned short)groups_before;
  }
  __syncthreads();
}

// suffix_divide_count writes the numbers of classify for each tile: all first numbers, all second, all third.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_divide_count(const u32 *rank, u64 n, u32 *counts, u32 *step) {
  mark(step, STEP_SUFFIX_DIVIDE_COUNT);
  __shared__ Window w;
  u32 small, large, groups;
  classify(&w, rank, n, &small, &large, &groups);
  if (threadIdx.x == 0) {
    counts[blockIdx.x] = small;
    counts[gridDim.x + blockIdx.x] = large;
    counts[2 * gridDim.x + blockIdx.x] = groups;
  }
}

// suffix_divide writes the ranks of a list of n suffixes by where they begin, the symbols before those that are alone in their group to
// the transform, and the others to two lists; counts are the running totals of those of suffix_divide_count. In the list of large
// groups, a suffix has the number of its group instead of its rank, and bases has, for each group, its rank less its first index.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_divide(const u32 *at, const u32 *rank, const u32 *depth, u64 n, const u32 *counts, const u8 *text, u64 text_size, u8 *transformed,
              u64 *ranks, struct SuffixLists *lists, u32 *step) {
  mark(step, STEP_SUFFIX_DIVIDE);
  __shared__ Window w;
  u32 some, large, groups;
  classify(&w, rank, n, &some, &large, &groups);
  u32 smalls = counts[blockIdx.x];
  u32 larges = counts[gridDim.x + blockIdx.x] - counts[gridDim.x], numbers = counts[2 * gridDim.x + blockIdx.x] - counts[2 * gridDim.x];
  u32 *small_at = (u32 *)lists->small_at, *small_rank = (u32 *)lists->small_rank, *small_depth = (u32 *)lists->small_depth;
  u32 *large_at = (u32 *)lists->large_at, *large_group = (u32 *)lists->large_group;
  u32 *bases = (u32 *)lists->bases, *depths = (u32 *)lists->depths;
  u64 base = (u64)blockIdx.x * SUFFIX_TILE;
#pragma unroll 4
  for (int k = 0; k < SUFFIX_ROUNDS; k++) {
    u32 i = k * THREADS + threadIdx.x;
    if (base + i >= n) break;
    u32 r = w.rank[i + SUFFIX_SMALL + 1], p = at[base + i], d = depth[base + i];
    u32 c = w.place[i] >> 13, place = w.place[i] & 0x1fff;
    ranks[p] = ranked(r, d);
    if (c == CLASS_ONE) {
      transformed[r] = text[p ? p - 1 : text_size - 1];
    } else if (c == CLASS_SMALL) {
      small_at[smalls + place] = p;
      small_rank[smalls + place] = r;
      small_depth[smalls + place] = d;
    } else {
      u32 g = numbers + w.group[i] - 1;
      large_at[larges + place] = p;
      large_group[larges + place] = g;
      if (w.rank[i + SUFFIX_SMALL] != r) {
        bases[g] = r - (larges + place);
        depths[g] = d;
      }
    }
  }
}

// suffix_small sorts a list of groups of up to SUFFIX_SMALL suffixes into another one. A thread block takes the groups that begin in its
// tile, and a thread compares each of its suffixes with all of the group.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_small(const u32 *at, const u32 *rank, const u32 *depth, u64 n, const u64 *ranks, u64 text_size, u32 *at_out, u32 *rank_out,
             u32 *depth_out, u32 *step) {
  mark(step, STEP_SUFFIX_SMALL);
  __shared__ u64 key[SUFFIX_GROUP_TILE + SUFFIX_SMALL + 2]; // rank << 32 | order in the group; after one that belongs to no group
  u64 base = (u64)blockIdx.x * SUFFIX_GROUP_TILE;
  u32 size = n - base < SUFFIX_GROUP_TILE + SUFFIX_SMALL ? (u32)(n - base) : SUFFIX_GROUP_TILE + SUFFIX_SMALL;
  __shared__ u32 end;       // of the groups that begin in the tile
  u32 before = base ? rank[base - 1] : 0xffffffffu; // the rank of a group that began before
  u32 last = rank[base + (size < SUFFIX_GROUP_TILE ? size : SUFFIX_GROUP_TILE) - 1];
  if (threadIdx.x == 0) {
    end = 0;
    key[0] = ~0ull;
  }
  __syncthreads();
  u32 own_at[9], own_depth[9], most = 0;
#pragma unroll
  for (int k = 0; k < 9; k++) {
    u32 i = k * THREADS + threadIdx.x;
    if (i >= size) continue;
    u32 r = rank[base + i];
    u64 word = (u64)r << 32;
    // Suffixes of the tile, and those after it that belong to its last group.
    if (r != before && (i < SUFFIX_GROUP_TILE || r == last)) {
      u32 d = depth[base + i], deeper;
      own_at[k] = at[base + i];
      word |= order_after(ranks, text_size, own_at[k], d, &deeper);
      own_depth[k] = d + deeper;
      most = i + 1;
    }
    key[i + 1] = word;
  }
  if (most > 0) atomicMax(&end, most);
  if (threadIdx.x == 0) key[size + 1] = ~0ull;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 9; k++) {
    u32 i = k * THREADS + threadIdx.x;
    if (i >= end) break;
    u64 own = key[i + 1];
    u32 r = (u32)(own >> 32);
    if (r == before) continue;
    u32 less = 0, equal = 0, first = i;
    for (u32 j = i;; j--) { // key[j] is the one before it
      u64 x = key[j];
      if ((u32)(x >> 32) != r) break;
      less += x < own;
      equal += x == own;
      first = j - 1;
    }
    for (u32 j = i + 2;; j++) {
      u64 x = key[j];
      if ((u32)(x >> 32) != r) break;
      less += x < own;
    }
    u64 to = base + first + less + equal;
    at_out[to] = own_at[k];
    rank_out[to] = r + less;
    depth_out[to] = own_depth[k];
  }
}

// suffix_large_keys makes the keys by which a list of large groups is sorted: the number of the group and, in the lowest order_bits, the
// order in it.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_large_keys(const u32 *at, const u32 *group, u64 n, const u32 *depths, const u64 *ranks, u64 text_size, u64 order_bits, u64 *keys,
                  u32 *step) {
  mark(step, STEP_SUFFIX_LARGE_KEYS);
  u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  u32 g = group[i], deeper;
  keys[i] = (u64)g << order_bits | order_after(ranks, text_size, at[i], depths[g], &deeper);
}

// suffix_starts writes the ranks of the suffixes 0, distance, 2 * distance, ...
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_starts(const u64 *ranks, u64 distance, u64 count, u32 *starts, u32 *step) {
  mark(step, STEP_SUFFIX_STARTS);
  u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
  if (i < count) starts[i] = (u32)ranks[i * distance];
}

// suffix_samples writes where the suffix of the last of each `every` ranks begins.
extern "C" __global__ void __launch_bounds__(THREADS)
suffix_samples(const u64 *ranks, u64 n, u64 every, u32 *samples, u32 *step) {
  mark(step, STEP_SUFFIX_SAMPLES);
  u64 p = (u64)blockIdx.x * THREADS + threadIdx.x;
  if (p >= n) return;
  u32 r = (u32)ranks[p] + 1;
  if (r % (u32)every == 0) samples[r / (u32)every - 1] = (u32)p;
}
