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
// next one is complete, so that the loads are not waited for. The text's length and the distances are
// checked for rows, not for symbols.
//
// Whatever the data are, a warp ends: each symbol gives text, of which there are no more rows than the
// member's length has, or ends a block, and behind the data are zeros, which begin an invalid block.
#pragma once
#include "warp.cuh"

#define LIT_BITS 10
#define DIST_BITS 7
#define MAX_CODE 15
#define MAX_LITS 286
#define MAX_DISTS 30
#define END_OF_BLOCK 256

// Entries of the table of literals and lengths. An entry of literals has them in bits 0-23, the bits
// that it is for in bits 24-28, and their number in bits 29-30. Other entries have their bits in bits
// 0-4, with the extra ones of a length, and a length has the number of its extra bits in bits 8-12
// and its least value in bits 16-31. What is none of these is invalid. 0 is a longer code, or none.
#define LITERALS 0x80000000u
#define LIT_LENGTH 0x20u
#define LIT_END 0x40u

// Entries of the table of distances are like those of lengths.

// InflateTables are what a warp has in shared memory.
struct InflateTables {
  u32 lit[1 << LIT_BITS];
  u32 dist[1 << DIST_BITS];
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
static __constant__ u32 inflate_powers[17] = {
    0x00800000, 0x00008000, 0xedb88320, 0xb1e6b092, 0xa06a2517, 0xed627dae, 0x88d14467, 0xd7bbfe6a,
    0xec447f11, 0x8e7ea170, 0x6427800e, 0x4d47bae0, 0x09fe548f, 0x83852d0f, 0x30362f1a, 0x7b5a9cc3, 0x31fec169};

// BitReader reads the data of a warp. What is not said to be of a lane is the same in all of them.
struct BitReader {
  u32 lane;
  const u32 *in;   // the word where the data begin
  u32 words, tail; // how many, and which bits of the last one are data
  u32 row, ahead;  // of the lane: a word of the row, and of the one behind it
  u32 next;        // the word behind those in use
  u32 w0, w1, w2;  // those in use
  u32 bit;         // of them that is next, less than 32
};

// RowWriter makes the text of a warp.
struct RowWriter {
  u32 lane;
  u8 *text;   // the member's
  u32 length; // that it should have
  u32 place;  // of the lane: its byte of the row, in the text; negative before the beginning
  u32 at;     // bytes of the row so far
  u32 op;     // of the lane: what begins there: literals as in the table, or a distance; else 0
  u32 held;   // of the lane: its byte of the row before, which is not stored yet
  bool bad;   // of the lane: a match began before the text
};

// low_bits returns the lowest n bits of v; of n the lowest 5 bits count.
static __device__ __forceinline__ u32 low_bits(u32 v, u32 n) {
#ifdef __CUDACC__
  u32 r;
  asm("szext.wrap.u32 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(n));
  return r;
#else
  return v & ((1u << (n & 31)) - 1);
#endif
}

// keep returns v, which nvcc then keeps instead of computing it anew for each symbol.
static __device__ __forceinline__ u32 keep(u32 v) {
#ifdef __CUDACC__
  asm volatile("" : "+r"(v));
#endif
  return v;
}

// TableAddress is where tables are in shared memory.
#ifdef __CUDACC__
typedef u32 TableAddress;
static __device__ __forceinline__ TableAddress table_address(const InflateTables *t) {
  return keep((u32)__cvta_generic_to_shared(t));
}
template <int AT>
static __device__ __forceinline__ u32 table_word(TableAddress t, u32 i) {
  u32 r;
  asm volatile("ld.shared.u32 %0, [%1+%2];" : "=r"(r) : "r"(t + 4 * i), "n"(AT));
  return r;
}
#else
typedef const InflateTables *TableAddress;
static TableAddress table_address(const InflateTables *t) { return t; }
template <int AT>
static u32 table_word(TableAddress t, u32 i) { return ((const u32 *)t)[AT / 4 + i]; }
#endif

// inflate_word returns a word of the data, 0 behind them.
static __device__ __forceinline__ u32 inflate_word(const BitReader &z, u32 k) {
  u32 w = 0;
  if (k < z.words) {
    w = __ldg(z.in + k);
    if (k + 1 == z.words) w &= z.tail;
  }
  return w;
}

// peek returns the next 32 bits.
static __device__ __forceinline__ u32 peek(const BitReader &z) { return __funnelshift_r(z.w0, z.w1, z.bit); }

// skip goes on by n bits, 63 at most.
static __device__ __forceinline__ void skip(BitReader &z, u32 n) {
  z.bit += n;
#pragma unroll 1
  while (z.bit >= 32) {
    z.bit -= 32;
    z.w0 = z.w1;
    z.w1 = z.w2;
    z.w2 = __shfl_sync(FULL, z.row, z.next & 31);
    z.next++;
    if ((z.next & 31) == 0) {
      z.row = z.ahead;
      z.ahead = inflate_word(z, z.next + 32 + z.lane);
    }
  }
}

// take returns the next n bits, 16 at most.
static __device__ __forceinline__ u32 take(BitReader &z, u32 n) {
  u32 v = low_bits(peek(z), n);
  skip(z, n);
  return v;
}

// finish_row stores the row before, and makes the bytes of this one.
static __device__ __forceinline__ void finish_row(RowWriter &z) {
  if (z.place - 32 < z.length) z.text[z.place - 32] = (u8)z.held;
  __syncwarp();
  u32 starts = __ballot_sync(FULL, z.op != 0);
  u32 owner = 31 - __clz(starts & (FULL >> (31 - z.lane)));
  u32 x = __shfl_sync(FULL, z.op, owner);
  bool literal = x & LITERALS;
  if (!literal && (int)(z.place - x) < 0) z.bad = true;
  int from = literal ? (int)z.lane : (int)(z.lane - x); // a lane; less than 0: so far before the row
  u32 v = __funnelshift_r(x, 0, 8 * (z.lane - owner)) & 255;
  z.held = v;
  if (__any_sync(FULL, from >= 0 && !literal)) {
    u32 literals = __ballot_sync(FULL, literal);
#pragma unroll 1
    while (__any_sync(FULL, from >= 0 && !(literals >> (from & 31) & 1))) {
      int f = __shfl_sync(FULL, from, from & 31);
      if (from >= 0) from = f;
    }
    z.held = __shfl_sync(FULL, v, from & 31);
  }
  int source = (int)(z.place - z.lane) + from;
  if (from < 0 && source >= 0) z.held = z.text[source];
}

// put adds what a symbol gives: n literals, as in the table, or a match of n bytes at the distance x.
// It returns false if that begins a row behind the text's end.
static __device__ __forceinline__ bool put(RowWriter &z, u32 x, u32 n) {
  if (z.lane == z.at) z.op = x;
  z.at += n;
#pragma unroll 1
  while (z.at >= 32) {
    finish_row(z);
    z.place += 32;
    z.at -= 32;
    // What is left of it begins the row. Nothing may be left; then something else does.
    if (x & LITERALS) x = (x & 0xffffff) >> (8 * (n - z.at)) | LITERALS;
    z.op = z.lane == 0 ? x : 0;
    if ((int)(z.place - z.lane) > (int)z.length) return false;
  }
  return true;
}

// make_code makes a prefix code from the lengths of n symbols' codes, 0 for none; the symbols go to
// bytes or, if that is 0, to words. It returns false unless the code is complete, empty, or a single
// code of one bit.
static __device__ __noinline__ bool make_code(PrefixCode *code, u8 *bytes, u16 *words, const u8 *lengths, u32 n, u32 *next, u32 lane) {
  if (lane < 16) next[lane] = 0;
  __syncwarp();
#pragma unroll 1
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
  code->limit = lane <= MAX_CODE ? limit : 0;
  code->base = lane <= MAX_CODE ? first - ((limit - share) >> (MAX_CODE - lane)) : 0;
  if (lane < 16) next[lane] = first;
  __syncwarp();
#pragma unroll 1
  for (u32 k = 0; k < n; k += 32) {
    u32 i = k + lane;
    u32 bits = i < n ? lengths[i] : 0;
    u32 same = __match_any_sync(FULL, bits);
    u32 before = __popc(same & ((1u << lane) - 1));
    u32 to = next[bits];
    if (bits && bytes) bytes[to + before] = (u8)i;
    if (bits && !bytes) words[to + before] = (u16)i;
    __syncwarp();
    if (bits && before == 0) next[bits] = to + __popc(same);
    __syncwarp();
  }
  return true;
}

// find_code finds the code that the bits begin with: n is its length, and the result where its symbol
// is. It returns false if there is none.
static __device__ __forceinline__ bool find_code(const PrefixCode &code, u32 bits, u32 *n, u32 *index) {
  u32 v = __brev(bits) >> (32 - MAX_CODE);
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

static __device__ __forceinline__ u32 literal_entry(u32 literals, u32 count, u32 bits) {
  return literals | bits << 24 | count << 29 | LITERALS;
}

// lit_entry returns the table's entry of one symbol with a code of n bits.
static __device__ __forceinline__ u32 lit_entry(u32 symbol, u32 n) {
  if (symbol < END_OF_BLOCK) return literal_entry(symbol, 1, n);
  if (symbol == END_OF_BLOCK) return LIT_END | n;
  if (symbol >= MAX_LITS) return n; // invalid
  u32 s = symbol - 257, extra = s < 8 || s == 28 ? 0 : s / 4 - 1;
  u32 least = s == 28 ? 258 : s < 8 ? s + 3 : ((4 + s % 4) << extra) + 3;
  return LIT_LENGTH | (n + extra) | extra << 8 | least << 16;
}

static __device__ __forceinline__ u32 dist_entry(u32 symbol, u32 n) {
  if (symbol >= MAX_DISTS) return 0;
  u32 extra = symbol < 4 ? 0 : symbol / 2 - 1;
  u32 least = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;
  return (n + extra) | extra << 8 | least << 16;
}

// entry_value returns a length or distance, of which v are the bits that its entry is for.
static __device__ __forceinline__ u32 entry_value(u32 e, u32 v) {
  u32 extra = e >> 8;
  return (e >> 16) + low_bits(__funnelshift_r(v, 0, e - extra), extra);
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
    t->dist[i] = n <= DIST_BITS ? dist_entry(t->dist_symbols[index], n) : 0;
  }
  __syncwarp();
  // A literal's entry gets the literals behind it for which there are bits. Those are found in entries
  // further in front, which are still those of one symbol; only in the first 32 entries they may be
  // among those of this round.
  for (int k = (1 << LIT_BITS) - 32; k >= 0; k -= 32) {
    u32 i = k + lane, e = t->lit[i], run = e;
    if (e & LITERALS) {
      u32 n = e >> 24 & 31;
      for (u32 count = 1; count < 3; count++) {
        e = t->lit[i >> n];
        n += e >> 24 & 31;
        if (!(e & LITERALS) || n > LIT_BITS) break;
        run = literal_entry((run & 0xffffff) | (e & 255) << 8 * count, count + 1, n);
      }
    }
    __syncwarp();
    t->lit[i] = run;
    __syncwarp();
  }
}

// dynamic_lengths reads the header of a dynamic block: how many literals and distances there are, and
// the lengths of their codes. It returns false if that is invalid.
static __device__ __forceinline__ bool dynamic_lengths(BitReader &in, CodeLengths *c, u32 *lits, u32 *dists) {
  *lits = take(in, 5) + 257;
  *dists = take(in, 5) + 1;
  u32 coded = take(in, 4) + 4, n = *lits + *dists;
  if (*lits > MAX_LITS || *dists > MAX_DISTS) return false;
  if (in.lane < 19) c->lengths[in.lane] = 0;
  __syncwarp();
#pragma unroll 1
  for (u32 i = 0; i < coded; i++) {
    u32 v = take(in, 3);
    if (in.lane == 0) c->lengths[inflate_order[i]] = (u8)v;
  }
  __syncwarp();
  PrefixCode code;
  if (!make_code(&code, c->symbols, (u16 *)0, c->lengths, 19, c->next, in.lane)) return false;
  u32 last = 0;
#pragma unroll 1
  for (u32 i = 0; i < n;) {
    u32 v = peek(in), bits, index;
    if (!find_code(code, v, &bits, &index)) return false;
    u32 symbol = c->symbols[index], again = 1, extra = 0;
    v >>= bits;
    if (symbol < 16) {
      last = symbol;
    } else if (symbol == 16) {
      if (i == 0) return false;
      extra = 2;
      again = 3 + (v & 3);
    } else {
      last = 0;
      extra = symbol == 17 ? 3 : 7;
      again = symbol == 17 ? 3 + (v & 7) : 11 + (v & 127);
    }
    skip(in, bits + extra);
    if (i + again > n) return false;
    for (u32 k = in.lane; k < again; k += 32) c->lengths[i + k] = (u8)last;
    i += again;
  }
  __syncwarp();
  return true;
}

// block_codes makes the codes of a block, and their tables. It returns false if they are invalid.
static __device__ __noinline__ bool block_codes(BitReader *in, bool dynamic, InflateTables *t, PrefixCode *lits, PrefixCode *dists) {
  BitReader z = *in;
  CodeLengths *c = (CodeLengths *)t->lit;
  u32 lane = z.lane, lit_count = 288, dist_count = 32;
  __syncwarp(); // nobody uses the tables any longer
  if (dynamic) {
    bool valid = dynamic_lengths(z, c, &lit_count, &dist_count);
    *in = z;
    if (!valid) return false;
  } else {
    for (u32 i = lane; i < 320; i += 32) c->lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
    __syncwarp();
  }
  if (!make_code(lits, (u8 *)0, t->lit_symbols, c->lengths, lit_count, c->next, lane) ||
      !make_code(dists, t->dist_symbols, (u16 *)0, c->lengths + lit_count, dist_count, c->next, lane))
    return false;
  fill_tables(t, *lits, *dists, lane);
  return true;
}

// stored_block copies a stored block.
static __device__ __forceinline__ u32 stored_block(BitReader &in, RowWriter &out) {
  skip(in, -in.bit & 7);
  u32 n = take(in, 16), inverse = take(in, 16);
  if ((n ^ inverse) != 0xffff) return INFLATE_CORRUPT;
#pragma unroll 1
  while (n > 0) {
    u32 k = n < 3 ? n : 3;
    if (!put(out, (peek(in) & 0xffffff) | LITERALS, k)) return INFLATE_LONGER;
    skip(in, 8 * k);
    n -= k;
  }
  return INFLATE_RIGHT;
}

// coded_block decodes symbols up to the end of the block.
static __device__ __forceinline__ u32 coded_block(BitReader &in, RowWriter &out, const InflateTables *t, const PrefixCode &lits,
                                                  const PrefixCode &dists) {
  TableAddress tables = table_address(t);
#pragma unroll 1
  for (;;) {
    u32 v = peek(in), e = table_word<0>(tables, low_bits(v, LIT_BITS));
    if (!(e & (LITERALS | LIT_LENGTH))) {
      if (e == 0) {
        u32 n, index;
        if (!find_code(lits, v, &n, &index)) return INFLATE_CORRUPT;
        e = lit_entry(t->lit_symbols[index], n);
      }
      if (!(e & (LITERALS | LIT_LENGTH))) {
        skip(in, e & 31);
        return e & LIT_END ? INFLATE_RIGHT : INFLATE_CORRUPT;
      }
    }
    u32 x, n, bits;
    if (e & LITERALS) {
      x = e;
      n = e >> 29 & 3;
      bits = e >> 24 & 31;
    } else {
      n = entry_value(e, v);
      v = __funnelshift_r(v, __funnelshift_r(in.w1, in.w2, in.bit), e);
      u32 d = table_word<sizeof t->lit>(tables, low_bits(v, DIST_BITS));
      if (d == 0) {
        u32 length, index;
        if (!find_code(dists, v, &length, &index)) return INFLATE_CORRUPT;
        d = dist_entry(t->dist_symbols[index], length);
        if (d == 0) return INFLATE_CORRUPT;
      }
      x = entry_value(d, v);
      bits = (e & 31) + (d & 31);
    }
    skip(in, bits);
    if (!put(out, x, n)) return INFLATE_LONGER;
  }
}

// inflate_stream inflates all blocks of a stream.
static __device__ __forceinline__ u32 inflate_stream(BitReader &in, RowWriter &out, InflateTables *t) {
  bool final, fixed = false; // the tables are those of the fixed codes
  PrefixCode lits, dists;
#pragma unroll 1
  do {
    u32 head = take(in, 3), kind = head >> 1, status;
    final = head & 1;
    if (kind == 3) return INFLATE_CORRUPT;
    if (kind == 0) {
      status = stored_block(in, out);
    } else {
      if (kind == 2 || !fixed) {
        BitReader copy = in; // so that in can be in registers
        PrefixCode a, b;
        bool valid = block_codes(&copy, kind == 2, t, &a, &b);
        in = copy;
        if (!valid) return INFLATE_CORRUPT;
        lits = a;
        dists = b;
      }
      fixed = kind == 1;
      status = coded_block(in, out, t, lits, dists);
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
static __device__ __noinline__ u32 text_crc(const u8 *text, u32 length, u32 *table, u32 lane) {
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
  InflateTables *t = tables + threadIdx.x / 32;
  u32 lane = keep(threadIdx.x & 31), skipped = m.from & 3, end = skipped + m.size;
  BitReader in;
  in.lane = lane;
  in.in = (const u32 *)(data + (m.from - skipped));
  in.words = (end + 3) / 4;
  in.tail = end & 3 ? (1u << 8 * (end & 3)) - 1 : FULL;
  in.row = inflate_word(in, lane);
  in.ahead = inflate_word(in, lane + 32);
  in.w0 = __shfl_sync(FULL, in.row, 0);
  in.w1 = __shfl_sync(FULL, in.row, 1);
  in.w2 = __shfl_sync(FULL, in.row, 2);
  in.next = 3;
  in.bit = 8 * skipped;
  RowWriter out;
  out.lane = lane;
  out.text = text + m.to;
  out.length = m.length;
  out.at = (u32)(u64)out.text & 31;
  out.place = lane - out.at;
  out.op = lane == 0 ? LITERALS : 0; // of the bytes before the text, which are not stored
  out.held = 0;
  out.bad = false;

  u32 result = inflate_stream(in, out, t);
  u32 used = 32 * (in.next - 3) + in.bit - 8 * skipped; // bits
  int made = (int)(out.place - lane + out.at);
  if (used > 8 * m.size) {
    result = INFLATE_CUT;
  } else if (result == INFLATE_RIGHT && made != (int)m.length) {
    result = made < (int)m.length ? INFLATE_SHORTER : INFLATE_LONGER;
  } else if (result == INFLATE_RIGHT) {
    finish_row(out);
    if (out.place < out.length) out.text[out.place] = (u8)out.held;
    __syncwarp();
    if (__any_sync(FULL, out.bad)) {
      result = INFLATE_CORRUPT;
    } else if ((used + 7) / 8 != m.size) {
      result = INFLATE_REST;
    } else if (text_crc(out.text, out.length, t->lit, lane) != m.crc) {
      result = INFLATE_CRC;
    }
  }
  if (lane == 0) {
    status[i] = result;
    if (result != INFLATE_RIGHT) atomicMin(first_bad, i);
  }
}
