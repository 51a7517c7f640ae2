/* native_metal.h: the words of the Metal Shading Language that a native text may use.  Attributes and
** `threadgroup` declarations have been respelled before this is read (gen/native/rewrite.c). */

#define kernel
#define device
#define constant const
#define threadgroup
#define thread
#define threadgroup_imageblock
#define ray_data
#define METAL_FUNC inline __attribute__((always_inline))
#define METAL_CONST static constexpr const

extern "C" {
float log10f(float), tanf(float), sinhf(float), coshf(float), asinf(float), acosf(float),
    atanf(float), exp10f(float), asinhf(float), acoshf(float), atanhf(float), cbrtf(float),
    frexpf(float, int *), modff(float, float *), ldexpf(float, int), nextafterf(float, float);
}

#define INFINITY __builtin_inff()
#define HUGE_VALF __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXFLOAT __FLT_MAX__
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define HALF_MAX ((half)65504.0f)
#define MAXHALF ((half)65504.0f)
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2u + 1u)
#define CHAR_BIT 8
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.78539816339744830962f
#define M_2_PI_F 0.63661977236758134308f
#define M_LOG10E_F 0.43429448190325182765f
#define M_LN10_F 2.30258509299404568402f
#define M_1_PI_F 0.31830988618379067154f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.70710678118654752440f
#define M_LOG2E_F 1.4426950408889634074f
#define M_LN2_F 0.69314718055994530942f
#define M_E_F 2.7182818284590452354f
#define M_PI_H ((half)3.14159265358979323846f)

