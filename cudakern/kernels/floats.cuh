// Arrays of floats (package compress/doubles): each value is predicted from those before it by the two predictors of its block, and
// what they leave is written as a class, which is its number of bits and which predictor is meant, and as these bits. All values are
// known, so they are predicted at once. Operations are rounded one by one, as on the CPU: none may be fused.
#pragma once
#include "warp.cuh"

// Kinds of predictors, as in package compress/doubles.
enum { ZERO, ORDER0, ORDER1, ORDER2, ORDER4, RATIO };

// Values of a chunk as what they are predicted in. Values before the first one, whose numbers are negative, are 0.
struct Floats {
  typedef double T;
  const void *at;
  bool wide; // of 64 bits
  __device__ T operator[](u32 i) const {
    if ((int)i < 0) return 0;
    return wide ? ((const double *)at)[i] : (double)((const float *)at)[i];
  }
};

struct Integers {
  typedef u64 T;
  const u64 *at;
  __device__ T operator[](u32 i) const { return (int)i < 0 ? 0 : at[i]; }
};

static __device__ __forceinline__ double add(double a, double b) { return __dadd_rn(a, b); }
static __device__ __forceinline__ double sub(double a, double b) { return __dsub_rn(a, b); }
static __device__ __forceinline__ double mul(double a, double b) { return __dmul_rn(a, b); }
static __device__ __forceinline__ double over(double a, double b) { return __ddiv_rn(a, b); }
static __device__ __forceinline__ u64 add(u64 a, u64 b) { return a + b; }
static __device__ __forceinline__ u64 sub(u64 a, u64 b) { return a - b; }
static __device__ __forceinline__ u64 mul(u64 a, u64 b) { return a * b; }
static __device__ __forceinline__ u64 over(u64 a, u64 b) { return 0; } // integers have no ratios

// predicted returns the prediction of value i.
template <class X>
static __device__ __noinline__ typename X::T predicted(const X x, u32 kind, u32 s, u32 i) {
  typedef typename X::T T;
  switch (kind) {
  case ORDER0: return x[i - s];
  case ORDER1: return sub(mul((T)2, x[i - s]), x[i - 2 * s]);
  case ORDER2: return add(mul((T)3, sub(x[i - s], x[i - 2 * s])), x[i - 3 * s]);
  case ORDER4:
    return add(sub(mul((T)5, sub(x[i - s], x[i - 4 * s])), mul((T)10, sub(x[i - 2 * s], x[i - 3 * s]))), x[i - 5 * s]);
  case RATIO: {
    T y = x[i - s - 1];
    return y != (T)0 ? over(mul(x[i - 1], x[i - s]), y) : x[i - s];
  }
  }
  return 0;
}

// The integers of floats are their bits in the order of the floats.
static __device__ __forceinline__ u64 ordered64(u64 b) { return b ^ ((u64)((long long)b >> 63) | 1ull << 63); }
static __device__ __forceinline__ u64 ordered32(u32 b) { return b ^ ((u32)((int)b >> 31) | 1u << 31); }

// integer returns a prediction as an integer; that of a NaN is 0.
static __device__ __forceinline__ u64 integer(const Floats x, double f) {
  if (f != f) return 0;
  return x.wide ? ordered64((u64)__double_as_longlong(f)) : ordered32(__float_as_uint(__double2float_rn(f)));
}

static __device__ __forceinline__ u64 integer(const Integers, u64 k) { return k; }

// actual returns the integer of value i.
static __device__ __forceinline__ u64 actual(const Floats x, u32 i) {
  return x.wide ? ordered64(((const u64 *)x.at)[i]) : ordered32(((const u32 *)x.at)[i]);
}

static __device__ __forceinline__ u64 actual(const Integers x, u32 i) { return x[i]; }

static __device__ __forceinline__ u64 residual(u64 value, u64 prediction) {
  u64 d = value - prediction;
  return d << 1 ^ (u64)((long long)d >> 63);
}

static __device__ __forceinline__ int bits_of(u64 z) { return 64 - __clzll((long long)z); }

