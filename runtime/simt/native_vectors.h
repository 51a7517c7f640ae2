/* native_vectors.h: Metal's vectors for native texts: made of pieces, with swizzles and operators.
**
** A vector is an array under several names; a swizzle is one of these, and becomes a vector where it is
** used.  Operators are friends of the vector, so that a swizzle or a number on either side will do. */

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef uchar uint8_t;
typedef ushort uint16_t;
typedef uint uint32_t;
typedef ulong uint64_t;
typedef long ptrdiff_t;
typedef ulong size_t;
typedef ulong uintptr_t;
typedef _Float16 half;
typedef __bf16 bfloat;
typedef __bf16 bfloat16_t;
typedef _Float16 float16_t;

template <class T, int N> struct vec;
template <class T, int N> struct packed_vec;

/* Lanes I of a vector that lies here; V is what they make. */
template <class V, class T, int M, int... I> struct kg_native_swizzle {
  T kg_lanes[M];
  kg_native_swizzle() = default;
  KG_SIMT_METHOD operator V() const { return V(kg_lanes[I]...); }
  KG_SIMT_METHOD const kg_native_swizzle &operator=(const V &v) {
    int from = 0;
    const V copy = v;
    ((kg_lanes[I] = copy[from++]), ...);
    return *this;
  }
  KG_SIMT_METHOD const kg_native_swizzle &operator=(const kg_native_swizzle &v) {
    return *this = (V)v;
  }
  template <class S> KG_SIMT_METHOD const kg_native_swizzle &operator+=(const S &v) {
    return *this = (V) * this + V(v);
  }
  template <class S> KG_SIMT_METHOD const kg_native_swizzle &operator-=(const S &v) {
    return *this = (V) * this - V(v);
  }
  template <class S> KG_SIMT_METHOD const kg_native_swizzle &operator*=(const S &v) {
    return *this = (V) * this * V(v);
  }
  template <class S> KG_SIMT_METHOD const kg_native_swizzle &operator/=(const S &v) {
    return *this = (V) * this / V(v);
  }
  KG_SIMT_METHOD T operator[](int i) const { return ((V) * this)[i]; }
};

/* How many lanes a piece has, and which. */
template <class P> struct kg_native_piece {
  static constexpr int lanes = 1;
  static KG_SIMT_METHOD const P &lane(const P &p, int) { return p; }
};
template <class T, int N> struct kg_native_piece<vec<T, N>> {
  static constexpr int lanes = N;
  static KG_SIMT_METHOD T lane(const vec<T, N> &p, int i) { return p[i]; }
};
template <class T, int N> struct kg_native_piece<packed_vec<T, N>> {
  static constexpr int lanes = N;
  static KG_SIMT_METHOD T lane(const packed_vec<T, N> &p, int i) { return p[i]; }
};
template <class V, class T, int M, int... I>
struct kg_native_piece<kg_native_swizzle<V, T, M, I...>> {
  static constexpr int lanes = sizeof...(I);
  static KG_SIMT_METHOD T lane(const kg_native_swizzle<V, T, M, I...> &p, int i) { return p[i]; }
};

#define KG_NATIVE_VEC_BINARY(op)                                                                   \
  friend KG_SIMT_METHOD vec operator op(const vec &a, const vec &b) {                              \
    vec r;                                                                                         \
    for (int i = 0; i < N; i++) r.kg_lanes[i] = (T)(a.kg_lanes[i] op b.kg_lanes[i]);               \
    return r;                                                                                      \
  }                                                                                                \
  KG_SIMT_METHOD vec &operator op##=(const vec & b) { return *this = *this op b; }
#define KG_NATIVE_VEC_COMPARE(op)                                                                  \
  friend KG_SIMT_METHOD vec<bool, N> operator op(const vec & a, const vec & b) {                   \
    vec<bool, N> r;                                                                                \
    for (int i = 0; i < N; i++) r.kg_lanes[i] = a.kg_lanes[i] op b.kg_lanes[i];                    \
    return r;                                                                                      \
  }
