// Inflating: one warp a deflate stream (RFC 1951), and the check of its text's CRC-32.
//
// All lanes of a warp decode the same symbol at the same time, so that they never diverge and each
// knows the result. The compressed bytes come in rows of 32 words, a word a lane; the row behind is
// loaded ahead.
//
// The text is made in rows as well: 32 bytes at an address that 32 divides, a byte a lane. What a
// symbol gives (a run of literals, or a match) is kept by the lane where its text begins. When the
// row is complete, each lane finds what covers its byte, and all load what they need at once. Matches
// that refer to the row itself are followed to what they refer to first. A row is stored when the
// next one is complete, so that nobody waits for the loads.
//
// Whatever the data are, a warp ends: each symbol gives text, of which there is no more than the
// member's length, or ends a block, and behind the data are zeros, which begin an invalid block.
#pragma once
#include "warp.cuh"

#define LIT_BITS 10
#define DIST_BITS 8
#define MAX_CODE 15
#define MAX_LITS 286
#define MAX_DISTS 30
#define END_OF_BLOCK 256

// Entries of the table of literals and lengths: the number of bits in bits 0-3, the number of
// literals in bits 4-5, and the literals in bits 8-31. A length has its base less 3 in bits 8-15 and
// the number of extra bits in bits 16-18. An entry with none of these kinds is an invalid symbol. 0
// is a longer code, or none.
#define LIT_ONE 0x10u
#define LIT_RUN 0x30u
#define LIT_LENGTH 0x40u
#define LIT_END 0x80u

// Entries of the table of distances: the number of bits in bits 0-3, that of the extra bits in bits
// 4-7, the two bits above the extra ones in bits 8-9. 0 is a longer code, or none.

// InflateTables are what a warp has in shared memory.
struct InflateTables {
  u32 lit[1 << LIT_BITS];
  u16 dist[1 << DIST_BITS];
  u16 lit_symbols[288]; // in the order of their codes
  u8 dist_symbols[32];
};

// CodeLengths is where the tables will be while they are made.
struct CodeLengths {
  u8 lengths[320];
  u32 next[16];
  u8 symbols[32];
};

// A prefix code: lane n has what belongs to codes of n bits. Codes are compared as MAX_CODE bits, the
// first one highest.
struct PrefixCode {
  u32 limit; // what the codes of up to n bits are less than
  u32 base;  // plus the n bits of a code: where its symbol is
};

// The order in which a dynamic block's header has the lengths of the codes that code lengths.
static __constant__ u8 inflate_order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};

// x^(8 * 2^k) modulo the polynomial of CRC-32, with the coefficient of x^0 in the highest bit.
static __constant__ u32 inflate_powers[17] = {0x00800000, 0x00008000, 0xedb88320, 0xb1e6b092, 0xa06a2517, 0xed627dae, 0x88d14467, 0xd7bbfe6a, 0xec447f11, 0x8e7ea170, 0x6427800e, 0x4d47bae0, 0x09fe548f, 0x83852d0f, 0x30362f1a, 0x7b5a9cc3, 0x31fec169};

// Inflater is the state of a warp. What is not said to be of a lane is the same in all of them.
struct Inflater {
  u32 lane;

  const u32 *in;  // the word where the data begin
  u32 words, tail; // how many, and which bits of the last one are data
  u32 row, ahead; // of the lane: a word of the row, and of the one behind it
  u32 next;       // word of the data
  u64 bits;       // not used yet, zeros behind them
  u32 have;       // how many

  u8 *text;   // the member's
  u32 length; // that it should have
  u32 made;   // bytes of it so far
  u32 place;  // of the lane: its byte of the row, in the text; huge before the beginning
  u32 at;     // bytes of the row so far
  u32 op;     // of the lane: what begins there: the distance, or literals and LITERALS
  u32 starts; // a bit for each byte of the row where something begins
  u32 held;   // of the lane: its byte of the row before, which is not stored yet

  InflateTables *tables;
  PrefixCode lits, dists; // of the lane
};

#define LITERALS 0x80000000u

