// The coder of qualities, whose model and stream package quals defines: see compress/quals/model.go, contexts.go and lanes.go. A warp codes
// a column. Two neighbouring threads have a lane of the coder: each has half of the slots of its lines, and all of its history.
#pragma once
#include "warp.cuh"

#define QUAL_STATE (1u << 16) // what package quals names stateStart

#define QUAL_AHEAD 2 // lanes whose slots are loaded ahead

// The history of a lane: histories of package quals.
struct QualHistory {
  u32 last, second, third, fourth, place, run, before, slow, share, delta;
};

// What the threads of a warp tell each other: by lane, how the slots of its lines move, and where these lines are.
struct QualShared {
  uint2 moves[QUAL_LANES][2];
  u32 lines[QUAL_FEATURES][QUAL_LANES];
};

// The coder of a column: what is the same for all threads, and what a lane has.
struct QualCoder {
  QualColumn *column;
  u32 record, offset, next;  // of the next piece
  u32 word, words, row;      // read or written so far; row: of the block
  u32 steps, rate, span;
  u32 left, to, x;           // of the lane
  bool overrun;
  u8 *slots;
  QualShared *shared;
  QualHistory h;
};

static __device__ __forceinline__ u32 high(u32 a, u32 b) { return a * b >> 16; }

static __device__ __forceinline__ int clamp16(int x) { return min(max(x, -32768), 32767); }

static __device__ __forceinline__ u32 half_octaves(u32 n) {
  u32 e = 31 - __clz(n);
  return 2 * e + (n << 1 >> e & 1);
}

// qual_lines sets where the lines of the next symbol of the lane start, in bytes.
static __device__ __forceinline__ void qual_lines(const QualCoder &q, u32 line[QUAL_FEATURES]) {
  const QualHistory &h = q.h;
  u32 c[QUAL_FEATURES], place = min(h.place, 511u), bits = q.column->bits;
  if (q.column->stepped) {
    u32 spread = min(half_octaves(4 * h.delta + 1), 31u);
    c[0] = h.slow >> 6 << 8 | place << 20;
    c[1] = min(h.run, 31u) << 8 | h.before << 13 | spread << 18;
    c[2] = h.share >> 8 << 8 | place >> 3 << 16;
    c[3] = h.second << 8 | h.third << 12 | h.fourth << 16 | spread << 20;
  } else {
    c[0] = h.slow >> 8 << 8 | place << 20;
    c[1] = min(h.run, 15u) << 8 | h.slow >> 9 << 16;
    c[2] = h.share >> 9 << 8 | place >> 3 << 16;
    c[3] = h.second << 8 | max(h.third, h.fourth) << 16;
  }
#pragma unroll
  for (u32 f = 0; f < QUAL_FEATURES; f++) {
    u32 x = (h.last | c[f]) * 0x9E3779B1u;
    x = (x ^ x >> 15) * 0x85EBCA77u;
    line[f] = ((f == QUAL_LAST ? h.last << QUAL_LESS_BITS : x >> (32 - bits)) + (f << bits)) * QUAL_LINE;
  }
}

// qual_append appends a symbol to the history of the lane.
static __device__ __forceinline__ void qual_append(QualHistory &h, u32 s, u32 top) {
  u32 last = h.last;
  if (s == last) {
    h.run++;
  } else {
    h.run = 0;
    h.before = last;
    if (h.place > 0) h.delta += s > last ? s - last : last - s;
  }
  h.slow += (int)((s << 8) - h.slow) >> 4;
  h.share += (int)((s == top ? 1 << 12 : 0) - h.share) >> 5;
  h.fourth = h.third;
  h.third = h.second;
  h.second = last;
  h.last = s;
  h.place++;
}

// lower_plus and upper_plus return the sum of x and the lower, or the upper, 16-bit number of two.
static __device__ __forceinline__ int lower_plus(u32 two, int x) { return __dp2a_lo((int)two, 0x0001, x); }
static __device__ __forceinline__ int upper_plus(u32 two, int x) { return __dp2a_lo((int)two, 0x0100, x); }

