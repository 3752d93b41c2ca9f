// Coded streams (docs/FORMAT.md): Huffman codes of order 0, or of order 1 for qualities, of many streams at
// once. Each stream is four parts, and a part is cut into pieces of PIECE symbols. The kernels run over the
// pieces of all streams: symbols are counted; a thread block a stream makes the codes of both orders; the
// bits of each piece are measured; from them the sizes, the kinds and the places follow; and the pieces are
// written.
#pragma once
#include "warp.cuh"

#define KIND_RAW 0
#define KIND_SAME 1
#define KIND_ORDER0 2
#define KIND_ORDER1 3
#define NOWHERE 0xffffffffu
#define ONLY_SYMBOL 15 // the nibble of a row's only symbol
#define NO_LEAF 255    // the place of a symbol that its row does not have

static_assert(WARPS * 256 <= PAIRS + 256, "count_symbols has a table of bytes for each warp");
static_assert(PIECE * CODE_BITS < 1 << 16, "the bits of a piece take 16 bits");
static_assert(STREAM_PIECES <= THREADS, "choose has a thread for each piece");
static_assert(ROWS < NO_LEAF && ROWS * 4 <= THREADS, "code_tables has a thread for each row");

// pieces_of returns how many pieces a part of a stream of n symbols has at most.
static __device__ __forceinline__ u32 pieces_of(u32 n) { return ((n + PARTS - 1) / PARTS + PIECE - 1) / PIECE; }

// Span is the symbols from..to of a stream; first is set if a part begins with them.
struct Span {
  u32 from, to;
  bool first;
};

// part_begin returns the first symbol of a part.
static __device__ __forceinline__ u32 part_begin(u32 n, u32 part) { return min(part * ((n + PARTS - 1) / PARTS), n); }

// span_of returns the symbols of a stream's piece; it may be empty.
static __device__ __forceinline__ Span span_of(u32 n, u32 piece) {
  u32 each = pieces_of(n), part = piece / each, j = piece % each;
  u32 end = part_begin(n, part + 1);
  Span s;
  s.from = min(part_begin(n, part) + j * PIECE, end);
  s.to = min(s.from + PIECE, end);
  s.first = j == 0;
  return s;
}

// find_stream returns the stream that has the piece.
static __device__ __forceinline__ u32 find_stream(const Stream *streams, u32 count, u32 piece) {
  u32 low = 0, high = count;
  while (low + 1 < high) {
    u32 middle = (low + high) / 2;
    if (streams[middle].first_piece <= piece) low = middle;
    else high = middle;
  }
  return low;
}

// share returns where the share of a thread block begins among so many pieces. Neighbours share few streams, whose
// tables are loaded once.
static __device__ __forceinline__ u32 share(u32 pieces, u32 block) { return (u32)((u64)pieces * block / gridDim.x); }

// load_symbols reads PIECE_SYMBOLS bytes from any address. The words that hold them must be readable.
static __device__ __forceinline__ void load_symbols(const u8 *p, u32 *w) {
  if (((u64)p & 15) == 0) {
    uint4 v = __ldg((const uint4 *)p);
    w[0] = v.x;
    w[1] = v.y;
    w[2] = v.z;
    w[3] = v.w;
    return;
  }
  u32 shift = ((u64)p & 3) * 8;
  const u32 *q = (const u32 *)((u64)p & ~3ull);
  u32 low = __ldg(q);
#pragma unroll
  for (int k = 0; k < PIECE_SYMBOLS / 4; k++) {
    u32 high = shift || k + 1 < PIECE_SYMBOLS / 4 ? __ldg(q + k + 1) : 0;
    w[k] = __funnelshift_r(low, high, shift);
    low = high;
  }
}

// symbol returns byte i of loaded symbols; i is known when the loop around it is unrolled.
static __device__ __forceinline__ u32 symbol(const u32 *w, int i) { return w[i / 4] >> i % 4 * 8 & 255; }

// pair_of returns the place of a pair of neighbours in tables of PAIRS, if both are in the range of order 1.
static __device__ __forceinline__ u32 pair_of(u32 a, u32 b) { return (a - QUAL_FIRST) * QUAL_SYMBOLS + b - QUAL_FIRST; }

static __device__ __forceinline__ bool in_range(u32 s) { return s - QUAL_FIRST < QUAL_SYMBOLS; }

