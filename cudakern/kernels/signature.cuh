// The signature of each read on both strands, and the runs that two bits a base can't express.
#pragma once
#include "warp.cuh"

static_assert(SIG_K >= 3 && SIG_K <= 8, "weave takes eight bits, and a run of three bases needs three");
#define SIG_BITS ((1u << SIG_K) - 1)             // a bit for each base of a k-mer
#define RUN_BITS ((1u << (SIG_K - 2)) - 1)       // a bit for each place where a run of three can begin

// Classes of a sequence byte: a plain base, a lower-case base, or (the byte itself) anything else.
#define CLASS_PLAIN 255u
#define CLASS_LOWER 0u

// base_of gives the class of a byte; *code is its two bits, *letter whether it is a letter or
// one of the signs '.', '-' and '*'.
static __device__ __forceinline__ u32 base_of(u32 c, u32 *code, bool *letter) {
  u32 d = (c & 0xdf) - 'A';
  *letter = d < 26 || c == '.' || c == '-' || c == '*';
  u32 x = (c >> 1) & 3; // A 0, C 1, T 2, G 3
  *code = x ^ (x >> 1);
  bool base = d < 26 && ((0x00080045u >> d) & 1); // A, C, G, T
  return base ? (c & 0x20 ? CLASS_LOWER : CLASS_PLAIN) : c;
}

// weave puts bit j of a at bit 2j and bit j of b at bit 2j+1, for eight bits.
static __device__ __forceinline__ u32 weave(u32 a, u32 b) {
  u32 z = a | b << 8, t;
  t = (z ^ (z >> 4)) & 0x00f0;
  z ^= t ^ (t << 4);
  t = (z ^ (z >> 2)) & 0x0c0c;
  z ^= t ^ (t << 2);
  t = (z ^ (z >> 1)) & 0x2222;
  return z ^ t ^ (t << 1);
}

// What 32 neighbouring bases look like to the warp: bit i is base i.
struct Planes {
  u32 low, high, other; // the two bits of the code; not A, C, G, T (or past the end)
};

