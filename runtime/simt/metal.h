/* metal.h: the words of the Metal Shading Language that a text may use, for the SIMT device.
**
** `threadgroup T name[N];` on a line of its own has become KG_SIMT_SHARED before this is read,
** and the entry's attributes have been turned into its call (metal.c). */

#define __METAL_VERSION__ 310
#define kernel
#define device
#define constant const
#define threadgroup
#define thread

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef _Float16 half;
typedef unsigned long size_t;

struct bfloat { /* a storage type: rounds to nearest even, NaN stays NaN */
  ushort kg_simt_bits;
  bfloat() = default;
  KG_SIMT_METHOD explicit bfloat(float x);
  KG_SIMT_METHOD explicit operator float() const {
    return __builtin_bit_cast(float, (uint)kg_simt_bits << 16);
  }
};
KG_SIMT_METHOD bfloat::bfloat(float x) {
  const uint u = __builtin_bit_cast(uint, x);
  const uint even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  kg_simt_bits = (ushort)((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : even);
}

template <class E> struct alignas(2 * sizeof(E)) kg_simt_vector2 {
  E x, y;
  kg_simt_vector2() = default;
  KG_SIMT_METHOD kg_simt_vector2(E a, E b) : x(a), y(b) {}
};
template <class E> struct alignas(4 * sizeof(E)) kg_simt_vector3 {
  E x, y, z;
  kg_simt_vector3() = default;
  KG_SIMT_METHOD kg_simt_vector3(E a, E b, E c) : x(a), y(b), z(c) {}
};
template <class E> struct alignas(4 * sizeof(E)) kg_simt_vector4 {
  E x, y, z, w;
  kg_simt_vector4() = default;
  KG_SIMT_METHOD kg_simt_vector4(E a, E b, E c, E d) : x(a), y(b), z(c), w(d) {}
};
#define KG_SIMT_VECTORS(E)                                                                         \
  typedef kg_simt_vector2<E> E##2;                                                                 \
  typedef kg_simt_vector3<E> E##3;                                                                 \
  typedef kg_simt_vector4<E> E##4;
KG_SIMT_VECTORS(float)
KG_SIMT_VECTORS(half)
KG_SIMT_VECTORS(bfloat)
KG_SIMT_VECTORS(int)
KG_SIMT_VECTORS(uint)
KG_SIMT_VECTORS(short)
KG_SIMT_VECTORS(ushort)
KG_SIMT_VECTORS(uchar)
KG_SIMT_VECTORS(ulong)

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

namespace metal {

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
KG_SIMT_IN constexpr mem_flags operator|(mem_flags a, mem_flags b) {
  return (mem_flags)((int)a | (int)b);
}
KG_SIMT_IN void threadgroup_barrier(mem_flags) { kg_simt_barrier("threadgroup_barrier"); }
KG_SIMT_IN void simdgroup_barrier(mem_flags) { (void)kg_simt_ballot(true, "simdgroup_barrier"); }

template <class V> KG_SIMT_IN V simd_shuffle_xor(V value, ushort mask) {
  return kg_simt_shuffle(value, kg_simt_lane_index() ^ mask, "simd_shuffle_xor");
}
template <class V> KG_SIMT_IN V simd_shuffle(V value, ushort from) {
  return kg_simt_shuffle(value, from, "simd_shuffle");
}
template <class V> KG_SIMT_IN V simd_broadcast(V value, ushort from) {
  return kg_simt_shuffle(value, from, "simd_broadcast");
}
template <class V> KG_SIMT_IN V simd_shuffle_down(V value, ushort delta) {
  const uint self = kg_simt_lane_index();
  const bool past = self + delta >= KG_SIMT_WAVE;
  const V got = kg_simt_shuffle(value, past ? self : self + delta, "simd_shuffle_down");
  return past ? kg_simt_beyond<V>() : got;
}
template <class V> KG_SIMT_IN V simd_shuffle_up(V value, ushort delta) {
  const uint self = kg_simt_lane_index();
  const bool past = self < delta;
  const V got = kg_simt_shuffle(value, past ? self : self - delta, "simd_shuffle_up");
  return past ? kg_simt_beyond<V>() : got;
}
KG_SIMT_IN bool simd_any(bool holds) { return kg_simt_ballot(holds, "simd_any") != 0; }
KG_SIMT_IN bool simd_all(bool holds) { return kg_simt_every(holds, "simd_all"); }
struct simd_vote {
  typedef ulong vote_t;
  vote_t kg_simt_lanes;
  KG_SIMT_METHOD explicit operator vote_t() const { return kg_simt_lanes; }
};
KG_SIMT_IN simd_vote simd_ballot(bool holds) {
  return simd_vote{(ulong)kg_simt_ballot(holds, "simd_ballot")};
}

#define KG_SIMT_MATH(name, function)                                                               \
  KG_SIMT_IN float name(float x) { return function(x); }
KG_SIMT_IN float kg_simt_rsqrt(float x) { return (float)(1.0 / __builtin_sqrt((double)x)); }
namespace precise {
KG_SIMT_MATH(sqrt, kg_simt_sqrt)
KG_SIMT_MATH(rsqrt, kg_simt_rsqrt)
KG_SIMT_MATH(exp, expf)
KG_SIMT_MATH(exp2, exp2f)
KG_SIMT_MATH(log, logf)
KG_SIMT_MATH(log2, log2f)
KG_SIMT_MATH(sin, sinf)
KG_SIMT_MATH(cos, cosf)
KG_SIMT_MATH(tanh, tanhf)
KG_SIMT_IN float fmin(float a, float b) { return kg_simt_min(a, b); }
KG_SIMT_IN float fmax(float a, float b) { return kg_simt_max(a, b); }
} // namespace precise
namespace fast {
KG_SIMT_MATH(sqrt, kg_simt_sqrt)
KG_SIMT_MATH(exp, kg_simt_fast_exp)
KG_SIMT_MATH(exp2, kg_simt_fast_exp2)
KG_SIMT_MATH(log, kg_simt_fast_log)
KG_SIMT_MATH(log2, kg_simt_fast_log2)
KG_SIMT_MATH(sin, sinf)
KG_SIMT_MATH(cos, cosf)
KG_SIMT_MATH(tanh, tanhf)
} // namespace fast
KG_SIMT_MATH(fabs, kg_simt_abs)
KG_SIMT_MATH(floor, kg_simt_floor)
KG_SIMT_MATH(ceil, kg_simt_ceil)
KG_SIMT_MATH(trunc, kg_simt_trunc)
KG_SIMT_MATH(rint, kg_simt_rint)
KG_SIMT_IN float fma(float a, float b, float c) { return kg_simt_fma(a, b, c); }
KG_SIMT_IN float fmin(float a, float b) { return kg_simt_min(a, b); }
KG_SIMT_IN float fmax(float a, float b) { return kg_simt_max(a, b); }
KG_SIMT_IN bool isnan(float x) { return x != x; }
KG_SIMT_IN uint mulhi(uint a, uint b) { return kg_simt_mul_hi(a, b); }
KG_SIMT_IN uint popcount(uint x) { return (uint)__builtin_popcount(x); }
KG_SIMT_IN ulong popcount(ulong x) { return (ulong)__builtin_popcountl(x); }
KG_SIMT_IN uint ctz(uint x) { return x ? (uint)__builtin_ctz(x) : 32; }
KG_SIMT_IN ulong ctz(ulong x) { return x ? (ulong)__builtin_ctzl(x) : 64; }
KG_SIMT_IN uint clz(uint x) { return x ? (uint)__builtin_clz(x) : 32; }
template <class V> KG_SIMT_IN V min(V a, V b) { return b < a ? b : a; }
template <class V> KG_SIMT_IN V max(V a, V b) { return a < b ? b : a; }
template <> KG_SIMT_IN float min(float a, float b) { return kg_simt_min(a, b); }
template <> KG_SIMT_IN float max(float a, float b) { return kg_simt_max(a, b); }
} // namespace metal

template <class To, class From> KG_SIMT_IN To as_type(From value) {
  return __builtin_bit_cast(To, value);
}

/* ---- the entry's parameters that are no arguments, by their attributes' names ---------------- */

struct kg_simt_position { /* one that a uint, a uint2, a uint3, or their ushort sisters may take */
  unsigned x, y, z;
  KG_SIMT_METHOD operator uint() const { return x; }
  KG_SIMT_METHOD operator ushort() const { return (ushort)x; }
  KG_SIMT_METHOD operator uint2() const { return uint2(x, y); }
  KG_SIMT_METHOD operator uint3() const { return uint3(x, y, z); }
  KG_SIMT_METHOD operator ushort2() const { return ushort2((ushort)x, (ushort)y); }
  KG_SIMT_METHOD operator ushort3() const { return ushort3((ushort)x, (ushort)y, (ushort)z); }
};
#define KG_SIMT_POSITION(name, from)                                                               \
  KG_SIMT_IN kg_simt_position kg_simt_##name() {                                                   \
    const kg_simt_xyz v = kg_simt_xyz_of(from);                                                    \
    return kg_simt_position{v.x, v.y, v.z};                                                        \
  }