// qual_add returns the sums, within 16 bits, of two numbers each.
static __device__ __forceinline__ u32 qual_add(u32 a, u32 b) {
  return __byte_perm(clamp16(lower_plus(a, lower_plus(b, 0))), clamp16(upper_plus(a, upper_plus(b, 0))), 0x5410);
}

// qual_has reports whether a round has a feature.
static __device__ __forceinline__ bool qual_has(u32 f, bool further) {
  return f >= (further ? QUAL_FIRST_FURTHER : 0) && f < QUAL_FEATURES;
}

// qual_learn moves the lines of lanes, whose bits of `taking` are set, one lane after the other, since they may have lines in common. A
// thread has two slots of a feature.
static __device__ __forceinline__ void qual_learn(QualCoder &q, u32 taking, bool further) {
  __syncwarp();
  u32 f = threadIdx.x / 4 & 7, part = threadIdx.x & 3;
  if (qual_has(f, further)) {
    const u32 *lines = q.shared->lines[f], *moves = (const u32 *)q.shared->moves + part;
    u8 *slots = q.slots + 4 * part;
    if (taking == 0x55555555) {
      // Slots are loaded before those of the lanes before are stored.
      u32 at[QUAL_LANES], v[QUAL_LANES];
#pragma unroll
      for (u32 l = 0; l < QUAL_LANES; l++) at[l] = lines[l];
#pragma unroll
      for (u32 l = 0; l < QUAL_AHEAD; l++) v[l] = *(const u32 *)(slots + at[l]);
#pragma unroll
      for (u32 l = 0; l < QUAL_LANES; l++) {
        if (l + QUAL_AHEAD < QUAL_LANES) v[l + QUAL_AHEAD] = *(const u32 *)(slots + at[l + QUAL_AHEAD]);
        u32 moved = qual_add(v[l], moves[4 * l]);
        *(u32 *)(slots + at[l]) = moved;
#pragma unroll
        for (u32 k = l + 1; k <= l + QUAL_AHEAD && k < QUAL_LANES; k++)
          if (at[k] == at[l]) v[k] = moved;
      }
    } else {
      for (; taking; taking &= taking - 1) {
        u32 l = (__ffs(taking) - 1) / 2, *at = (u32 *)(slots + lines[l]);
        *at = qual_add(*at, moves[4 * l]);
      }
    }
  }
  __syncwarp();
}