// inflate_word returns a word of the data, 0 behind them.
static __device__ __forceinline__ u32 inflate_word(const Inflater &z, u32 k) {
  u32 w = 0;
  if (k < z.words) {
    w = __ldg(z.in + k);
    if (k + 1 == z.words) w &= z.tail;
  }
  return w;
}

// refill makes 32 bits or more available.
static __device__ __forceinline__ void refill(Inflater &z) {
  if (z.have > 32) return;
  z.bits |= (u64)__shfl_sync(FULL, z.row, z.next & 31) << z.have;
  z.have += 32;
  z.next++;
  if ((z.next & 31) == 0) {
    z.row = z.ahead;
    z.ahead = inflate_word(z, z.next + 32 + z.lane);
  }
}

static __device__ __forceinline__ void skip(Inflater &z, u32 n) {
  z.bits >>= n;
  z.have -= n;
}

static __device__ __forceinline__ u32 take(Inflater &z, u32 n) {
  u32 v = (u32)z.bits & ((1u << n) - 1);
  skip(z, n);
  return v;
}

// finish_row stores the row before, and makes the bytes of this one.
static __device__ __forceinline__ void finish_row(Inflater &z) {
  if (z.place - 32 < z.length) z.text[z.place - 32] = (u8)z.held;
  __syncwarp();
  u32 owner = 31 - __clz(z.starts & (FULL >> (31 - z.lane)));
  u32 x = __shfl_sync(FULL, z.op, owner);
  bool literal = x & LITERALS;
  int from = literal ? (int)z.lane : (int)(z.lane - x); // a lane; less than 0: so far before the row
  u32 v = __funnelshift_r(x, 0, 8 * (z.lane - owner)) & 255;
  u32 literals = __ballot_sync(FULL, literal);
  while (__any_sync(FULL, from >= 0 && !(literals >> (from & 31) & 1))) {
    int f = __shfl_sync(FULL, from, from & 31);
    if (from >= 0) from = f;
  }
  z.held = __shfl_sync(FULL, v, from & 31);
  if (from < 0) z.held = z.text[(int)(z.place - z.lane) + from];
}

// add_literals adds n literals, 3 at most, in the lowest bytes of x; the highest byte is not used.
// There must be room for them.
static __device__ __forceinline__ void add_literals(Inflater &z, u32 x, u32 n) {
  if (z.lane == z.at) z.op = x | LITERALS;
  z.starts |= 1u << z.at;
  z.at += n;
  if (z.at < 32) return;
  finish_row(z);
  z.place += 32;
  z.at -= 32;
  z.op = (x & 0xffffff) >> (8 * (n - z.at)) | LITERALS;
  z.starts = 1;
}

// add_match adds n bytes that are the same as those at a distance before.
static __device__ __forceinline__ void add_match(Inflater &z, u32 dist, u32 n) {
  if (z.lane == z.at) z.op = dist;
  z.starts |= 1u << z.at;
  z.at += n;
  while (z.at >= 32) {
    finish_row(z);
    z.place += 32;
    z.at -= 32;
    z.op = dist;
    z.starts = 1;
  }
}