KG_SIMT_POSITION(thread_position_in_threadgroup, kg_simt_now()->place)
KG_SIMT_POSITION(threadgroup_position_in_grid, kg_simt_now_group()->place)
KG_SIMT_POSITION(threads_per_threadgroup, kg_simt_now_group()->threads)
KG_SIMT_POSITION(threadgroups_per_grid, kg_simt_now_group()->groups)
KG_SIMT_IN kg_simt_position kg_simt_thread_position_in_grid() {
  const kg_simt_xyz t = kg_simt_xyz_of(kg_simt_now()->place);
  const kg_simt_xyz p = kg_simt_xyz_of(kg_simt_now_group()->place);
  const kg_simt_xyz n = kg_simt_xyz_of(kg_simt_now_group()->threads);
  return kg_simt_position{p.x * n.x + t.x, p.y * n.y + t.y, p.z * n.z + t.z};
}
KG_SIMT_IN kg_simt_position kg_simt_threads_per_grid() {
  const kg_simt_xyz g = kg_simt_xyz_of(kg_simt_now_group()->groups);
  const kg_simt_xyz n = kg_simt_xyz_of(kg_simt_now_group()->threads);
  return kg_simt_position{g.x * n.x, g.y * n.y, g.z * n.z};
}
KG_SIMT_IN uint kg_simt_thread_index_in_threadgroup() {
  return kg_simt_ours(kg_simt_now()->number);
}
KG_SIMT_IN uint kg_simt_thread_index_in_simdgroup() { return kg_simt_lane_index(); }
KG_SIMT_IN uint kg_simt_simdgroup_index_in_threadgroup() {
  return kg_simt_ours(kg_simt_ours(kg_simt_now()->wave)->number);
}
KG_SIMT_IN uint kg_simt_threads_per_simdgroup() { return KG_SIMT_WAVE; }
KG_SIMT_IN uint kg_simt_simdgroups_per_threadgroup() {
  const kg_simt_xyz n = kg_simt_xyz_of(kg_simt_now_group()->threads);
  return (n.x * n.y * n.z + KG_SIMT_WAVE - 1) / KG_SIMT_WAVE;
}
