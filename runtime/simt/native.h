/* native.h: the part of the shim that native texts share: those that somebody else wrote, for
** `kgen try`.  After core.h and checked.h, whose meetings it does not use: lanes of such a text may
** part, and what a lane operation then means is the backend's business.
**
** A lane that arrives says whom it waits for: the lanes of a mask, or whoever comes.  The meeting
** takes place when they are all there.  When no lane of a wave can go on, the lanes at the lowest
** place that name no mask meet by themselves, as the active ones of a wave do; a mask that cannot
** come true, and a barrier that not all come to, end the group. */

/* Each tells the checker of an access that core.h's own functions would hide from it. */
#ifdef KG_SIMT_CHECKED
static KG_SIMT_UNCHECKED __attribute__((noinline, nomerge, nodebug)) void
kg_native_atomic(const volatile void *p, unsigned long bytes, unsigned how) {
  KG_SIMT_TELL((const void *)p, bytes, how | KG_SIMT_ATOMIC | KG_SIMT_ALIGNED);
}
/* A value is about to be read or written at an address that its type is not aligned to. */
struct kg_native_mismatch { /* as clang writes it down */
  const char *file;
  unsigned line, column;
  const kg_simt_type *type;
  unsigned char log_alignment, kind;
};
KG_SIMT_CALLBACK __attribute__((noinline))
__ubsan_handle_type_mismatch_v1(const kg_native_mismatch *told, unsigned long address) {
  KG_SIMT_TELL((const void *)address, 1ul << told->log_alignment,
               KG_SIMT_ALIGNED | (told->kind == 1 ? KG_SIMT_WRITES : 0u));
}
#else
#define kg_native_atomic(p, bytes, how) (void)(p)
#endif

/* The text does what it says itself that it must not. */
static KG_SIMT_UNCHECKED __attribute__((noinline, nomerge, nodebug)) void
kg_native_failed(const char *what, const char *why) {
  kg_simt.host->misuse(kg_simt.group, what, __builtin_return_address(0), why);
}

static KG_SIMT_UNCHECKED __attribute__((noinline, nodebug)) void kg_native_fence() {
  kg_simt.host->fence(kg_simt.group);
}

/* ---- meetings -------------------------------------------------------------------------------- */

typedef unsigned long long kg_native_lanes;

/* They meet, and each learns who was there. */
KG_SIMT_IN void kg_native_release(kg_simt_wave *wave, kg_native_lanes present) {
  wave->meetings++;
  for (unsigned i = 0; i < KG_SIMT_WAVE; i++)
    if (present >> i & 1) wave->named[i] = present, wave->met[i] = wave->meetings;
  wave->waiting &= ~present, wave->released |= present;
  wave->idle = 0;
}

/* Is everyone there whom this lane waits for?  Then they may go. */
KG_SIMT_IN void kg_native_complete(kg_simt_wave *wave, unsigned lane) {
  const kg_native_lanes named = wave->named[lane] ? wave->named[lane] & wave->lanes : wave->lanes;
  if (named & ~wave->waiting) return;
  for (unsigned i = 0; i < KG_SIMT_WAVE; i++)
    if (named >> i & 1 &&
        (wave->sites[i] != wave->sites[lane] || wave->named[i] != wave->named[lane]))
      return;
  kg_native_release(wave, named);
}

/* Nobody can go on. */
KG_SIMT_IN void kg_native_resolve(kg_simt_wave *wave) {
  const void *lowest = nullptr;
  kg_native_lanes here = 0;
  for (unsigned i = 0; i < KG_SIMT_WAVE; i++) {
    if (!((wave->waiting & ~wave->at_barrier) >> i & 1) || wave->named[i]) continue;
    if (!lowest || wave->sites[i] < lowest) lowest = wave->sites[i], here = 0;
    if (wave->sites[i] == lowest) here |= 1ull << i;
  }
  if (!here) kg_simt.host->stuck(kg_simt.group);
  kg_native_release(wave, here);
}