// signature finds the signature of each read (ORCOM's rule: DOI 10.1093/bioinformatics/btv022,
// section 2.2; 8-mers without a run of three equal bases, the last 12 bases left out), a warp
// a read. 32 bases become three bit planes by votes; each lane cuts the 8-mer that begins
// at its own base out of the planes, and its reverse complement is the same bits inverted and
// reversed, so it is never in memory. key gets the signature, place its position <<
// 1 | strand, runs the number of exception runs. A byte that is no sequence letter makes the record bad.
extern "C" __global__ void __launch_bounds__(THREADS)
signature(const u8 *text, const u32 *ends, u64 n, const u32 *len, u32 *key, u32 *place, u32 *runs, u32 *info, u32 *step) {
  mark(step, STEP_SIGNATURE);
  u32 lane = threadIdx.x & 31;
  u32 r = blockIdx.x * WARPS + threadIdx.x / 32;
  if (r >= n) return;
  const u8 *seq = text + __ldg(ends + 4 * r) + 1;
  int bases = (int)len[r];
  u32 fwd = SIG_NONE, rev = SIG_NONE, fwd_at = 0, rev_at = 0, count = 0;
  u32 before = CLASS_PLAIN; // class of the byte before this chunk
  bool invalid = false;
  Planes now = {0, 0, FULL};
  u32 c = (int)lane < bases ? seq[lane] : 0;
  for (int at = 0; at <= bases + 32 - SIG_K; at += 32) { // the bases from at on; the 8-mers that begin before
    u32 next = at + 32 + (int)lane < bases ? seq[at + 32 + lane] : 0;
    bool inside = at + (int)lane < bases;
    u32 code;
    bool letter;
    u32 cls = base_of(c, &code, &letter);
    if (!inside) cls = CLASS_PLAIN;
    invalid |= inside && !letter;
    Planes ahead;
    ahead.low = __ballot_sync(FULL, code & 1);
    ahead.high = __ballot_sync(FULL, code & 2);
    u32 other = __ballot_sync(FULL, inside && (cls == CLASS_PLAIN || cls == CLASS_LOWER));
    ahead.other = ~other;
    if (__any_sync(FULL, cls != CLASS_PLAIN)) {
      u32 left = __shfl_up_sync(FULL, cls, 1);
      if (lane == 0) left = before;
      count += __popc(__ballot_sync(FULL, cls != CLASS_PLAIN && cls != left));
    }
    before = __shfl_sync(FULL, cls, 31);
    if (at > 0) {
      int i = at - 32 + (int)lane; // where this lane's 8-mer begins
      u32 a = __funnelshift_r(now.low, ahead.low, lane) & SIG_BITS;
      u32 b = __funnelshift_r(now.high, ahead.high, lane) & SIG_BITS;
      u32 x = __funnelshift_r(now.other, ahead.other, lane) & SIG_BITS;
      u32 same = ~((a ^ a >> 1) | (b ^ b >> 1)); // base j equals base j+1
      if (x == 0 && (same & same >> 1 & RUN_BITS) == 0) {
        u32 m = weave(a, b);
        u32 back = ~m & (SIG_NONE - 1); // the last base, complemented, is most significant
        u32 ahead_value = __brev((m >> 1 & 0x5555) | (m & 0x5555) << 1) >> (32 - 2 * SIG_K);
        if (i <= bases - SIG_K - SIG_SKIP && ahead_value < fwd) {
          fwd = ahead_value;
          fwd_at = i;
        }
        if (i >= SIG_SKIP && back <= rev) { // a later i is further left on the other strand
          rev = back;
          rev_at = bases - SIG_K - i;
        }
      }
    }
    now = ahead;
    c = next;
  }
  u32 best_fwd = fwd, best_rev = rev;
#pragma unroll
  for (int d = 16; d > 0; d /= 2) {
    best_fwd = min(best_fwd, __shfl_xor_sync(FULL, best_fwd, d));
    best_rev = min(best_rev, __shfl_xor_sync(FULL, best_rev, d));
  }
  bool reverse = best_rev < best_fwd;
  u32 best = reverse ? best_rev : best_fwd;
  u32 pos = reverse ? (rev == best ? rev_at : FULL) : (fwd == best ? fwd_at : FULL);
#pragma unroll
  for (int d = 16; d > 0; d /= 2) pos = min(pos, __shfl_xor_sync(FULL, pos, d));
  invalid = __any_sync(FULL, invalid);
  if (lane != 0) return;
  key[r] = best;
  place[r] = best == SIG_NONE ? 0 : pos << 1 | (reverse ? 1 : 0);
  runs[r] = count;
  if (invalid) atomicMin(info + INFO_BAD, r);
}

// exceptions writes each read's runs from runs_at[read] on, a warp a read. The k-th run of a
// read is the k-th place where one begins and the k-th where one ends.
extern "C" __global__ void __launch_bounds__(THREADS)
exceptions(const u8 *text, const u32 *ends, u64 n, const u32 *len, const u32 *runs_at, u64 total, Exception *out, u32 *step) {
  mark(step, STEP_EXCEPTIONS);
  u32 lane = threadIdx.x & 31;
  u32 r = blockIdx.x * WARPS + threadIdx.x / 32;
  if (r >= n) return;
  u32 first = runs_at[r];
  u32 last = r + 1 < n ? runs_at[r + 1] : (u32)total;
  if (first == last) return;
  const u8 *seq = text + __ldg(ends + 4 * r) + 1;
  int bases = (int)len[r];
  u32 begun = first, ended = first;
  for (int at = 0; at < bases; at += 32) {
    int i = at + (int)lane;
    u32 code;
    bool letter;
    u32 cls = i < bases ? base_of(seq[i], &code, &letter) : CLASS_PLAIN;
    u32 left = i > 0 && i < bases ? base_of(seq[i - 1], &code, &letter) : CLASS_PLAIN;
    u32 right = i + 1 < bases ? base_of(seq[i + 1], &code, &letter) : CLASS_PLAIN;
    bool begins = cls != CLASS_PLAIN && cls != left;
    bool ends_here = cls != CLASS_PLAIN && cls != right;
    u32 b = __ballot_sync(FULL, begins), e = __ballot_sync(FULL, ends_here);
    u32 earlier = (1u << lane) - 1;
    if (begins) {
      Exception *x = out + begun + __popc(b & earlier);
      x->read = r;
      x->start = i;
      x->byte = cls;
    }
    __syncwarp();
    if (ends_here) {
      volatile Exception *x = out + ended + __popc(e & earlier);
      x->len = i + 1 - x->start;
    }
    begun += __popc(b);
    ended += __popc(e);
  }
}