// streams describes the streams: NAME_STREAMS for each chunk of names, then one for each chunk of qualities.
// streams[count] gets the number of all pieces. One thread block.
extern "C" __global__ void __launch_bounds__(THREADS)
streams(u64 name_chunks, const NameChunk *chunks, const u8 *tokens, const u8 *low, const u8 *high, const u8 *kinds, const u8 *literals,
        const u32 *kind_at, const u32 *literal_at, const u8 *quals, u64 quals_total, Stream *out, u32 *step) {
  mark(step, STEP_STREAMS);
  __shared__ u32 sums[WARPS];
  u32 of_names = NAME_STREAMS * (u32)name_chunks, count = of_names + (u32)((quals_total + CHUNK - 1) / CHUNK), carry = 0;
  for (u32 base = 0; base <= count; base += THREADS) {
    u32 s = base + threadIdx.x, n = 0;
    const u8 *source = 0;
    if (s < of_names) {
      u32 c = s / NAME_STREAMS, i = s % NAME_STREAMS, from = chunks[c].line, to = chunks[c + 1].line;
      const u8 *column = i == 0 ? tokens : i == 1 ? low : i == 2 ? high : i == 3 ? kinds : literals;
      if (i >= 3) {
        const u32 *at = i == 3 ? kind_at : literal_at;
        from = at[from];
        to = at[to];
      }
      source = column + from;
      n = to - from;
    } else if (s < count) {
      u64 from = (u64)(s - of_names) * CHUNK;
      source = quals + from;
      n = (u32)min((u64)CHUNK, quals_total - from);
    }
    u32 all, before = block_exclusive(PARTS * pieces_of(n), sums, &all);
    if (s <= count) {
      Stream *o = out + s;
      o->source = (u64)source;
      o->symbols = n;
      o->first_piece = carry + before;
      o->order1 = s >= of_names;
      o->alphabet = 0;
      // What later kernels don't set of each kind, they read along with the rest.
      o->kind = o->bytes = o->to = o->bare = 0;
      for (int p = 0; p < PARTS; p++) o->part_bytes[p] = 0;
    }
    carry += all;
    __syncthreads();
  }
}

// count_span adds the thread's symbols of a piece to a table in shared memory: with pairs set, PAIRS pairs of
// neighbours and then 256 bytes that are not the second of such a pair; else a table of 256 bytes a warp. Equal ones
// that follow one another are added at once.
static __device__ __forceinline__ void count_span(const u8 *source, Span at, bool pairs, u32 *table) {
  u32 from = at.from + threadIdx.x * PIECE_SYMBOLS;
  if (from >= at.to) return;
  u32 n = at.to - from, w[PIECE_SYMBOLS / 4];
  load_symbols(source + from, w);
  u32 a = pairs && !(at.first && threadIdx.x == 0) ? source[from - 1] : 0;
  u32 own = threadIdx.x / 32 * 256, last = NOWHERE, run = 0;
#pragma unroll
  for (int i = 0; i < PIECE_SYMBOLS; i++) {
    if (i < n) {
      u32 b = symbol(w, i);
      u32 key = !pairs ? own + b : in_range(a) && in_range(b) ? pair_of(a, b) : PAIRS + b;
      if (key != last) {
        if (run) atomicAdd(table + last, run);
        last = key;
        run = 0;
      }
      run++;
      a = b;
    }
  }
  atomicAdd(table + last, run);
}

// count_symbols adds up, in zeroed tables, the bytes of each stream (256 counts) and, for the streams from first_pairs
// on, the pairs of neighbours (PAIRS counts); a byte that ends a counted pair is not counted again.
extern "C" __global__ void __launch_bounds__(THREADS)
count_symbols(const Stream *streams, u64 count, u64 first_pairs, u32 *bytes, u32 *pairs, u32 *step) {
  mark(step, STEP_COUNT_SYMBOLS);
  __shared__ u32 table[PAIRS + 256];
  u32 total = streams[count].first_piece, piece = share(total, blockIdx.x), end = share(total, blockIdx.x + 1);
  while (piece < end) {
    u32 s = find_stream(streams, count, piece), stop = min(end, streams[s + 1].first_piece);
    Stream st = streams[s];
    u32 used = st.order1 ? PAIRS + 256 : WARPS * 256;
    for (u32 i = threadIdx.x; i < used; i += THREADS) table[i] = 0;
    __syncthreads();
    for (; piece < stop; piece++) count_span((const u8 *)st.source, span_of(st.symbols, piece - st.first_piece), st.order1, table);
    __syncthreads();
    u32 mine = 0;
    if (st.order1) {
      u32 *to = pairs + (u64)(s - first_pairs) * PAIRS;
      for (u32 i = threadIdx.x; i < PAIRS; i += THREADS)
        if (table[i]) atomicAdd(to + i, table[i]);
      mine = table[PAIRS + threadIdx.x];
    } else {
#pragma unroll
      for (int w = 0; w < WARPS; w++) mine += table[w * 256 + threadIdx.x];
    }
    if (mine) atomicAdd(bytes + (u64)s * 256 + threadIdx.x, mine);
    __syncthreads();
  }
}

