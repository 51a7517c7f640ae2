// probe.cc: library functions of templates/lib as C functions on the host, for test_reference.c.
//
// -I decides which folder's .kc files are read, so that a test can put a faulty copy in front.
#include <math.h>
#include <string.h>

typedef float f32;
typedef _Float16 f16;
typedef int i32;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned long long u64;
typedef long long i64;
struct f32x4 { f32 x, y, z, w; };
struct u32x4 { u32 x, y, z, w; };

static u32 bits(f32 x) { return __builtin_bit_cast(u32, x); }
static f32 f32_of_bits(u32 b) { return __builtin_bit_cast(f32, b); }
struct bf16 { // nearest even; the tests give it no NaN
  u16 pattern;
  bf16() = default;
  explicit bf16(f32 x) : pattern(u16((bits(x) + 0x7fffu + (bits(x) >> 16 & 1u)) >> 16)) {}
};

#define GLOBAL
#define INF __builtin_inff()
#define NOT_A_NUMBER __builtin_nanf("")

namespace words { // apart from the C library's functions of the same names
static f32 fma(f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); }
static f32 abs(f32 x) { return __builtin_fabsf(x); }
static f32 floor(f32 x) { return __builtin_floorf(x); }
static f32 log(f32 x) { return __builtin_logf(x); }
static f32 own_fma(f32 a, f32 b, f32 c) { return fma(a, b, c); }
static f32 ceil(f32 x) { return __builtin_ceilf(x); }
static f32 sin(f32 x) { return f32(::sin(double(x))); }
static f32 cos(f32 x) { return f32(::cos(double(x))); }
static f32 min(f32 a, f32 b) { return __builtin_fminf(a, b); }
static f32 max(f32 a, f32 b) { return __builtin_fmaxf(a, b); }
template <typename V> static V min(V a, V b) { return a < b ? a : b; }
template <typename V> static V max(V a, V b) { return a > b ? a : b; }
static u32 popcount(u32 x) { return u32(__builtin_popcount(x)); }
static bool isnan(f32 x) { return x != x; }
static u32 mul_hi(u32 a, u32 b) { return u32(u64(a) * b >> 32); }

#include "math.kc"
#include "philox.kc"
#include "rotate.kc"
#include "whole.kc"
}

extern "C" {
void probe_exp2(const f32 *x, f32 *y, int n) {
  for (int i = 0; i < n; i++) y[i] = words::portable_exp2(x[i]);
}
void probe_expm1(const f32 *x, f32 *y, int n) {
  for (int i = 0; i < n; i++) y[i] = words::portable_expm1(x[i]);
}
void probe_philox(const u32 *counter, const u32 *key, u32 *words_out) {
  const u32x4 c =
      words::philox4x32_10(u32x4{counter[0], counter[1], counter[2], counter[3]}, key[0], key[1]);
  memcpy(words_out, &c, sizeof c);
}
f32 probe_uniform(u32 word) { return words::uniform_of_word(word); }
f32 probe_gumbel(u32 word) { return words::gumbel_of_word(word); }
u16 probe_f16_sum(f32 a, f32 b, f32 c, f32 d) { // the pattern of the stored f16
  f16 to;
  words::store_sum_of_products(&to, a, b, c, d);
  return __builtin_bit_cast(u16, to);
}

#define ONE(name)                                                                                  \
  void probe_of_##name(const f32 *x, f32 *y, int n) {                                              \
    for (int i = 0; i < n; i++) y[i] = words::name(x[i]);                                          \
  }
#define TWO(name)                                                                                  \
  f32 probe_of_##name(f32 x, f32 y) { return words::name(x, y); }
ONE(log1p) ONE(erf) ONE(atan) ONE(tan) ONE(sinh) ONE(cosh) ONE(trunc) ONE(rint) ONE(round)
TWO(pow) TWO(atan2) TWO(fmod) TWO(copysign)
f32 probe_of_sign(f32 x) { return words::sign(x); }
u32 probe_of_clz(u64 x) { return x >> 32 ? words::clz(x) : words::clz(u32(x)); }
u32 probe_of_ctz(u64 x) { return u32(x) ? words::ctz(u32(x)) : words::ctz(x); }
}