KG_SIMT_IN void kg_native_wait(kg_simt_lane *lane, kg_simt_wave *wave, bool barrier) {
  const kg_native_lanes self = 1ull << lane->index;
  while (!(wave->released & self)) {
    if (!barrier) kg_native_complete(wave, lane->index);
    if (wave->released & self) break;
    if (wave->idle++ > 2 * KG_SIMT_WAVE) kg_native_resolve(wave);
    if (wave->released & self) break;
    if (lane->next != lane) kg_simt_give_way(lane, lane->next);
  }
  wave->released &= ~self;
}

KG_SIMT_IN void kg_native_arrive(kg_simt_wave *wave, unsigned lane, kg_native_lanes named,
                                 const char *what, const void *site) {
  wave->sites[lane] = site, wave->whats[lane] = what, wave->named[lane] = named;
  wave->waiting |= 1ull << lane;
  wave->idle = 0;
}

/* The values that the lanes of the meeting brought; the result: who they are.  sync: it orders
** their memory.  A second meeting lets nobody go on before all have read. */
KG_SIMT_MEETING kg_native_lanes kg_native_meet(unsigned long long value, kg_native_lanes named,
                                               const char *what, bool sync,
                                               unsigned long long *values) {
  kg_simt_lane *lane = kg_simt.now;
  kg_simt_wave *wave = lane->wave;
  const void *site = __builtin_return_address(0);
  wave->value[0][lane->index] = value;
  kg_native_arrive(wave, lane->index, named, what, site);
  kg_native_wait(lane, wave, false);
  const kg_native_lanes present = wave->named[lane->index];
  for (unsigned i = 0; values && i < KG_SIMT_WAVE; i++) values[i] = wave->value[0][i];
  kg_native_arrive(wave, lane->index, present, what, (const char *)site + 1);
  kg_native_wait(lane, wave, false);
  if (sync) lane->syncs = wave->met[lane->index];
  return present;
}

KG_SIMT_MEETING void kg_native_barrier(const char *what) {
  kg_simt_lane *lane = kg_simt.now;
  kg_simt_wave *wave = lane->wave;
  kg_simt_group *group = kg_simt.group;
  const void *site = __builtin_return_address(0);
  if (__builtin_expect(group->returned, 0)) kg_simt.host->returned(group, what, site);
  kg_native_arrive(wave, lane->index, 0, what, site);
  wave->at_barrier |= 1ull << lane->index;
  wave->arrived++, wave->barrier = 1, wave->site = site, wave->what = what;
  bool all = wave->at_barrier == wave->lanes;
  for (unsigned i = 0; all && i < KG_SIMT_WAVE; i++)
    all = !(wave->lanes >> i & 1) || wave->sites[i] == site;
  if (all) {
    if (group->arrived == 0)
      group->site = site, group->what = what;
    else if (group->site != site)
      wave->arrived = 0, kg_simt.host->apart(group, what, site);
    wave->arrived = 0;
    if (++group->arrived < group->live) {
      wave->resume = lane->next;
      kg_simt_give_way(lane, wave->next->resume);
    } else {
      group->arrived = 0, group->phase++;
      kg_simt_wave *each = wave;
      do {
        each->waiting = each->at_barrier = 0, each->released = each->lanes, each->idle = 0;
        each = each->next;
      } while (each != wave);
    }
  }
  kg_native_wait(lane, wave, true);
}

/* ---- values of any size, among lanes --------------------------------------------------------- */

/* What every lane of the meeting brought. */
template <class V> struct kg_native_all {
  kg_native_lanes present;
  V of[KG_SIMT_WAVE];
};

template <class V>
KG_SIMT_IN void kg_native_gather(const V &value, kg_native_lanes named, const char *what,
                                 kg_native_all<V> &all) {
  constexpr unsigned words = (sizeof(V) + 7) / 8;
  unsigned long long brought[words] = {}, got[KG_SIMT_WAVE];
  __builtin_memcpy(brought, &value, sizeof(V));
  for (unsigned w = 0; w < words; w++) {
    const unsigned left = sizeof(V) - 8 * w;
    all.present = kg_native_meet(brought[w], named, what, false, got);
    for (unsigned i = 0; i < KG_SIMT_WAVE; i++)
      __builtin_memcpy((char *)&all.of[i] + 8 * w, &got[i], left < 8 ? left : 8);
  }
}