// Lengths is how many codes of each length a row has, and the first code of each length.
struct Lengths {
  u16 number[CODE_BITS + 1], first[CODE_BITS + 1];
};

// make_lengths computes from the n sorted counts of a row, two or more, how many codes have each length. One thread.
// Huffman's method with two queues, in place: the weights of inner nodes, and then their parents, take the place of
// counts that are used up (Moffat and Katajainen, "In-place calculation of minimum-redundancy codes", WADS 1995).
static __device__ __noinline__ void make_lengths(u32 *a, u32 n, Lengths *out) {
  u32 root = 0, leaf = 2;
  a[0] += a[1];
  for (u32 next = 1; next + 1 < n; next++) {
    u32 weight = 0;
#pragma unroll
    for (int k = 0; k < 2; k++) {
      // leaf before inner node when both weigh the same
      if (leaf >= n || (root < next && a[root] < a[leaf])) {
        weight += a[root];
        a[root++] = next;
      } else {
        weight += a[leaf++];
      }
    }
    a[next] = weight;
  }
  u32 inner[CODE_BITS]; // inner nodes of each depth
#pragma unroll
  for (int l = 0; l < CODE_BITS; l++) inner[l] = l == 0;
  a[n - 2] = 0;
  for (u32 next = n - 2; next-- > 0;) {
    u32 depth = a[a[next]] + 1;
    a[next] = depth;
#pragma unroll
    for (int l = 1; l < CODE_BITS; l++) inner[l] += depth == l;
  }
  // A node of the tree that is no inner node is a leaf.
  u32 kraft = 0, deep = n;
  out->number[0] = 0;
#pragma unroll
  for (int l = 1; l < CODE_BITS; l++) {
    u32 leaves = 2 * inner[l - 1] - inner[l];
    out->number[l] = leaves;
    deep -= leaves;
    kraft += leaves << (CODE_BITS - l);
  }
  out->number[CODE_BITS] = deep;
  kraft += deep;
  for (u32 l = CODE_BITS - 1; kraft > 1u << CODE_BITS;) {
    if (out->number[l] == 0) {
      l--;
      continue;
    }
    out->number[l]--;
    out->number[l + 1]++;
    kraft -= 1u << (CODE_BITS - 1 - l);
    l = CODE_BITS - 1;
  }
  u32 code = 0;
  for (int l = 1; l <= CODE_BITS; l++) {
    code = (code + out->number[l - 1]) << 1;
    out->first[l] = code;
  }
}

// length_at returns the length of the code of the leaf at a place in sorted order: the longest come first.
static __device__ __forceinline__ u32 length_at(const Lengths *row, u32 place) {
  u32 l = CODE_BITS;
  for (; l > 1 && place >= row->number[l]; l--) place -= row->number[l];
  return l;
}

// code_entry returns a code as the tables hold it: its length in the upper four bits, and the code, its first bit lowest. alike is
// how many smaller symbols have codes of that length.
static __device__ __forceinline__ u16 code_entry(const Lengths *row, u32 length, u32 alike) {
  if (length == 0) return 0;
  return __brev(row->first[length] + alike) >> (32 - length) | length << 12;
}

