/* checked.h: what a checked text has more than a plain one: the functions that clang's
** -fsanitize=thread calls before each access to memory, and those that -fsanitize=undefined's
** parts call at an operation whose result is open.
**
** The names are those of the sanitizers' run-time libraries, which are not there; these are our
** own, and each only hands on what it is told, with the place it comes from.  An access that the
** compiler knows to be aligned to its size is said to need that: on a GPU a vector access at
** another address faults, or reads elsewhere. */

#define KG_SIMT_CALLBACK                                                                           \
  extern "C" __attribute__((visibility("hidden"), used, nodebug)) KG_SIMT_UNCHECKED void
#define KG_SIMT_TELL(address, bytes, how)                                                          \
  if (kg_simt.watched)                                                                             \
  kg_simt.host->access(kg_simt.group, address, bytes, how, __builtin_return_address(0))

#define KG_SIMT_ACCESSES(bytes)                                                                    \
  KG_SIMT_CALLBACK __tsan_read##bytes(void *p) { KG_SIMT_TELL(p, bytes, KG_SIMT_ALIGNED); }        \
  KG_SIMT_CALLBACK __tsan_write##bytes(void *p) {                                                  \
    KG_SIMT_TELL(p, bytes, KG_SIMT_ALIGNED | KG_SIMT_WRITES);                                      \
  }                                                                                                \
  KG_SIMT_CALLBACK __tsan_unaligned_read##bytes(void *p) { KG_SIMT_TELL(p, bytes, 0); }            \
  KG_SIMT_CALLBACK __tsan_unaligned_write##bytes(void *p) {                                        \
    KG_SIMT_TELL(p, bytes, KG_SIMT_WRITES);                                                        \
  }
KG_SIMT_ACCESSES(1)
KG_SIMT_ACCESSES(2)
KG_SIMT_ACCESSES(4)
KG_SIMT_ACCESSES(8)
KG_SIMT_ACCESSES(16)

KG_SIMT_CALLBACK __tsan_init() {}

extern "C" {
void *memcpy(void *, const void *, unsigned long);
void *memmove(void *, const void *, unsigned long);
void *memset(void *, int, unsigned long);
}
#define KG_SIMT_BULK                                                                               \
  extern "C" __attribute__((visibility("hidden"), used, nodebug)) KG_SIMT_UNCHECKED void *
KG_SIMT_BULK __tsan_memcpy(void *to, const void *from, unsigned long bytes) {
  KG_SIMT_TELL(from, bytes, 0);
  KG_SIMT_TELL(to, bytes, KG_SIMT_WRITES);
  return memcpy(to, from, bytes);
}
KG_SIMT_BULK __tsan_memmove(void *to, const void *from, unsigned long bytes) {
  KG_SIMT_TELL(from, bytes, 0);
  KG_SIMT_TELL(to, bytes, KG_SIMT_WRITES);
  return memmove(to, from, bytes);
}
KG_SIMT_BULK __tsan_memset(void *to, int value, unsigned long bytes) {
  KG_SIMT_TELL(to, bytes, KG_SIMT_WRITES);
  return memset(to, value, bytes);
}

/* ---- operations whose result is open --------------------------------------------------------- */

struct kg_simt_told { /* what clang writes down of a place; some have one type only */
  const char *file;
  unsigned line, column;
  const kg_simt_type *type, *other;
};
KG_SIMT_CALLBACK __attribute__((noinline, nomerge)) kg_simt_open(const kg_simt_operation *operation,
                                                                 const void *site) {
  if (kg_simt.watched) kg_simt.host->open(kg_simt.group, operation, site);
}
#define KG_SIMT_OPEN(name, does, other, a, b, ...)                                                 \
  KG_SIMT_CALLBACK                                                                                 \
  __attribute__((noinline)) __ubsan_handle_##name(const kg_simt_told *told, __VA_ARGS__) {         \
    const kg_simt_operation operation = {does, told->type, other, a, b};                           \
    kg_simt_open(&operation, __builtin_return_address(0));                                         \
  }
#define KG_SIMT_OPEN_OF_TWO(name, does)                                                            \
  KG_SIMT_OPEN(name, does, told->type, a, b, unsigned long a, unsigned long b)
KG_SIMT_OPEN_OF_TWO(add_overflow, KG_SIMT_ADDS)
KG_SIMT_OPEN_OF_TWO(sub_overflow, KG_SIMT_SUBTRACTS)
KG_SIMT_OPEN_OF_TWO(mul_overflow, KG_SIMT_MULTIPLIES)
KG_SIMT_OPEN_OF_TWO(divrem_overflow, KG_SIMT_DIVIDES)
KG_SIMT_OPEN(negate_overflow, KG_SIMT_NEGATES, told->type, a, 0, unsigned long a)
KG_SIMT_OPEN(shift_out_of_bounds, KG_SIMT_SHIFTS, told->other, a, b, unsigned long a,
             unsigned long b)
KG_SIMT_OPEN(float_cast_overflow, KG_SIMT_CONVERTS, told->other, a, 0, unsigned long a)

/* An array of the group is marked (core.h), and watched by address.  The others are the thread's
** own, and constant tables. */
KG_SIMT_OPEN(out_of_bounds, KG_SIMT_INDEXES, told->other, 0, b, unsigned long b)
