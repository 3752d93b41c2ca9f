// The sums of the text's chunks, XXH3-64 (seed 0) of SUM_CHUNK bytes each: github.com/Cyan4973/xxHash,
// doc/xxhash_spec.md. Eight threads take a chunk, one for each of the eight accumulators.
#pragma once
#include "warp.cuh"

#define XXH32_1 0x9e3779b1u
#define XXH32_2 0x85ebca77u
#define XXH32_3 0xc2b2ae3du
#define XXH64_1 0x9e3779b185ebca87ull
#define XXH64_2 0xc2b2ae3d27d4eb4full
#define XXH64_3 0x165667b19e3779f9ull
#define XXH64_4 0x85ebca77c2b2ae63ull
#define XXH64_5 0x27d4eb2f165667c5ull
#define SECRET_WORDS 24
#define STRIPE 64      // bytes: 8 a thread
#define STRIPES 16     // after so many the accumulators are scrambled

static_assert(SUM_LANES * 8 == STRIPE && SUM_CHUNK % (STRIPE * STRIPES) == 0, "a chunk is whole blocks of stripes");

// The default secret of XXH3, as little-endian words.
static __device__ const u64 secret_words[SECRET_WORDS] = {
    0xbe4ba423396cfeb8ull, 0x1cad21f72c81017cull, 0xdb979083e96dd4deull, 0x1f67b3b7a4a44072ull,
    0x78e5c0cc4ee679cbull, 0x2172ffcc7dd05a82ull, 0x8e2443f7744608b8ull, 0x4c263a81e69035e0ull,
    0xcb00c391bb52283cull, 0xa32e531b8b65d088ull, 0x4ef90da297486471ull, 0xd8acdea946ef1938ull,
    0x3f349ce33f76faa8ull, 0x1d4f0bc7c7bbdcf9ull, 0x3159b4cd4be0518aull, 0x647378d9c97e9fc8ull,
    0xc3ebd33483acc5eaull, 0xeb6313faffa081c5ull, 0x49daf0b751dd0d17ull, 0x9e68d429265516d3ull,
    0xfca1477d58be162bull, 0xce31d07ad1b8f88full, 0x280416958f3acb45ull, 0x7e404bbbcafbd7afull};

// secret_at returns the eight bytes of the secret from any offset.
static __device__ __forceinline__ u64 secret_at(const u64 *secret, u32 at) {
  u32 shift = at % 8 * 8;
  u64 low = secret[at / 8];
  return shift == 0 ? low : low >> shift | secret[at / 8 + 1] << (64 - shift);
}

// multiply_fold returns the XOR of the low and high halves of the product.
static __device__ __forceinline__ u64 multiply_fold(u64 a, u64 b) { return a * b ^ __umul64hi(a, b); }

static __device__ __forceinline__ u64 multiply_halves(u64 x) { return (x & 0xffffffffull) * (x >> 32); }

// text_word returns eight bytes of the text; those from n on are 0.
static __device__ __forceinline__ u64 text_word(const u8 *text, u64 n, u64 at) {
  if (at >= n) return 0;
  u64 v = __ldg((const u64 *)(text + at));
  return n - at >= 8 ? v : v & ((1ull << (n - at) * 8) - 1);
}

// text_sums writes the sum of each chunk of the n bytes of text, which must begin at a multiple of
// 8 and be readable up to a multiple of 8. Within a block of stripes an accumulator is a sum
// of products of its own words and of its neighbour's words, so the neighbour's sum is exchanged once a
// block.
extern "C" __global__ void __launch_bounds__(THREADS)
text_sums(const u8 *text, u64 n, u64 *sums, u32 *step) {
  mark(step, STEP_TEXT_SUMS);
  __shared__ u64 secret[SECRET_WORDS];
  if (threadIdx.x < SECRET_WORDS) secret[threadIdx.x] = secret_words[threadIdx.x];
  __syncthreads();
  u32 chunk = (blockIdx.x * THREADS + threadIdx.x) / SUM_LANES, j = threadIdx.x % SUM_LANES;
  u64 base = (u64)chunk * SUM_CHUNK + 8 * j;
  bool whole = (u64)(chunk + 1) * SUM_CHUNK <= n;
  const u64 start[SUM_LANES] = {XXH32_3, XXH64_1, XXH64_2, XXH64_3, XXH64_4, XXH32_2, XXH64_5, XXH32_1};
  u64 sum = 0;
#pragma unroll
  for (u32 k = 0; k < SUM_LANES; k++)
    if (k == j) sum = start[k];
  for (u32 block = 0; block < SUM_CHUNK / (STRIPE * STRIPES); block++) {
    bool last = block == SUM_CHUNK / (STRIPE * STRIPES) - 1;
    u64 v[STRIPES], words = 0;
    if (whole) {
#pragma unroll
      for (u32 k = 0; k < STRIPES; k++) v[k] = __ldg((const u64 *)(text + base + STRIPE * (STRIPES * block + k)));
    } else {
#pragma unroll
      for (u32 k = 0; k < STRIPES; k++) v[k] = text_word(text, n, base + STRIPE * (STRIPES * block + k));
    }
#pragma unroll
    for (u32 k = 0; k < STRIPES; k++) {
      // the last stripe of all has a place of its own in the secret
      u64 key = k == STRIPES - 1 && last ? secret_at(secret, 8 * SECRET_WORDS - STRIPE - 7 + 8 * j) : secret[k + j];
      sum += multiply_halves(v[k] ^ key);
      words += v[k];
    }
    sum += __shfl_xor_sync(FULL, words, 1);
    if (!last) sum = (sum ^ sum >> 47 ^ secret[SECRET_WORDS - SUM_LANES + j]) * XXH32_1;
  }
  u64 mixed = sum ^ secret_at(secret, 11 + 8 * j);
  u64 other = __shfl_xor_sync(FULL, mixed, 1);
  u64 h = j % 2 == 0 ? multiply_fold(mixed, other) : 0;
#pragma unroll
  for (int d = 1; d < SUM_LANES; d *= 2) h += __shfl_xor_sync(FULL, h, d);
  h += (u64)SUM_CHUNK * XXH64_1;
  h = (h ^ h >> 37) * 0x165667919e3779f9ull;
  h ^= h >> 32;
  if (j == 0 && (u64)chunk * SUM_CHUNK < n) sums[chunk] = h;
}