// make_code makes a prefix code from the lengths of n symbols' codes, 0 for none. It returns false
// unless the code is complete, empty, or a single code of one bit.
template <typename Symbol>
static __device__ __forceinline__ bool make_code(PrefixCode &code, Symbol *symbols, const u8 *lengths, u32 n, u32 *next, u32 lane) {
  if (lane < 16) next[lane] = 0;
  __syncwarp();
  for (u32 i = lane; i < n; i += 32)
    if (lengths[i]) atomicAdd(next + lengths[i], 1);
  __syncwarp();
  u32 count = lane <= MAX_CODE ? next[lane] : 0;
  u32 share = lane <= MAX_CODE ? count << (MAX_CODE - lane) : 0; // of all values of MAX_CODE bits
  u32 limit = share, used = count;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    u32 a = __shfl_up_sync(FULL, limit, d), b = __shfl_up_sync(FULL, used, d);
    if (lane >= d) limit += a, used += b;
  }
  u32 all = __shfl_sync(FULL, limit, 31), codes = __shfl_sync(FULL, used, 31);
  if (all != 1 << MAX_CODE && codes != 0 && !(codes == 1 && all == 1 << (MAX_CODE - 1))) return false;
  u32 first = used - count;
  code.limit = lane <= MAX_CODE ? limit : 0;
  code.base = lane <= MAX_CODE ? first - ((limit - share) >> (MAX_CODE - lane)) : 0;
  if (lane < 16) next[lane] = first;
  __syncwarp();
  for (u32 k = 0; k < n; k += 32) {
    u32 i = k + lane;
    u32 bits = i < n ? lengths[i] : 0;
    u32 same = __match_any_sync(FULL, bits);
    u32 before = __popc(same & ((1u << lane) - 1));
    u32 to = next[bits];
    if (bits) symbols[to + before] = (Symbol)i;
    __syncwarp();
    if (bits && before == 0) next[bits] = to + __popc(same);
    __syncwarp();
  }
  return true;
}

// find_code finds the code that the bits begin with: n is its length, and the result where its symbol
// is. It returns false if there is none.
static __device__ __forceinline__ bool find_code(const PrefixCode &code, u64 bits, u32 *n, u32 *index) {
  u32 v = __brev((u32)bits) >> (32 - MAX_CODE);
  u32 longer = __ballot_sync(FULL, v < code.limit);
  if (longer == 0) return false;
  *n = __ffs(longer) - 1;
  *index = (v >> (MAX_CODE - *n)) + __shfl_sync(FULL, code.base, *n);
  return true;
}

// table_code is find_code for the table's entry i of the lane, if the code has no more than BITS bits.
template <int BITS>
static __device__ __forceinline__ u32 table_code(const PrefixCode &code, u32 i, const u32 *limits, u32 *index) {
  u32 v = __brev(i) >> (32 - MAX_CODE), n = 1;
#pragma unroll
  for (int k = 0; k < BITS; k++) n += v >= limits[k];
  *index = (v >> (MAX_CODE - n)) + __shfl_sync(FULL, code.base, n);
  return n;
}

// lit_entry returns the table's entry of one symbol with a code of n bits.
static __device__ __forceinline__ u32 lit_entry(u32 symbol, u32 n) {
  if (symbol < END_OF_BLOCK) return n | LIT_ONE | symbol << 8;
  if (symbol == END_OF_BLOCK) return n | LIT_END;
  if (symbol >= MAX_LITS) return n;
  u32 s = symbol - 257;
  if (s < 8) return n | LIT_LENGTH | s << 8;
  if (s == 28) return n | LIT_LENGTH | 255 << 8;
  u32 extra = s / 4 - 1;
  return n | LIT_LENGTH | ((4 + s % 4) << extra) << 8 | extra << 16;
}

static __device__ __forceinline__ u32 dist_entry(u32 symbol, u32 n) {
  if (symbol >= MAX_DISTS) return 0;
  if (symbol < 4) return n | symbol << 8;
  return n | (symbol / 2 - 1) << 4 | (2 + symbol % 2) << 8;
}

// fill_tables makes the tables of both codes.
static __device__ __noinline__ void fill_tables(InflateTables *t, PrefixCode lits, PrefixCode dists, u32 lane) {
  u32 limits[LIT_BITS];
#pragma unroll
  for (int k = 0; k < LIT_BITS; k++) limits[k] = __shfl_sync(FULL, lits.limit, k + 1);
  for (u32 i = lane; i < 1 << LIT_BITS; i += 32) {
    u32 index, n = table_code<LIT_BITS>(lits, i, limits, &index);
    t->lit[i] = n <= LIT_BITS ? lit_entry(t->lit_symbols[index], n) : 0;
  }
#pragma unroll
  for (int k = 0; k < DIST_BITS; k++) limits[k] = __shfl_sync(FULL, dists.limit, k + 1);
  for (u32 i = lane; i < 1 << DIST_BITS; i += 32) {
    u32 index, n = table_code<DIST_BITS>(dists, i, limits, &index);
    t->dist[i] = n <= DIST_BITS ? (u16)dist_entry(t->dist_symbols[index], n) : 0;
  }
  __syncwarp();
  // A literal's entry gets the literals behind it for which there are bits. They are in entries
  // further in front, which are still those of one symbol: only in the first row they may be changed
  // in the same round.
  for (int k = (1 << LIT_BITS) - 32; k >= 0; k -= 32) {
    u32 i = k + lane, e = t->lit[i], run = e, n = e & 15;
    for (int more = 1; more < 3 && (e & LIT_ONE); more++) {
      e = t->lit[i >> n];
      n += e & 15;
      if (!(e & LIT_ONE) || n > LIT_BITS) break;
      run = (run & ~(15u | LIT_RUN)) | n | (more + 1) << 4 | (e >> 8 & 255) << (8 + 8 * more);
    }
    __syncwarp();
    t->lit[i] = run;
    __syncwarp();
  }
}