template <class X>
static __device__ __forceinline__ u64 prediction(const X x, u32 kind, u32 s, u32 i) {
  return integer(x, predicted(x, kind, s, i));
}

// residuals writes a block: the classes, the bits of the residuals, and how many these are.
template <class X>
static __device__ void residuals(const X x, const struct FloatBlock &b, u8 *classes, u32 *raw, u32 *length) {
  __shared__ u32 sums[WARPS];
  __shared__ u32 words[2 * THREADS + 2]; // the bits of THREADS residuals, and of a word before
  u32 first = b.first - b.chunk;
  bool single = b.kinds[0] == b.kinds[1] && b.lags[0] == b.lags[1];
  for (u32 k = threadIdx.x; k < 2 * THREADS + 2; k += THREADS) words[k] = 0;
  __syncthreads();
  u32 done = 0; // bits
  for (u32 tile = 0; tile < b.count; tile += THREADS) {
    u32 i = tile + threadIdx.x, size = 0;
    u64 z = 0;
    if (i < b.count) {
      u64 value = actual(x, first + i);
      z = residual(value, prediction(x, b.kinds[0], b.lags[0], first + i));
      u32 choice = 0;
      size = bits_of(z);
      if (!single) {
        u64 other = residual(value, prediction(x, b.kinds[1], b.lags[1], first + i));
        if (bits_of(other) < size) z = other, size = bits_of(other), choice = 1;
      }
      classes[i] = (u8)(2 * size + choice);
      // The highest bit is known.
      size = size > 1 ? size - 1 : 0;
      z &= (1ull << size) - 1;
    }
    u32 total, at = block_exclusive(size, sums, &total) + (done & 31);
    if (size > 0) {
      u32 shift = at & 31;
      u64 low = z << shift;
      atomicOr(&words[at / 32], (u32)low);
      if (shift + size > 32) atomicOr(&words[at / 32 + 1], (u32)(low >> 32));
      if (shift + size > 64) atomicOr(&words[at / 32 + 2], (u32)(z >> (64 - shift)));
    }
    __syncthreads();
    u32 whole = ((done & 31) + total) / 32, rest = words[whole];
    for (u32 k = threadIdx.x; k < whole; k += THREADS) raw[done / 32 + k] = words[k];
    __syncthreads();
    for (u32 k = threadIdx.x; k <= whole; k += THREADS) words[k] = k == 0 ? rest : 0;
    done += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    if (done & 31) raw[done / 32] = words[0];
    *length = done;
  }
}

// float_residuals has one thread block for a block of values. Classes of values are in their order; raw has 2*FLOAT_BLOCK words for each
// block.
extern "C" __global__ void __launch_bounds__(THREADS)
float_residuals(const void *values, const struct FloatBlock *blocks, u8 *classes, u32 *raw, u32 *lengths, u32 *step) {
  mark(step, STEP_FLOAT_RESIDUALS);
  const struct FloatBlock b = blocks[blockIdx.x];
  classes += b.first;
  raw += (u64)blockIdx.x * 2 * FLOAT_BLOCK;
  lengths += blockIdx.x;
  if (b.form == FLOAT_INTEGERS)
    residuals(Integers{(const u64 *)values + b.chunk}, b, classes, raw, lengths);
  else
    residuals(Floats{(const u8 *)values + (u64)b.chunk * (b.form == FLOAT_BITS64 ? 8 : 4), b.form == FLOAT_BITS64}, b, classes, raw, lengths);
}

// float_compact copies the words of each block to the place where they begin in a stream without gaps; the last place is its end.
extern "C" __global__ void __launch_bounds__(THREADS)
float_compact(const u32 *raw, const u32 *places, u32 *stream, u32 *step) {
  mark(step, STEP_FLOAT_COMPACT);
  raw += (u64)blockIdx.x * 2 * FLOAT_BLOCK;
  u32 at = places[blockIdx.x], words = places[blockIdx.x + 1] - at;
  for (u32 k = threadIdx.x; k < words; k += THREADS) stream[at + k] = raw[k];
}