#define KG_NATIVE_VEC_BODY(N_, room)                                                               \
  static constexpr int N = N_;                                                                     \
  vec() = default;                                                                                 \
  KG_SIMT_METHOD vec(const vec &o) { __builtin_memcpy(this, &o, sizeof o); }                       \
  KG_SIMT_METHOD vec &operator=(const vec &o) {                                                    \
    __builtin_memmove(this, &o, sizeof o);                                                         \
    return *this;                                                                                  \
  }                                                                                                \
  template <class S, class = typename kg_native_if<kg_native_number<S>>::type>                     \
  KG_SIMT_METHOD vec(S s) {                                                                        \
    for (int i = 0; i < N; i++) kg_lanes[i] = (T)s;                                                \
  }                                                                                                \
  template <class S> KG_SIMT_METHOD explicit vec(const vec<S, N_> &o) {                            \
    for (int i = 0; i < N; i++) kg_lanes[i] = (T)o.kg_lanes[i];                                    \
  }                                                                                                \
  KG_SIMT_METHOD vec(const packed_vec<T, N_> &o) {                                                 \
    for (int i = 0; i < N; i++) kg_lanes[i] = o.kg_lanes[i];                                       \
  }                                                                                                \
  template <class V, class S, int M, int... I,                                                     \
            class = typename kg_native_if<!kg_native_same<V, vec> && sizeof...(I) == N_>::type>    \
  KG_SIMT_METHOD explicit vec(const kg_native_swizzle<V, S, M, I...> &o) : vec((V)o) {}            \
  template <class A, class B, class... P>                                                          \
  KG_SIMT_METHOD vec(const A &a, const B &b, const P &...p) {                                      \
    static_assert(kg_native_piece<A>::lanes + kg_native_piece<B>::lanes +                          \
                          (0 + ... + kg_native_piece<P>::lanes) ==                                 \
                      N_,                                                                          \
                  "a vector of " #N_ " is made of pieces that have " #N_ " elements together");    \
    int at = 0;                                                                                    \
    kg_put(at, a), kg_put(at, b), (kg_put(at, p), ...);                                            \
  }                                                                                                \
  template <class P> KG_SIMT_METHOD void kg_put(int &at, const P &p) {                             \
    for (int i = 0; i < kg_native_piece<P>::lanes; i++)                                            \
      kg_lanes[at++] = (T)kg_native_piece<P>::lane(p, i);                                          \
  }                                                                                                \
  KG_SIMT_METHOD T &operator[](int i) { return kg_lanes[i]; }                                      \
  KG_SIMT_METHOD const T &operator[](int i) const { return kg_lanes[i]; }                          \
  KG_NATIVE_VEC_BINARY(+)                                                                          \
  KG_NATIVE_VEC_BINARY(-)                                                                          \
  KG_NATIVE_VEC_BINARY(*)                                                                          \
  KG_NATIVE_VEC_BINARY(/)                                                                          \
  KG_NATIVE_VEC_BINARY(%)                                                                          \
  KG_NATIVE_VEC_BINARY(&)                                                                          \
  KG_NATIVE_VEC_BINARY(|)                                                                          \
  KG_NATIVE_VEC_BINARY(^)                                                                          \
  KG_NATIVE_VEC_BINARY(<<)                                                                         \
  KG_NATIVE_VEC_BINARY(>>)                                                                         \
  KG_NATIVE_VEC_COMPARE(==)                                                                        \
  KG_NATIVE_VEC_COMPARE(!=)                                                                        \
  KG_NATIVE_VEC_COMPARE(<)                                                                         \
  KG_NATIVE_VEC_COMPARE(>)                                                                         \
  KG_NATIVE_VEC_COMPARE(<=)                                                                        \
  KG_NATIVE_VEC_COMPARE(>=)                                                                        \
  friend KG_SIMT_METHOD vec operator-(const vec &a) {                                              \
    vec r;                                                                                         \
    for (int i = 0; i < N; i++) r.kg_lanes[i] = -a.kg_lanes[i];                                    \
    return r;                                                                                      \
  }                                                                                                \
  friend KG_SIMT_METHOD const vec &operator+(const vec &a) { return a; }                           \
  friend KG_SIMT_METHOD vec operator~(const vec &a) {                                              \
    vec r;                                                                                         \
    for (int i = 0; i < N; i++) r.kg_lanes[i] = (T)~a.kg_lanes[i];                                 \
    return r;                                                                                      \
  }                                                                                                \
  friend KG_SIMT_METHOD vec<bool, N> operator!(const vec &a) {                                     \
    vec<bool, N> r;                                                                                \
    for (int i = 0; i < N; i++) r.kg_lanes[i] = !a.kg_lanes[i];                                    \
    return r;                                                                                      \
  }                                                                                                \
  KG_SIMT_METHOD vec &operator++() { return *this += vec((T)1); }                                  \
  KG_SIMT_METHOD vec &operator--() { return *this -= vec((T)1); }

/* Their names: V, T and M are the vector's. */
#define KG_NATIVE_TWO(M, name, a, b) kg_native_swizzle<vec<T, 2>, T, M, a, b> name;
#define KG_NATIVE_THREE(M, name, a, b, c) kg_native_swizzle<vec<T, 3>, T, M, a, b, c> name;
#define KG_NATIVE_FOUR(M, name, a, b, c, d) kg_native_swizzle<vec<T, 4>, T, M, a, b, c, d> name;
/* clang-format off */
#define KG_NATIVE_SWIZZLES_2(M) \
  KG_NATIVE_TWO(M, xx, 0, 0) KG_NATIVE_TWO(M, xy, 0, 1) KG_NATIVE_TWO(M, yx, 1, 0) \
  KG_NATIVE_TWO(M, yy, 1, 1) KG_NATIVE_THREE(M, xxx, 0, 0, 0) KG_NATIVE_THREE(M, xxy, 0, 0, 1) \
  KG_NATIVE_THREE(M, xyx, 0, 1, 0) KG_NATIVE_THREE(M, xyy, 0, 1, 1) \
  KG_NATIVE_THREE(M, yxx, 1, 0, 0) KG_NATIVE_THREE(M, yxy, 1, 0, 1) \
  KG_NATIVE_THREE(M, yyx, 1, 1, 0) KG_NATIVE_THREE(M, yyy, 1, 1, 1) \
  KG_NATIVE_FOUR(M, xxxx, 0, 0, 0, 0) KG_NATIVE_FOUR(M, xxxy, 0, 0, 0, 1) \
  KG_NATIVE_FOUR(M, xxyx, 0, 0, 1, 0) KG_NATIVE_FOUR(M, xxyy, 0, 0, 1, 1) \
  KG_NATIVE_FOUR(M, xyxx, 0, 1, 0, 0) KG_NATIVE_FOUR(M, xyxy, 0, 1, 0, 1) \
  KG_NATIVE_FOUR(M, xyyx, 0, 1, 1, 0) KG_NATIVE_FOUR(M, xyyy, 0, 1, 1, 1) \
  KG_NATIVE_FOUR(M, yxxx, 1, 0, 0, 0) KG_NATIVE_FOUR(M, yxxy, 1, 0, 0, 1) \
  KG_NATIVE_FOUR(M, yxyx, 1, 0, 1, 0) KG_NATIVE_FOUR(M, yxyy, 1, 0, 1, 1) \
  KG_NATIVE_FOUR(M, yyxx, 1, 1, 0, 0) KG_NATIVE_FOUR(M, yyxy, 1, 1, 0, 1) \
  KG_NATIVE_FOUR(M, yyyx, 1, 1, 1, 0) KG_NATIVE_FOUR(M, yyyy, 1, 1, 1, 1) \
  KG_NATIVE_TWO(M, rg, 0, 1)
#define KG_NATIVE_SWIZZLES_3(M) \
  KG_NATIVE_TWO(M, xx, 0, 0) KG_NATIVE_TWO(M, xy, 0, 1) KG_NATIVE_TWO(M, xz, 0, 2) \
  KG_NATIVE_TWO(M, yx, 1, 0) KG_NATIVE_TWO(M, yy, 1, 1) KG_NATIVE_TWO(M, yz, 1, 2) \
  KG_NATIVE_TWO(M, zx, 2, 0) KG_NATIVE_TWO(M, zy, 2, 1) KG_NATIVE_TWO(M, zz, 2, 2) \
  KG_NATIVE_THREE(M, xxx, 0, 0, 0) KG_NATIVE_THREE(M, xxy, 0, 0, 1) \
  KG_NATIVE_THREE(M, xxz, 0, 0, 2) KG_NATIVE_THREE(M, xyx, 0, 1, 0) \
  KG_NATIVE_THREE(M, xyy, 0, 1, 1) KG_NATIVE_THREE(M, xyz, 0, 1, 2) \
  KG_NATIVE_THREE(M, xzx, 0, 2, 0) KG_NATIVE_THREE(M, xzy, 0, 2, 1) \
  KG_NATIVE_THREE(M, xzz, 0, 2, 2) KG_NATIVE_THREE(M, yxx, 1, 0, 0) \
  KG_NATIVE_THREE(M, yxy, 1, 0, 1) KG_NATIVE_THREE(M, yxz, 1, 0, 2) \
  KG_NATIVE_THREE(M, yyx, 1, 1, 0) KG_NATIVE_THREE(M, yyy, 1, 1, 1) \
  KG_NATIVE_THREE(M, yyz, 1, 1, 2) KG_NATIVE_THREE(M, yzx, 1, 2, 0) \
  KG_NATIVE_THREE(M, yzy, 1, 2, 1) KG_NATIVE_THREE(M, yzz, 1, 2, 2) \
  KG_NATIVE_THREE(M, zxx, 2, 0, 0) KG_NATIVE_THREE(M, zxy, 2, 0, 1) \
  KG_NATIVE_THREE(M, zxz, 2, 0, 2) KG_NATIVE_THREE(M, zyx, 2, 1, 0) \
  KG_NATIVE_THREE(M, zyy, 2, 1, 1) KG_NATIVE_THREE(M, zyz, 2, 1, 2) \
  KG_NATIVE_THREE(M, zzx, 2, 2, 0) KG_NATIVE_THREE(M, zzy, 2, 2, 1) \
  KG_NATIVE_THREE(M, zzz, 2, 2, 2) KG_NATIVE_FOUR(M, xxxx, 0, 0, 0, 0) \
  KG_NATIVE_FOUR(M, xxxy, 0, 0, 0, 1) KG_NATIVE_FOUR(M, xxxz, 0, 0, 0, 2) \
  KG_NATIVE_FOUR(M, xxyx, 0, 0, 1, 0) KG_NATIVE_FOUR(M, xxyy, 0, 0, 1, 1) \
  KG_NATIVE_FOUR(M, xxyz, 0, 0, 1, 2) KG_NATIVE_FOUR(M, xxzx, 0, 0, 2, 0) \
  KG_NATIVE_FOUR(M, xxzy, 0, 0, 2, 1) KG_NATIVE_FOUR(M, xxzz, 0, 0, 2, 2) \
  KG_NATIVE_FOUR(M, xyxx, 0, 1, 0, 0) KG_NATIVE_FOUR(M, xyxy, 0, 1, 0, 1) \
  KG_NATIVE_FOUR(M, xyxz, 0, 1, 0, 2) KG_NATIVE_FOUR(M, xyyx, 0, 1, 1, 0) \
  KG_NATIVE_FOUR(M, xyyy, 0, 1, 1, 1) KG_NATIVE_FOUR(M, xyyz, 0, 1, 1, 2) \
  KG_NATIVE_FOUR(M, xyzx, 0, 1, 2, 0) KG_NATIVE_FOUR(M, xyzy, 0, 1, 2, 1) \
  KG_NATIVE_FOUR(M, xyzz, 0, 1, 2, 2) KG_NATIVE_FOUR(M, xzxx, 0, 2, 0, 0) \
  KG_NATIVE_FOUR(M, xzxy, 0, 2, 0, 1) KG_NATIVE_FOUR(M, xzxz, 0, 2, 0, 2) \
  KG_NATIVE_FOUR(M, xzyx, 0, 2, 1, 0) KG_NATIVE_FOUR(M, xzyy, 0, 2, 1, 1) \
  KG_NATIVE_FOUR(M, xzyz, 0, 2, 1, 2) KG_NATIVE_FOUR(M, xzzx, 0, 2, 2, 0) \
  KG_NATIVE_FOUR(M, xzzy, 0, 2, 2, 1) KG_NATIVE_FOUR(M, xzzz, 0, 2, 2, 2) \
  KG_NATIVE_FOUR(M, yxxx, 1, 0, 0, 0) KG_NATIVE_FOUR(M, yxxy, 1, 0, 0, 1) \
  KG_NATIVE_FOUR(M, yxxz, 1, 0, 0, 2) KG_NATIVE_FOUR(M, yxyx, 1, 0, 1, 0) \
  KG_NATIVE_FOUR(M, yxyy, 1, 0, 1, 1) KG_NATIVE_FOUR(M, yxyz, 1, 0, 1, 2) \
  KG_NATIVE_FOUR(M, yxzx, 1, 0, 2, 0) KG_NATIVE_FOUR(M, yxzy, 1, 0, 2, 1) \
  KG_NATIVE_FOUR(M, yxzz, 1, 0, 2, 2) KG_NATIVE_FOUR(M, yyxx, 1, 1, 0, 0) \
  KG_NATIVE_FOUR(M, yyxy, 1, 1, 0, 1) KG_NATIVE_FOUR(M, yyxz, 1, 1, 0, 2) \
  KG_NATIVE_FOUR(M, yyyx, 1, 1, 1, 0) KG_NATIVE_FOUR(M, yyyy, 1, 1, 1, 1) \
  KG_NATIVE_FOUR(M, yyyz, 1, 1, 1, 2) KG_NATIVE_FOUR(M, yyzx, 1, 1, 2, 0) \
  KG_NATIVE_FOUR(M, yyzy, 1, 1, 2, 1) KG_NATIVE_FOUR(M, yyzz, 1, 1, 2, 2) \
  KG_NATIVE_FOUR(M, yzxx, 1, 2, 0, 0) KG_NATIVE_FOUR(M, yzxy, 1, 2, 0, 1) \
  KG_NATIVE_FOUR(M, yzxz, 1, 2, 0, 2) KG_NATIVE_FOUR(M, yzyx, 1, 2, 1, 0) \
  KG_NATIVE_FOUR(M, yzyy, 1, 2, 1, 1) KG_NATIVE_FOUR(M, yzyz, 1, 2, 1, 2) \
  KG_NATIVE_FOUR(M, yzzx, 1, 2, 2, 0) KG_NATIVE_FOUR(M, yzzy, 1, 2, 2, 1) \
  KG_NATIVE_FOUR(M, yzzz, 1, 2, 2, 2) KG_NATIVE_FOUR(M, zxxx, 2, 0, 0, 0) \
  KG_NATIVE_FOUR(M, zxxy, 2, 0, 0, 1) KG_NATIVE_FOUR(M, zxxz, 2, 0, 0, 2) \
  KG_NATIVE_FOUR(M, zxyx, 2, 0, 1, 0) KG_NATIVE_FOUR(M, zxyy, 2, 0, 1, 1) \
  KG_NATIVE_FOUR(M, zxyz, 2, 0, 1, 2) KG_NATIVE_FOUR(M, zxzx, 2, 0, 2, 0) \
  KG_NATIVE_FOUR(M, zxzy, 2, 0, 2, 1) KG_NATIVE_FOUR(M, zxzz, 2, 0, 2, 2) \
  KG_NATIVE_FOUR(M, zyxx, 2, 1, 0, 0) KG_NATIVE_FOUR(M, zyxy, 2, 1, 0, 1) \
  KG_NATIVE_FOUR(M, zyxz, 2, 1, 0, 2) KG_NATIVE_FOUR(M, zyyx, 2, 1, 1, 0) \
  KG_NATIVE_FOUR(M, zyyy, 2, 1, 1, 1) KG_NATIVE_FOUR(M, zyyz, 2, 1, 1, 2) \
  KG_NATIVE_FOUR(M, zyzx, 2, 1, 2, 0) KG_NATIVE_FOUR(M, zyzy, 2, 1, 2, 1) \
  KG_NATIVE_FOUR(M, zyzz, 2, 1, 2, 2) KG_NATIVE_FOUR(M, zzxx, 2, 2, 0, 0) \
  KG_NATIVE_FOUR(M, zzxy, 2, 2, 0, 1) KG_NATIVE_FOUR(M, zzxz, 2, 2, 0, 2) \
  KG_NATIVE_FOUR(M, zzyx, 2, 2, 1, 0) KG_NATIVE_FOUR(M, zzyy, 2, 2, 1, 1) \
  KG_NATIVE_FOUR(M, zzyz, 2, 2, 1, 2) KG_NATIVE_FOUR(M, zzzx, 2, 2, 2, 0) \
  KG_NATIVE_FOUR(M, zzzy, 2, 2, 2, 1) KG_NATIVE_FOUR(M, zzzz, 2, 2, 2, 2) \
  KG_NATIVE_TWO(M, rg, 0, 1) KG_NATIVE_TWO(M, gb, 1, 2) KG_NATIVE_THREE(M, rgb, 0, 1, 2) \
  KG_NATIVE_THREE(M, bgr, 2, 1, 0)
#define KG_NATIVE_SWIZZLES_4(M) \
  KG_NATIVE_TWO(M, xx, 0, 0) KG_NATIVE_TWO(M, xy, 0, 1) KG_NATIVE_TWO(M, xz, 0, 2) \
  KG_NATIVE_TWO(M, xw, 0, 3) KG_NATIVE_TWO(M, yx, 1, 0) KG_NATIVE_TWO(M, yy, 1, 1) \
  KG_NATIVE_TWO(M, yz, 1, 2) KG_NATIVE_TWO(M, yw, 1, 3) KG_NATIVE_TWO(M, zx, 2, 0) \
  KG_NATIVE_TWO(M, zy, 2, 1) KG_NATIVE_TWO(M, zz, 2, 2) KG_NATIVE_TWO(M, zw, 2, 3) \
  KG_NATIVE_TWO(M, wx, 3, 0) KG_NATIVE_TWO(M, wy, 3, 1) KG_NATIVE_TWO(M, wz, 3, 2) \
  KG_NATIVE_TWO(M, ww, 3, 3) KG_NATIVE_THREE(M, xxx, 0, 0, 0) KG_NATIVE_THREE(M, xxy, 0, 0, 1) \
  KG_NATIVE_THREE(M, xxz, 0, 0, 2) KG_NATIVE_THREE(M, xxw, 0, 0, 3) \
  KG_NATIVE_THREE(M, xyx, 0, 1, 0) KG_NATIVE_THREE(M, xyy, 0, 1, 1) \
  KG_NATIVE_THREE(M, xyz, 0, 1, 2) KG_NATIVE_THREE(M, xyw, 0, 1, 3) \
  KG_NATIVE_THREE(M, xzx, 0, 2, 0) KG_NATIVE_THREE(M, xzy, 0, 2, 1) \
  KG_NATIVE_THREE(M, xzz, 0, 2, 2) KG_NATIVE_THREE(M, xzw, 0, 2, 3) \
  KG_NATIVE_THREE(M, xwx, 0, 3, 0) KG_NATIVE_THREE(M, xwy, 0, 3, 1) \
  KG_NATIVE_THREE(M, xwz, 0, 3, 2) KG_NATIVE_THREE(M, xww, 0, 3, 3) \
  KG_NATIVE_THREE(M, yxx, 1, 0, 0) KG_NATIVE_THREE(M, yxy, 1, 0, 1) \
  KG_NATIVE_THREE(M, yxz, 1, 0, 2) KG_NATIVE_THREE(M, yxw, 1, 0, 3) \
  KG_NATIVE_THREE(M, yyx, 1, 1, 0) KG_NATIVE_THREE(M, yyy, 1, 1, 1) \
  KG_NATIVE_THREE(M, yyz, 1, 1, 2) KG_NATIVE_THREE(M, yyw, 1, 1, 3) \
  KG_NATIVE_THREE(M, yzx, 1, 2, 0) KG_NATIVE_THREE(M, yzy, 1, 2, 1) \
  KG_NATIVE_THREE(M, yzz, 1, 2, 2) KG_NATIVE_THREE(M, yzw, 1, 2, 3) \
  KG_NATIVE_THREE(M, ywx, 1, 3, 0) KG_NATIVE_THREE(M, ywy, 1, 3, 1) \
  KG_NATIVE_THREE(M, ywz, 1, 3, 2) KG_NATIVE_THREE(M, yww, 1, 3, 3) \
  KG_NATIVE_THREE(M, zxx, 2, 0, 0) KG_NATIVE_THREE(M, zxy, 2, 0, 1) \
  KG_NATIVE_THREE(M, zxz, 2, 0, 2) KG_NATIVE_THREE(M, zxw, 2, 0, 3) \
  KG_NATIVE_THREE(M, zyx, 2, 1, 0) KG_NATIVE_THREE(M, zyy, 2, 1, 1) \
  KG_NATIVE_THREE(M, zyz, 2, 1, 2) KG_NATIVE_THREE(M, zyw, 2, 1, 3) \
  KG_NATIVE_THREE(M, zzx, 2, 2, 0) KG_NATIVE_THREE(M, zzy, 2, 2, 1) \
  KG_NATIVE_THREE(M, zzz, 2, 2, 2) KG_NATIVE_THREE(M, zzw, 2, 2, 3) \
  KG_NATIVE_THREE(M, zwx, 2, 3, 0) KG_NATIVE_THREE(M, zwy, 2, 3, 1) \
  KG_NATIVE_THREE(M, zwz, 2, 3, 2) KG_NATIVE_THREE(M, zww, 2, 3, 3) \
  KG_NATIVE_THREE(M, wxx, 3, 0, 0) KG_NATIVE_THREE(M, wxy, 3, 0, 1) \
  KG_NATIVE_THREE(M, wxz, 3, 0, 2) KG_NATIVE_THREE(M, wxw, 3, 0, 3) \
  KG_NATIVE_THREE(M, wyx, 3, 1, 0) KG_NATIVE_THREE(M, wyy, 3, 1, 1) \
  KG_NATIVE_THREE(M, wyz, 3, 1, 2) KG_NATIVE_THREE(M, wyw, 3, 1, 3) \
  KG_NATIVE_THREE(M, wzx, 3, 2, 0) KG_NATIVE_THREE(M, wzy, 3, 2, 1) \
  KG_NATIVE_THREE(M, wzz, 3, 2, 2) KG_NATIVE_THREE(M, wzw, 3, 2, 3) \
  KG_NATIVE_THREE(M, wwx, 3, 3, 0) KG_NATIVE_THREE(M, wwy, 3, 3, 1) \
  KG_NATIVE_THREE(M, wwz, 3, 3, 2) KG_NATIVE_THREE(M, www, 3, 3, 3) \
  KG_NATIVE_FOUR(M, xxxx, 0, 0, 0, 0) KG_NATIVE_FOUR(M, xxxy, 0, 0, 0, 1) \
  KG_NATIVE_FOUR(M, xxxz, 0, 0, 0, 2) KG_NATIVE_FOUR(M, xxxw, 0, 0, 0, 3) \
  KG_NATIVE_FOUR(M, xxyx, 0, 0, 1, 0) KG_NATIVE_FOUR(M, xxyy, 0, 0, 1, 1) \
  KG_NATIVE_FOUR(M, xxyz, 0, 0, 1, 2) KG_NATIVE_FOUR(M, xxyw, 0, 0, 1, 3) \
  KG_NATIVE_FOUR(M, xxzx, 0, 0, 2, 0) KG_NATIVE_FOUR(M, xxzy, 0, 0, 2, 1) \
  KG_NATIVE_FOUR(M, xxzz, 0, 0, 2, 2) KG_NATIVE_FOUR(M, xxzw, 0, 0, 2, 3) \
  KG_NATIVE_FOUR(M, xxwx, 0, 0, 3, 0) KG_NATIVE_FOUR(M, xxwy, 0, 0, 3, 1) \
  KG_NATIVE_FOUR(M, xxwz, 0, 0, 3, 2) KG_NATIVE_FOUR(M, xxww, 0, 0, 3, 3) \
  KG_NATIVE_FOUR(M, xyxx, 0, 1, 0, 0) KG_NATIVE_FOUR(M, xyxy, 0, 1, 0, 1) \
  KG_NATIVE_FOUR(M, xyxz, 0, 1, 0, 2) KG_NATIVE_FOUR(M, xyxw, 0, 1, 0, 3) \
  KG_NATIVE_FOUR(M, xyyx, 0, 1, 1, 0) KG_NATIVE_FOUR(M, xyyy, 0, 1, 1, 1) \
  KG_NATIVE_FOUR(M, xyyz, 0, 1, 1, 2) KG_NATIVE_FOUR(M, xyyw, 0, 1, 1, 3) \
  KG_NATIVE_FOUR(M, xyzx, 0, 1, 2, 0) KG_NATIVE_FOUR(M, xyzy, 0, 1, 2, 1) \
  KG_NATIVE_FOUR(M, xyzz, 0, 1, 2, 2) KG_NATIVE_FOUR(M, xyzw, 0, 1, 2, 3) \
  KG_NATIVE_FOUR(M, xywx, 0, 1, 3, 0) KG_NATIVE_FOUR(M, xywy, 0, 1, 3, 1) \
  KG_NATIVE_FOUR(M, xywz, 0, 1, 3, 2) KG_NATIVE_FOUR(M, xyww, 0, 1, 3, 3) \
  KG_NATIVE_FOUR(M, xzxx, 0, 2, 0, 0) KG_NATIVE_FOUR(M, xzxy, 0, 2, 0, 1) \
  KG_NATIVE_FOUR(M, xzxz, 0, 2, 0, 2) KG_NATIVE_FOUR(M, xzxw, 0, 2, 0, 3) \
  KG_NATIVE_FOUR(M, xzyx, 0, 2, 1, 0) KG_NATIVE_FOUR(M, xzyy, 0, 2, 1, 1) \
  KG_NATIVE_FOUR(M, xzyz, 0, 2, 1, 2) KG_NATIVE_FOUR(M, xzyw, 0, 2, 1, 3) \
  KG_NATIVE_FOUR(M, xzzx, 0, 2, 2, 0) KG_NATIVE_FOUR(M, xzzy, 0, 2, 2, 1) \
  KG_NATIVE_FOUR(M, xzzz, 0, 2, 2, 2) KG_NATIVE_FOUR(M, xzzw, 0, 2, 2, 3) \
  KG_NATIVE_FOUR(M, xzwx, 0, 2, 3, 0) KG_NATIVE_FOUR(M, xzwy, 0, 2, 3, 1) \
  KG_NATIVE_FOUR(M, xzwz, 0, 2, 3, 2) KG_NATIVE_FOUR(M, xzww, 0, 2, 3, 3) \
  KG_NATIVE_FOUR(M, xwxx, 0, 3, 0, 0) KG_NATIVE_FOUR(M, xwxy, 0, 3, 0, 1) \
  KG_NATIVE_FOUR(M, xwxz, 0, 3, 0, 2) KG_NATIVE_FOUR(M, xwxw, 0, 3, 0, 3) \
  KG_NATIVE_FOUR(M, xwyx, 0, 3, 1, 0) KG_NATIVE_FOUR(M, xwyy, 0, 3, 1, 1) \
  KG_NATIVE_FOUR(M, xwyz, 0, 3, 1, 2) KG_NATIVE_FOUR(M, xwyw, 0, 3, 1, 3) \
  KG_NATIVE_FOUR(M, xwzx, 0, 3, 2, 0) KG_NATIVE_FOUR(M, xwzy, 0, 3, 2, 1) \
  KG_NATIVE_FOUR(M, xwzz, 0, 3, 2, 2) KG_NATIVE_FOUR(M, xwzw, 0, 3, 2, 3) \
  KG_NATIVE_FOUR(M, xwwx, 0, 3, 3, 0) KG_NATIVE_FOUR(M, xwwy, 0, 3, 3, 1) \
  KG_NATIVE_FOUR(M, xwwz, 0, 3, 3, 2) KG_NATIVE_FOUR(M, xwww, 0, 3, 3, 3) \
  KG_NATIVE_FOUR(M, yxxx, 1, 0, 0, 0) KG_NATIVE_FOUR(M, yxxy, 1, 0, 0, 1) \
  KG_NATIVE_FOUR(M, yxxz, 1, 0, 0, 2) KG_NATIVE_FOUR(M, yxxw, 1, 0, 0, 3) \
  KG_NATIVE_FOUR(M, yxyx, 1, 0, 1, 0) KG_NATIVE_FOUR(M, yxyy, 1, 0, 1, 1) \
  KG_NATIVE_FOUR(M, yxyz, 1, 0, 1, 2) KG_NATIVE_FOUR(M, yxyw, 1, 0, 1, 3) \
  KG_NATIVE_FOUR(M, yxzx, 1, 0, 2, 0) KG_NATIVE_FOUR(M, yxzy, 1, 0, 2, 1) \
  KG_NATIVE_FOUR(M, yxzz, 1, 0, 2, 2) KG_NATIVE_FOUR(M, yxzw, 1, 0, 2, 3) \
  KG_NATIVE_FOUR(M, yxwx, 1, 0, 3, 0) KG_NATIVE_FOUR(M, yxwy, 1, 0, 3, 1) \
  KG_NATIVE_FOUR(M, yxwz, 1, 0, 3, 2) KG_NATIVE_FOUR(M, yxww, 1, 0, 3, 3) \
  KG_NATIVE_FOUR(M, yyxx, 1, 1, 0, 0) KG_NATIVE_FOUR(M, yyxy, 1, 1, 0, 1) \
  KG_NATIVE_FOUR(M, yyxz, 1, 1, 0, 2) KG_NATIVE_FOUR(M, yyxw, 1, 1, 0, 3) \
  KG_NATIVE_FOUR(M, yyyx, 1, 1, 1, 0) KG_NATIVE_FOUR(M, yyyy, 1, 1, 1, 1) \
  KG_NATIVE_FOUR(M, yyyz, 1, 1, 1, 2) KG_NATIVE_FOUR(M, yyyw, 1, 1, 1, 3) \
  KG_NATIVE_FOUR(M, yyzx, 1, 1, 2, 0) KG_NATIVE_FOUR(M, yyzy, 1, 1, 2, 1) \
  KG_NATIVE_FOUR(M, yyzz, 1, 1, 2, 2) KG_NATIVE_FOUR(M, yyzw, 1, 1, 2, 3) \
  KG_NATIVE_FOUR(M, yywx, 1, 1, 3, 0) KG_NATIVE_FOUR(M, yywy, 1, 1, 3, 1) \
  KG_NATIVE_FOUR(M, yywz, 1, 1, 3, 2) KG_NATIVE_FOUR(M, yyww, 1, 1, 3, 3) \
  KG_NATIVE_FOUR(M, yzxx, 1, 2, 0, 0) KG_NATIVE_FOUR(M, yzxy, 1, 2, 0, 1) \
  KG_NATIVE_FOUR(M, yzxz, 1, 2, 0, 2) KG_NATIVE_FOUR(M, yzxw, 1, 2, 0, 3) \
  KG_NATIVE_FOUR(M, yzyx, 1, 2, 1, 0) KG_NATIVE_FOUR(M, yzyy, 1, 2, 1, 1) \
  KG_NATIVE_FOUR(M, yzyz, 1, 2, 1, 2) KG_NATIVE_FOUR(M, yzyw, 1, 2, 1, 3) \
  KG_NATIVE_FOUR(M, yzzx, 1, 2, 2, 0) KG_NATIVE_FOUR(M, yzzy, 1, 2, 2, 1) \
  KG_NATIVE_FOUR(M, yzzz, 1, 2, 2, 2) KG_NATIVE_FOUR(M, yzzw, 1, 2, 2, 3) \
  KG_NATIVE_FOUR(M, yzwx, 1, 2, 3, 0) KG_NATIVE_FOUR(M, yzwy, 1, 2, 3, 1) \
  KG_NATIVE_FOUR(M, yzwz, 1, 2, 3, 2) KG_NATIVE_FOUR(M, yzww, 1, 2, 3, 3) \
  KG_NATIVE_FOUR(M, ywxx, 1, 3, 0, 0) KG_NATIVE_FOUR(M, ywxy, 1, 3, 0, 1) \
  KG_NATIVE_FOUR(M, ywxz, 1, 3, 0, 2) KG_NATIVE_FOUR(M, ywxw, 1, 3, 0, 3) \
  KG_NATIVE_FOUR(M, ywyx, 1, 3, 1, 0) KG_NATIVE_FOUR(M, ywyy, 1, 3, 1, 1) \
  KG_NATIVE_FOUR(M, ywyz, 1, 3, 1, 2) KG_NATIVE_FOUR(M, ywyw, 1, 3, 1, 3) \
  KG_NATIVE_FOUR(M, ywzx, 1, 3, 2, 0) KG_NATIVE_FOUR(M, ywzy, 1, 3, 2, 1) \
  KG_NATIVE_FOUR(M, ywzz, 1, 3, 2, 2) KG_NATIVE_FOUR(M, ywzw, 1, 3, 2, 3) \
  KG_NATIVE_FOUR(M, ywwx, 1, 3, 3, 0) KG_NATIVE_FOUR(M, ywwy, 1, 3, 3, 1) \
  KG_NATIVE_FOUR(M, ywwz, 1, 3, 3, 2) KG_NATIVE_FOUR(M, ywww, 1, 3, 3, 3) \
  KG_NATIVE_FOUR(M, zxxx, 2, 0, 0, 0) KG_NATIVE_FOUR(M, zxxy, 2, 0, 0, 1) \
  KG_NATIVE_FOUR(M, zxxz, 2, 0, 0, 2) KG_NATIVE_FOUR(M, zxxw, 2, 0, 0, 3) \
  KG_NATIVE_FOUR(M, zxyx, 2, 0, 1, 0) KG_NATIVE_FOUR(M, zxyy, 2, 0, 1, 1) \
  KG_NATIVE_FOUR(M, zxyz, 2, 0, 1, 2) KG_NATIVE_FOUR(M, zxyw, 2, 0, 1, 3) \
  KG_NATIVE_FOUR(M, zxzx, 2, 0, 2, 0) KG_NATIVE_FOUR(M, zxzy, 2, 0, 2, 1) \
  KG_NATIVE_FOUR(M, zxzz, 2, 0, 2, 2) KG_NATIVE_FOUR(M, zxzw, 2, 0, 2, 3) \
  KG_NATIVE_FOUR(M, zxwx, 2, 0, 3, 0) KG_NATIVE_FOUR(M, zxwy, 2, 0, 3, 1) \
  KG_NATIVE_FOUR(M, zxwz, 2, 0, 3, 2) KG_NATIVE_FOUR(M, zxww, 2, 0, 3, 3) \
  KG_NATIVE_FOUR(M, zyxx, 2, 1, 0, 0) KG_NATIVE_FOUR(M, zyxy, 2, 1, 0, 1) \
  KG_NATIVE_FOUR(M, zyxz, 2, 1, 0, 2) KG_NATIVE_FOUR(M, zyxw, 2, 1, 0, 3) \
  KG_NATIVE_FOUR(M, zyyx, 2, 1, 1, 0) KG_NATIVE_FOUR(M, zyyy, 2, 1, 1, 1) \
  KG_NATIVE_FOUR(M, zyyz, 2, 1, 1, 2) KG_NATIVE_FOUR(M, zyyw, 2, 1, 1, 3) \
  KG_NATIVE_FOUR(M, zyzx, 2, 1, 2, 0) KG_NATIVE_FOUR(M, zyzy, 2, 1, 2, 1) \
  KG_NATIVE_FOUR(M, zyzz, 2, 1, 2, 2) KG_NATIVE_FOUR(M, zyzw, 2, 1, 2, 3) \
  KG_NATIVE_FOUR(M, zywx, 2, 1, 3, 0) KG_NATIVE_FOUR(M, zywy, 2, 1, 3, 1) \
  KG_NATIVE_FOUR(M, zywz, 2, 1, 3, 2) KG_NATIVE_FOUR(M, zyww, 2, 1, 3, 3) \
  KG_NATIVE_FOUR(M, zzxx, 2, 2, 0, 0) KG_NATIVE_FOUR(M, zzxy, 2, 2, 0, 1) \
  KG_NATIVE_FOUR(M, zzxz, 2, 2, 0, 2) KG_NATIVE_FOUR(M, zzxw, 2, 2, 0, 3) \
  KG_NATIVE_FOUR(M, zzyx, 2, 2, 1, 0) KG_NATIVE_FOUR(M, zzyy, 2, 2, 1, 1) \
  KG_NATIVE_FOUR(M, zzyz, 2, 2, 1, 2) KG_NATIVE_FOUR(M, zzyw, 2, 2, 1, 3) \
  KG_NATIVE_FOUR(M, zzzx, 2, 2, 2, 0) KG_NATIVE_FOUR(M, zzzy, 2, 2, 2, 1) \
  KG_NATIVE_FOUR(M, zzzz, 2, 2, 2, 2) KG_NATIVE_FOUR(M, zzzw, 2, 2, 2, 3) \
  KG_NATIVE_FOUR(M, zzwx, 2, 2, 3, 0) KG_NATIVE_FOUR(M, zzwy, 2, 2, 3, 1) \
  KG_NATIVE_FOUR(M, zzwz, 2, 2, 3, 2) KG_NATIVE_FOUR(M, zzww, 2, 2, 3, 3) \
  KG_NATIVE_FOUR(M, zwxx, 2, 3, 0, 0) KG_NATIVE_FOUR(M, zwxy, 2, 3, 0, 1) \
  KG_NATIVE_FOUR(M, zwxz, 2, 3, 0, 2) KG_NATIVE_FOUR(M, zwxw, 2, 3, 0, 3) \
  KG_NATIVE_FOUR(M, zwyx, 2, 3, 1, 0) KG_NATIVE_FOUR(M, zwyy, 2, 3, 1, 1) \
  KG_NATIVE_FOUR(M, zwyz, 2, 3, 1, 2) KG_NATIVE_FOUR(M, zwyw, 2, 3, 1, 3) \
  KG_NATIVE_FOUR(M, zwzx, 2, 3, 2, 0) KG_NATIVE_FOUR(M, zwzy, 2, 3, 2, 1) \
  KG_NATIVE_FOUR(M, zwzz, 2, 3, 2, 2) KG_NATIVE_FOUR(M, zwzw, 2, 3, 2, 3) \
  KG_NATIVE_FOUR(M, zwwx, 2, 3, 3, 0) KG_NATIVE_FOUR(M, zwwy, 2, 3, 3, 1) \
  KG_NATIVE_FOUR(M, zwwz, 2, 3, 3, 2) KG_NATIVE_FOUR(M, zwww, 2, 3, 3, 3) \
  KG_NATIVE_FOUR(M, wxxx, 3, 0, 0, 0) KG_NATIVE_FOUR(M, wxxy, 3, 0, 0, 1) \
  KG_NATIVE_FOUR(M, wxxz, 3, 0, 0, 2) KG_NATIVE_FOUR(M, wxxw, 3, 0, 0, 3) \
  KG_NATIVE_FOUR(M, wxyx, 3, 0, 1, 0) KG_NATIVE_FOUR(M, wxyy, 3, 0, 1, 1) \
  KG_NATIVE_FOUR(M, wxyz, 3, 0, 1, 2) KG_NATIVE_FOUR(M, wxyw, 3, 0, 1, 3) \
  KG_NATIVE_FOUR(M, wxzx, 3, 0, 2, 0) KG_NATIVE_FOUR(M, wxzy, 3, 0, 2, 1) \
  KG_NATIVE_FOUR(M, wxzz, 3, 0, 2, 2) KG_NATIVE_FOUR(M, wxzw, 3, 0, 2, 3) \
  KG_NATIVE_FOUR(M, wxwx, 3, 0, 3, 0) KG_NATIVE_FOUR(M, wxwy, 3, 0, 3, 1) \
  KG_NATIVE_FOUR(M, wxwz, 3, 0, 3, 2) KG_NATIVE_FOUR(M, wxww, 3, 0, 3, 3) \
  KG_NATIVE_FOUR(M, wyxx, 3, 1, 0, 0) KG_NATIVE_FOUR(M, wyxy, 3, 1, 0, 1) \
  KG_NATIVE_FOUR(M, wyxz, 3, 1, 0, 2) KG_NATIVE_FOUR(M, wyxw, 3, 1, 0, 3) \
  KG_NATIVE_FOUR(M, wyyx, 3, 1, 1, 0) KG_NATIVE_FOUR(M, wyyy, 3, 1, 1, 1) \
  KG_NATIVE_FOUR(M, wyyz, 3, 1, 1, 2) KG_NATIVE_FOUR(M, wyyw, 3, 1, 1, 3) \
  KG_NATIVE_FOUR(M, wyzx, 3, 1, 2, 0) KG_NATIVE_FOUR(M, wyzy, 3, 1, 2, 1) \
  KG_NATIVE_FOUR(M, wyzz, 3, 1, 2, 2) KG_NATIVE_FOUR(M, wyzw, 3, 1, 2, 3) \
  KG_NATIVE_FOUR(M, wywx, 3, 1, 3, 0) KG_NATIVE_FOUR(M, wywy, 3, 1, 3, 1) \
  KG_NATIVE_FOUR(M, wywz, 3, 1, 3, 2) KG_NATIVE_FOUR(M, wyww, 3, 1, 3, 3) \
  KG_NATIVE_FOUR(M, wzxx, 3, 2, 0, 0) KG_NATIVE_FOUR(M, wzxy, 3, 2, 0, 1) \
  KG_NATIVE_FOUR(M, wzxz, 3, 2, 0, 2) KG_NATIVE_FOUR(M, wzxw, 3, 2, 0, 3) \
  KG_NATIVE_FOUR(M, wzyx, 3, 2, 1, 0) KG_NATIVE_FOUR(M, wzyy, 3, 2, 1, 1) \
  KG_NATIVE_FOUR(M, wzyz, 3, 2, 1, 2) KG_NATIVE_FOUR(M, wzyw, 3, 2, 1, 3) \
  KG_NATIVE_FOUR(M, wzzx, 3, 2, 2, 0) KG_NATIVE_FOUR(M, wzzy, 3, 2, 2, 1) \
  KG_NATIVE_FOUR(M, wzzz, 3, 2, 2, 2) KG_NATIVE_FOUR(M, wzzw, 3, 2, 2, 3) \
  KG_NATIVE_FOUR(M, wzwx, 3, 2, 3, 0) KG_NATIVE_FOUR(M, wzwy, 3, 2, 3, 1) \
  KG_NATIVE_FOUR(M, wzwz, 3, 2, 3, 2) KG_NATIVE_FOUR(M, wzww, 3, 2, 3, 3) \
  KG_NATIVE_FOUR(M, wwxx, 3, 3, 0, 0) KG_NATIVE_FOUR(M, wwxy, 3, 3, 0, 1) \
  KG_NATIVE_FOUR(M, wwxz, 3, 3, 0, 2) KG_NATIVE_FOUR(M, wwxw, 3, 3, 0, 3) \
  KG_NATIVE_FOUR(M, wwyx, 3, 3, 1, 0) KG_NATIVE_FOUR(M, wwyy, 3, 3, 1, 1) \
  KG_NATIVE_FOUR(M, wwyz, 3, 3, 1, 2) KG_NATIVE_FOUR(M, wwyw, 3, 3, 1, 3) \
  KG_NATIVE_FOUR(M, wwzx, 3, 3, 2, 0) KG_NATIVE_FOUR(M, wwzy, 3, 3, 2, 1) \
  KG_NATIVE_FOUR(M, wwzz, 3, 3, 2, 2) KG_NATIVE_FOUR(M, wwzw, 3, 3, 2, 3) \
  KG_NATIVE_FOUR(M, wwwx, 3, 3, 3, 0) KG_NATIVE_FOUR(M, wwwy, 3, 3, 3, 1) \
  KG_NATIVE_FOUR(M, wwwz, 3, 3, 3, 2) KG_NATIVE_FOUR(M, wwww, 3, 3, 3, 3) \
  KG_NATIVE_TWO(M, rg, 0, 1) KG_NATIVE_TWO(M, gb, 1, 2) KG_NATIVE_TWO(M, ba, 2, 3) \
  KG_NATIVE_THREE(M, rgb, 0, 1, 2) KG_NATIVE_THREE(M, gba, 1, 2, 3) \
  KG_NATIVE_FOUR(M, rgba, 0, 1, 2, 3) KG_NATIVE_THREE(M, bgr, 2, 1, 0) \
  KG_NATIVE_FOUR(M, bgra, 2, 1, 0, 3)
/* clang-format on */

template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  union {
    T kg_lanes[2];
    struct {
      T x, y;
    };
    struct {
      T r, g;
    };
    KG_NATIVE_SWIZZLES_2(2)
  };
  KG_NATIVE_VEC_BODY(2, 2)
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 3> {
  union {
    T kg_lanes[3];
    struct {
      T x, y, z;
    };
    struct {
      T r, g, b;
    };
    KG_NATIVE_SWIZZLES_3(3)
  };
  KG_NATIVE_VEC_BODY(3, 4)
};
template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  union {
    T kg_lanes[4];
    struct {
      T x, y, z, w;
    };
    struct {
      T r, g, b, a;
    };
    KG_NATIVE_SWIZZLES_4(4)
  };
  KG_NATIVE_VEC_BODY(4, 4)
};

