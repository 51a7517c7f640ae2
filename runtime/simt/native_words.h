/* native_words.h: what HIP's and CUDA's texts have in common, for native texts: vector types, math,
** bits, atomics, half and bfloat16. */

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __managed__
#define __shared__ KG_SIMT_SHARED
#ifdef KG_SIMT_CHECKED
#define KG_SIMT_OF_DYNAMIC KG_SIMT_OF_GROUP
#else
#define KG_SIMT_OF_DYNAMIC
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __forceinline inline __attribute__((always_inline))
#define __inline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __cluster_dims__(...)

#define threadIdx kg_native_uint3(kg_simt_xyz_of(kg_simt_now()->place))
#define blockIdx kg_native_uint3(kg_simt_xyz_of(kg_simt_now_group()->place))
#define blockDim dim3(kg_simt_xyz_of(kg_simt_now_group()->threads))
#define gridDim dim3(kg_simt_xyz_of(kg_simt_now_group()->groups))
#define warpSize KG_SIMT_WAVE

#define __syncthreads() kg_native_barrier("__syncthreads")
KG_SIMT_IN void __threadfence() { kg_native_fence(); }
KG_SIMT_IN void __threadfence_block() {}
#define __threadfence_system() __threadfence()
#define __nanosleep(n)
#define __builtin_assume(x)
#define __builtin_nontemporal_load(p) (*(p))
#define __builtin_nontemporal_store(v, p) (void)(*(p) = (v))

typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long ssize_t;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
#define NULL nullptr

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define HUGE_VAL __builtin_inf()
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define HIP_INF_F __builtin_inff()
#define CUDART_PI_F 3.141592654f
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LN2 0.69314718055994530942
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_EPSILON __DBL_EPSILON__
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define SHRT_MAX __SHRT_MAX__
#define CHAR_BIT 8
#define LLONG_MAX __LONG_LONG_MAX__
#define ULLONG_MAX (__LONG_LONG_MAX__ * 2ull + 1ull)
#define INT8_MAX 127
#define INT8_MIN (-128)
#define UINT8_MAX 255
#define INT16_MAX 32767
#define INT16_MIN (-32768)
#define UINT16_MAX 65535
#define INT32_MAX __INT_MAX__
#define INT32_MIN (-__INT_MAX__ - 1)
#define UINT32_MAX (__INT_MAX__ * 2u + 1u)
#define INT64_MAX __LONG_MAX__
#define UINT64_MAX (__LONG_MAX__ * 2ul + 1ul)

/* ---- what a text may do besides -------------------------------------------------------------- */

extern "C" {
int printf(const char *, ...);
double exp(double), exp2(double), log(double), log2(double), log10(double), sin(double),
    cos(double), tan(double), tanh(double), sinh(double), cosh(double), asin(double), acos(double),
    atan(double), pow(double, double), erf(double), log1p(double), expm1(double),
    atan2(double, double), fmod(double, double), cbrt(double), erfc(double), hypot(double, double);
float log10f(float), tanf(float), sinhf(float), coshf(float), asinf(float), acosf(float),
    atanf(float), erfcf(float), cbrtf(float), hypotf(float, float), lgammaf(float), tgammaf(float),
    asinhf(float), acoshf(float), atanhf(float), remainderf(float, float), exp10f(float),
    erfinvf(float), ldexpf(float, int), frexpf(float, int *), modff(float, float *);
}
/* Once, though a checked launch runs more than once. */
#define printf(...) (kg_native_once() ? printf(__VA_ARGS__) : 0)
KG_SIMT_IN bool kg_native_once() {
#ifdef KG_SIMT_CHECKED
  return kg_simt_ours(kg_simt.watched) != 0;
#else
  return false;
#endif
}