// dynamic_codes reads the header of a dynamic block. It returns false if that is invalid.
static __device__ __forceinline__ bool dynamic_codes(Inflater &z) {
  refill(z);
  u32 lits = take(z, 5) + 257, dists = take(z, 5) + 1, coded = take(z, 4) + 4;
  if (lits > MAX_LITS || dists > MAX_DISTS) return false;
  InflateTables *t = z.tables;
  CodeLengths *c = (CodeLengths *)t->lit;
  if (z.lane < 19) c->lengths[z.lane] = 0;
  __syncwarp();
  for (u32 i = 0; i < coded; i++) {
    refill(z);
    u32 v = take(z, 3);
    if (z.lane == 0) c->lengths[inflate_order[i]] = (u8)v;
  }
  __syncwarp();
  PrefixCode code;
  if (!make_code(code, c->symbols, c->lengths, 19, c->next, z.lane)) return false;
  u32 last = 0, n = lits + dists;
  for (u32 i = 0; i < n;) {
    refill(z);
    u32 bits, index;
    if (!find_code(code, z.bits, &bits, &index)) return false;
    u32 symbol = c->symbols[index], again;
    skip(z, bits);
    if (symbol < 16) {
      last = symbol;
      again = 1;
    } else if (symbol == 16) {
      if (i == 0) return false;
      again = 3 + take(z, 2);
    } else {
      last = 0;
      again = symbol == 17 ? 3 + take(z, 3) : 11 + take(z, 7);
    }
    if (i + again > n) return false;
    for (u32 k = z.lane; k < again; k += 32) c->lengths[i + k] = (u8)last;
    i += again;
  }
  __syncwarp();
  return make_code(z.lits, t->lit_symbols, c->lengths, lits, c->next, z.lane) &&
         make_code(z.dists, t->dist_symbols, c->lengths + lits, dists, c->next, z.lane);
}

// fixed_codes are the codes of a fixed block.
static __device__ __forceinline__ void fixed_codes(Inflater &z) {
  InflateTables *t = z.tables;
  CodeLengths *c = (CodeLengths *)t->lit;
  for (u32 i = z.lane; i < 320; i += 32) c->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
  __syncwarp();
  make_code(z.lits, t->lit_symbols, c->lengths, 288, c->next, z.lane);
  make_code(z.dists, t->dist_symbols, c->lengths + 288, 32, c->next, z.lane);
}

// stored_block copies a stored block.
static __device__ __forceinline__ u32 stored_block(Inflater &z) {
  skip(z, z.have & 7);
  refill(z);
  u32 n = take(z, 16), inverse = take(z, 16);
  if ((n ^ inverse) != 0xffff) return INFLATE_CORRUPT;
  if (n > z.length - z.made) return INFLATE_LONGER;
  z.made += n;
  while (n > 0) {
    refill(z);
    u32 k = n < 3 ? n : 3;
    add_literals(z, (u32)z.bits & 0xffffff, k);
    skip(z, 8 * k);
    n -= k;
  }
  return INFLATE_RIGHT;
}

