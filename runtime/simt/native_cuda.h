/* native_cuda.h: the words of CUDA C++ that a native text may use.  A lane operation waits for the
** lanes that its mask names. */

KG_SIMT_IN unsigned __activemask() {
  kg_native_lanes present;
  (void)kg_native_vote(true, 0, "__activemask", &present);
  return (unsigned)present;
}
static KG_SIMT_UNCHECKED __attribute__((noinline, nomerge, nodebug)) void
kg_native_not_named(const char *what) {
  kg_simt.host->misuse(kg_simt.group, what, __builtin_return_address(0),
                       "the mask does not name the thread itself");
}
KG_SIMT_IN kg_native_lanes kg_native_mask(unsigned mask, const char *what) {
  if (!(mask >> kg_simt_lane_index() & 1)) kg_native_not_named(what);
  return mask;
}
KG_SIMT_IN void __syncwarp(unsigned mask = 0xffffffffu) {
  (void)kg_native_meet(0, kg_native_mask(mask, "__syncwarp"), "__syncwarp", true, nullptr);
}

#define KG_NATIVE_SHUFFLE(name, by, P)                                                             \
  template <class V> KG_SIMT_IN V name(unsigned mask, V value, P with, int width = 32) {           \
    return by(value, (unsigned)with, (unsigned)width, kg_native_mask(mask, #name), #name);         \
  }
KG_NATIVE_SHUFFLE(__shfl_xor_sync, kg_native_shuffle_xor, int)
KG_NATIVE_SHUFFLE(__shfl_down_sync, kg_native_shuffle_down, unsigned)
KG_NATIVE_SHUFFLE(__shfl_up_sync, kg_native_shuffle_up, unsigned)
KG_NATIVE_SHUFFLE(__shfl_sync, kg_native_shuffle_idx, int)

KG_SIMT_IN int __any_sync(unsigned mask, int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds != 0, kg_native_mask(mask, "__any_sync"), "__any_sync", &present) !=
         0;
}
KG_SIMT_IN int __all_sync(unsigned mask, int holds) {
  kg_native_lanes present;
  return kg_native_vote(holds == 0, kg_native_mask(mask, "__all_sync"), "__all_sync", &present) ==
         0;
}
KG_SIMT_IN unsigned __ballot_sync(unsigned mask, int holds) {
  kg_native_lanes present;
  return (unsigned)kg_native_vote(holds != 0, kg_native_mask(mask, "__ballot_sync"),
                                  "__ballot_sync", &present);
}
template <class V> KG_SIMT_IN unsigned __match_any_sync(unsigned mask, V value) {
  kg_native_all<V> all;
  kg_native_gather(value, kg_native_mask(mask, "__match_any_sync"), "__match_any_sync", all);
  unsigned set = 0;
  for (unsigned i = 0; i < 32; i++)
    if (all.present >> i & 1 && __builtin_memcmp(&all.of[i], &value, sizeof(V)) == 0)
      set |= 1u << i;
  return set;
}
#define KG_NATIVE_REDUCE(name, T, expression)                                                      \
  KG_SIMT_IN T name(unsigned mask, T value) {                                                      \
    return kg_native_reduce(value, kg_native_mask(mask, #name), #name,                             \
                            [](T a, T b) -> T { return expression; });                             \
  }
KG_NATIVE_REDUCE(__reduce_add_sync, unsigned, a + b)
KG_NATIVE_REDUCE(__reduce_add_sync, int, (int)((unsigned)a + (unsigned)b))
KG_NATIVE_REDUCE(__reduce_min_sync, unsigned, b < a ? b : a)
KG_NATIVE_REDUCE(__reduce_min_sync, int, b < a ? b : a)
KG_NATIVE_REDUCE(__reduce_max_sync, unsigned, a < b ? b : a)
KG_NATIVE_REDUCE(__reduce_max_sync, int, a < b ? b : a)
KG_NATIVE_REDUCE(__reduce_and_sync, unsigned, a &b)
KG_NATIVE_REDUCE(__reduce_or_sync, unsigned, a | b)
KG_NATIVE_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
