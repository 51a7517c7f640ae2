/* native_hip.h: the words of HIP that a native text may use.  A lane operation is among the lanes
** that are active: those that come to it together. */

#define __AMDGCN_WAVEFRONT_SIZE__ KG_SIMT_WAVE
#define __AMDGCN_WAVEFRONT_SIZE KG_SIMT_WAVE
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z

KG_SIMT_IN unsigned __lane_id() { return kg_simt_lane_index(); }
KG_SIMT_IN void __builtin_amdgcn_wave_barrier() {
  (void)kg_native_meet(0, 0, "__builtin_amdgcn_wave_barrier", true, nullptr);
}
KG_SIMT_IN void __builtin_amdgcn_s_barrier() { kg_native_barrier("__builtin_amdgcn_s_barrier"); }
#define __builtin_amdgcn_fence(...)
#define __builtin_amdgcn_sched_barrier(n)
#define __builtin_amdgcn_s_sleep(n)
KG_SIMT_IN unsigned __builtin_amdgcn_mbcnt_lo(unsigned mask, unsigned base) {
  const unsigned lane = kg_simt_lane_index();
  return base + (unsigned)__builtin_popcount(lane < 32 ? mask & ((1u << lane) - 1u) : mask);
}
KG_SIMT_IN unsigned __builtin_amdgcn_mbcnt_hi(unsigned mask, unsigned base) {
  const unsigned lane = kg_simt_lane_index();
  return base + (lane < 32 ? 0u : (unsigned)__builtin_popcount(mask & ((1u << (lane - 32)) - 1u)));
}
KG_SIMT_IN float __builtin_amdgcn_exp2f(float x) { return kg_simt_fast_exp2(x); }
KG_SIMT_IN float __builtin_amdgcn_logf(float x) { return kg_simt_fast_log2(x); }
KG_SIMT_IN float __builtin_amdgcn_sqrtf(float x) { return kg_simt_sqrt(x); }
KG_SIMT_IN float __builtin_amdgcn_rsqf(float x) { return rsqrtf(x); }
KG_SIMT_IN float __builtin_amdgcn_rcpf(float x) { return 1.0f / x; }
KG_SIMT_IN int __builtin_amdgcn_sdot4(int a, int b, int c, bool) { return __dp4a(a, b, c); }
KG_SIMT_IN int __builtin_amdgcn_ds_bpermute(int address, int value) {
  return kg_native_shuffle(value, (unsigned)address / 4 % KG_SIMT_WAVE, 0,
                           "__builtin_amdgcn_ds_bpermute");
}
KG_SIMT_IN int __builtin_amdgcn_readfirstlane(int value) {
  kg_native_all<int> all;
  kg_native_gather(value, 0, "__builtin_amdgcn_readfirstlane", all);
  return all.of[__builtin_ctzll(all.present)];
}
KG_SIMT_IN int __builtin_amdgcn_readlane(int value, int lane) {
  return kg_native_shuffle(value, (unsigned)lane, 0, "__builtin_amdgcn_readlane");
}

#define KG_NATIVE_SHUFFLE(name, by, P)                                                             \
  template <class V> KG_SIMT_IN V name(V value, P with, int width = KG_SIMT_WAVE) {                \
    return by(value, (unsigned)with, (unsigned)width, 0, #name);                                   \
  }                                                                                                \
  template <class V>                                                                               \
  KG_SIMT_IN V name##_sync(unsigned long long mask, V value, P with, int width = KG_SIMT_WAVE) {   \
    return by(value, (unsigned)with, (unsigned)width, mask, #name "_sync");                        \
  }
KG_NATIVE_SHUFFLE(__shfl_xor, kg_native_shuffle_xor, int)
KG_NATIVE_SHUFFLE(__shfl_down, kg_native_shuffle_down, unsigned)
KG_NATIVE_SHUFFLE(__shfl_up, kg_native_shuffle_up, unsigned)
KG_NATIVE_SHUFFLE(__shfl, kg_native_shuffle_idx, int)

KG_SIMT_IN void __syncwarp(unsigned long long mask = ~0ull) {
  (void)kg_native_meet(0, mask, "__syncwarp", true, nullptr);
}
KG_SIMT_IN int __any(int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds != 0, 0, "__any", &present) != 0;
}
KG_SIMT_IN int __all(int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds == 0, 0, "__all", &present) == 0;
}
KG_SIMT_IN unsigned long long __ballot(int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds != 0, 0, "__ballot", &present);
}
KG_SIMT_IN unsigned long long __ballot64(int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds != 0, 0, "__ballot64", &present);
}
KG_SIMT_IN unsigned long long __activemask() {
  kg_native_lanes present;
  (void)kg_native_vote(true, 0, "__activemask", &present);
  return present;
}
KG_SIMT_IN int __any_sync(unsigned long long mask, int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds != 0, mask, "__any_sync", &present) != 0;
}
KG_SIMT_IN int __all_sync(unsigned long long mask, int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds == 0, mask, "__all_sync", &present) == 0;
}
KG_SIMT_IN unsigned long long __ballot_sync(unsigned long long mask, int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds != 0, mask, "__ballot_sync", &present);
}

/* HIP's vectors have operators, element by element. */
#define KG_NATIVE_OPERATOR(T, op)                                                                  \
  template <int = 0> KG_SIMT_IN T##2 operator op(const T##2 & a, const T##2 & b) {                 \
    return T##2 {(decltype(a.x))(a.x op b.x), (decltype(a.x))(a.y op b.y)};                        \
  }                                                                                                \
  template <int = 0> KG_SIMT_IN T##3 operator op(const T##3 & a, const T##3 & b) {                 \
    return T##3 {(decltype(a.x))(a.x op b.x), (decltype(a.x))(a.y op b.y),                         \
                 (decltype(a.x))(a.z op b.z)};                                                     \
  }                                                                                                \
  template <int = 0> KG_SIMT_IN T##4 operator op(const T##4 & a, const T##4 & b) {                 \
    return T##4 {(decltype(a.x))(a.x op b.x), (decltype(a.x))(a.y op b.y),                         \
                 (decltype(a.x))(a.z op b.z), (decltype(a.x))(a.w op b.w)};                        \
  }                                                                                                \
  template <int = 0> KG_SIMT_IN T##2 operator op(const T##2 & a, decltype(T##2 ::x) b) {           \
    return a op T##2 {b, b};                                                                       \
  }                                                                                                \
  template <int = 0> KG_SIMT_IN T##4 operator op(const T##4 & a, decltype(T##4 ::x) b) {           \
    return a op T##4 {b, b, b, b};                                                                 \
  }                                                                                                \
  template <int = 0> KG_SIMT_IN T##2 &operator op##=(T##2 & a, const T##2 & b) {                   \
    return a = a op b;                                                                             \
  }                                                                                                \
  template <int = 0> KG_SIMT_IN T##3 &operator op##=(T##3 & a, const T##3 & b) {                   \
    return a = a op b;                                                                             \
  }                                                                                                \
  template <int = 0> KG_SIMT_IN T##4 &operator op##=(T##4 & a, const T##4 & b) {                   \
    return a = a op b;                                                                             \
  }
#define KG_NATIVE_OPERATORS(T)                                                                     \
  KG_NATIVE_OPERATOR(T, +)                                                                         \
  KG_NATIVE_OPERATOR(T, -) KG_NATIVE_OPERATOR(T, *) KG_NATIVE_OPERATOR(T, /)
KG_NATIVE_OPERATORS(float)
KG_NATIVE_OPERATORS(double)
KG_NATIVE_OPERATORS(int)
KG_NATIVE_OPERATORS(uint)