// code_tables makes the codes of each stream, a thread block a stream: table0 gets 256 entries a stream, heads its
// set of symbols and code lengths of order 0 as they are stored; and for the streams from first_pairs on that order 1
// supports, table1 gets PAIRS entries, rows the code lengths. stream->alphabet and order1 are set.
extern "C" __global__ void __launch_bounds__(THREADS)
code_tables(Stream *streams, u64 first_pairs, const u32 *bytes, const u32 *pairs, u16 *table0, u16 *table1, u8 *heads, u8 *rows,
            u32 *step) {
  mark(step, STEP_CODE_TABLES);
  __shared__ u32 sums[WARPS], set[WARPS], weight0[256], count0[256];
  __shared__ u8 symbols[256], length0[256];
  __shared__ u32 weight[ROWS * (ROWS + 1)]; // a row more: the threads of the rows use different banks
  __shared__ u8 place[ROWS * ROWS];         // of a leaf in sorted order; then its nibble
  __shared__ u32 leaves[ROWS];
  __shared__ Lengths lengths[ROWS], lengths_0;
  u32 s = blockIdx.x, t = threadIdx.x;
  Stream st = streams[s];
  const u32 *own = pairs + (s - first_pairs) * PAIRS;
  u32 c = bytes[(u64)s * 256 + t];
  if (st.order1 && in_range(t))
    for (u32 a = 0; a < QUAL_SYMBOLS; a++) c += own[a * QUAL_SYMBOLS + t - QUAL_FIRST];
  u32 present = __ballot_sync(FULL, c > 0);
  if (t % 32 == 0) set[t / 32] = present;
  u32 k, index = block_exclusive(c > 0, sums, &k);
  bool outside = __syncthreads_or(c > 0 && !in_range(t));
  bool order1 = st.order1 && !outside && k <= ROWS;
  if (t == 0) {
    streams[s].alphabet = k;
    streams[s].order1 = order1;
  }
  if (k < 2 || st.symbols < CODE_MIN) return;
  if (c) {
    symbols[index] = t;
    count0[index] = c;
  }
  __syncthreads();

  // Order 0: the place of each symbol in sorted order.
  u32 place0 = 0;
  if (t < k) {
    u32 mine = count0[t];
#pragma unroll 4
    for (u32 j = 0; j < k; j++) place0 += count0[j] < mine || (count0[j] == mine && j < t);
    weight0[place0] = mine;
  }
  // Order 1: the same for each row, a warp a row. The counts are in `weight` for the time being.
  u32 in_rows = order1 ? k : 0, lane = t % 32;
  for (u32 a = t / 32; a < in_rows; a += WARPS) {
    u32 *row = weight + a * (ROWS + 1), n = 0;
    for (u32 b = lane; b < k; b += 32) {
      row[b] = own[pair_of(symbols[a], symbols[b])];
      n += row[b] > 0;
    }
#pragma unroll 1
    for (int d = 16; d > 0; d /= 2) n += __shfl_xor_sync(FULL, n, d);
    if (lane == 0) leaves[a] = n;
    __syncwarp();
#pragma unroll 1
    for (u32 b = lane; b < k; b += 32) {
      u32 mine = row[b], before = 0;
#pragma unroll 4
      for (u32 j = 0; j < k; j++) {
        u32 c = row[j];
        before += c > 0 && (c < mine || (c == mine && j < b));
      }
      place[a * ROWS + b] = mine > 0 ? before : NO_LEAF;
    }
    __syncwarp();
    for (u32 b = lane; b < k; b += 32)
      if (place[a * ROWS + b] != NO_LEAF) row[place[a * ROWS + b]] = own[pair_of(symbols[a], symbols[b])];
  }
  __syncthreads();

  if (t % 4 == 0 && order1 && t / 4 < k && leaves[t / 4] > 1) make_lengths(weight + t / 4 * (ROWS + 1), leaves[t / 4], lengths + t / 4);
  if (t == THREADS - 1) make_lengths(weight0, k, &lengths_0);
  __syncthreads();

  if (t < k) length0[t] = length_at(&lengths_0, place0);
  for (u32 a = t / 32; a < in_rows; a += WARPS)
#pragma unroll 1
    for (u32 b = lane; b < k; b += 32) {
      u8 *p = place + a * ROWS + b;
      *p = *p == NO_LEAF ? 0 : leaves[a] == 1 ? ONLY_SYMBOL : length_at(lengths + a, *p);
    }
  __syncthreads();

  if (t < k) {
    u32 mine = length0[t], alike = 0;
#pragma unroll 4
    for (u32 j = 0; j < t; j++) alike += length0[j] == mine;
    table0[(u64)s * 256 + symbols[t]] = code_entry(&lengths_0, mine, alike);
  }
  u16 *to = table1 + (s - first_pairs) * PAIRS;
  for (u32 a = t / 32; a < in_rows; a += WARPS)
#pragma unroll 1
    for (u32 b = lane; b < k; b += 32) {
      const u8 *row = place + a * ROWS;
      u32 mine = row[b] == ONLY_SYMBOL ? 0 : row[b], alike = 0;
#pragma unroll 4
      for (u32 j = 0; j < b; j++) alike += row[j] == mine;
      to[pair_of(symbols[a], symbols[b])] = code_entry(lengths + a, mine, alike);
    }
  u8 *head = heads + (u64)s * HEAD_BYTES, *row = rows + (s - first_pairs) * ROW_BYTES;
  if (t < 32) head[t] = set[t / 4] >> t % 4 * 8;
  if (t < (k + 1) / 2) head[32 + t] = length0[2 * t] | (2 * t + 1 < k ? length0[2 * t + 1] << 4 : 0);
  u32 cells = in_rows * in_rows;
#pragma unroll 1
  for (u32 i = t; i < (cells + 1) / 2; i += THREADS) {
    u32 v = place[2 * i / k * ROWS + 2 * i % k];
    if (2 * i + 1 < cells) v |= place[(2 * i + 1) / k * ROWS + (2 * i + 1) % k] << 4;
    row[i] = v;
  }
}