template <class To, class From> KG_SIMT_IN To as_type(const From &value) {
  using V = kg_native_value_t<From>;
  static_assert(sizeof(To) == sizeof(V), "as_type is between types of as many bytes");
  const V from = value;
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

/* static_cast, from one 16-bit float to the other, too. */
template <class To, class From>
static inline constexpr __attribute__((always_inline, nodebug)) To kg_native_cast(From &&from) {
  using F = typename kg_native_bare<From>::type;
  using T = typename kg_native_bare<To>::type;
  if constexpr ((kg_native_same<T, half> && kg_native_same<F, bfloat>) ||
                (kg_native_same<T, bfloat> && kg_native_same<F, half>))
    return static_cast<To>(static_cast<float>(from));
  else
    return static_cast<To>(static_cast<From &&>(from));
}

/* A function constant that nobody gives a value. */
template <class T> struct kg_native_unset {
  const char *why;
  KG_SIMT_METHOD operator T() const {
    kg_native_failed("a function constant", why);
    return T();
  }
};

namespace metal {

using ::as_type;
using ::int16_t;
using ::int32_t;
using ::int64_t;
using ::int8_t;
using ::matrix;
using ::packed_vec;
using ::size_t;
using ::uint16_t;
using ::uint32_t;
using ::uint64_t;
using ::uint8_t;
using ::vec;
#define KG_NATIVE_USING(T)                                                                         \
  using ::T##2;                                                                                    \
  using ::T##3;                                                                                    \
  using ::T##4;                                                                                    \
  using ::packed_##T##2;                                                                           \
  using ::packed_##T##3;                                                                           \
  using ::packed_##T##4;
KG_NATIVE_USING(long)
KG_NATIVE_USING(ulong)
KG_NATIVE_USING(bool)
KG_NATIVE_USING(char)
KG_NATIVE_USING(uchar)
KG_NATIVE_USING(short)
KG_NATIVE_USING(ushort)
KG_NATIVE_USING(int)
KG_NATIVE_USING(uint)
KG_NATIVE_USING(half)
KG_NATIVE_USING(bfloat)
KG_NATIVE_USING(float)
using ::bfloat;
using ::float2x2;
using ::float3x3;
using ::float4x4;
using ::half;
using ::half2x2;
using ::half3x3;
using ::half4x4;
using ::uchar;
using ::uint;
using ::ulong;
using ::ushort;

/* ---- types ----------------------------------------------------------------------------------- */

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
  using value_type = T;
  using type = integral_constant;
  constexpr operator T() const { return V; }
};
template <bool B> using bool_constant = integral_constant<bool, B>;
using true_type = integral_constant<bool, true>;
using false_type = integral_constant<bool, false>;
template <class T> struct remove_cv : kg_native_bare<T> {};
template <class T> using remove_cv_t = typename kg_native_bare<T>::type;
template <class T> struct remove_const : kg_native_bare<T> {};
template <class T> struct remove_reference {
  using type = T;
};
template <class T> struct remove_reference<T &> {
  using type = T;
};
template <class T> struct is_floating_point {
  static constexpr bool value = kg_native_float<T>;
};
template <class T> inline constexpr bool is_floating_point_v = kg_native_float<T>;
template <class T> inline constexpr bool is_integral_v = kg_native_number<T> && !kg_native_float<T>;
template <class T> struct is_integral {
  static constexpr bool value = is_integral_v<T>;
};
template <class T> inline constexpr bool is_arithmetic_v = kg_native_number<T>;
template <class T> inline constexpr bool is_unsigned_v = kg_native_kind_of<T> == KG_NATIVE_UNSIGNED;
template <class T> struct is_unsigned {
  static constexpr bool value = is_unsigned_v<T>;
};
template <class T> struct is_arithmetic {
  static constexpr bool value = kg_native_number<T>;
};
template <class A, class B> inline constexpr bool is_convertible_v = __is_convertible(A, B);
template <class A, class B> struct is_convertible {
  static constexpr bool value = __is_convertible(A, B);
};
template <class T> using remove_reference_t = __remove_reference_t(T);
template <class T> using remove_const_t = typename kg_native_bare<T>::type;
template <class T> using decay_t = typename kg_native_bare<T>::type;
template <class T> struct make_unsigned {
  using type = __make_unsigned(T);
};
template <class T> struct make_signed {
  using type = __make_signed(T);
};
template <class T> using make_unsigned_t = __make_unsigned(T);
template <class T> using make_signed_t = __make_signed(T);
template <class T> using remove_addrspace_t = typename kg_native_bare<T>::type;
template <class T> T &&declval();
template <class... B> struct disjunction : bool_constant<(false || ... || B::value)> {};
template <class... B> struct conjunction : bool_constant<(true && ... && B::value)> {};
template <class... B> using _disjunction = disjunction<B...>;
template <class... B> using _conjunction = conjunction<B...>;
template <class T> inline constexpr bool is_signed_v = kg_native_number<T> && !is_unsigned_v<T>;

template <class T> struct numeric_limits {
  static constexpr bool is_signed = kg_native_kind_of<T> == KG_NATIVE_SIGNED;
  static constexpr T max() { return is_signed ? (T)((1ull << (8 * sizeof(T) - 1)) - 1) : (T)~0ull; }
  static constexpr T min() { return is_signed ? (T)(1ull << (8 * sizeof(T) - 1)) : (T)0; }
  static constexpr T lowest() { return min(); }
};
#define KG_NATIVE_LIMITS(T, largest, least, step)                                                  \
  template <> struct numeric_limits<T> {                                                           \
    static constexpr bool is_signed = true;                                                        \
    static constexpr T max() { return (T)largest; }                                                \
    static constexpr T lowest() { return (T) - largest; }                                          \
    static constexpr T min() { return (T)least; }                                                  \
    static constexpr T epsilon() { return (T)step; }                                               \
    static constexpr T infinity() { return (T)__builtin_inff(); }                                  \
    static constexpr T quiet_NaN() { return (T)__builtin_nanf(""); }                               \
  };
KG_NATIVE_LIMITS(float, __FLT_MAX__, __FLT_MIN__, __FLT_EPSILON__)
KG_NATIVE_LIMITS(half, 65504.0f, 0x1p-14f, 0x1p-10f)
KG_NATIVE_LIMITS(bfloat, 0x1.fep127f, 0x1p-126f, 0x1p-7f)

template <class T, size_t N> struct array {
  T kg_items[N];
  KG_SIMT_METHOD T &operator[](size_t i) { return kg_items[i]; }
  KG_SIMT_METHOD const T &operator[](size_t i) const { return kg_items[i]; }
  static constexpr size_t size() { return N; }
};

/* ---- math, of a number or a vector element by element ---------------------------------------- */

/* f of each element; what is not float is computed in float and rounded once. */
template <class A, class F> KG_SIMT_IN auto kg_native_map(const A &a, F f) {
  using V = kg_native_value_t<A>;
  using T = kg_native_part_t<A>;
  if constexpr (kg_native_value<A>::vector) {
    const V v = a;
    V r;
    for (int i = 0; i < V::N; i++) r.kg_lanes[i] = (T)f(v.kg_lanes[i]);
    return r;
  } else if constexpr (kg_native_float<A>)
    return (A)f(a);
  else
    return (float)f((float)a);
}
/* The type of two arguments together: the vector, or the wider number. */
template <class A, class B, bool = kg_native_value<A>::vector, bool = kg_native_value<B>::vector>
struct kg_native_both {
  using type = kg_native_value_t<A>;
};
template <class A, class B> struct kg_native_both<A, B, false, true> {
  using type = kg_native_value_t<B>;
};
template <class A, class B> struct kg_native_both<A, B, false, false> {
  using type = decltype(true ? A() : B());
};
template <class A> struct kg_native_both<A, A, false, false> {
  using type = A;
};
template <class A, class B> using kg_native_both_t = typename kg_native_both<A, B>::type;

template <class R, class F, class A, class B>
KG_SIMT_IN R kg_native_map2(const A &a, const B &b, F f) {
  if constexpr (kg_native_value<R>::vector) {
    const R x = R(a), y = R(b);
    R r;
    for (int i = 0; i < R::N; i++)
      r.kg_lanes[i] = (kg_native_part_t<R>)f(x.kg_lanes[i], y.kg_lanes[i]);
    return r;
  } else
    return (R)f((R)a, (R)b);
}

#define KG_NATIVE_MATH(name, function)                                                             \
  template <class A> KG_SIMT_IN auto name(const A &a) {                                            \
    return kg_native_map(a, [](auto x) { return function((float)x); });                            \
  }
#define KG_NATIVE_MATH2(name, expression)                                                          \
  template <class A, class B> KG_SIMT_IN kg_native_both_t<A, B> name(const A &a, const B &b) {     \
    return kg_native_map2<kg_native_both_t<A, B>>(a, b,                                            \
                                                  [](auto x, auto y) { return expression; });      \
  }
KG_SIMT_IN float kg_native_rsqrt(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
KG_SIMT_IN float kg_native_round(float x) {
  return __builtin_truncf(x + __builtin_copysignf(0.49999997f, x));
}
KG_SIMT_IN float kg_native_fract(float x) {
  return kg_simt_min(x - __builtin_floorf(x), 0x1.fffffep-1f);
}
KG_SIMT_IN float kg_native_sign(float x) {
  return x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x : 0.0f;
}
KG_SIMT_IN float kg_native_saturate(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; }
KG_SIMT_IN float kg_native_pi(float x, float (*f)(float)) { return f(x * 3.14159265f); }
KG_SIMT_IN float kg_native_sinpi(float x) { return kg_native_pi(x, sinf); }
KG_SIMT_IN float kg_native_cospi(float x) { return kg_native_pi(x, cosf); }

#define KG_NATIVE_ALL_MATH                                                                         \
  KG_NATIVE_MATH(sqrt, kg_simt_sqrt)                                                               \
  KG_NATIVE_MATH(rsqrt, kg_native_rsqrt)                                                           \
  KG_NATIVE_MATH(log10, log10f)                                                                    \
  KG_NATIVE_MATH(exp10, exp10f)                                                                    \
  KG_NATIVE_MATH(sin, sinf)                                                                        \
  KG_NATIVE_MATH(cos, cosf)                                                                        \
  KG_NATIVE_MATH(tan, tanf)                                                                        \
  KG_NATIVE_MATH(sinh, sinhf)                                                                      \
  KG_NATIVE_MATH(cosh, coshf)                                                                      \
  KG_NATIVE_MATH(tanh, tanhf)                                                                      \
  KG_NATIVE_MATH(asin, asinf)                                                                      \
  KG_NATIVE_MATH(acos, acosf)                                                                      \
  KG_NATIVE_MATH(atan, atanf)                                                                      \
  KG_NATIVE_MATH(asinh, asinhf)                                                                    \
  KG_NATIVE_MATH(acosh, acoshf)                                                                    \
  KG_NATIVE_MATH(atanh, atanhf)                                                                    \
  KG_NATIVE_MATH(sinpi, kg_native_sinpi)                                                           \
  KG_NATIVE_MATH(cospi, kg_native_cospi)                                                           \
  KG_NATIVE_MATH(floor, kg_simt_floor)                                                             \
  KG_NATIVE_MATH(ceil, kg_simt_ceil)                                                               \
  KG_NATIVE_MATH(trunc, kg_simt_trunc)                                                             \
  KG_NATIVE_MATH(rint, kg_simt_rint)                                                               \
  KG_NATIVE_MATH(round, kg_native_round)                                                           \
  KG_NATIVE_MATH(fract, kg_native_fract)                                                           \
  KG_NATIVE_MATH(fabs, kg_simt_abs)                                                                \
  KG_NATIVE_MATH(sign, kg_native_sign)                                                             \
  KG_NATIVE_MATH(saturate, kg_native_saturate)                                                     \
  KG_NATIVE_MATH2(pow, powf((float)x, (float)y))                                                   \
  KG_NATIVE_MATH2(powr, powf((float)x, (float)y))                                                  \
  KG_NATIVE_MATH2(fmod, fmodf((float)x, (float)y))                                                 \
  KG_NATIVE_MATH2(atan2, atan2f((float)x, (float)y))                                               \
  KG_NATIVE_MATH2(copysign, __builtin_copysignf((float)x, (float)y))                               \
  KG_NATIVE_MATH2(fdim, x > y ? x - y : 0)                                                         \
  KG_NATIVE_MATH2(fmin, kg_simt_min((float)x, (float)y))                                           \
  KG_NATIVE_MATH2(fmax, kg_simt_max((float)x, (float)y))                                           \
  KG_NATIVE_MATH2(divide, (float)x / (float)y)
KG_NATIVE_ALL_MATH
KG_NATIVE_MATH(exp, expf)
KG_NATIVE_MATH(exp2, exp2f)
KG_NATIVE_MATH(log, logf)
KG_NATIVE_MATH(log2, log2f)
namespace precise {
KG_NATIVE_ALL_MATH
KG_NATIVE_MATH(exp, expf)
KG_NATIVE_MATH(exp2, exp2f)
KG_NATIVE_MATH(log, logf)
KG_NATIVE_MATH(log2, log2f)
} // namespace precise
namespace fast {
KG_NATIVE_ALL_MATH
KG_NATIVE_MATH(exp, kg_simt_fast_exp)
KG_NATIVE_MATH(exp2, kg_simt_fast_exp2)
KG_NATIVE_MATH(log, kg_simt_fast_log)
KG_NATIVE_MATH(log2, kg_simt_fast_log2)
} // namespace fast

template <class T> KG_SIMT_IN T kg_native_lesser(T a, T b) {
  if constexpr (kg_native_float<T>)
    return (T)kg_simt_min((float)a, (float)b);
  else
    return b < a ? b : a;
}
template <class T> KG_SIMT_IN T kg_native_greater(T a, T b) {
  if constexpr (kg_native_float<T>)
    return (T)kg_simt_max((float)a, (float)b);
  else
    return a < b ? b : a;
}
KG_NATIVE_MATH2(min, kg_native_lesser(x, y))
KG_NATIVE_MATH2(max, kg_native_greater(x, y))
template <class A, class B, class C> KG_SIMT_IN auto min3(const A &a, const B &b, const C &c) {
  return min(min(a, b), c);
}
template <class A, class B, class C> KG_SIMT_IN auto max3(const A &a, const B &b, const C &c) {
  return max(max(a, b), c);
}
template <class A, class B, class C> KG_SIMT_IN auto median3(const A &a, const B &b, const C &c) {
  return max(min(a, b), min(max(a, b), c));
}
template <class A, class B, class C>
KG_SIMT_IN auto clamp(const A &x, const B &low, const C &high) {
  return min(max(x, low), high);
}
template <class A, class B, class C>
KG_SIMT_IN kg_native_both_t<A, B> mix(const A &a, const B &b, const C &c) {
  using R = kg_native_both_t<A, B>;
  return (R)((R)a + ((R)b - (R)a) * (R)c);
}
template <class A, class B> KG_SIMT_IN auto step(const A &edge, const B &x) {
  return kg_native_map2<kg_native_both_t<A, B>>(edge, x,
                                                [](auto e, auto v) { return v < e ? 0.0f : 1.0f; });
}
/* One rounding: exact in double, but for the last of float, whose own instruction does it. */
template <class T> KG_SIMT_IN T kg_native_fma(T a, T b, T c) {
  if constexpr (kg_native_same<T, float>)
    return kg_simt_fma(a, b, c);
  else
    return (T)((double)a * (double)b + (double)c);
}
template <class A, class B, class C> KG_SIMT_IN auto fma(const A &a, const B &b, const C &c) {
  using R = kg_native_both_t<kg_native_both_t<A, B>, C>;
  if constexpr (kg_native_value<R>::vector) {
    const R x = R(a), y = R(b), z = R(c);
    R r;
    for (int i = 0; i < R::N; i++)
      r.kg_lanes[i] = kg_native_fma(x.kg_lanes[i], y.kg_lanes[i], z.kg_lanes[i]);
    return r;
  } else
    return kg_native_fma((R)a, (R)b, (R)c);
}
template <class A, class B, class C> KG_SIMT_IN auto mad(const A &a, const B &b, const C &c) {
  return fma(a, b, c);
}
template <class A> KG_SIMT_IN kg_native_value_t<A> abs(const A &a) {
  using V = kg_native_value_t<A>;
  if constexpr (kg_native_value<A>::vector) {
    const V v = a;
    V r;
    for (int i = 0; i < V::N; i++) r.kg_lanes[i] = abs(v.kg_lanes[i]);
    return r;
  } else if constexpr (kg_native_float<A>)
    return (A)kg_simt_abs((float)a);
  else
    return (A)(a < 0 ? -a : a);
}
template <class T> KG_SIMT_IN T ldexp(T x, int n) { return (T)ldexpf((float)x, n); }
template <class T> KG_SIMT_IN T frexp(T x, int &n) { return (T)frexpf((float)x, &n); }
template <class T> KG_SIMT_IN T sincos(T x, T &c) {
  c = (T)cosf((float)x);
  return (T)sinf((float)x);
}

#define KG_NATIVE_TEST(name, expression)                                                           \
  template <class A> KG_SIMT_IN auto name(const A &a) {                                            \
    if constexpr (kg_native_value<A>::vector) {                                                    \
      const kg_native_value_t<A> v = a;                                                            \
      vec<bool, kg_native_value_t<A>::N> r;                                                        \
      for (int i = 0; i < v.N; i++) r.kg_lanes[i] = name(v.kg_lanes[i]);                           \
      return r;                                                                                    \
    } else {                                                                                       \
      const float x = (float)a;                                                                    \
      return (bool)(expression);                                                                   \
    }                                                                                              \
  }
KG_NATIVE_TEST(isnan, x != x)
KG_NATIVE_TEST(isinf, __builtin_fabsf(x) == __builtin_inff())
KG_NATIVE_TEST(isfinite, __builtin_fabsf(x) < __builtin_inff())
KG_NATIVE_TEST(isnormal, __builtin_isnormal(x))
KG_NATIVE_TEST(signbit, __builtin_signbitf(x))
template <int N> KG_SIMT_IN bool any(const vec<bool, N> &v) {
  bool r = false;
  for (int i = 0; i < N; i++) r = r || v[i];
  return r;
}
template <int N> KG_SIMT_IN bool all(const vec<bool, N> &v) {
  bool r = true;
  for (int i = 0; i < N; i++) r = r && v[i];
  return r;
}
KG_SIMT_IN bool any(bool v) { return v; }
KG_SIMT_IN bool all(bool v) { return v; }
template <class A, class B, class C>
KG_SIMT_IN kg_native_both_t<A, B> select(const A &a, const B &b, const C &which) {
  using R = kg_native_both_t<A, B>;
  if constexpr (kg_native_value<R>::vector) {
    const R x = R(a), y = R(b);
    R r;
    for (int i = 0; i < R::N; i++) {
      bool take;
      if constexpr (kg_native_value<C>::vector)
        take = (bool)kg_native_value_t<C>(which)[i];
      else
        take = (bool)which;
      r.kg_lanes[i] = take ? y.kg_lanes[i] : x.kg_lanes[i];
    }
    return r;
  } else
    return which ? (R)b : (R)a;
}

template <class A, class B> KG_SIMT_IN auto dot(const A &a, const B &b) {
  using V = kg_native_both_t<A, B>;
  const V x = V(a), y = V(b);
  kg_native_part_t<V> sum = x[0] * y[0];
  for (int i = 1; i < V::N; i++) sum += x[i] * y[i];
  return sum;
}
template <class A> KG_SIMT_IN auto length_squared(const A &a) { return dot(a, a); }
template <class A> KG_SIMT_IN auto length(const A &a) { return sqrt(dot(a, a)); }
template <class A, class B> KG_SIMT_IN auto distance(const A &a, const B &b) {
  return length(a - b);
}
template <class A> KG_SIMT_IN auto normalize(const A &a) { return a * rsqrt(dot(a, a)); }
template <class T> KG_SIMT_IN vec<T, 3> cross(const vec<T, 3> &a, const vec<T, 3> &b) {
  return vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

template <class T> KG_SIMT_IN T popcount(T x) {
  return (T)__builtin_popcountll((unsigned long long)x & (~0ull >> (64 - 8 * sizeof(T))));
}
template <class T> KG_SIMT_IN T clz(T x) {
  const unsigned long long u = (unsigned long long)x & (~0ull >> (64 - 8 * sizeof(T)));
  return (T)(u ? __builtin_clzll(u) - (64 - 8 * sizeof(T)) : 8 * sizeof(T));
}
template <class T> KG_SIMT_IN T ctz(T x) {
  const unsigned long long u = (unsigned long long)x & (~0ull >> (64 - 8 * sizeof(T)));
  return (T)(u ? __builtin_ctzll(u) : 8 * sizeof(T));
}
template <class T> KG_SIMT_IN T reverse_bits(T x) {
  return (T)(__builtin_bitreverse64((unsigned long long)x) >> (64 - 8 * sizeof(T)));
}
template <class T> KG_SIMT_IN T rotate(T x, T n) {
  const unsigned bits = 8 * sizeof(T), k = (unsigned)n % bits;
  const unsigned long long u = (unsigned long long)x & (~0ull >> (64 - bits));
  return (T)(k ? u << k | u >> (bits - k) : u);
}
template <class T> KG_SIMT_IN T extract_bits(T x, uint offset, uint bits) {
  if (bits == 0) return 0;
  if constexpr (kg_native_kind_of<T> == KG_NATIVE_SIGNED)
    return (T)((long long)((unsigned long long)x << (64 - offset - bits)) >> (64 - bits));
  else
    return (T)((unsigned long long)x >> offset & (~0ull >> (64 - bits)));
}
template <class T> KG_SIMT_IN T insert_bits(T base, T x, uint offset, uint bits) {
  const unsigned long long mask = bits ? (~0ull >> (64 - bits)) << offset : 0;
  return (T)(((unsigned long long)base & ~mask) | ((unsigned long long)x << offset & mask));
}
KG_SIMT_IN uint mulhi(uint a, uint b) { return kg_simt_mul_hi(a, b); }
KG_SIMT_IN int mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
KG_SIMT_IN uint mul24(uint a, uint b) { return (a & 0xffffff) * (b & 0xffffff); }
template <class T> KG_SIMT_IN T absdiff(T a, T b) { return a < b ? b - a : a - b; }
template <class T> KG_SIMT_IN T addsat(T a, T b) {
  T r;
  if (!__builtin_add_overflow(a, b, &r)) return r;
  return b < 0 ? numeric_limits<T>::min() : numeric_limits<T>::max();
}
KG_SIMT_IN float4 unpack_unorm4x8_to_float(uint x) {
  return float4(x & 0xff, x >> 8 & 0xff, x >> 16 & 0xff, x >> 24) * float4(1.0f / 255.0f);
}

/* The same in all lanes, which nobody checks. */
template <class T> struct uniform;
template <class T> constexpr uniform<T> kg_native_uniform_of(T v);
template <class T> struct uniform {
  T kg_value;
  constexpr uniform(T v) : kg_value(v) {}
  constexpr operator T() const { return kg_value; }
#define KG_NATIVE_UNIFORM(op)                                                                      \
  template <class B> friend constexpr auto operator op(uniform a, uniform<B> b) {                  \
    return kg_native_uniform_of(a.kg_value op b.kg_value);                                         \
  }                                                                                                \
  template <class B, class = typename kg_native_if<kg_native_number<B>>::type>                     \
  friend constexpr auto operator op(uniform a, B b) {                                              \
    return a.kg_value op b;                                                                        \
  }                                                                                                \
  template <class B, class = typename kg_native_if<kg_native_number<B>>::type>                     \
  friend constexpr auto operator op(B b, uniform a) {                                              \
    return b op a.kg_value;                                                                        \
  }
  /* clang-format off */
  KG_NATIVE_UNIFORM(+) KG_NATIVE_UNIFORM(-) KG_NATIVE_UNIFORM(*) KG_NATIVE_UNIFORM(/)
  KG_NATIVE_UNIFORM(%) KG_NATIVE_UNIFORM(==) KG_NATIVE_UNIFORM(!=) KG_NATIVE_UNIFORM(<)
  KG_NATIVE_UNIFORM(<=) KG_NATIVE_UNIFORM(>) KG_NATIVE_UNIFORM(>=)
  /* clang-format on */
};
template <class T> constexpr uniform<T> kg_native_uniform_of(T v) { return uniform<T>(v); }
template <class T> constexpr uniform<T> make_uniform(T v) { return uniform<T>(v); }

/* What a text logs is nobody's business here. */
struct os_log {
  os_log() = default;
  constexpr os_log(const char *, const char *) {}
  template <class... A> void log(const char *, A...) const {}
  template <class... A> void log_debug(const char *, A...) const {}
  template <class... A> void log_info(const char *, A...) const {}
  template <class... A> void log_error(const char *, A...) const {}
};

/* ---- barriers and lane operations: of the active lanes --------------------------------------- */

enum class mem_flags {
  mem_none = 0,
  mem_device = 1,
  mem_threadgroup = 2,
  mem_texture = 4,
  mem_threadgroup_imageblock = 8
};
KG_SIMT_IN constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return (mem_flags)((int)a | (int)b);
}
KG_SIMT_IN void threadgroup_barrier(mem_flags) { kg_native_barrier("threadgroup_barrier"); }
KG_SIMT_IN void simdgroup_barrier(mem_flags) {
  (void)kg_native_meet(0, 0, "simdgroup_barrier", true, nullptr);
}

#define KG_NATIVE_SIMD(name, from)                                                                 \
  template <class P> KG_SIMT_IN kg_native_value_t<P> simd_##name(const P &value, ushort by) {      \
    const uint self = kg_simt_lane_index();                                                        \
    return kg_native_shuffle((kg_native_value_t<P>)value, from, 0, "simd_" #name);                 \
  }                                                                                                \
  template <class P> KG_SIMT_IN kg_native_value_t<P> quad_##name(const P &value, ushort by) {      \
    const uint lane = kg_simt_lane_index(), self = lane & 3u, base = lane & ~3u;                   \
    const uint in = from;                                                                          \
    return kg_native_shuffle((kg_native_value_t<P>)value, in < 4 ? base + in : ~0u, 0,             \
                             "quad_" #name);                                                       \
  }
KG_NATIVE_SIMD(shuffle, (void(self), (uint)by))
KG_NATIVE_SIMD(broadcast, (void(self), (uint)by))
KG_NATIVE_SIMD(shuffle_xor, self ^ by)
KG_NATIVE_SIMD(shuffle_down, self + by)
KG_NATIVE_SIMD(shuffle_up, self - by)
template <class P>
KG_SIMT_IN kg_native_value_t<P> simd_shuffle_rotate_down(const P &value, ushort by) {
  return kg_native_shuffle((kg_native_value_t<P>)value, (kg_simt_lane_index() + by) % KG_SIMT_WAVE,
                           0, "simd_shuffle_rotate_down");
}
template <class P>
KG_SIMT_IN kg_native_value_t<P> simd_shuffle_rotate_up(const P &value, ushort by) {
  return kg_native_shuffle((kg_native_value_t<P>)value, (kg_simt_lane_index() - by) % KG_SIMT_WAVE,
                           0, "simd_shuffle_rotate_up");
}
/* Among parts of `width` lanes; what is past a part's end comes from `fill`, in the same order. */
template <class P>
KG_SIMT_IN kg_native_value_t<P> simd_shuffle_and_fill_down(const P &value,
                                                           const kg_native_value_t<P> &fill,
                                                           ushort by, ushort width = KG_SIMT_WAVE) {
  const uint self = kg_simt_lane_index(), base = self / width * width, to = self - base + by;
  const uint from = base + to % width;
  const kg_native_value_t<P> got =
      kg_native_shuffle((kg_native_value_t<P>)value, from, 0, "simd_shuffle_and_fill_down");
  const kg_native_value_t<P> other = kg_native_shuffle(fill, from, 0, "simd_shuffle_and_fill_down");
  return to < width ? got : other;
}
template <class P>
KG_SIMT_IN kg_native_value_t<P> simd_shuffle_and_fill_up(const P &value,
                                                         const kg_native_value_t<P> &fill,
                                                         ushort by, ushort width = KG_SIMT_WAVE) {
  const uint self = kg_simt_lane_index(), base = self / width * width, in = self - base;
  const uint from = base + (in + width - by % width) % width;
  const kg_native_value_t<P> got =
      kg_native_shuffle((kg_native_value_t<P>)value, from, 0, "simd_shuffle_and_fill_up");
  const kg_native_value_t<P> other = kg_native_shuffle(fill, from, 0, "simd_shuffle_and_fill_up");
  return in >= by ? got : other;
}
template <class P> KG_SIMT_IN kg_native_value_t<P> simd_broadcast_first(const P &value) {
  kg_native_all<kg_native_value_t<P>> all;
  kg_native_gather((kg_native_value_t<P>)value, 0, "simd_broadcast_first", all);
  return all.of[__builtin_ctzll(all.present)];
}
KG_SIMT_IN bool simd_is_first() {
  kg_native_lanes present;
  (void)kg_native_vote(true, 0, "simd_is_first", &present);
  return (uint)__builtin_ctzll(present) == kg_simt_lane_index();
}
template <class V> KG_SIMT_IN kg_native_all<V> kg_native_of_quad(const kg_native_all<V> &all) {
  kg_native_all<V> quad = all;
  quad.present &= 15ull << (kg_simt_lane_index() & ~3u);
  return quad;
}
/* Of floats, their bits. */
template <class V, class F> KG_SIMT_IN V kg_native_bits(const V &a, const V &b, F f) {
  if constexpr (kg_native_same<V, float>)
    return __builtin_bit_cast(float, f(__builtin_bit_cast(uint, a), __builtin_bit_cast(uint, b)));
  else if constexpr (kg_native_float<V>)
    return __builtin_bit_cast(
        V, (ushort)f(__builtin_bit_cast(ushort, a), __builtin_bit_cast(ushort, b)));
  else if constexpr (kg_native_float<kg_native_part_t<V>>)
    return a;
  else
    return (V)f(a, b);
}
#define KG_NATIVE_REDUCE(name, expression)                                                         \
  template <class P> KG_SIMT_IN kg_native_value_t<P> simd_##name(const P &value) {                 \
    using V = kg_native_value_t<P>;                                                                \
    return kg_native_reduce((V)value, 0, "simd_" #name,                                            \
                            [](const V &a, const V &b) -> V { return (V)(expression); });          \
  }                                                                                                \
  template <class P> KG_SIMT_IN kg_native_value_t<P> quad_##name(const P &value) {                 \
    using V = kg_native_value_t<P>;                                                                \
    kg_native_all<V> all;                                                                          \
    kg_native_gather((V)value, 0, "quad_" #name, all);                                             \
    const kg_native_all<V> quad = kg_native_of_quad(all);                                          \
    const uint base = kg_simt_lane_index() & ~3u;                                                  \
    bool any = false;                                                                              \
    V r = value;                                                                                   \
    for (uint i = base; i < base + 4; i++) {                                                       \
      if (!(quad.present >> i & 1)) continue;                                                      \
      const V a = r, b = quad.of[i];                                                               \
      r = any ? (V)(expression) : b;                                                               \
      any = true;                                                                                  \
    }                                                                                              \
    return r;                                                                                      \
  }
KG_NATIVE_REDUCE(sum, a + b)
KG_NATIVE_REDUCE(product, a *b)
KG_NATIVE_REDUCE(min, min(a, b))
KG_NATIVE_REDUCE(max, max(a, b))
KG_NATIVE_REDUCE(and, kg_native_bits(a, b, [](auto x, auto y) { return x & y; }))
KG_NATIVE_REDUCE(or, kg_native_bits(a, b, [](auto x, auto y) { return x | y; }))
KG_NATIVE_REDUCE(xor, kg_native_bits(a, b, [](auto x, auto y) { return x ^ y; }))
#define KG_NATIVE_PREFIX(name, first, expression)                                                  \
  template <class P>                                                                               \
  KG_SIMT_IN kg_native_value_t<P> simd_prefix_inclusive_##name(const P &value) {                   \
    using V = kg_native_value_t<P>;                                                                \
    return kg_native_scan((V)value, V(first), true, "simd_prefix_inclusive_" #name,                \
                          [](const V &a, const V &b) -> V { return (V)(expression); });            \
  }                                                                                                \
  template <class P>                                                                               \
  KG_SIMT_IN kg_native_value_t<P> simd_prefix_exclusive_##name(const P &value) {                   \
    using V = kg_native_value_t<P>;                                                                \
    return kg_native_scan((V)value, V(first), false, "simd_prefix_exclusive_" #name,               \
                          [](const V &a, const V &b) -> V { return (V)(expression); });            \
  }