static KG_SIMT_UNCHECKED __attribute__((noinline, nomerge, nodebug)) void
kg_native_beyond(const char *what) {
  kg_simt.host->beyond(kg_simt.group, what, __builtin_return_address(0));
}

/* Any value at all, and on each of the runs another one. */
template <class V> KG_SIMT_IN V kg_native_any(const char *what) {
  V value;
  unsigned char *to = (unsigned char *)&value;
  kg_native_beyond(what);
  if constexpr (sizeof(V) < 4) {
    const unsigned bits = kg_simt_beyond<unsigned>();
    __builtin_memcpy(to, (const char *)&bits + 4 - sizeof(V), sizeof(V));
  } else
    for (unsigned at = 0; at + 4 <= sizeof(V); at += 4) {
      const unsigned bits = kg_simt_beyond<unsigned>();
      __builtin_memcpy(to + at, &bits, 4);
    }
  return value;
}

/* The value of that lane; any, where it did not bring one. */
template <class V>
KG_SIMT_IN V kg_native_shuffle(const V &value, unsigned from, kg_native_lanes named,
                               const char *what) {
  kg_native_all<V> all;
  kg_native_gather(value, named, what, all);
  if (from >= KG_SIMT_WAVE || !(all.present >> from & 1)) return kg_native_any<V>(what);
  return all.of[from];
}

/* The lanes of the meeting where it holds; *present: who came. */
KG_SIMT_IN kg_native_lanes kg_native_vote(bool holds, kg_native_lanes named, const char *what,
                                          kg_native_lanes *present) {
  unsigned long long got[KG_SIMT_WAVE];
  kg_native_lanes set = 0;
  *present = kg_native_meet(holds, named, what, false, got);
  for (unsigned i = 0; i < KG_SIMT_WAVE; i++)
    if (*present >> i & 1 && got[i]) set |= 1ull << i;
  return set;
}

/* A tree over the lanes that came, in their order: as a butterfly sums where all did. */
template <class V, class F>
KG_SIMT_IN V kg_native_reduce(const V &value, kg_native_lanes named, const char *what, F combine) {
  kg_native_all<V> all;
  kg_native_gather(value, named, what, all);
  kg_native_lanes left = all.present;
  for (unsigned step = 1; step < KG_SIMT_WAVE; step *= 2)
    for (unsigned i = 0; i + step < KG_SIMT_WAVE; i += 2 * step) {
      if (!(left >> (i + step) & 1)) continue;
      all.of[i] = left >> i & 1 ? combine(all.of[i], all.of[i + step]) : all.of[i + step];
      left |= 1ull << i;
    }
  return all.of[0];
}

/* Over the lanes up to this one, or before it. */
template <class V, class F>
KG_SIMT_IN V kg_native_scan(const V &value, V first, bool inclusive, const char *what, F combine) {
  kg_native_all<V> all;
  kg_native_gather(value, 0, what, all);
  const unsigned self = kg_simt_lane_index();
  V sum = first;
  for (unsigned i = 0; i < self + inclusive; i++)
    if (all.present >> i & 1) sum = combine(sum, all.of[i]);
  return sum;
}

/* ---- arithmetic of 16 bits: clang rounds at each operation (compile.c); what its library lacks - */