// is_coded returns whether codes were made for a stream.
static __device__ __forceinline__ bool is_coded(const Stream *s) { return s->alphabet > 1 && s->symbols >= CODE_MIN; }

// load_table copies a table of codes to shared memory; the caller waits for all threads before and after.
static __device__ __forceinline__ void load_table(u16 *to, const u16 *from, u32 n) {
  for (u32 i = threadIdx.x; i < n / 2; i += THREADS) ((u32 *)to)[i] = __ldg((const u32 *)from + i);
}

// measure writes how many bits each piece takes: in order 0 in the lower 16 bits, in order 1 in the upper ones. A warp takes
// a piece.
extern "C" __global__ void __launch_bounds__(THREADS)
measure(const Stream *streams, u64 count, u64 first_pairs, const u16 *table0, const u16 *table1, u32 *bits, u32 *step) {
  mark(step, STEP_MEASURE);
  __shared__ __align__(4) u16 codes0[256], codes1[PAIRS];
  u32 total = streams[count].first_piece, piece = share(total, blockIdx.x), end = share(total, blockIdx.x + 1);
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  while (piece < end) {
    u32 s = find_stream(streams, count, piece), stop = min(end, streams[s + 1].first_piece);
    Stream st = streams[s];
    const u8 *source = (const u8 *)st.source;
    if (is_coded(&st)) {
      __syncthreads();
      load_table(codes0, table0 + (u64)s * 256, 256);
      if (st.order1) load_table(codes1, table1 + (s - first_pairs) * PAIRS, PAIRS);
      __syncthreads();
      for (u32 p = piece + warp; p < stop; p += WARPS) {
        Span at = span_of(st.symbols, p - st.first_piece);
        u32 sum = 0;
        for (u32 from = at.from + lane * PIECE_SYMBOLS; from < at.to; from += 32 * PIECE_SYMBOLS) {
          u32 n = at.to - from, w[PIECE_SYMBOLS / 4];
          load_symbols(source + from, w);
          bool first = at.first && from == at.from;
          u32 a = first ? 0 : source[from - 1];
#pragma unroll
          for (int i = 0; i < PIECE_SYMBOLS; i++) {
            if (i < n) {
              u32 b = symbol(w, i);
              sum += codes0[b] >> 12;
              if (st.order1 && (i > 0 || !first)) sum += codes1[pair_of(a, b)] >> 12 << 16;
              a = b;
            }
          }
        }
#pragma unroll
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(FULL, sum, d);
        if (lane == 0) bits[p] = sum;
      }
    }
    piece = stop;
  }
}