KG_NATIVE_PREFIX(sum, 0, a + b)
KG_NATIVE_PREFIX(product, 1, a *b)

struct simd_vote {
  typedef ulong vote_t;
  vote_t kg_lanes;
  simd_vote() = default;
  KG_SIMT_METHOD explicit simd_vote(vote_t v) : kg_lanes(v) {}
  KG_SIMT_METHOD explicit operator vote_t() const { return kg_lanes; }
  KG_SIMT_METHOD bool any() const { return kg_lanes != 0; }
  KG_SIMT_METHOD bool all() const {
    return kg_lanes == (KG_SIMT_WAVE == 64 ? ~0ul : (1ul << KG_SIMT_WAVE % 64) - 1);
  }
};
typedef simd_vote quad_vote;
KG_SIMT_IN bool simd_any(bool holds) {
  kg_native_lanes present;
  return kg_native_vote(holds, 0, "simd_any", &present) != 0;
}
KG_SIMT_IN bool simd_all(bool holds) {
  kg_native_lanes present;
  return kg_native_vote(!holds, 0, "simd_all", &present) == 0;
}
KG_SIMT_IN simd_vote simd_ballot(bool holds) {
  kg_native_lanes present;
  return simd_vote(kg_native_vote(holds, 0, "simd_ballot", &present));
}
KG_SIMT_IN simd_vote simd_active_threads_mask() {
  kg_native_lanes present;
  (void)kg_native_vote(true, 0, "simd_active_threads_mask", &present);
  return simd_vote(present);
}
KG_SIMT_IN ulong kg_native_quad(ulong lanes) { return lanes >> (kg_simt_lane_index() & ~3u) & 15; }
KG_SIMT_IN bool quad_any(bool holds) {
  kg_native_lanes present;
  return kg_native_quad(kg_native_vote(holds, 0, "quad_any", &present)) != 0;
}
KG_SIMT_IN bool quad_all(bool holds) {
  kg_native_lanes present;
  return kg_native_quad(kg_native_vote(!holds, 0, "quad_all", &present)) == 0;
}
KG_SIMT_IN quad_vote quad_ballot(bool holds) {
  kg_native_lanes present;
  return quad_vote(kg_native_quad(kg_native_vote(holds, 0, "quad_ballot", &present)));
}

