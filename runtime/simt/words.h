/* words.h: the functions that HIP's and CUDA's headers have in common. */

/* Shuffles among parts of `width` lanes.  Where a part is the whole wave they are the kernel
** language's: asking past its ends for a lane by number or by mask is a mistake, since the devices
** differ there (one takes the number modulo the width, another gives the lane itself), and
** shuffle_down and shuffle_up get any value at all.  In a smaller part a source past its ends is
** the lane itself, as in HIP's header and in PTX. */
template <class V>
KG_SIMT_IN V kg_simt_shuffle_xor(V value, unsigned mask, unsigned width, const char *what) {
  const unsigned self = kg_simt_lane_index(), from = self ^ mask;
  const bool past = width < KG_SIMT_WAVE && from / width > self / width;
  return kg_simt_shuffle(value, past ? self : from, what);
}
template <class V>
KG_SIMT_IN V kg_simt_shuffle_idx(V value, unsigned from, unsigned width, const char *what) {
  const unsigned first = kg_simt_lane_index() / width * width;
  return kg_simt_shuffle(value, width < KG_SIMT_WAVE ? first + from % width : from, what);
}
template <class V>
KG_SIMT_IN V kg_simt_shuffle_down(V value, unsigned delta, unsigned width, const char *what) {
  const unsigned self = kg_simt_lane_index();
  const bool past = delta >= width - self % width;
  const V got = kg_simt_shuffle(value, past ? self : self + delta, what);
  return past && width == KG_SIMT_WAVE ? kg_simt_beyond<V>() : got;
}
template <class V>
KG_SIMT_IN V kg_simt_shuffle_up(V value, unsigned delta, unsigned width, const char *what) {
  const unsigned self = kg_simt_lane_index();
  const bool past = delta > self % width;
  const V got = kg_simt_shuffle(value, past ? self : self - delta, what);
  return past && width == KG_SIMT_WAVE ? kg_simt_beyond<V>() : got;
}

KG_SIMT_IN unsigned __popc(unsigned x) { return (unsigned)__builtin_popcount(x); }
KG_SIMT_IN unsigned __popcll(unsigned long long x) { return (unsigned)__builtin_popcountll(x); }
KG_SIMT_IN unsigned __ffs(int x) { return (unsigned)__builtin_ffs(x); }
KG_SIMT_IN unsigned __ffsll(long long x) { return (unsigned)__builtin_ffsll(x); }
KG_SIMT_IN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
KG_SIMT_IN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KG_SIMT_IN unsigned __umulhi(unsigned a, unsigned b) { return kg_simt_mul_hi(a, b); }
KG_SIMT_IN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KG_SIMT_IN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KG_SIMT_IN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
KG_SIMT_IN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }

KG_SIMT_IN float sqrtf(float x) { return kg_simt_sqrt(x); }
KG_SIMT_IN float fmaf(float a, float b, float c) { return kg_simt_fma(a, b, c); }
KG_SIMT_IN float fabsf(float x) { return kg_simt_abs(x); }
KG_SIMT_IN float floorf(float x) { return kg_simt_floor(x); }
KG_SIMT_IN float ceilf(float x) { return kg_simt_ceil(x); }
KG_SIMT_IN float truncf(float x) { return kg_simt_trunc(x); }
KG_SIMT_IN float rintf(float x) { return kg_simt_rint(x); }
KG_SIMT_IN float fminf(float a, float b) { return kg_simt_min(a, b); }
KG_SIMT_IN float fmaxf(float a, float b) { return kg_simt_max(a, b); }
KG_SIMT_IN float rsqrtf(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
KG_SIMT_IN void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
KG_SIMT_IN float __sinf(float x) { return sinf(x); }
KG_SIMT_IN float __cosf(float x) { return cosf(x); }
KG_SIMT_IN float __expf(float x) { return kg_simt_fast_exp(x); }
KG_SIMT_IN float __exp2f(float x) { return kg_simt_fast_exp2(x); }
KG_SIMT_IN float __logf(float x) { return kg_simt_fast_log(x); }
KG_SIMT_IN float __log2f(float x) { return kg_simt_fast_log2(x); }
KG_SIMT_IN float __fsqrt_rn(float x) { return kg_simt_sqrt(x); }
KG_SIMT_IN float __frcp_rn(float x) { return 1.0f / x; }
KG_SIMT_IN float __fdiv_rn(float a, float b) { return a / b; }
KG_SIMT_IN float __fadd_rn(float a, float b) { return a + b; }
KG_SIMT_IN float __fmul_rn(float a, float b) { return a * b; }
KG_SIMT_IN float __fmaf_rn(float a, float b, float c) { return kg_simt_fma(a, b, c); }

/* Templates in a namespace of their own: a text's own min for a type comes before them. */
namespace kg_simt_words {
template <class V> KG_SIMT_IN V min(V a, V b) { return b < a ? b : a; }
template <class V> KG_SIMT_IN V max(V a, V b) { return a < b ? b : a; }
template <> KG_SIMT_IN float min(float a, float b) { return kg_simt_min(a, b); }
template <> KG_SIMT_IN float max(float a, float b) { return kg_simt_max(a, b); }
} // namespace kg_simt_words
using namespace kg_simt_words;