// coded_block decodes symbols up to the end of the block.
static __device__ __forceinline__ u32 coded_block(Inflater &z) {
  InflateTables *t = z.tables;
  for (;;) {
    refill(z);
    u32 e = t->lit[(u32)z.bits & ((1 << LIT_BITS) - 1)];
    if (e == 0) {
      u32 n, index;
      if (!find_code(z.lits, z.bits, &n, &index)) return INFLATE_CORRUPT;
      e = lit_entry(t->lit_symbols[index], n);
    }
    skip(z, e & 15);
    if (e & LIT_RUN) {
      u32 n = e >> 4 & 3;
      z.made += n;
      if (z.made > z.length) return INFLATE_LONGER;
      add_literals(z, e >> 8, n);
      continue;
    }
    if (!(e & LIT_LENGTH)) return e & LIT_END ? INFLATE_RIGHT : INFLATE_CORRUPT;
    u32 n = (e >> 8 & 255) + 3 + take(z, e >> 16);
    refill(z);
    u32 d = t->dist[(u32)z.bits & ((1 << DIST_BITS) - 1)];
    if (d == 0) {
      u32 bits, index;
      if (!find_code(z.dists, z.bits, &bits, &index)) return INFLATE_CORRUPT;
      d = dist_entry(t->dist_symbols[index], bits);
      if (d == 0) return INFLATE_CORRUPT;
    }
    skip(z, d & 15);
    u32 extra = d >> 4 & 15;
    u32 dist = (d >> 8 << extra) + 1 + take(z, extra);
    if (dist > z.made) return INFLATE_CORRUPT;
    z.made += n;
    if (z.made > z.length) return INFLATE_LONGER;
    add_match(z, dist, n);
  }
}

// inflate_stream inflates all blocks of a stream.
static __device__ __forceinline__ u32 inflate_stream(Inflater &z) {
  bool final, fixed = false; // the tables are those of the fixed codes
  do {
    refill(z);
    final = take(z, 1);
    u32 kind = take(z, 2), status;
    if (kind == 3) return INFLATE_CORRUPT;
    if (kind == 0) {
      status = stored_block(z);
    } else {
      if (kind == 2) {
        if (!dynamic_codes(z)) return INFLATE_CORRUPT;
      } else if (!fixed) {
        fixed_codes(z);
      }
      if (kind == 2 || !fixed) fill_tables(z.tables, z.lits, z.dists, z.lane);
      fixed = kind == 1;
      status = coded_block(z);
      __syncwarp(); // the next block's codes are written where the tables are
    }
    if (status != INFLATE_RIGHT) return status;
  } while (!final);
  return INFLATE_RIGHT;
}

static __device__ u32 crc_multiply(u32 a, u32 b) {
  u32 product = 0;
#pragma unroll 4
  for (int k = 0; k < 32; k++) {
    product ^= b & (u32)((int)a >> 31);
    a <<= 1;
    b = b >> 1 ^ (0xedb88320u & (0 - (b & 1)));
  }
  return product;
}

// crc_byte and crc_word continue a CRC by tables: the first is for a byte, the others for a byte that
// one, two or three others follow.
static __device__ __forceinline__ u32 crc_byte(const u32 *table, u32 crc, u32 byte) { return crc >> 8 ^ table[(crc ^ byte) & 255]; }

static __device__ __forceinline__ u32 crc_word(const u32 *table, u32 crc, u32 word) {
  crc ^= word;
  return table[768 + (crc & 255)] ^ table[512 + (crc >> 8 & 255)] ^ table[256 + (crc >> 16 & 255)] ^ table[crc >> 24];
}