/* ---- atomics --------------------------------------------------------------------------------- */

enum memory_order {
  memory_order_relaxed,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
enum thread_scope {
  thread_scope_thread,
  thread_scope_threadgroup,
  thread_scope_device,
  thread_scope_simdgroup
};
template <class T> struct atomic {
  T kg_value;
};
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;
typedef atomic<float> atomic_float;

template <class T> struct kg_native_given {
  using type = T;
};
template <class T> using kg_native_given_t = typename kg_native_given<T>::type;
template <class T, class F> KG_SIMT_IN T kg_native_update(volatile const atomic<T> *at, F make) {
  using U =
      typename kg_native_choose<sizeof(T) == 8, ulong,
                                typename kg_native_choose<sizeof(T) == 4, uint, uchar>::type>::type;
  U *p = (U *)&at->kg_value;
  kg_native_atomic(p, sizeof(T), KG_SIMT_WRITES | KG_SIMT_UPDATES);
  U before = __atomic_load_n(p, __ATOMIC_RELAXED), after;
  do {
    const T now = make(__builtin_bit_cast(T, before));
    after = __builtin_bit_cast(U, now);
  } while (
      !__atomic_compare_exchange_n(p, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
  return __builtin_bit_cast(T, before);
}
#define KG_NATIVE_ATOMIC(name, expression)                                                         \
  template <class T>                                                                               \
  KG_SIMT_IN T atomic_##name##_explicit(volatile device atomic<T> *p, kg_native_given_t<T> v,      \
                                        memory_order) {                                            \
    return kg_native_update(p, [=](T old) -> T { return (T)(expression); });                       \
  }
template <class T> KG_SIMT_IN T kg_native_sum(T a, T b) {
  if constexpr (kg_native_same<T, int>)
    return (int)((uint)a + (uint)b);
  else
    return a + b;
}
KG_NATIVE_ATOMIC(fetch_add, kg_native_sum(old, v))
KG_NATIVE_ATOMIC(fetch_sub, kg_native_sum(old, (T)-v))
KG_NATIVE_ATOMIC(fetch_min, v < old ? v : old)
KG_NATIVE_ATOMIC(fetch_max, old < v ? v : old)
KG_NATIVE_ATOMIC(fetch_and, old &v)
KG_NATIVE_ATOMIC(fetch_or, old | v)
KG_NATIVE_ATOMIC(fetch_xor, old ^ v)
KG_NATIVE_ATOMIC(exchange, v)
template <class T>
KG_SIMT_IN T atomic_load_explicit(const volatile device atomic<T> *p, memory_order) {
  kg_native_atomic(p, sizeof(T), 0);
  T r;
  __atomic_load((T *)&p->kg_value, &r, __ATOMIC_SEQ_CST);
  return r;
}
template <class T>
KG_SIMT_IN void atomic_store_explicit(volatile device atomic<T> *p, kg_native_given_t<T> v,
                                      memory_order) {
  kg_native_atomic(p, sizeof(T), KG_SIMT_WRITES);
  __atomic_store((T *)&p->kg_value, &v, __ATOMIC_SEQ_CST);
}
template <class T>
KG_SIMT_IN bool
atomic_compare_exchange_weak_explicit(volatile device atomic<T> *p, kg_native_given_t<T> *expected,
                                      kg_native_given_t<T> v, memory_order, memory_order) {
  kg_native_atomic(p, sizeof(T), KG_SIMT_WRITES | KG_SIMT_UPDATES);
  T want = *expected;
  const bool done = __atomic_compare_exchange((T *)&p->kg_value, &want, &v, false, __ATOMIC_SEQ_CST,
                                              __ATOMIC_SEQ_CST);
  *expected = want;
  return done;
}
KG_SIMT_IN void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {
  kg_native_fence();
}

/* ---- simdgroup_matrix: 8 x 8, two elements of a row a lane ----------------------------------- */

template <class T, int C, int R> struct simdgroup_matrix {
  static_assert(C == 8 && R == 8, "a simdgroup_matrix is 8 x 8");
  vec<T, 2> kg_mine;
  simdgroup_matrix() = default;
  KG_SIMT_METHOD explicit simdgroup_matrix(T s) {
    for (int i = 0; i < 2; i++) kg_mine[i] = row() == column() + (uint)i ? s : T(0);
  }
  KG_SIMT_METHOD vec<T, 2> &thread_elements() { return kg_mine; }
  KG_SIMT_METHOD const vec<T, 2> &thread_elements() const { return kg_mine; }
  /* As Apple's GPUs lay it out: MLX's and others' kernels count on it. */
  static KG_SIMT_METHOD uint row() {
    const uint lane = kg_simt_lane_index(), quad = lane / 4;
    return (quad & 4) + lane / 2 % 4;
  }
  static KG_SIMT_METHOD uint column() {
    const uint lane = kg_simt_lane_index(), quad = lane / 4;
    return (quad & 2) * 2 + lane % 2 * 2;
  }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;
template <class T, int C, int R>
KG_SIMT_IN simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T s) {
  simdgroup_matrix<T, C, R> m;
  m.kg_mine = vec<T, 2>(s);
  return m;
}
template <class T, class S>
KG_SIMT_IN void simdgroup_load(simdgroup_matrix<T, 8, 8> &m, const S *from, ulong stride = 8,
                               ulong2 origin = ulong2(0), bool transpose = false) {
  for (uint i = 0; i < 2; i++) {
    const ulong r = m.row(), c = m.column() + i;
    m.kg_mine[(int)i] = (T)(transpose ? from[(origin.y + c) * stride + origin.x + r]
                                      : from[(origin.y + r) * stride + origin.x + c]);
  }
  (void)kg_native_meet(0, 0, "simdgroup_load", false, nullptr);
}
template <class T, class S>
KG_SIMT_IN void simdgroup_store(const simdgroup_matrix<T, 8, 8> &m, S *to, ulong stride = 8,
                                ulong2 origin = ulong2(0), bool transpose = false) {
  for (uint i = 0; i < 2; i++) {
    const ulong r = m.row(), c = m.column() + i;
    (transpose ? to[(origin.y + c) * stride + origin.x + r]
               : to[(origin.y + r) * stride + origin.x + c]) = (S)m.kg_mine[(int)i];
  }
  (void)kg_native_meet(0, 0, "simdgroup_store", false, nullptr);
}
/* d = a b + c: products summed in float, in order. */
template <class D, class A, class B, class C>
KG_SIMT_IN void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d,
                                              const simdgroup_matrix<A, 8, 8> &a,
                                              const simdgroup_matrix<B, 8, 8> &b,
                                              const simdgroup_matrix<C, 8, 8> &c) {
  kg_native_all<vec<A, 2>> as;
  kg_native_all<vec<B, 2>> bs;
  kg_native_gather(a.kg_mine, 0, "simdgroup_multiply_accumulate", as);
  kg_native_gather(b.kg_mine, 0, "simdgroup_multiply_accumulate", bs);
  const uint row = d.row(), column = d.column();
  for (uint i = 0; i < 2; i++) {
    float sum = (float)c.kg_mine[(int)i];
    for (uint k = 0; k < 8; k++) {
      const uint left = (row / 4 * 4 + k / 4 * 2) * 4 + row % 4 * 2 + k % 4 / 2;
      const uint right = (k / 4 * 4 + (column + i) / 4 * 2) * 4 + k % 4 * 2 + (column + i) % 4 / 2;
      sum += (float)as.of[left][(int)(k % 2)] * (float)bs.of[right][(int)((column + i) % 2)];
    }
    d.kg_mine[(int)i] = (D)sum;
  }
}
template <class D, class A, class B>
KG_SIMT_IN void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, const simdgroup_matrix<A, 8, 8> &a,
                                   const simdgroup_matrix<B, 8, 8> &b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0)));
}
} // namespace metal

