// Coded names: each line is compared with the line before it, token by token, and what differs goes to
// five streams (docs/FORMAT.md), a thread a line.
#pragma once
#include "warp.cuh"

#define NAME_TILE 24576 // bytes of names that a thread block copies to shared memory
#define NAME_TOKENS 16
#define NUMBER_PLACES 9 // of a number that the next may follow
#define NUMBER_STEP 127 // and by how much

// name_start returns where record r's name begins, or the names' total for r = n.
static __device__ __forceinline__ u32 name_start(const u32 *name_at, u32 n, u32 total, u32 r) { return r < n ? __ldg(name_at + r) : total; }

// name_chunks finds where the lines of each chunk begin. chunks[count] gets the totals. One thread block.
extern "C" __global__ void __launch_bounds__(THREADS)
name_chunks(const u32 *name_at, u64 n, u64 total, u64 count, NameChunk *chunks, u32 *step) {
  mark(step, STEP_NAME_CHUNKS);
  __shared__ u32 sums[WARPS];
  u32 carry = 0;
  for (u32 base = 0; base <= count; base += THREADS) {
    u32 c = base + threadIdx.x, first = 0, split = 0;
    if (c <= count) {
      u64 begin = min((u64)c << CHUNK_SHIFT, total);
      u32 high = (u32)n;
      while (first < high) {
        u32 middle = (first + high) / 2;
        if (name_at[middle] < begin) first = middle + 1;
        else high = middle;
      }
      split = name_start(name_at, n, total, first) != begin;
    }
    u32 all, before = block_exclusive(split, sums, &all);
    if (c <= count) {
      chunks[c].record = first;
      chunks[c].line = first + carry + before;
      chunks[c].split = split;
    }
    carry += all;
    __syncthreads();
  }
}

// NameLine is one line of a chunk: the bytes of the names from..to without '\n', and the line
// before it, before..before_end.
struct NameLine {
  u32 from, to, before, before_end;
};

// name_line finds line t.
static __device__ NameLine name_line(const u32 *name_at, u32 n, u32 total, const NameChunk *chunks, u32 count, u32 t) {
  u32 low = 0, high = count;
  while (low + 1 < high) {
    u32 middle = (low + high) / 2;
    if (chunks[middle].line <= t) low = middle;
    else high = middle;
  }
  NameChunk c = chunks[low];
  u32 begin = low << CHUNK_SHIFT, end = min((u64)(low + 1) << CHUNK_SHIFT, (u64)total);
  u32 i = t - c.line, r = c.record + i - c.split; // for the rest of a name, r is the record before the chunk's first
  bool rest = c.split && i == 0;
  NameLine l;
  l.from = rest ? begin : name_start(name_at, n, total, r);
  u32 after = name_start(name_at, n, total, r + 1);
  l.to = after <= end ? after - 1 : end;
  l.before = l.before_end = l.from;
  if (i > 0) {
    l.before = c.split && i == 1 ? begin : name_at[r - 1];
    l.before_end = l.from - 1;
  }
  return l;
}

// Token is a run of digits or of other bytes, or the rest of a line.
struct Token {
  u32 from, to, value; // the value of digits, modulo 1<<32
  bool digits;
};

// next_token returns token k of a line whose tokens before it end at the byte `at`.
static __device__ __forceinline__ Token next_token(const u8 *bytes, u32 at, u32 end, u32 k) {
  Token t = {at, end, 0, false};
  if (k == NAME_TOKENS - 1 || at == end) return t;
  u32 d = bytes[at] - '0';
  t.digits = d < 10;
  do {
    t.value = t.value * 10 + d;
    at++;
    if (at == end) break;
    d = bytes[at] - '0';
  } while ((d < 10) == t.digits);
  t.to = at;
  return t;
}

// step_of returns by how much a token is larger than the one before, 1..127, if it is coded so; else 0.
static __device__ __forceinline__ u32 step_of(const u8 *bytes, Token a, Token b) {
  u32 places = b.to - b.from, own = a.to - a.from;
  if (!a.digits || !b.digits || places > NUMBER_PLACES || own > NUMBER_PLACES + 1 || own < places) return 0;
  if (own > places && bytes[a.from] == '0') return 0;
  // ten places: 1000000000 to 1000000126 are what can follow nine; a value modulo 1<<32 must not be taken for one
  if (own > NUMBER_PLACES && (bytes[a.from] != '1' || bytes[a.from + 1] != '0')) return 0;
  u32 step = a.value - b.value;
  return a.value > b.value && step <= NUMBER_STEP ? step : 0;
}

static __device__ __forceinline__ bool same_bytes(const u8 *bytes, Token a, Token b) {
  u32 n = a.to - a.from;
  if (b.to - b.from != n) return false;
  for (u32 i = 0; i < n; i++)
    if (bytes[a.from + i] != bytes[b.from + i]) return false;
  return true;
}

// LineCodes is what a line adds to the streams.
struct LineCodes {
  u32 tokens, differ; // their number, and a bit for each that differs
  u32 kinds, literals; // bytes
};