#define assert(condition)                                                                          \
  ((condition) ? (void)0 : kg_native_failed("assert", "it does not hold: " #condition))
#define __trap() kg_native_failed("__trap", "the text itself ends here")
#define abort() kg_native_failed("abort", "the text itself ends here")
#define kg_native_assembly()                                                                       \
  kg_native_failed("asm", "the assembly of a GPU means nothing to the SIMT device")

KG_SIMT_IN long long clock64() { return 0; }
KG_SIMT_IN int clock() { return 0; }
KG_SIMT_IN long long wall_clock64() { return 0; }

/* ---- vectors --------------------------------------------------------------------------------- */

#define KG_NATIVE_VECTOR(T, E, two, four)                                                          \
  struct T##1 { E x; };                                                                            \
  struct alignas(two) T##2 { E x, y; };                                                            \
  struct T##3 { E x, y, z; };                                                                      \
  struct alignas(four) T##4 { E x, y, z, w; };                                                     \
  KG_SIMT_IN T##1 make_##T##1(E x) { return T##1 {x}; }                                            \
  KG_SIMT_IN T##2 make_##T##2(E x, E y) { return T##2 {x, y}; }                                    \
  KG_SIMT_IN T##3 make_##T##3(E x, E y, E z) { return T##3 {x, y, z}; }                            \
  KG_SIMT_IN T##4 make_##T##4(E x, E y, E z, E w) { return T##4 {x, y, z, w}; }                    \
  KG_NATIVE_VECTOR_MADE_OF(T##1, E)                                                                \
  KG_NATIVE_VECTOR_MADE_OF(T##2, E)                                                                \
  KG_NATIVE_VECTOR_MADE_OF(T##3, E)                                                                \
  KG_NATIVE_VECTOR_MADE_OF(T##4, E)
#define KG_NATIVE_VECTOR_MADE_OF(T, E)                                                             \
  template <> struct kg_native_made_of<T> {                                                        \
    using type = E;                                                                                \
  };
KG_NATIVE_VECTOR(char, signed char, 2, 4)
KG_NATIVE_VECTOR(uchar, unsigned char, 2, 4)
KG_NATIVE_VECTOR(short, short, 4, 8)
KG_NATIVE_VECTOR(ushort, unsigned short, 4, 8)
KG_NATIVE_VECTOR(int, int, 8, 16)
KG_NATIVE_VECTOR(uint, unsigned, 8, 16)
KG_NATIVE_VECTOR(long, long, 16, 16)
KG_NATIVE_VECTOR(ulong, unsigned long, 16, 16)
KG_NATIVE_VECTOR(longlong, long long, 16, 16)
KG_NATIVE_VECTOR(ulonglong, unsigned long long, 16, 16)
KG_NATIVE_VECTOR(float, float, 8, 16)
KG_NATIVE_VECTOR(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  KG_SIMT_METHOD dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  KG_SIMT_METHOD dim3(const kg_simt_xyz &v) : x(v.x), y(v.y), z(v.z) {}
  KG_SIMT_METHOD dim3(const uint3 &v) : x(v.x), y(v.y), z(v.z) {}
  KG_SIMT_METHOD operator uint3() const { return uint3{x, y, z}; }
};
KG_SIMT_IN uint3 kg_native_uint3(const kg_simt_xyz &v) { return uint3{v.x, v.y, v.z}; }

/* ---- math: float's words by their names with f, and the names without it for every type ------- */

KG_SIMT_IN float sqrtf(float x) { return kg_simt_sqrt(x); }
KG_SIMT_IN float rsqrtf(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
KG_SIMT_IN float fmaf(float a, float b, float c) { return kg_simt_fma(a, b, c); }
KG_SIMT_IN float fabsf(float x) { return kg_simt_abs(x); }
KG_SIMT_IN float floorf(float x) { return kg_simt_floor(x); }
KG_SIMT_IN float ceilf(float x) { return kg_simt_ceil(x); }
KG_SIMT_IN float truncf(float x) { return kg_simt_trunc(x); }
KG_SIMT_IN float rintf(float x) { return kg_simt_rint(x); }
KG_SIMT_IN float nearbyintf(float x) { return kg_simt_rint(x); }
KG_SIMT_IN float roundf(float x) {
  return __builtin_truncf(x + __builtin_copysignf(0.49999997f, x));
}
KG_SIMT_IN long lroundf(float x) { return (long)roundf(x); }
KG_SIMT_IN long lrintf(float x) { return (long)kg_simt_rint(x); }
KG_SIMT_IN float fminf(float a, float b) { return kg_simt_min(a, b); }
KG_SIMT_IN float fmaxf(float a, float b) { return kg_simt_max(a, b); }
KG_SIMT_IN float fdimf(float a, float b) { return a > b ? a - b : 0; }
KG_SIMT_IN float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
KG_SIMT_IN float fdividef(float a, float b) { return a / b; }
KG_SIMT_IN float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
KG_SIMT_IN float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KG_SIMT_IN void sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
KG_SIMT_IN void sincos(double x, double *s, double *c) { *s = sin(x), *c = cos(x); }
KG_SIMT_IN double sqrt(double x) { return __builtin_sqrt(x); }
KG_SIMT_IN double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
KG_SIMT_IN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
KG_SIMT_IN double fabs(double x) { return __builtin_fabs(x); }
KG_SIMT_IN double floor(double x) { return __builtin_floor(x); }
KG_SIMT_IN double ceil(double x) { return __builtin_ceil(x); }
KG_SIMT_IN double trunc(double x) { return __builtin_trunc(x); }
KG_SIMT_IN double rint(double x) { return __builtin_rint(x); }
KG_SIMT_IN double round(double x) {
  return __builtin_trunc(x + __builtin_copysign(0.49999999999999994, x));
}
KG_SIMT_IN double fmin(double a, double b) { return a != a || b < a ? b : a; }
KG_SIMT_IN double fmax(double a, double b) { return a != a || b > a ? b : a; }
KG_SIMT_IN double copysign(double a, double b) { return __builtin_copysign(a, b); }

/* The name without an f, of a float. */
#define KG_NATIVE_ONE(name)                                                                        \
  KG_SIMT_IN float name(float x) { return name##f(x); }
/* clang-format off */
KG_NATIVE_ONE(exp) KG_NATIVE_ONE(exp2) KG_NATIVE_ONE(log) KG_NATIVE_ONE(log2) KG_NATIVE_ONE(log10)
KG_NATIVE_ONE(sin) KG_NATIVE_ONE(cos) KG_NATIVE_ONE(tan) KG_NATIVE_ONE(tanh) KG_NATIVE_ONE(sinh)
KG_NATIVE_ONE(cosh) KG_NATIVE_ONE(asin) KG_NATIVE_ONE(acos) KG_NATIVE_ONE(atan) KG_NATIVE_ONE(erf)
KG_NATIVE_ONE(erfc) KG_NATIVE_ONE(log1p) KG_NATIVE_ONE(expm1) KG_NATIVE_ONE(cbrt)
KG_NATIVE_ONE(sqrt) KG_NATIVE_ONE(rsqrt) KG_NATIVE_ONE(fabs) KG_NATIVE_ONE(floor)
KG_NATIVE_ONE(ceil) KG_NATIVE_ONE(trunc) KG_NATIVE_ONE(rint) KG_NATIVE_ONE(round);
/* clang-format on */
KG_SIMT_IN float pow(float a, float b) { return powf(a, b); }
KG_SIMT_IN float fmod(float a, float b) { return fmodf(a, b); }
KG_SIMT_IN float atan2(float a, float b) { return atan2f(a, b); }
KG_SIMT_IN float fmin(float a, float b) { return kg_simt_min(a, b); }
KG_SIMT_IN float fmax(float a, float b) { return kg_simt_max(a, b); }
KG_SIMT_IN float fma(float a, float b, float c) { return kg_simt_fma(a, b, c); }
KG_SIMT_IN float copysign(float a, float b) { return __builtin_copysignf(a, b); }
KG_SIMT_IN float abs(float x) { return kg_simt_abs(x); }
KG_SIMT_IN double abs(double x) { return __builtin_fabs(x); }
KG_SIMT_IN int abs(int x) { return x < 0 ? -x : x; }
KG_SIMT_IN long abs(long x) { return x < 0 ? -x : x; }
KG_SIMT_IN long long abs(long long x) { return x < 0 ? -x : x; }
KG_SIMT_IN float ldexp(float x, int n) { return ldexpf(x, n); }
#define isnan(x) (bool)__builtin_isnan(x)
#define isinf(x) (bool)__builtin_isinf(x)
#define isfinite(x) (bool)__builtin_isfinite(x)
#define signbit(x) (bool)__builtin_signbit(x)

KG_SIMT_IN float __expf(float x) { return kg_simt_fast_exp(x); }
KG_SIMT_IN float __exp2f(float x) { return kg_simt_fast_exp2(x); }
KG_SIMT_IN float __exp10f(float x) { return kg_simt_fast_power(x, exp10f(x)); }
KG_SIMT_IN float __logf(float x) { return kg_simt_fast_log(x); }
KG_SIMT_IN float __log2f(float x) { return kg_simt_fast_log2(x); }
KG_SIMT_IN float __log10f(float x) { return log10f(x); }
KG_SIMT_IN float __sinf(float x) { return sinf(x); }
KG_SIMT_IN float __cosf(float x) { return cosf(x); }
KG_SIMT_IN float __tanf(float x) { return tanf(x); }
KG_SIMT_IN float __tanhf(float x) { return tanhf(x); }
KG_SIMT_IN float __powf(float a, float b) { return powf(a, b); }
KG_SIMT_IN void __sincosf(float x, float *s, float *c) { *s = sinf(x), *c = cosf(x); }
KG_SIMT_IN float __fdividef(float a, float b) { return a / b; }
KG_SIMT_IN float __fsqrt_rn(float x) { return kg_simt_sqrt(x); }
KG_SIMT_IN float __frsqrt_rn(float x) { return rsqrtf(x); }
KG_SIMT_IN float __frcp_rn(float x) { return 1.0f / x; }
KG_SIMT_IN float __fdiv_rn(float a, float b) { return a / b; }
KG_SIMT_IN float __fadd_rn(float a, float b) { return a + b; }
KG_SIMT_IN float __fsub_rn(float a, float b) { return a - b; }
KG_SIMT_IN float __fmul_rn(float a, float b) { return a * b; }
KG_SIMT_IN float __fmaf_rn(float a, float b, float c) { return kg_simt_fma(a, b, c); }
KG_SIMT_IN double __dadd_rn(double a, double b) { return a + b; }
KG_SIMT_IN double __dmul_rn(double a, double b) { return a * b; }
KG_SIMT_IN float __saturatef(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }

/* ---- bits ------------------------------------------------------------------------------------ */

KG_SIMT_IN int __popc(unsigned x) { return __builtin_popcount(x); }
KG_SIMT_IN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KG_SIMT_IN int __ffs(int x) { return __builtin_ffs(x); }
KG_SIMT_IN int __ffsll(long long x) { return __builtin_ffsll(x); }
KG_SIMT_IN int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
KG_SIMT_IN int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KG_SIMT_IN unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
KG_SIMT_IN unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KG_SIMT_IN unsigned __umulhi(unsigned a, unsigned b) { return kg_simt_mul_hi(a, b); }
KG_SIMT_IN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
KG_SIMT_IN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
KG_SIMT_IN int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
KG_SIMT_IN unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
KG_SIMT_IN unsigned __byte_perm(unsigned a, unsigned b, unsigned s) {
  const unsigned long long both = (unsigned long long)b << 32 | a;
  unsigned r = 0;
  for (unsigned i = 0; i < 4; i++) r |= (unsigned)(both >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
  return r;
}
KG_SIMT_IN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (n & 31) >> 32);
}
KG_SIMT_IN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned n) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (n & 31));
}
KG_SIMT_IN int __dp4a(int a, int b, int c) {
  unsigned sum = (unsigned)c;
  for (int i = 0; i < 4; i++)
    sum += (unsigned)((signed char)(a >> 8 * i) * (signed char)(b >> 8 * i));
  return (int)sum;
}
KG_SIMT_IN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; i++) c += (a >> 8 * i & 0xff) * (b >> 8 * i & 0xff);
  return c;
}
KG_SIMT_IN unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KG_SIMT_IN int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KG_SIMT_IN float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
KG_SIMT_IN float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KG_SIMT_IN long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KG_SIMT_IN double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
/* A float to an integer: what is beyond becomes the nearest, NaN 0, and none of it is a fault. */
template <class I, class F> KG_SIMT_IN I kg_native_saturate(F x, I least, I most) {
  if (x != x) return 0;
  return x <= (F)least ? least : x >= (F)most ? most : (I)x;
}
KG_SIMT_IN int kg_native_i32(float x) {
  return kg_native_saturate<int>((double)x, INT_MIN, INT_MAX);
}
KG_SIMT_IN unsigned kg_native_u32(float x) {
  return kg_native_saturate<unsigned>((double)x, 0u, UINT_MAX);
}
KG_SIMT_IN int __float2int_rn(float x) { return kg_native_i32(__builtin_rintf(x)); }
KG_SIMT_IN int __float2int_rz(float x) { return kg_native_i32(__builtin_truncf(x)); }
KG_SIMT_IN int __float2int_rd(float x) { return kg_native_i32(__builtin_floorf(x)); }
KG_SIMT_IN int __float2int_ru(float x) { return kg_native_i32(__builtin_ceilf(x)); }
KG_SIMT_IN unsigned __float2uint_rn(float x) { return kg_native_u32(__builtin_rintf(x)); }
KG_SIMT_IN unsigned __float2uint_rz(float x) { return kg_native_u32(__builtin_truncf(x)); }
KG_SIMT_IN float __int2float_rn(int x) { return (float)x; }
KG_SIMT_IN float __uint2float_rn(unsigned x) { return (float)x; }
KG_SIMT_IN float __double2float_rn(double x) { return (float)x; }

template <class T> KG_SIMT_IN T __ldg(const T *p) { return *p; }
template <class T> KG_SIMT_IN T __ldcs(const T *p) { return *p; }
template <class T> KG_SIMT_IN T __ldca(const T *p) { return *p; }
template <class T> KG_SIMT_IN T __ldcg(const T *p) { return *p; }
template <class T> KG_SIMT_IN void __stcs(T *p, T v) { *p = v; }
template <class T> KG_SIMT_IN void __stcg(T *p, T v) { *p = v; }
template <class T> KG_SIMT_IN void __stwt(T *p, T v) { *p = v; }

/* min and max of any two numbers, in a namespace of their own: a text's own come before them. */
namespace kg_simt_words {
template <class A, class B> struct kg_native_common {
  using type = decltype(true ? A() : B());
};
template <class A, class B,
          class = typename kg_native_if<kg_native_number<A> && kg_native_number<B>>::type>
KG_SIMT_IN typename kg_native_common<A, B>::type min(A a, B b) {
  using T = typename kg_native_common<A, B>::type;
  if constexpr (kg_native_same<T, float>)
    return kg_simt_min(a, b);
  else
    return (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B,
          class = typename kg_native_if<kg_native_number<A> && kg_native_number<B>>::type>
KG_SIMT_IN typename kg_native_common<A, B>::type max(A a, B b) {
  using T = typename kg_native_common<A, B>::type;
  if constexpr (kg_native_same<T, float>)
    return kg_simt_max(a, b);
  else
    return (T)a < (T)b ? (T)b : (T)a;
}
} // namespace kg_simt_words
using namespace kg_simt_words;

/* ---- the part of std that device code uses --------------------------------------------------- */

namespace std {
template <class A, class B> struct is_same {
  static constexpr bool value = kg_native_same<A, B>;
};
template <class A, class B> inline constexpr bool is_same_v = kg_native_same<A, B>;
template <bool C, class T = void> struct enable_if : kg_native_if<C, T> {};
template <bool C, class T = void> using enable_if_t = typename kg_native_if<C, T>::type;
template <bool C, class A, class B> struct conditional : kg_native_choose<C, A, B> {};
template <bool C, class A, class B> using conditional_t = typename kg_native_choose<C, A, B>::type;
template <class T, T V> struct integral_constant {
  static constexpr T value = V;
  using type = integral_constant;
  constexpr operator T() const { return V; }
};
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class T> struct remove_cv : kg_native_bare<T> {};
template <class T> struct remove_const : kg_native_bare<T> {};
template <class T> struct remove_reference {
  using type = T;
};
template <class T> struct remove_reference<T &> {
  using type = T;
};
template <class T> struct remove_reference<T &&> {
  using type = T;
};
template <class T> using remove_cv_t = typename kg_native_bare<T>::type;
template <class T> using remove_const_t = typename kg_native_bare<T>::type;
template <class T> using remove_reference_t = typename remove_reference<T>::type;
template <class T> using decay_t = typename kg_native_bare<T>::type;
template <class T> struct is_floating_point {
  static constexpr bool value = kg_native_float<T>;
};
template <class T> inline constexpr bool is_floating_point_v = kg_native_float<T>;
template <class T> inline constexpr bool is_integral_v = kg_native_number<T> && !kg_native_float<T>;
template <class T> struct is_integral {
  static constexpr bool value = is_integral_v<T>;
};
template <class T> inline constexpr bool is_arithmetic_v = kg_native_number<T>;
template <class T> T &&declval();
template <class T> KG_SIMT_IN T &&move(T &x) { return (T &&)x; }
template <class T> KG_SIMT_IN const T &min(const T &a, const T &b) { return b < a ? b : a; }
template <class T> KG_SIMT_IN const T &max(const T &a, const T &b) { return a < b ? b : a; }
template <class T> KG_SIMT_IN void swap(T &a, T &b) {
  const T c = a;
  a = b, b = c;
}
template <class T> struct numeric_limits;
#define KG_NATIVE_LIMITS(T, low, high, infinite, least, step)                                      \
  template <> struct numeric_limits<T> {                                                           \
    static constexpr T lowest() { return low; }                                                    \
    static constexpr T max() { return high; }                                                      \
    static constexpr T min() { return least; }                                                     \
    static constexpr T infinity() { return infinite; }                                             \
    static constexpr T quiet_NaN() { return (T)__builtin_nan(""); }                                \
    static constexpr T epsilon() { return step; }                                                  \
  };
KG_NATIVE_LIMITS(float, -FLT_MAX, FLT_MAX, INFINITY, FLT_MIN, FLT_EPSILON)
KG_NATIVE_LIMITS(double, -DBL_MAX, DBL_MAX, __builtin_inf(), __DBL_MIN__, DBL_EPSILON)
#define KG_NATIVE_WHOLE_LIMITS(T, low, high)                                                       \
  template <> struct numeric_limits<T> {                                                           \
    static constexpr T lowest() { return low; }                                                    \
    static constexpr T max() { return high; }                                                      \
    static constexpr T min() { return low; }                                                       \
  };
KG_NATIVE_WHOLE_LIMITS(signed char, -128, 127)
KG_NATIVE_WHOLE_LIMITS(unsigned char, 0, 255)
KG_NATIVE_WHOLE_LIMITS(short, -32768, 32767)
KG_NATIVE_WHOLE_LIMITS(unsigned short, 0, 65535)
KG_NATIVE_WHOLE_LIMITS(int, INT_MIN, INT_MAX)
KG_NATIVE_WHOLE_LIMITS(unsigned, 0, UINT_MAX)
KG_NATIVE_WHOLE_LIMITS(long, -INT64_MAX - 1, INT64_MAX)
KG_NATIVE_WHOLE_LIMITS(unsigned long, 0, UINT64_MAX)
KG_NATIVE_WHOLE_LIMITS(long long, -LLONG_MAX - 1, LLONG_MAX)
KG_NATIVE_WHOLE_LIMITS(unsigned long long, 0, ULLONG_MAX)
using ::abs;
using ::acos;
using ::asin;
using ::atan;
using ::atan2;
using ::cbrt;
using ::ceil;
using ::copysign;
using ::cos;
using ::cosh;
using ::erf;
using ::exp;
using ::exp2;
using ::expm1;
using ::fabs;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::fmod;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::pow;
using ::ptrdiff_t;
using ::rint;
using ::round;
using ::sin;
using ::sinh;
using ::size_t;
using ::sqrt;
using ::tan;
using ::tanh;
using ::trunc;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::uintptr_t;
} // namespace std

/* ---- half and bfloat16 ----------------------------------------------------------------------- */

typedef _Float16 __half;
typedef _Float16 half;
typedef __bf16 __nv_bfloat16;
typedef __bf16 nv_bfloat16;
typedef __bf16 __hip_bfloat16;
typedef __bf16 hip_bfloat16;

#define KG_NATIVE_PAIR(P, E)                                                                       \
  struct alignas(4) P {                                                                            \
    E x, y;                                                                                        \
    P() = default;                                                                                 \
    KG_SIMT_METHOD constexpr P(E a, E b) : x(a), y(b) {}                                           \
    KG_SIMT_METHOD P &operator+=(const P &o) { return *this = *this + o; }                         \
    KG_SIMT_METHOD P &operator-=(const P &o) { return *this = *this - o; }                         \
    KG_SIMT_METHOD P &operator*=(const P &o) { return *this = *this * o; }                         \
    friend KG_SIMT_METHOD P operator+(const P &a, const P &b) { return P(a.x + b.x, a.y + b.y); }  \
    friend KG_SIMT_METHOD P operator-(const P &a, const P &b) { return P(a.x - b.x, a.y - b.y); }  \
    friend KG_SIMT_METHOD P operator*(const P &a, const P &b) { return P(a.x * b.x, a.y * b.y); }  \
    friend KG_SIMT_METHOD P operator/(const P &a, const P &b) { return P(a.x / b.x, a.y / b.y); }  \
    friend KG_SIMT_METHOD P operator-(const P &a) { return P(-a.x, -a.y); }                        \
  };                                                                                               \
  KG_NATIVE_VECTOR_MADE_OF(P, E)                                                                   \
  KG_SIMT_IN P make_##P(E a, E b) { return P(a, b); }                                              \
  KG_SIMT_IN P __halves2##P(E a, E b) { return P(a, b); }                                          \
  KG_SIMT_IN P __low2##P(P v) { return P(v.x, v.x); }                                              \
  KG_SIMT_IN P __high2##P(P v) { return P(v.y, v.y); }                                             \
  KG_SIMT_IN P __hadd2(P a, P b) { return a + b; }                                                 \
  KG_SIMT_IN P __hsub2(P a, P b) { return a - b; }                                                 \
  KG_SIMT_IN P __hmul2(P a, P b) { return a * b; }                                                 \
  KG_SIMT_IN P __h2div(P a, P b) { return a / b; }                                                 \
  KG_SIMT_IN P __hfma2(P a, P b, P c) { return P(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }  \
  KG_SIMT_IN P __hmax2(P a, P b) { return P(__hmax(a.x, b.x), __hmax(a.y, b.y)); }                 \
  KG_SIMT_IN P __hmin2(P a, P b) { return P(__hmin(a.x, b.x), __hmin(a.y, b.y)); }                 \
  KG_SIMT_IN P __hneg2(P a) { return -a; }                                                         \
  KG_SIMT_IN P __habs2(P a) { return P(__habs(a.x), __habs(a.y)); }
/* A product and a sum rounded once: exact in double but for the last rounding, and that is right for
** formats so much narrower. */
#define KG_NATIVE_SHORT(E)                                                                         \
  KG_SIMT_IN E __hadd(E a, E b) { return a + b; }                                                  \
  KG_SIMT_IN E __hsub(E a, E b) { return a - b; }                                                  \
  KG_SIMT_IN E __hmul(E a, E b) { return a * b; }                                                  \
  KG_SIMT_IN E __hdiv(E a, E b) { return a / b; }                                                  \
  KG_SIMT_IN E __hneg(E a) { return -a; }                                                          \
  KG_SIMT_IN E __habs(E a) { return (float)a < 0 ? -a : a; }                                       \
  KG_SIMT_IN E __hfma(E a, E b, E c) {                                                             \
    return (E)((double)(float)a * (double)(float)b + (double)(float)c);                            \
  }                                                                                                \
  KG_SIMT_IN E __hmax(E a, E b) { return (E)kg_simt_max((float)a, (float)b); }                     \
  KG_SIMT_IN E __hmin(E a, E b) { return (E)kg_simt_min((float)a, (float)b); }                     \
  KG_SIMT_IN bool __hgt(E a, E b) { return a > b; }                                                \
  KG_SIMT_IN bool __hge(E a, E b) { return a >= b; }                                               \
  KG_SIMT_IN bool __hlt(E a, E b) { return a < b; }                                                \
  KG_SIMT_IN bool __hle(E a, E b) { return a <= b; }                                               \
  KG_SIMT_IN bool __heq(E a, E b) { return a == b; }                                               \
  KG_SIMT_IN bool __hne(E a, E b) { return a != b; }                                               \
  KG_SIMT_IN bool __hisnan(E a) { return a != a; }                                                 \
  KG_SIMT_IN E hexp(E x) { return (E)expf((float)x); }                                             \
  KG_SIMT_IN E hexp2(E x) { return (E)exp2f((float)x); }                                           \
  KG_SIMT_IN E hlog(E x) { return (E)logf((float)x); }                                             \
  KG_SIMT_IN E hsqrt(E x) { return (E)sqrtf((float)x); }                                           \
  KG_SIMT_IN E hrsqrt(E x) { return (E)rsqrtf((float)x); }                                         \
  KG_SIMT_IN E hrcp(E x) { return (E)(1.0f / (float)x); }                                          \
  KG_SIMT_IN E hsin(E x) { return (E)sinf((float)x); }                                             \
  KG_SIMT_IN E hcos(E x) { return (E)cosf((float)x); }                                             \
  KG_SIMT_IN E htanh(E x) { return (E)tanhf((float)x); }                                           \
  KG_SIMT_IN E hfloor(E x) { return (E)floorf((float)x); }                                         \
  KG_SIMT_IN E hceil(E x) { return (E)ceilf((float)x); }                                           \
  KG_SIMT_IN E hrint(E x) { return (E)rintf((float)x); }
KG_NATIVE_SHORT(_Float16)
KG_NATIVE_SHORT(__bf16)
KG_NATIVE_PAIR(__half2, _Float16)
KG_NATIVE_PAIR(__nv_bfloat162, __bf16)
typedef __half2 half2;
typedef __nv_bfloat162 nv_bfloat162;
typedef __nv_bfloat162 __hip_bfloat162;
#define make_half2 make___half2
#define make_bfloat162 make___nv_bfloat162
#define __halves2half2 __halves2__half2
#define __halves2bfloat162 __halves2__nv_bfloat162
#define __low2half2 __low2__half2
#define __high2half2 __high2__half2

KG_SIMT_IN __half __float2half(float x) { return (__half)x; }
KG_SIMT_IN __half __float2half_rn(float x) { return (__half)x; }
KG_SIMT_IN __half __double2half(double x) { return (__half)x; }
KG_SIMT_IN float __half2float(__half x) { return (float)x; }
KG_SIMT_IN __half2 __float2half2_rn(float x) { return __half2((__half)x, (__half)x); }
KG_SIMT_IN __half2 __half2half2(__half x) { return __half2(x, x); }
KG_SIMT_IN __half2 __floats2half2_rn(float a, float b) { return __half2((__half)a, (__half)b); }
KG_SIMT_IN __half2 __float22half2_rn(float2 v) { return __half2((__half)v.x, (__half)v.y); }
KG_SIMT_IN float2 __half22float2(__half2 v) { return float2{(float)v.x, (float)v.y}; }
KG_SIMT_IN __half __low2half(__half2 v) { return v.x; }
KG_SIMT_IN __half __high2half(__half2 v) { return v.y; }
KG_SIMT_IN float __low2float(__half2 v) { return (float)v.x; }
KG_SIMT_IN float __high2float(__half2 v) { return (float)v.y; }
KG_SIMT_IN float __low2float(__nv_bfloat162 v) { return (float)v.x; }
KG_SIMT_IN float __high2float(__nv_bfloat162 v) { return (float)v.y; }
KG_SIMT_IN __half __int2half_rn(int x) { return (__half)(float)x; }
KG_SIMT_IN __half __ushort2half_rn(unsigned short x) { return (__half)(float)x; }
KG_SIMT_IN int __half2int_rn(__half x) { return __float2int_rn((float)x); }
KG_SIMT_IN int __half2int_rz(__half x) { return __float2int_rz((float)x); }
KG_SIMT_IN unsigned short __half_as_ushort(__half x) {
  return __builtin_bit_cast(unsigned short, x);
}
KG_SIMT_IN short __half_as_short(__half x) { return __builtin_bit_cast(short, x); }
KG_SIMT_IN __half __ushort_as_half(unsigned short x) { return __builtin_bit_cast(__half, x); }
KG_SIMT_IN __half __short_as_half(short x) { return __builtin_bit_cast(__half, x); }
KG_SIMT_IN __nv_bfloat16 __float2bfloat16(float x) { return (__nv_bfloat16)x; }
KG_SIMT_IN __nv_bfloat16 __float2bfloat16_rn(float x) { return (__nv_bfloat16)x; }
KG_SIMT_IN float __bfloat162float(__nv_bfloat16 x) { return (float)x; }
KG_SIMT_IN __nv_bfloat162 __float2bfloat162_rn(float x) {
  return __nv_bfloat162((__bf16)x, (__bf16)x);
}
KG_SIMT_IN __nv_bfloat162 __bfloat162bfloat162(__bf16 x) { return __nv_bfloat162(x, x); }
KG_SIMT_IN __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
  return __nv_bfloat162((__bf16)a, (__bf16)b);
}
KG_SIMT_IN __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return __nv_bfloat162((__bf16)v.x, (__bf16)v.y);
}
KG_SIMT_IN float2 __bfloat1622float2(__nv_bfloat162 v) { return float2{(float)v.x, (float)v.y}; }
KG_SIMT_IN __bf16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
KG_SIMT_IN __bf16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
KG_SIMT_IN unsigned short __bfloat16_as_ushort(__bf16 x) {
  return __builtin_bit_cast(unsigned short, x);
}
KG_SIMT_IN __bf16 __ushort_as_bfloat16(unsigned short x) { return __builtin_bit_cast(__bf16, x); }

/* ---- atomics --------------------------------------------------------------------------------- */

/* What was there, and what is there now, as one step. */
template <class T, class F> KG_SIMT_IN T kg_native_update(T *p, F make) {
  using U = typename kg_native_choose<
      sizeof(T) == 8, unsigned long long,
      typename kg_native_choose<sizeof(T) == 4, unsigned, unsigned short>::type>::type;
  kg_native_atomic(p, sizeof(T), KG_SIMT_WRITES | KG_SIMT_UPDATES);
  U before = __atomic_load_n((U *)p, __ATOMIC_RELAXED), after;
  do {
    const T now = make(__builtin_bit_cast(T, before));
    after = __builtin_bit_cast(U, now);
  } while (!__atomic_compare_exchange_n((U *)p, &before, after, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
  return __builtin_bit_cast(T, before);
}
template <class T>
struct kg_native_given { /* a parameter whose type its argument does not choose */
  using type = T;
};
#define KG_NATIVE_ATOMIC(name, expression)                                                         \
  template <class T> KG_SIMT_IN T name(T *p, typename kg_native_given<T>::type v) {                \
    return kg_native_update(p, [=](T old) -> T { return expression; });                            \
  }                                                                                                \
  template <class T> KG_SIMT_IN T name##_block(T *p, typename kg_native_given<T>::type v) {        \
    return name(p, v);                                                                             \
  }                                                                                                \
  template <class T> KG_SIMT_IN T name##_system(T *p, typename kg_native_given<T>::type v) {       \
    return name(p, v);                                                                             \
  }
template <class T> KG_SIMT_IN T kg_native_sum(T a, T b) {
  if constexpr (kg_native_same<T, int>)
    return (int)((unsigned)a + (unsigned)b);
  else
    return a + b;
}
KG_NATIVE_ATOMIC(atomicAdd, kg_native_sum(old, v))
KG_NATIVE_ATOMIC(atomicSub, kg_native_sum(old, (T)-v))
KG_NATIVE_ATOMIC(atomicMin, v < old ? v : old)
KG_NATIVE_ATOMIC(atomicMax, old < v ? v : old)
KG_NATIVE_ATOMIC(atomicAnd, old &v)
KG_NATIVE_ATOMIC(atomicOr, old | v)
KG_NATIVE_ATOMIC(atomicXor, old ^ v)
KG_NATIVE_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
KG_NATIVE_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#define unsafeAtomicAdd atomicAdd
template <class T> KG_SIMT_IN T atomicExch(T *p, typename kg_native_given<T>::type v) {
  using U = typename kg_native_choose<sizeof(T) == 8, unsigned long long, unsigned>::type;
  kg_native_atomic(p, sizeof(T), KG_SIMT_WRITES | KG_SIMT_UPDATES);
  return __builtin_bit_cast(
      T, __atomic_exchange_n((U *)p, __builtin_bit_cast(U, v), __ATOMIC_SEQ_CST));
}
template <class T>
KG_SIMT_IN T atomicCAS(T *p, typename kg_native_given<T>::type expected,
                       typename kg_native_given<T>::type v) {
  kg_native_atomic(p, sizeof(T), KG_SIMT_WRITES | KG_SIMT_UPDATES);
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}
template <class T>
KG_SIMT_IN T atomicCAS_block(T *p, typename kg_native_given<T>::type e,
                             typename kg_native_given<T>::type v) {
  return atomicCAS(p, e, v);
}

/* ---- votes of a group ------------------------------------------------------------------------ */

static unsigned kg_native_counted;
#define KG_NATIVE_COUNT(what, holds)                                                               \
  kg_native_barrier(what);                                                                         \
  kg_native_counted = 0;                                                                           \
  kg_native_barrier(what);                                                                         \
  kg_native_counted += (holds) != 0;                                                               \
  kg_native_barrier(what);                                                                         \
  const unsigned counted = kg_native_counted, threads = blockDim.x * blockDim.y * blockDim.z;
KG_SIMT_IN int __syncthreads_count(int holds) {
  KG_NATIVE_COUNT("__syncthreads_count", holds)
  return (void)threads, (int)counted;
}
KG_SIMT_IN int __syncthreads_or(int holds) {
  KG_NATIVE_COUNT("__syncthreads_or", holds)
  return (void)threads, counted > 0;
}
KG_SIMT_IN int __syncthreads_and(int holds) {
  KG_NATIVE_COUNT("__syncthreads_and", holds)
  return counted == threads;
}

/* ---- shuffles: among parts of `width` lanes, as both headers define them ---------------------- */

template <class V>
KG_SIMT_IN V kg_native_shuffle_xor(V value, unsigned mask, unsigned width, kg_native_lanes named,
                                   const char *what) {
  const unsigned self = kg_simt_lane_index(), from = self ^ mask;
  const bool past = from >= ((self + width) & ~(width - 1));
  return kg_native_shuffle(value, past ? self : from, named, what);
}
template <class V>
KG_SIMT_IN V kg_native_shuffle_idx(V value, unsigned from, unsigned width, kg_native_lanes named,
                                   const char *what) {
  const unsigned first = kg_simt_lane_index() & ~(width - 1);
  return kg_native_shuffle(value, first + (from & (width - 1)), named, what);
}
template <class V>
KG_SIMT_IN V kg_native_shuffle_down(V value, unsigned delta, unsigned width, kg_native_lanes named,
                                    const char *what) {
  const unsigned self = kg_simt_lane_index();
  const bool past = delta >= width - (self & (width - 1));
  return kg_native_shuffle(value, past ? self : self + delta, named, what);
}
template <class V>
KG_SIMT_IN V kg_native_shuffle_up(V value, unsigned delta, unsigned width, kg_native_lanes named,
                                  const char *what) {
  const unsigned self = kg_simt_lane_index();
  const bool past = delta > (self & (width - 1));
  return kg_native_shuffle(value, past ? self : self - delta, named, what);
}