/* What Apple's own headers are made of, and MLX's use: the compiler's names for the same. */
#define __METAL_MAYBE_FAST_MATH__ 0
#define __METAL_FAST_MATH__ 1
#define __METAL_PRECISE_MATH__ 0
#define KG_NATIVE_INNER(name)                                                                      \
  template <class A> KG_SIMT_IN auto __metal_##name(const A &a, int = 0) {                         \
    return metal::precise::name(a);                                                                \
  }
#define KG_NATIVE_INNER_2(name)                                                                    \
  template <class A, class B> KG_SIMT_IN auto __metal_##name(const A &a, const B &b, int = 0) {    \
    return metal::name(a, b);                                                                      \
  }
#define KG_NATIVE_INNER_3(name)                                                                    \
  template <class A>                                                                               \
  KG_SIMT_IN auto __metal_f##name(const A &a, const A &b, const A &c, int = 0) {                   \
    return metal::name(a, b, c);                                                                   \
  }
#define KG_NATIVE_INNER_SIMD(name)                                                                 \
  template <class A> KG_SIMT_IN auto __metal_simd_##name(const A &a, ushort by) {                  \
    return metal::simd_##name(a, by);                                                              \
  }
#define KG_NATIVE_INNER_REDUCE(name)                                                               \
  template <class A> KG_SIMT_IN auto __metal_simd_##name(const A &a) {                             \
    return metal::simd_##name(a);                                                                  \
  }