// choose decides on the kind of each stream, a thread block a stream, and computes its sizes; bits gets the bits of each
// piece in that kind, piece_at those of its part before it.
extern "C" __global__ void __launch_bounds__(THREADS)
choose(Stream *streams, u32 *bits, u32 *piece_at, u32 *step) {
  mark(step, STEP_CHOOSE);
  __shared__ u32 sums0[WARPS], sums1[WARPS], begin0[PARTS + 1], begin1[PARTS + 1], kind;
  Stream *out = streams + blockIdx.x;
  Stream st = *out;
  u32 n = st.symbols, k = st.alphabet, t = threadIdx.x;
  if (!is_coded(&st)) {
    if (t == 0) {
      out->kind = n > 0 && k == 1 ? KIND_SAME : KIND_RAW;
      out->bytes = n == 0 ? 0 : k == 1 ? 2 : 1 + n;
    }
    return;
  }
  u32 each = pieces_of(n), pieces = PARTS * each;
  u32 both = t < pieces ? bits[st.first_piece + t] : 0, all0, all1;
  u32 before0 = block_exclusive(both & 0xffff, sums0, &all0), before1 = block_exclusive(both >> 16, sums1, &all1);
  if (t < pieces && t % each == 0) {
    begin0[t / each] = before0;
    begin1[t / each] = before1;
  }
  if (t == 0) {
    begin0[PARTS] = all0;
    begin1[PARTS] = all1;
  }
  __syncthreads();
  if (t == 0) {
    u32 size0 = 2 + 32 + (k + 1) / 2 + 4 * (PARTS - 1), size1 = 2 + 32 + PARTS + (k * k + 1) / 2 + 4 * (PARTS - 1);
    for (int p = 0; p < PARTS; p++) {
      size0 += (begin0[p + 1] - begin0[p] + 7) / 8;
      size1 += (begin1[p + 1] - begin1[p] + 7) / 8;
    }
    u32 size = size0;
    kind = KIND_ORDER0;
    if (st.order1 && size1 < size0) {
      size = size1;
      kind = KIND_ORDER1;
    }
    if (size >= 1 + n) {
      size = 1 + n;
      kind = KIND_RAW;
    }
    out->kind = kind;
    out->bytes = size;
    const u32 *begin = kind == KIND_ORDER1 ? begin1 : begin0;
    for (int p = 0; p < PARTS; p++) out->part_bytes[p] = (begin[p + 1] - begin[p] + 7) / 8;
  }
  __syncthreads();
  if (t >= pieces) return;
  bits[st.first_piece + t] = kind == KIND_ORDER1 ? both >> 16 : both & 0xffff;
  piece_at[st.first_piece + t] = kind == KIND_ORDER1 ? before1 - begin1[t / each] : before0 - begin0[t / each];
}

// place_chunks decides how each chunk is stored and where: names from offset 0 of the coded columns on, qualities from
// quals_to. ends gets the bytes of the column up to and with each chunk, first of names, then of qualities. One thread
// block.
extern "C" __global__ void __launch_bounds__(THREADS)
place_chunks(Stream *streams, u64 names_total, u64 quals_total, u64 quals_to, u64 *ends, u8 *methods, u32 *info, u32 *step) {
  mark(step, STEP_PLACE_CHUNKS);
  __shared__ u32 sums[WARPS];
  u32 of_names = (u32)((names_total + CHUNK - 1) / CHUNK), of_quals = (u32)((quals_total + CHUNK - 1) / CHUNK);
  for (int column = 0; column < 2; column++) {
    bool names = column == 0;
    u32 count = names ? of_names : of_quals, first = names ? 0 : of_names, carry = 0;
    u32 to = names ? 0 : (u32)quals_to;
    for (u32 base = 0; base < count; base += THREADS) {
      u32 c = base + threadIdx.x, size = 0;
      Stream *s = streams + (names ? NAME_STREAMS * c : NAME_STREAMS * of_names + c);
      u8 method = METHOD_RAW;
      if (c < count) {
        if (names) {
          u32 raw = (u32)min((u64)CHUNK, names_total - (u64)c * CHUNK);
          size = NAME_HEADER;
          for (int i = 0; i < NAME_STREAMS; i++) size += s[i].bytes;
          if (size < raw) method = METHOD_CODED;
          else size = raw;
        } else {
          bool bare = s->kind == KIND_RAW || s->kind == KIND_SAME;
          method = s->kind == KIND_RAW ? METHOD_RAW : s->kind == KIND_SAME ? METHOD_SAME : METHOD_CODED;
          size = s->bytes - bare;
          s->bare = bare;
        }
      }
      u32 all, at = carry + block_exclusive(size, sums, &all);
      if (c < count) {
        ends[first + c] = at + size;
        methods[first + c] = method;
        if (names) {
          u32 next = to + at + NAME_HEADER;
          for (int i = 0; i < NAME_STREAMS; i++) {
            s[i].to = method == METHOD_CODED ? next : NOWHERE;
            s[i].bare = 0;
            next += s[i].bytes;
          }
        } else {
          s->to = to + at;
        }
      }
      carry += all;
      __syncthreads();
    }
    if (threadIdx.x == 0) info[names ? INFO_CODED_NAMES : INFO_CODED_QUALS] = carry;
  }
}