// qual_round codes a digit, from 0 to 8, of each lane that takes part, and returns it. further: it is not the first round. outcomes is how
// many there are. tails has, by octave, the tail of the logistic function in the lower half and the difference to the next one in the upper
// half.
template <bool DECODE>
static __device__ __forceinline__ u32 qual_round(QualCoder &q, const u32 line[QUAL_FEATURES], bool takes_part, bool further, u32 outcomes,
                                                 u32 digit, int rate, int dither, const u32 *tails) {
  u32 lane = threadIdx.x / 2 & 15, half = threadIdx.x & 1;
  uint2 slots[QUAL_FEATURES];
  int logits[4] = {0, 0, 0, 0};
#pragma unroll
  for (u32 f = 0; f < QUAL_FEATURES; f++)
    slots[f] = takes_part && qual_has(f, further) ? *(const uint2 *)(q.slots + line[f] + 8 * half) : make_uint2(0, 0);
#pragma unroll
  for (u32 f = 0; f < QUAL_FEATURES; f++) {
    logits[0] = clamp16(lower_plus(slots[f].x, logits[0]));
    logits[1] = clamp16(upper_plus(slots[f].x, logits[1]));
    logits[2] = clamp16(lower_plus(slots[f].y, logits[2]));
    logits[3] = clamp16(upper_plus(slots[f].y, logits[3]));
  }
  u32 going[4], bound[4]; // of going on at each outcome; the share of outcomes above it
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    u32 a = min(abs(logits[k]), 32767), t = tails[a >> 11];
    u32 tail = (t & 0xffff) - high(t >> 16, a << 5 & 0xffff);
    bound[k] = going[k] = logits[k] < 0 ? 0x10000 - tail : tail;
  }
  bound[1] = high(bound[0], bound[1]);
  bound[3] = high(bound[2], bound[3]);
  bound[2] = high(bound[1], bound[2]);
  bound[3] = high(bound[1], bound[3]);
  u32 before = __shfl_sync(FULL, bound[3], 2 * lane);
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    u32 outcome = 4 * half + k, share = half ? high(before, bound[k]) : bound[k];
    bound[k] = outcome + 1 < outcomes ? high(share, 65528) + 8 - outcome : 0;
  }
  u32 rank, start, end; // of the outcome: its interval
  if (DECODE) {
    u32 low = q.x & 0xffff;
    rank = start = 0;
    end = 0x10000;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      bool above = bound[k] > low;
      rank += above;
      start = max(start, above ? 0 : bound[k]);
      end = min(end, above ? bound[k] : 0x10000);
    }
    rank += __shfl_xor_sync(FULL, rank, 1);
    start = max(start, __shfl_xor_sync(FULL, start, 1));
    end = min(end, __shfl_xor_sync(FULL, end, 1));
    u32 x = (q.x >> 16) * (end - start) + low - start;
    bool needs = takes_part && x < QUAL_STATE;
    u32 all = __ballot_sync(FULL, needs && half == 0), at = q.word + __popc(all & ((1u << 2 * lane) - 1));
    if (needs) {
      q.overrun |= at >= q.words;
      x = x << 16 | (at < q.words ? ((const u16 *)q.column->coded)[at] : 0);
    }
    q.word += __popc(all);
    if (takes_part) q.x = x;
  } else {
    rank = min(digit, 8u);
    u32 both = 0;
#pragma unroll
    for (u32 k = 0; k < 4; k++) {
      u32 outcome = 4 * half + k;
      if (outcome == rank) both |= bound[k];
      if (outcome + 1 == rank) both |= bound[k] << 16;
    }
    both |= __shfl_xor_sync(FULL, both, 1);
    start = both & 0xffff;
    end = rank == 0 ? 0x10000 : both >> 16;
    if (half == 0) ((u32 *)q.column->rows)[q.row * QUAL_LANES + lane] = takes_part ? start << 16 | (end - start) : 0;
    q.row++;
  }

  u32 moves[4];
#pragma unroll
  for (u32 k = 0; k < 4; k++) {
    u32 outcome = 4 * half + k;
    int e = (int)(going[k] >> 1) - (outcome < rank ? 32767 : 0);
    moves[k] = takes_part && outcome <= rank ? min(e + dither, 32767) * rate >> 16 : 0;
  }
  q.shared->moves[lane][half] = make_uint2((moves[0] & 0xffff) | moves[1] << 16, (moves[2] & 0xffff) | moves[3] << 16);
#pragma unroll
  for (u32 f = 0; f < QUAL_FEATURES; f++)
    if (half == f % 2) q.shared->lines[f][lane] = line[f];
  qual_learn(q, __ballot_sync(FULL, takes_part && half == 0), further);
  return rank;
}

// qual_region sets the lines of a lane in a region, of which those in region 0 are given.
static __device__ __forceinline__ void qual_region(const QualColumn *c, u32 region, const u32 line[QUAL_FEATURES], u32 to[QUAL_FEATURES]) {
#pragma unroll
  for (u32 f = 0; f < QUAL_FEATURES; f++) {
    to[f] = line[f];
    if (region && qual_has(f, true)) {
      u32 n = line[f] / QUAL_LINE - (f << c->bits);
      u32 before = (region - 1) * (QUAL_FEATURES - QUAL_FIRST_FURTHER) + f - QUAL_FIRST_FURTHER; // in regions, by features
      to[f] = ((QUAL_FEATURES << c->bits) + (before << (c->bits - QUAL_LESS_BITS)) + (n >> QUAL_LESS_BITS)) * QUAL_LINE;
    }
  }
}