/* clang-format off */
KG_NATIVE_INNER(acos) KG_NATIVE_INNER(acosh) KG_NATIVE_INNER(asin) KG_NATIVE_INNER(asinh)
KG_NATIVE_INNER(atan) KG_NATIVE_INNER(atanh) KG_NATIVE_INNER(ceil) KG_NATIVE_INNER(cos)
KG_NATIVE_INNER(cosh) KG_NATIVE_INNER(cospi) KG_NATIVE_INNER(exp) KG_NATIVE_INNER(exp2)
KG_NATIVE_INNER(exp10) KG_NATIVE_INNER(fabs) KG_NATIVE_INNER(floor) KG_NATIVE_INNER(fract)
KG_NATIVE_INNER(log) KG_NATIVE_INNER(log2) KG_NATIVE_INNER(log10) KG_NATIVE_INNER(rint)
KG_NATIVE_INNER(round) KG_NATIVE_INNER(rsqrt) KG_NATIVE_INNER(sin) KG_NATIVE_INNER(sinh)
KG_NATIVE_INNER(sinpi) KG_NATIVE_INNER(sqrt) KG_NATIVE_INNER(tan) KG_NATIVE_INNER(tanh)
KG_NATIVE_INNER(trunc)
KG_NATIVE_INNER_2(fmin) KG_NATIVE_INNER_2(fmax) KG_NATIVE_INNER_2(fmod) KG_NATIVE_INNER_2(pow)
KG_NATIVE_INNER_2(powr) KG_NATIVE_INNER_2(atan2) KG_NATIVE_INNER_2(divide)
KG_NATIVE_INNER_3(min3) KG_NATIVE_INNER_3(max3) KG_NATIVE_INNER_3(median3)
KG_NATIVE_INNER_SIMD(shuffle) KG_NATIVE_INNER_SIMD(shuffle_xor) KG_NATIVE_INNER_SIMD(shuffle_up)
KG_NATIVE_INNER_SIMD(shuffle_down) KG_NATIVE_INNER_SIMD(shuffle_rotate_up)
KG_NATIVE_INNER_SIMD(shuffle_rotate_down) KG_NATIVE_INNER_SIMD(broadcast)
KG_NATIVE_INNER_REDUCE(sum) KG_NATIVE_INNER_REDUCE(product) KG_NATIVE_INNER_REDUCE(min)
KG_NATIVE_INNER_REDUCE(max) KG_NATIVE_INNER_REDUCE(xor) KG_NATIVE_INNER_REDUCE(prefix_inclusive_sum)
KG_NATIVE_INNER_REDUCE(prefix_exclusive_sum) KG_NATIVE_INNER_REDUCE(prefix_inclusive_product)
KG_NATIVE_INNER_REDUCE(prefix_exclusive_product);
/* clang-format on */

