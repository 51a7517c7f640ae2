/* checked.h: what a checked text has more than a plain one: the functions that clang's
** -fsanitize=thread calls before each access to memory.
**
** The names are those of the thread sanitizer's run-time library, which is not there; these are
** our own, and each only hands the access on, with the place it comes from.  An access that the
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