extern "C" __attribute__((visibility("hidden"), used, nodebug)) KG_SIMT_UNCHECKED unsigned short
kg_native_bf16(float x) {
  const unsigned u = __builtin_bit_cast(unsigned, x);
  const unsigned even = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
  return (unsigned short)((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : even);
}
extern "C" __attribute__((visibility("hidden"), used, nodebug)) KG_SIMT_UNCHECKED __bf16
__truncsfbf2(float x) {
  return __builtin_bit_cast(__bf16, kg_native_bf16(x));
}
extern "C" __attribute__((visibility("hidden"), used, nodebug)) KG_SIMT_UNCHECKED __bf16
__truncdfbf2(double x) {
  float f = (float)x; /* towards odd, so that the second rounding is right */
  if ((double)f != x && !(__builtin_bit_cast(unsigned, f) & 1u)) {
    const bool up = (double)f > x == (x > 0);
    f = __builtin_bit_cast(float, up ? __builtin_bit_cast(unsigned, f) - 1u
                                     : __builtin_bit_cast(unsigned, f) + 1u);
  }
  return __truncsfbf2(f);
}

/* ---- what is arithmetic ---------------------------------------------------------------------- */

template <class A, class B> inline constexpr bool kg_native_same = false;
template <class A> inline constexpr bool kg_native_same<A, A> = true;
template <bool, class T = void> struct kg_native_if {};
template <class T> struct kg_native_if<true, T> {
  using type = T;
};
template <bool, class A, class B> struct kg_native_choose {
  using type = A;
};
template <class A, class B> struct kg_native_choose<false, A, B> {
  using type = B;
};
template <class T> struct kg_native_bare {
  using type = T;
};
template <class T> struct kg_native_bare<const T> : kg_native_bare<T> {};
template <class T> struct kg_native_bare<volatile T> : kg_native_bare<T> {};
template <class T> struct kg_native_bare<const volatile T> : kg_native_bare<T> {};
template <class T> struct kg_native_bare<T &> : kg_native_bare<T> {};
template <class T> struct kg_native_bare<T &&> : kg_native_bare<T> {};

enum kg_native_kind {
  KG_NATIVE_OTHER,
  KG_NATIVE_FLOAT,
  KG_NATIVE_SIGNED,
  KG_NATIVE_UNSIGNED,
  KG_NATIVE_BOOL
};
template <class T> inline constexpr kg_native_kind kg_native_kind_of = KG_NATIVE_OTHER;
#define KG_NATIVE_KIND(T, kind)                                                                    \
  template <> inline constexpr kg_native_kind kg_native_kind_of<T> = KG_NATIVE_##kind;
KG_NATIVE_KIND(float, FLOAT)
KG_NATIVE_KIND(double, FLOAT)
KG_NATIVE_KIND(_Float16, FLOAT)
KG_NATIVE_KIND(__bf16, FLOAT)
KG_NATIVE_KIND(char, SIGNED)
KG_NATIVE_KIND(signed char, SIGNED)
KG_NATIVE_KIND(short, SIGNED)
KG_NATIVE_KIND(int, SIGNED)
KG_NATIVE_KIND(long, SIGNED)
KG_NATIVE_KIND(long long, SIGNED)
KG_NATIVE_KIND(unsigned char, UNSIGNED)
KG_NATIVE_KIND(unsigned short, UNSIGNED)
KG_NATIVE_KIND(unsigned, UNSIGNED)
KG_NATIVE_KIND(unsigned long, UNSIGNED)
KG_NATIVE_KIND(unsigned long long, UNSIGNED)
KG_NATIVE_KIND(bool, BOOL)
template <class T> inline constexpr bool kg_native_float = kg_native_kind_of<T> == KG_NATIVE_FLOAT;
template <class T> inline constexpr bool kg_native_number = kg_native_kind_of<T> != KG_NATIVE_OTHER;
/* bfloat16 is the type whose bits a float's upper half are. */
template <class T> inline constexpr int kg_native_format = kg_native_same<T, __bf16> ? 1 : 0;

/* ---- an entry's parameters, as `kgen try` reads them ----------------------------------------- */

/* What a value is made of: T for a number, E for a vector of E; else nothing that is known. */
template <class T> struct kg_native_made_of {
  using type = T;
};

struct kg_native_parameter {
  unsigned offset, bytes; /* in the argument block */
  unsigned how;           /* 0: a value; 1: a buffer that is only read; 2: one that may be written;
                          ** 3: the thread's place, or the like, which no argument says; 4: as 2, of one
                          ** element */
  unsigned unit;          /* bytes of what a pointer points to, or of the value */
  unsigned kind, part;    /* kg_native_kind of what that is made of, and its bytes */
  unsigned format;        /* 1: bfloat16 */
  const char *type;       /* in words, within "[T = ...]" */
  const void *given;      /* the units that the command line wrote down as C++; null: none */
  unsigned long count;    /* of them */
};

template <class T> struct kg_native_says {
  static const char *type() { return __PRETTY_FUNCTION__; }
};

template <class P> struct kg_native_points {
  using unit = typename kg_native_bare<P>::type;
  static constexpr unsigned how = 0;
};
template <class P> struct kg_native_points<P *> {
  using unit = typename kg_native_bare<P>::type;
  static constexpr unsigned how = 2;
};
template <class P> struct kg_native_points<const P *> {
  using unit = typename kg_native_bare<P>::type;
  static constexpr unsigned how = 1;
};
template <> struct kg_native_points<void *> {
  using unit = unsigned char;
  static constexpr unsigned how = 2;
};
template <> struct kg_native_points<const void *> {
  using unit = unsigned char;
  static constexpr unsigned how = 1;
};
template <class P> struct kg_native_points<P *__restrict> : kg_native_points<P *> {};
template <class P> struct kg_native_points<P *const> : kg_native_points<P *> {};
template <class P> struct kg_native_points<P *const __restrict> : kg_native_points<P *> {};
template <class P> struct kg_native_points<const volatile P *> : kg_native_points<const P *> {};
template <class P> struct kg_native_points<P &> : kg_native_points<P *> {
  static constexpr unsigned how = 4;
};
template <class P> struct kg_native_points<const P &> : kg_native_points<P> {}; /* its value */
template <class P> struct kg_native_points<const volatile P &> : kg_native_points<P> {};

/* A slot of the block: a reference that is no value is a pointer there. */
template <class P> struct kg_native_slot {
  using type = typename kg_native_bare<P>::type;
  static KG_SIMT_METHOD type &take(const void *at) { return *(type *)at; }
};
template <class P> struct kg_native_slot<P &> {
  using type = P *;
  static KG_SIMT_METHOD P &take(const void *at) { return **(P *const *)at; }
};
template <class P> struct kg_native_slot<const P &> {
  using type = typename kg_native_bare<P>::type;
  static KG_SIMT_METHOD const P &take(const void *at) { return *(const P *)at; }
};
template <class P> struct kg_native_slot<const volatile P &> : kg_native_slot<const P &> {};

template <unsigned N, class P, class... Q> struct kg_native_nth : kg_native_nth<N - 1, Q...> {};
template <class P, class... Q> struct kg_native_nth<0, P, Q...> {
  using type = P;
};

template <class F> struct kg_native_signature;
template <class... P> struct kg_native_signature<void(P...)> {
  static constexpr unsigned count = sizeof...(P);
  template <unsigned N> using nth = typename kg_native_nth<N, P...>::type;
  template <unsigned N> using unit = typename kg_native_points<nth<N>>::unit;
  static constexpr unsigned end(unsigned n) {
    const unsigned sizes[] = {(unsigned)sizeof(typename kg_native_slot<P>::type)..., 0u};
    const unsigned alignments[] = {(unsigned)alignof(typename kg_native_slot<P>::type)..., 1u};
    unsigned at = 0;
    for (unsigned i = 0; i < n; i++)
      at = ((at + alignments[i] - 1) & ~(alignments[i] - 1)) + sizes[i];
    return at;
  }
  static constexpr unsigned start(unsigned n) {
    const unsigned sizes[] = {(unsigned)sizeof(typename kg_native_slot<P>::type)..., 0u};
    return end(n + 1) - sizes[n];
  }
  template <unsigned N> static KG_SIMT_METHOD decltype(auto) argument(const void *block) {
    return kg_native_slot<nth<N>>::take((const unsigned char *)block + start(N));
  }
  template <unsigned N>
  static kg_native_parameter parameter(const void *given, unsigned long given_bytes) {
    using U = unit<N>;
    using M = typename kg_native_made_of<U>::type;
    return {start(N),
            (unsigned)sizeof(typename kg_native_slot<nth<N>>::type),
            kg_native_points<nth<N>>::how,
            (unsigned)sizeof(U),
            kg_native_kind_of<M>,
            (unsigned)sizeof(M),
            (unsigned)kg_native_format<M>,
            kg_native_says<nth<N>>::type(),
            given,
            given_bytes / sizeof(U)};
  }
};