template <class A>
KG_SIMT_IN auto __metal_simd_shuffle_and_fill_up(const A &a, const A &fill, ushort by,
                                                 ushort width) {
  return metal::simd_shuffle_and_fill_up(a, fill, by, width);
}
template <class A>
KG_SIMT_IN auto __metal_simd_shuffle_and_fill_down(const A &a, const A &fill, ushort by,
                                                   ushort width) {
  return metal::simd_shuffle_and_fill_down(a, fill, by, width);
}
template <class A> KG_SIMT_IN A __metal_fma(const A &a, const A &b, const A &c) {
  return metal::fma(a, b, c);
}
template <class A> KG_SIMT_IN A __metal_ldexp(const A &a, int n, int = 0) {
  return metal::ldexp(a, n);
}
template <class A> KG_SIMT_IN A __metal_frexp(const A &a, int *n, int = 0) {
  return metal::frexp(a, *n);
}
template <class A> KG_SIMT_IN A __metal_tanpi(const A &a, int = 0) {
  return metal::tan(a * 3.14159265f);
}
KG_SIMT_IN float __metal_nextafter(float a, float b) { return nextafterf(a, b); }
KG_SIMT_IN ushort __metal_get_thread_index_in_simdgroup(ushort) {
  return (ushort)kg_simt_lane_index();
}
KG_SIMT_IN ushort __metal_get_simdgroup_size(ushort) { return KG_SIMT_WAVE; }