// text_crc returns the CRC-32 of a text. Each lane takes a slice of it. table: 1024 words.
static __device__ __forceinline__ u32 text_crc(const u8 *text, u32 length, u32 *table, u32 lane) {
  for (u32 i = lane; i < 256; i += 32) {
    u32 c = i;
#pragma unroll
    for (int k = 0; k < 8; k++) c = c >> 1 ^ (0xedb88320u & (0 - (c & 1)));
    table[i] = c;
  }
  __syncwarp();
  for (u32 i = lane; i < 256; i += 32) {
    u32 c = table[i];
#pragma unroll
    for (int k = 1; k < 4; k++) table[256 * k + i] = c = c >> 8 ^ table[c & 255];
  }
  __syncwarp();
  // Slices begin at addresses that 16 divides, but for the first one.
  u32 odd = (u32)(u64)text & 15;
  u32 from = lane == 0 ? 0 : ((odd + length * lane / 32 + 15) & ~15u) - odd;
  u32 to = lane == 31 ? length : ((odd + length * (lane + 1) / 32 + 15) & ~15u) - odd;
  if (to > length) to = length;
  u32 crc = lane == 0 ? FULL : 0, at = from;
  for (; at < to && (odd + at & 15); at++) crc = crc_byte(table, crc, text[at]);
  if (at + 16 <= to) {
    uint4 w = *(const uint4 *)(text + at), next = w;
    for (; at + 16 <= to; at += 16, w = next) {
      if (at + 32 <= to) next = *(const uint4 *)(text + at + 16);
      crc = crc_word(table, crc, w.x);
      crc = crc_word(table, crc, w.y);
      crc = crc_word(table, crc, w.z);
      crc = crc_word(table, crc, w.w);
    }
  }
  for (; at < to; at++) crc = crc_byte(table, crc, text[at]);
  // The bytes behind a slice multiply its CRC.
  for (u32 k = 0, n = at < length ? length - at : 0; n > 0; k++, n >>= 1)
    if (n & 1) crc = crc_multiply(crc, inflate_powers[k]);
#pragma unroll
  for (int d = 16; d > 0; d /= 2) crc ^= __shfl_xor_sync(FULL, crc, d);
  return ~crc;
}

// inflate inflates members, a warp a member, and writes to status what each has come to. *first_bad
// gets the smallest number of one that is not right; it must be count or more before. A text has
// at most INFLATE_MOST bytes; each member's data and text must be within the two buffers.
extern "C" __global__ void __launch_bounds__(THREADS, 5)
inflate(const u8 *data, const Member *members, u64 count, u8 *text, u32 *status, u32 *first_bad, u32 *step) {
  mark(step, STEP_INFLATE);
  __shared__ InflateTables tables[WARPS];
  u32 i = blockIdx.x * WARPS + threadIdx.x / 32;
  if (i >= count) return;
  Member m = members[i];
  Inflater z;
  z.lane = threadIdx.x & 31;
  z.tables = tables + threadIdx.x / 32;
  u32 skipped = m.from & 3, end = skipped + m.size;
  z.in = (const u32 *)(data + (m.from - skipped));
  z.words = (end + 3) / 4;
  z.tail = end & 3 ? (1u << 8 * (end & 3)) - 1 : FULL;
  z.row = inflate_word(z, z.lane);
  z.ahead = inflate_word(z, z.lane + 32);
  z.next = z.have = 0;
  z.bits = 0;
  z.text = text + m.to;
  z.length = m.length;
  z.made = 0;
  z.at = (u32)(u64)z.text & 31;
  z.place = z.lane - z.at;
  z.op = LITERALS; // of the bytes before the text, which are not stored
  z.starts = 1;
  z.held = 0;
  refill(z);
  skip(z, 8 * skipped);

  u32 result = inflate_stream(z);
  u32 used = 32 * z.next - z.have - 8 * skipped; // bits
  if (used > 8 * m.size) {
    result = INFLATE_CUT;
  } else if (result == INFLATE_RIGHT) {
    if (z.made != m.length) {
      result = INFLATE_SHORTER;
    } else if ((used + 7) / 8 != m.size) {
      result = INFLATE_REST;
    } else {
      finish_row(z);
      if (z.place < z.length) z.text[z.place] = (u8)z.held;
      __syncwarp();
      if (text_crc(z.text, z.length, z.tables->lit, z.lane) != m.crc) result = INFLATE_CRC;
    }
  }
  if (z.lane == 0) {
    status[i] = result;
    if (result != INFLATE_RIGHT) atomicMin(first_bad, i);
  }
}