// qual_step codes a symbol of each lane that has a piece.
template <bool DECODE> static __device__ __forceinline__ void qual_step(QualCoder &q, bool has_piece, const u32 *tails) {
  const QualColumn *c = q.column;
  if (q.steps % 256 == 0) {
    q.rate = 80 + 320 * 80 / (80 + min(q.steps / 256, 1u << 16));
    q.span = 65536 / q.rate;
  }
  q.steps++;
  int rate = q.rate, dither = (q.steps * 40503 & 0xffff) * q.span >> 16;
  const u8 *table = (const u8 *)c->table + 256 * q.h.last; // byRank or rank of package quals
  u32 symbol = 0, rank = 0;
  if (!DECODE && has_piece) {
    symbol = ((const u8 *)c->values)[((const u8 *)c->quals)[q.to]];
    rank = table[symbol];
  }
  u32 line[QUAL_FEATURES], to[QUAL_FEATURES];
  qual_lines(q, line);
  // The first round codes ranks below 8. For larger ones, further rounds code the group of 8 ranks, and the last round the rank in it.
  u32 group = 0, coded = 0, rounds = c->group_rounds;
  bool more = false, open = false; // the rank of the lane is 8 or more; its group is not known yet
  for (u32 round = 0;; round++) {
    bool last = round == rounds + 1, takes_part = round == 0 ? has_piece : last ? more : open;
    u32 before = 8 * (round - 1); // groups
    qual_region(c, last ? round + group : round, line, to);
    u32 outcomes = round == 0 ? c->count : last ? 8 : c->groups - before;
    u32 digit = round == 0 ? rank : last ? rank % 8 : rank / 8 - 1 - before;
    digit = qual_round<DECODE>(q, to, takes_part, round > 0, outcomes, digit, rate, dither, tails);
    if (round == 0) {
      coded = digit;
      open = more = has_piece && digit == 8 && c->count > 9;
      if (!__any_sync(FULL, more)) break;
    } else if (last) {
      if (more) coded = 8 * (1 + group) + digit;
      break;
    } else if (open) {
      group = before + digit;
      open = digit == 8;
    }
    if (!__any_sync(FULL, open)) round = rounds;
  }
  q.overrun |= coded >= c->count;
  if (DECODE && has_piece) {
    symbol = table[coded & 255];
    if ((threadIdx.x & 1) == 0) ((u8 *)c->quals)[q.to] = ((const u8 *)c->values)[symbol];
  }
  if (has_piece) {
    q.to++;
    q.left--;
    qual_append(q.h, symbol, c->count - 1);
  }
}

static __device__ __forceinline__ u32 qual_length(const QualColumn *c, u32 record) {
  return c->lengths ? ((const u32 *)c->lengths)[record] : c->length;
}

// qual_block_end returns where the block ends that begins at the next piece, and how many lanes it has.
static __device__ u32 qual_block_end(const QualCoder &q, u32 *lanes) {
  u32 end = q.next, r = q.record, offset = q.offset;
  *lanes = 0;
  while (r < q.column->records && end - q.next < QUAL_BLOCK) {
    u32 n = min((u32)QUAL_PIECE, qual_length(q.column, r) - offset);
    if (n == 0) {
      r++;
      offset = 0;
      continue;
    }
    end += n;
    offset += n;
    if (*lanes < QUAL_LANES) ++*lanes;
  }
  return end;
}

// qual_pieces gives each lane without one the next piece of the block, and returns how many steps all lanes go on at least; 0 at the end.
static __device__ u32 qual_pieces(QualCoder &q, u32 end) {
  u32 without = __ballot_sync(FULL, q.left == 0) & 0x55555555;
  for (; without && q.next < end; without &= without - 1) {
    u32 length;
    while ((length = qual_length(q.column, q.record)) == q.offset) {
      q.record++;
      q.offset = 0;
    }
    u32 n = min((u32)QUAL_PIECE, length - q.offset);
    if ((threadIdx.x & 30) == __ffs(without) - 1) {
      u32 top = (q.column->count - 1) << 8;
      q.left = n;
      q.to = q.next;
      q.h = {0, 0, 0, 0, min(q.offset, 1u << 30), 0, 0, top, 0, 0};
    }
    q.next += n;
    q.offset += n;
  }
  u32 steps = q.left ? q.left : FULL;
  for (u32 d = 1; d < 32; d *= 2) steps = min(steps, __shfl_xor_sync(FULL, steps, d));
  return steps == FULL ? 0 : steps;
}