// parts_at returns how many bytes of a coded stream are before its parts.
static __device__ __forceinline__ u32 parts_at(const Stream *s) {
  u32 k = s->alphabet, order1 = s->kind == KIND_ORDER1;
  return 2 + 32 + (order1 ? PARTS + (k * k + 1) / 2 : (k + 1) / 2) + 4 * (PARTS - 1);
}

// piece_begin returns the bit of the coded columns at which a piece begins; at is the bits of its part before it.
static __device__ __forceinline__ u64 piece_begin(const Stream *s, u32 piece, u32 at) {
  u32 part = piece / pieces_of(s->symbols), byte = s->to + parts_at(s);
#pragma unroll
  for (int p = 0; p < PARTS - 1; p++)
    if (p < part) byte += s->part_bytes[p];
  return (u64)byte * 8 + at;
}

// write_head writes what is before the parts of a coded stream, or the only symbol.
static __device__ void write_head(const Stream *s, const u8 *head, const u8 *row, u8 *coded) {
  u32 t = threadIdx.x, k = s->alphabet;
  u8 *to = coded + s->to;
  const u8 *source = (const u8 *)s->source;
  if (!s->bare) {
    if (t == 0) *to = s->kind;
    to++;
  }
  if (s->kind == KIND_SAME && t == 0) *to = *source;
  if (s->kind < KIND_ORDER0) return;
  if (t == 0) *to = k - 1;
  to++;
  if (t < 32) to[t] = head[t];
  to += 32;
  u32 lengths = (k + 1) / 2;
  head += 32;
  if (s->kind == KIND_ORDER1) {
    if (t < PARTS) to[t] = source[part_begin(s->symbols, t)];
    to += PARTS;
    lengths = (k * k + 1) / 2;
    head = row;
  }
  for (u32 i = t; i < lengths; i += THREADS) to[i] = head[i];
  to += lengths;
  if (t < 4 * (PARTS - 1)) to[t] = s->part_bytes[t / 4] >> t % 4 * 8;
}

// clear_edges zeroes the bytes of a piece in the first and in the last word that it has bits in: write_codes adds to
// them, and stores the words between.
static __device__ void clear_edges(u8 *coded, u64 begin, u32 bits) {
  if (bits == 0) return;
  u32 first = (u32)(begin >> 3), last = (u32)((begin + bits - 1) >> 3);
  for (u32 i = first; i <= min(last, first | 3); i++) coded[i] = 0;
  for (u32 i = max(first, last & ~3u); i <= last; i++) coded[i] = 0;
}

// write_plain writes all that is no code: what chunks and streams begin with, what is stored raw, and zeros where two
// pieces may share a word.
extern "C" __global__ void __launch_bounds__(THREADS)
write_plain(const Stream *streams, u64 count, u64 first_pairs, const u8 *heads, const u8 *rows, const u32 *bits, const u32 *piece_at,
            const u8 *names, u64 names_total, const u64 *ends, const u8 *methods, u8 *coded, u32 *step) {
  mark(step, STEP_WRITE_PLAIN);
  u32 lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  u32 total = streams[count].first_piece, piece = share(total, blockIdx.x), end = share(total, blockIdx.x + 1);
  while (piece < end) {
    u32 s = find_stream(streams, count, piece), stop = min(end, streams[s + 1].first_piece);
    Stream st = streams[s];
    if (st.to != NOWHERE) {
      if (piece == st.first_piece)
        write_head(&st, heads + (u64)s * HEAD_BYTES, st.kind == KIND_ORDER1 ? rows + (s - first_pairs) * ROW_BYTES : 0, coded);
      if (st.kind == KIND_RAW) {
        for (u32 p = piece + warp; p < stop; p += WARPS) {
          Span at = span_of(st.symbols, p - st.first_piece);
          copy_span(coded, st.to + 1 - st.bare + at.from, (const u8 *)st.source, at.from, at.to - at.from, lane);
        }
      } else if (st.kind >= KIND_ORDER0) {
        for (u32 p = piece + threadIdx.x; p < stop; p += THREADS)
          clear_edges(coded, piece_begin(&st, p - st.first_piece, piece_at[p]), bits[p]);
      }
    }
    piece = stop;
  }
  u32 chunks = (u32)((names_total + CHUNK - 1) / CHUNK);
  for (u32 c = blockIdx.x; c < chunks; c += gridDim.x) {
    if (methods[c] != METHOD_CODED || threadIdx.x >= NAME_HEADER) continue;
    const Stream *s = streams + NAME_STREAMS * c + threadIdx.x / 8;
    u32 v = threadIdx.x % 8 < 4 ? s->symbols : s->bytes;
    coded[(c > 0 ? (u32)ends[c - 1] : 0) + threadIdx.x] = v >> threadIdx.x % 4 * 8;
  }
  // the chunks of names that are stored raw, a piece a warp
  u32 pieces = (u32)((names_total + PIECE - 1) / PIECE);
  for (u32 p = blockIdx.x * WARPS + warp; p < pieces; p += gridDim.x * WARPS) {
    u32 from = p * PIECE, c = from >> CHUNK_SHIFT;
    if (methods[c] != METHOD_RAW) continue;
    u32 to = (c > 0 ? (u32)ends[c - 1] : 0) + (from & (CHUNK - 1));
    copy_span(coded, to, names, from, min((u64)PIECE, names_total - from), lane);
  }
}