/* As many bytes as its elements, and aligned as one of them. */
template <class T> struct kg_native_packed_2 {
  union {
    T kg_lanes[2];
    struct {
      T x, y;
    };
  };
};
template <class T> struct kg_native_packed_3 {
  union {
    T kg_lanes[3];
    struct {
      T x, y, z;
    };
  };
};
template <class T> struct kg_native_packed_4 {
  union {
    T kg_lanes[4];
    struct {
      T x, y, z, w;
    };
  };
};
template <class T, int N> struct kg_native_packed_base;
template <class T> struct kg_native_packed_base<T, 2> : kg_native_packed_2<T> {};
template <class T> struct kg_native_packed_base<T, 3> : kg_native_packed_3<T> {};
template <class T> struct kg_native_packed_base<T, 4> : kg_native_packed_4<T> {};
template <class T, int N> struct packed_vec : kg_native_packed_base<T, N> {
  packed_vec() = default;
  KG_SIMT_METHOD packed_vec(const vec<T, N> &v) {
    for (int i = 0; i < N; i++) this->kg_lanes[i] = v.kg_lanes[i];
  }
  template <class A, class B, class... P>
  KG_SIMT_METHOD packed_vec(const A &a, const B &b, const P &...p)
      : packed_vec(vec<T, N>(a, b, p...)) {}
  KG_SIMT_METHOD T &operator[](int i) { return this->kg_lanes[i]; }
  KG_SIMT_METHOD const T &operator[](int i) const { return this->kg_lanes[i]; }
  friend KG_SIMT_METHOD vec<T, N> operator+(const packed_vec &a, const packed_vec &b) {
    return vec<T, N>(a) + vec<T, N>(b);
  }
  friend KG_SIMT_METHOD vec<T, N> operator-(const packed_vec &a, const packed_vec &b) {
    return vec<T, N>(a) - vec<T, N>(b);
  }
  friend KG_SIMT_METHOD vec<T, N> operator*(const packed_vec &a, const packed_vec &b) {
    return vec<T, N>(a) * vec<T, N>(b);
  }
  friend KG_SIMT_METHOD vec<T, N> operator*(const packed_vec &a, T b) {
    return vec<T, N>(a) * vec<T, N>(b);
  }
};
template <class T, int N> struct kg_native_made_of<vec<T, N>> {
  using type = T;
};
template <class T, int N> struct kg_native_made_of<packed_vec<T, N>> {
  using type = T;
};