// qual_write encodes the decisions of a block, the last one first, over the rows from the end on, and appends the states of the lanes and
// the words to the coded column.
static __device__ void qual_write(QualCoder &q, u32 lanes) {
  u32 lane = threadIdx.x / 2 & 15, half = threadIdx.x & 1, x = QUAL_STATE;
  const u32 *rows = (const u32 *)q.column->rows;
  u16 *words = (u16 *)q.column->rows; // those from `first` to `end`; a row has half as many as it has room for
  u32 end = q.row * QUAL_LANES * 2, first = end;
  for (u32 row = q.row; row-- > 0;) {
    u32 d = rows[row * QUAL_LANES + lane], size = d & 0xffff;
    __syncwarp();
    bool full = half == 0 && size > 0 && x >> 16 >= size;
    u32 all = __ballot_sync(FULL, full);
    first -= __popc(all);
    if (full) {
      words[first + __popc(all & ((1u << 2 * lane) - 1))] = (u16)x;
      x >>= 16;
    }
    if (size > 0) {
      u32 n = x / size;
      x = (n << 16) + x - n * size + (d >> 16);
    }
  }
  __syncwarp();
  u32 n = end - first;
  u16 *to = (u16 *)q.column->coded + q.word;
  q.word += 2 * lanes + n;
  if (q.overrun = q.word > q.words) return;
  if (half == 0 && lane < lanes) {
    to[2 * lane] = (u16)x;
    to[2 * lane + 1] = (u16)(x >> 16);
  }
  for (u32 i = threadIdx.x & 31; i < n; i += 32) to[2 * lanes + i] = words[first + i];
  __syncwarp();
}

// qual_column codes a column, and sets its result.
template <bool DECODE> static __device__ __forceinline__ void qual_column(QualColumn *columns, u64 count) {
  __shared__ u32 tails[16];
  __shared__ QualShared shared[WARPS];
  if (threadIdx.x < 16) {
    u32 tail = 65536 / (1 + (1u << threadIdx.x));
    tails[threadIdx.x] = tail | (tail - 65536 / (1 + (2u << threadIdx.x))) << 16;
  }
  __syncthreads();
  u32 warp = threadIdx.x / 32, thread = threadIdx.x & 31, lane = thread / 2, lanes;
  if (blockIdx.x * WARPS + warp >= count) return;
  QualCoder q = {};
  QualColumn *c = q.column = columns + blockIdx.x * WARPS + warp;
  q.shared = shared + warp;
  q.slots = (u8 *)c->slots;
  for (u32 i = thread; i < c->lines; i += 32) ((uint4 *)c->slots)[i] = ((const uint4 *)c->first)[i];
  __syncwarp();
  q.words = c->coded_words;
  q.steps = c->steps;
  q.rate = c->rate;
  q.span = c->span;
  for (u32 end; (end = qual_block_end(q, &lanes)) > q.next && !q.overrun;) {
    if (DECODE) {
      u32 at = q.word + 2 * lane;
      q.word += 2 * lanes;
      q.overrun = q.word > q.words;
      if (q.overrun) break;
      const u16 *words = (const u16 *)c->coded;
      q.x = lane < lanes ? words[at] | (u32)words[at + 1] << 16 : QUAL_STATE;
    }
    q.row = 0;
    for (u32 steps; (steps = qual_pieces(q, end)) > 0 && !__any_sync(FULL, q.overrun);)
      for (; steps > 0; steps--) qual_step<DECODE>(q, q.left > 0, tails);
    if (DECODE) q.overrun |= q.x != QUAL_STATE;
    else qual_write(q, lanes);
    q.overrun = __any_sync(FULL, q.overrun);
  }
  if (DECODE) q.overrun |= q.word != q.words;
  if (thread == 0) {
    c->coded_words = q.word;
    c->failed = q.overrun;
  }
}

extern "C" __global__ void __launch_bounds__(THREADS) quals_decode(QualColumn *columns, u64 count, u32 *step) {
  mark(step, STEP_QUALS_DECODE);
  qual_column<true>(columns, count);
}

extern "C" __global__ void __launch_bounds__(THREADS) quals_encode(QualColumn *columns, u64 count, u32 *step) {
  mark(step, STEP_QUALS_ENCODE);
  qual_column<false>(columns, count);
}