// write_codes writes the codes of all pieces, a thread block a piece. Its words are put together in shared memory. The words at
// its ends may have bits of others, and those bits are added.
extern "C" __global__ void __launch_bounds__(THREADS)
write_codes(const Stream *streams, u64 count, u64 first_pairs, const u16 *table0, const u16 *table1, const u32 *piece_at, u32 *coded,
            u32 *step) {
  mark(step, STEP_WRITE_CODES);
  __shared__ __align__(4) u16 codes[PAIRS];
  __shared__ u32 words[PIECE * CODE_BITS / 32 + 2], sums[WARPS];
  for (u32 i = threadIdx.x; i < PIECE * CODE_BITS / 32 + 2; i += THREADS) words[i] = 0;
  u32 total = streams[count].first_piece, piece = share(total, blockIdx.x), end = share(total, blockIdx.x + 1);
  while (piece < end) {
    u32 s = find_stream(streams, count, piece), stop = min(end, streams[s + 1].first_piece);
    Stream st = streams[s];
    if (st.kind < KIND_ORDER0 || st.to == NOWHERE) {
      piece = stop;
      continue;
    }
    bool order1 = st.kind == KIND_ORDER1;
    __syncthreads();
    load_table(codes, order1 ? table1 + (s - first_pairs) * PAIRS : table0 + (u64)s * 256, order1 ? PAIRS : 256);
    __syncthreads();
    for (; piece < stop; piece++) {
      Span at = span_of(st.symbols, piece - st.first_piece);
      u64 begin = piece_begin(&st, piece - st.first_piece, piece_at[piece]);
      u32 code[PIECE_SYMBOLS], bits = 0;
      u32 from = at.from + threadIdx.x * PIECE_SYMBOLS, n = from < at.to ? at.to - from : 0;
      u32 w[PIECE_SYMBOLS / 4] = {0, 0, 0, 0}, a = 0;
      bool first = at.first && threadIdx.x == 0;
      if (n > 0) {
        const u8 *source = (const u8 *)st.source + from;
        load_symbols(source, w);
        if (order1 && !first) a = source[-1];
      }
#pragma unroll
      for (int i = 0; i < PIECE_SYMBOLS; i++) {
        u32 b = symbol(w, i);
        code[i] = i >= n || (order1 && first && i == 0) ? 0 : codes[order1 ? pair_of(a, b) : b];
        bits += code[i] >> 12;
        a = b;
      }
      u32 all, at_bit = (begin & 31) + block_exclusive(bits, sums, &all);
      if (bits > 0) {
        u32 word = at_bit / 32, have = at_bit % 32;
        u64 held = 0;
#pragma unroll
        for (int i = 0; i < PIECE_SYMBOLS; i++) {
          held |= (u64)(code[i] & 0xfff) << have;
          have += code[i] >> 12;
          if (have >= 32) {
            atomicOr(words + word++, (u32)held);
            held >>= 32;
            have -= 32;
          }
        }
        if (have > 0) atomicOr(words + word, (u32)held);
      }
      __syncthreads();
      u32 used = ((u32)(begin & 31) + all + 31) / 32;
      u32 *to = coded + (begin >> 5);
      for (u32 i = threadIdx.x; i < used; i += THREADS) {
        u32 v = words[i];
        words[i] = 0;
        if (i == 0 || i == used - 1) atomicOr(to + i, v);
        else to[i] = v;
      }
      // The next piece's words are written after a barrier of block_exclusive.
    }
  }
}