template <class T> struct kg_native_made_of<metal::atomic<T>> {
  using type = T;
};
using metal::atomic_bool;
using metal::atomic_int; /* the first three are words of the language everywhere */
using metal::atomic_uint;

/* ---- the entry's parameters that are no arguments, by their attributes' names ---------------- */

struct kg_native_position {
  uint x, y, z;
  KG_SIMT_METHOD operator uint() const { return x; }
  KG_SIMT_METHOD operator ushort() const { return (ushort)x; }
  KG_SIMT_METHOD operator uint2() const { return uint2(x, y); }
  KG_SIMT_METHOD operator uint3() const { return uint3(x, y, z); }
  KG_SIMT_METHOD operator ushort2() const { return ushort2((ushort)x, (ushort)y); }
  KG_SIMT_METHOD operator ushort3() const { return ushort3((ushort)x, (ushort)y, (ushort)z); }
};
KG_SIMT_IN kg_native_position kg_native_at(const kg_simt_xyz &v) {
  return kg_native_position{v.x, v.y, v.z};
}
#define KG_NATIVE_POSITION(name, from)                                                             \
  KG_SIMT_IN kg_native_position kg_simt_##name() { return kg_native_at(kg_simt_xyz_of(from)); }
KG_NATIVE_POSITION(thread_position_in_threadgroup, kg_simt_now()->place)
KG_NATIVE_POSITION(threadgroup_position_in_grid, kg_simt_now_group()->place)
KG_NATIVE_POSITION(threads_per_threadgroup, kg_simt_now_group()->threads)
KG_NATIVE_POSITION(dispatch_threads_per_threadgroup, kg_simt_now_group()->threads)
KG_NATIVE_POSITION(threadgroups_per_grid, kg_simt_now_group()->groups)
KG_SIMT_IN kg_native_position kg_simt_thread_position_in_grid() {
  const kg_native_position t = kg_simt_thread_position_in_threadgroup(),
                           g = kg_simt_threadgroup_position_in_grid(),
                           n = kg_simt_threads_per_threadgroup();
  return kg_native_position{g.x * n.x + t.x, g.y * n.y + t.y, g.z * n.z + t.z};
}
KG_SIMT_IN kg_native_position kg_simt_threads_per_grid() {
  const kg_native_position g = kg_simt_threadgroups_per_grid(),
                           n = kg_simt_threads_per_threadgroup();
  return kg_native_position{g.x * n.x, g.y * n.y, g.z * n.z};
}
KG_SIMT_IN uint kg_simt_thread_index_in_threadgroup() {
  return kg_simt_ours(kg_simt_now()->number);
}
KG_SIMT_IN uint kg_simt_thread_index_in_simdgroup() { return kg_simt_lane_index(); }
KG_SIMT_IN uint kg_simt_thread_index_in_quadgroup() { return kg_simt_lane_index() % 4; }
KG_SIMT_IN uint kg_simt_quadgroup_index_in_threadgroup() {
  return kg_simt_thread_index_in_threadgroup() / 4;
}
KG_SIMT_IN uint kg_simt_simdgroup_index_in_threadgroup() {
  return kg_simt_ours(kg_simt_ours(kg_simt_now()->wave)->number);
}
KG_SIMT_IN uint kg_simt_threads_per_simdgroup() { return KG_SIMT_WAVE; }
KG_SIMT_IN uint kg_simt_thread_execution_width() { return KG_SIMT_WAVE; }
KG_SIMT_IN uint kg_simt_simdgroups_per_threadgroup() {
  const kg_simt_xyz n = kg_simt_xyz_of(kg_simt_now_group()->threads);
  return (n.x * n.y * n.z + KG_SIMT_WAVE - 1) / KG_SIMT_WAVE;
}
KG_SIMT_IN uint kg_simt_dispatch_simdgroups_per_threadgroup() {
  return kg_simt_simdgroups_per_threadgroup();
}