// code_line compares a line with the one before. With kinds not null it writes the streams 3 and 4.
static __device__ LineCodes code_line(const u8 *bytes, NameLine l, u8 *kinds, u8 *literals) {
  LineCodes c = {0, 0, 0, 0};
  u32 at = l.from, before = l.before;
  for (u32 k = 0; k < NAME_TOKENS && at < l.to; k++) {
    Token a = next_token(bytes, at, l.to, k), b = next_token(bytes, before, l.before_end, k);
    bool has = before < l.before_end;
    at = a.to;
    before = b.to;
    c.tokens++;
    if (has && same_bytes(bytes, a, b)) continue;
    c.differ |= 1u << k;
    u32 step = has ? step_of(bytes, a, b) : 0;
    if (step) {
      if (kinds) kinds[c.kinds] = step;
      c.kinds++;
      continue;
    }
    u32 n = a.to - a.from;
    if (kinds) {
      if (n < 127) {
        kinds[c.kinds] = 128 + n;
      } else {
        kinds[c.kinds] = 255;
        kinds[c.kinds + 1] = n;
        kinds[c.kinds + 2] = n >> 8;
        kinds[c.kinds + 3] = n >> 16;
      }
      for (u32 i = 0; i < n; i++) literals[c.literals + i] = bytes[a.from + i];
    }
    c.kinds += n < 127 ? 1 : 4;
    c.literals += n;
  }
  return c;
}

// stage_names copies the bytes of the thread block's lines to shared memory, if they fit there. What it
// returns is indexed by offsets in the names less *origin.
static __device__ const u8 *stage_names(const u8 *names, NameLine l, bool has, u32 *tile, u32 *bounds, u32 *origin) {
  if (threadIdx.x == 0) {
    bounds[0] = l.before;
    bounds[1] = l.before;
  }
  __syncthreads();
  if (has) atomicMax(bounds + 1, l.to);
  __syncthreads();
  u32 from = bounds[0] & ~3u, to = bounds[1];
  *origin = 0;
  if (to - from > NAME_TILE) return names;
  for (u32 w = threadIdx.x; w < (to - from + 3) / 4; w += THREADS) tile[w] = __ldg((const u32 *)(names + from) + w);
  __syncthreads();
  *origin = from;
  return (const u8 *)tile;
}

// code_own_line is what both kernels below do for the line t of a thread; at is where it writes.
static __device__ __forceinline__ LineCodes code_own_line(const u8 *names, const u32 *name_at, u32 n, u32 total, const NameChunk *chunks,
                                                          u32 count, u32 t, u8 *kinds, u8 *literals) {
  __shared__ u32 tile[NAME_TILE / 4 + 1], bounds[2];
  NameLine l = {0, 0, 0, 0};
  bool has = t < chunks[count].line;
  if (has) l = name_line(name_at, n, total, chunks, count, t);
  u32 origin;
  const u8 *bytes = stage_names(names, l, has, tile, bounds, &origin);
  l.from -= origin;
  l.to -= origin;
  l.before -= origin;
  l.before_end -= origin;
  LineCodes none = {0, 0, 0, 0};
  return has ? code_line(bytes, l, kinds, literals) : none;
}

// name_sizes writes, for each line, the streams 0 to 2, and how many bytes it adds to the streams 3 and
// 4. From the number of lines to limit it writes zeros, and STREAM_PAD zeros behind the streams 0 to 2.
extern "C" __global__ void __launch_bounds__(THREADS)
name_sizes(const u8 *names, const u32 *name_at, u64 n, u64 total, const NameChunk *chunks, u64 count, u64 limit, u8 *tokens, u8 *low,
           u8 *high, u32 *kind_at, u32 *literal_at, u32 *step) {
  mark(step, STEP_NAME_SIZES);
  u32 t = blockIdx.x * THREADS + threadIdx.x;
  LineCodes c = code_own_line(names, name_at, n, total, chunks, count, t, 0, 0);
  if (t >= limit + STREAM_PAD) return;
  tokens[t] = c.tokens;
  low[t] = c.differ;
  high[t] = c.differ >> 8;
  if (t >= limit) return;
  kind_at[t] = c.kinds;
  literal_at[t] = c.literals;
}

// name_streams writes the streams 3 and 4 from the running totals on, and STREAM_PAD zeros behind them. Its threads are more
// than there are lines.
extern "C" __global__ void __launch_bounds__(THREADS)
name_streams(const u8 *names, const u32 *name_at, u64 n, u64 total, const NameChunk *chunks, u64 count, const u32 *kind_at,
             const u32 *literal_at, u8 *kinds, u8 *literals, u32 *step) {
  mark(step, STEP_NAME_STREAMS);
  u32 t = blockIdx.x * THREADS + threadIdx.x;
  u32 lines = chunks[count].line;
  if (t <= lines) {
    kinds += kind_at[t];
    literals += literal_at[t];
  }
  code_own_line(names, name_at, n, total, chunks, count, t, kinds, literals);
  if (t != lines) return;
#pragma unroll 1
  for (u32 i = 0; i < STREAM_PAD; i++) kinds[i] = literals[i] = 0;
}