#define KG_NATIVE_NAMES(T)                                                                         \
  typedef vec<T, 2> T##2;                                                                          \
  typedef vec<T, 3> T##3;                                                                          \
  typedef vec<T, 4> T##4;                                                                          \
  typedef packed_vec<T, 2> packed_##T##2;                                                          \
  typedef packed_vec<T, 3> packed_##T##3;                                                          \
  typedef packed_vec<T, 4> packed_##T##4;
KG_NATIVE_NAMES(bool)
KG_NATIVE_NAMES(char)
KG_NATIVE_NAMES(uchar)
KG_NATIVE_NAMES(short)
KG_NATIVE_NAMES(ushort)
KG_NATIVE_NAMES(int)
KG_NATIVE_NAMES(uint)
KG_NATIVE_NAMES(long)
KG_NATIVE_NAMES(ulong)
KG_NATIVE_NAMES(half)
KG_NATIVE_NAMES(bfloat)
KG_NATIVE_NAMES(float)

/* What any piece is as a vector or a number. */
template <class P> struct kg_native_value {
  using type = P;
  using part = P;
  static constexpr bool vector = false;
};
template <class T, int N> struct kg_native_value<vec<T, N>> {
  using type = vec<T, N>;
  using part = T;
  static constexpr bool vector = true;
};
template <class T, int N> struct kg_native_value<packed_vec<T, N>> : kg_native_value<vec<T, N>> {};
template <class V, class T, int M, int... I>
struct kg_native_value<kg_native_swizzle<V, T, M, I...>> : kg_native_value<V> {};
template <class P> using kg_native_value_t = typename kg_native_value<P>::type;
template <class P> using kg_native_part_t = typename kg_native_value<P>::part;

/* Columns of R rows. */
template <class T, int C, int R> struct matrix {
  vec<T, R> columns[C];
  matrix() = default;
  KG_SIMT_METHOD explicit matrix(T s) {
    for (int c = 0; c < C; c++)
      for (int r = 0; r < R; r++) columns[c][r] = c == r ? s : T(0);
  }
  template <class... V>
  KG_SIMT_METHOD matrix(const vec<T, R> &a, const vec<T, R> &b, const V &...v)
      : columns{a, b, v...} {}
  template <class S> KG_SIMT_METHOD explicit matrix(const matrix<S, C, R> &o) {
    for (int c = 0; c < C; c++) columns[c] = vec<T, R>(o.columns[c]);
  }
  KG_SIMT_METHOD vec<T, R> &operator[](int c) { return columns[c]; }
  KG_SIMT_METHOD const vec<T, R> &operator[](int c) const { return columns[c]; }
  friend KG_SIMT_METHOD vec<T, R> operator*(const matrix &m, const vec<T, C> &v) {
    vec<T, R> r = m.columns[0] * v[0];
    for (int c = 1; c < C; c++) r += m.columns[c] * v[c];
    return r;
  }
  friend KG_SIMT_METHOD matrix operator*(const matrix &m, T s) {
    matrix r;
    for (int c = 0; c < C; c++) r.columns[c] = m.columns[c] * s;
    return r;
  }
  friend KG_SIMT_METHOD matrix operator+(const matrix &a, const matrix &b) {
    matrix r;
    for (int c = 0; c < C; c++) r.columns[c] = a.columns[c] + b.columns[c];
    return r;
  }
};
#define KG_NATIVE_MATRICES(T)                                                                      \
  typedef matrix<T, 2, 2> T##2x2;                                                                  \
  typedef matrix<T, 2, 3> T##2x3;                                                                  \
  typedef matrix<T, 2, 4> T##2x4;                                                                  \
  typedef matrix<T, 3, 2> T##3x2;                                                                  \
  typedef matrix<T, 3, 3> T##3x3;                                                                  \
  typedef matrix<T, 3, 4> T##3x4;                                                                  \
  typedef matrix<T, 4, 2> T##4x2;                                                                  \
  typedef matrix<T, 4, 3> T##4x3;                                                                  \
  typedef matrix<T, 4, 4> T##4x4;
KG_NATIVE_MATRICES(float)
KG_NATIVE_MATRICES(half)
