/* core.h: the part of the shim that all backends share: lane operations, the barrier, and the
** entry's call.
**
** Compiled in front of every text, after abi.h.  KG_SIMT is defined to 1 and KG_SIMT_WAVE to
** the simulated width. */

extern "C" {
extern kg_simt_state kg_simt;
void kg_simt_anchor() __attribute__((convergent));
float expf(float), exp2f(float), logf(float), log2f(float), sinf(float), cosf(float), tanhf(float),
    powf(float, float);
float erff(float), log1pf(float), expm1f(float), atan2f(float, float), fmodf(float, float);
}

/* Part of its caller, and without lines of its own: what goes wrong in it is at the caller's
** line. */
#define KG_SIMT_METHOD inline __attribute__((always_inline, nodebug))
#define KG_SIMT_IN static KG_SIMT_METHOD
#define KG_SIMT_IN_SHARED static __attribute__((section("kg_shared"), used, aligned(16)))

/* A checked text has a gap before each shared array and behind the last one, so that an access
** past an array's end is in no other array.  noderef changes nothing but the name that the type has
** in what clang writes down of an index: so shared arrays are told from a thread's own. */
#ifdef KG_SIMT_CHECKED
#define KG_SIMT_GAP_NAMED(number) KG_SIMT_IN_SHARED unsigned char kg_simt_gap_##number[4096];
#define KG_SIMT_GAP(number) KG_SIMT_GAP_NAMED(number)
#define KG_SIMT_SHARED KG_SIMT_GAP(__COUNTER__) KG_SIMT_IN_SHARED KG_SIMT_OF_GROUP
#define KG_SIMT_OF_GROUP __attribute__((noderef))
#define KG_SIMT_UNCHECKED __attribute__((no_sanitize("thread")))
#else
#define KG_SIMT_GAP(number)
#define KG_SIMT_SHARED KG_SIMT_IN_SHARED
#define KG_SIMT_UNCHECKED
#endif

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "kgen: the SIMT device switches lanes on x86-64 and aarch64 only"
#endif

/* The scheduler's own data, where inlined code reads it.  In a checked text the compiler does not
** see an access in it, and so does not tell of one. */
template <class V> KG_SIMT_IN V kg_simt_ours(const V &from) {
#ifdef KG_SIMT_CHECKED
  V value;
#if defined(__x86_64__)
  __asm__("mov %1, %0" : "=r"(value) : "m"(from));
#else
  if constexpr (sizeof(V) == 4)
    __asm__("ldr %w0, %1" : "=r"(value) : "m"(from));
  else
    __asm__("ldr %x0, %1" : "=r"(value) : "m"(from));
#endif
  return value;
#else
  return from;
#endif
}
KG_SIMT_IN const kg_simt_lane *kg_simt_now() { return kg_simt_ours(kg_simt.now); }
KG_SIMT_IN const kg_simt_group *kg_simt_now_group() { return kg_simt_ours(kg_simt.group); }
struct kg_simt_xyz {
  unsigned x, y, z;
};
KG_SIMT_IN kg_simt_xyz kg_simt_xyz_of(const unsigned *v) {
  return kg_simt_xyz{kg_simt_ours(v[0]), kg_simt_ours(v[1]), kg_simt_ours(v[2])};
}

/* An external function that does nothing.  As it is convergent, so are the functions that may
** call it: the optimiser then leaves their calls where they are, in one copy a place, and a
** call's return address names its place. */
__asm__(".text\n.hidden kg_simt_anchor\n.globl kg_simt_anchor\n.type kg_simt_anchor,@function\n"
        "kg_simt_anchor: ret\n.size kg_simt_anchor,.-kg_simt_anchor\n");

/* How a meeting returns.  A `ret` is predicted from the calls that the processor saw last, which
** are other lanes', of the next meeting: wrong each time.  An indirect jump is predicted from where
** the lanes before went: right for all but the first.  This halves the cost of a switch. */
#if defined(__x86_64__)
#define KG_SIMT_MEETING                                                                            \
  static KG_SIMT_UNCHECKED                                                                         \
      __attribute__((noinline, convergent, nomerge, function_return("thunk-extern")))
__asm__(
    ".text\n.hidden __x86_return_thunk\n.globl __x86_return_thunk\n.type "
    "__x86_return_thunk,@function\n"
    "__x86_return_thunk: popq %rcx\n jmpq *%rcx\n.size __x86_return_thunk,.-__x86_return_thunk\n");
#else
#define KG_SIMT_MEETING static KG_SIMT_UNCHECKED __attribute__((noinline, convergent, nomerge))
#endif

/* Leaves this lane, its place in *from, and goes on where `to` stopped.  It is part of the
** function that uses it: the compiler saves what that one still needs, and no more. */
KG_SIMT_IN void kg_simt_switch(void **from, void *to) {
#if defined(__x86_64__)
  __asm__ volatile("pushq %%rbp\n\t"
                   "leaq 1f(%%rip), %%rax\n\t"
                   "pushq %%rax\n\t"
                   "movq %%rsp, (%%rdi)\n\t"
                   "movq %%rsi, %%rsp\n\t"
                   "popq %%rax\n\t"
                   "jmpq *%%rax\n"
                   "1:\n\t"
                   "popq %%rbp"
                   : "+D"(from), "+S"(to)
                   :
                   : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
                     "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8",
                     "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
#else
  register void **stop __asm__("x0") = from;
  register void *next __asm__("x1") = to;
  __asm__ volatile("adr x9, 1f\n\t"
                   "stp x9, x29, [sp, #-16]!\n\t"
                   "mov x10, sp\n\t"
                   "str x10, [x0]\n\t"
                   "mov sp, x1\n\t"
                   "ldr x9, [sp]\n\t"
                   "br x9\n"
                   "1:\n\t"
                   "ldr x29, [sp, #8]\n\t"
                   "add sp, sp, #16"
                   : "+r"(stop), "+r"(next)
                   :
                   : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                     "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24",
                     "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6",
                     "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17",
                     "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28",
                     "v29", "v30", "v31", "memory", "cc");
#endif
}

KG_SIMT_IN void kg_simt_give_way(kg_simt_lane *lane, kg_simt_lane *next) {
  if (__builtin_expect(!next->sp, 0)) kg_simt.host->begin(kg_simt.group, next);
  kg_simt.now = next;
  kg_simt_switch(&lane->sp, next->sp);
}

/* The lane arrives at a meeting of its wave.  A second meeting at another place is an error. */
KG_SIMT_IN void kg_simt_arrive(kg_simt_wave *wave, const char *what, const void *site,
                               bool barrier) {
  if (wave->arrived == 0) {
    wave->site = site, wave->what = what, wave->barrier = barrier;
    wave->ballot[wave->turn] = 0;
  } else if (__builtin_expect(wave->site != site, 0)) {
    kg_simt_anchor();
    kg_simt.host->apart(kg_simt.group, what, site);
  }
}

KG_SIMT_IN void kg_simt_meet(kg_simt_lane *lane, kg_simt_wave *wave) {
  if (++wave->arrived == wave->live) {
    wave->present[wave->turn] = wave->lanes;
    wave->arrived = 0, wave->turn ^= 1;
    if (!kg_simt.group->strict || lane->next == lane) return;
  }
  kg_simt_give_way(lane, lane->next);
}

/* The value that lane `from` of this wave brought. */
KG_SIMT_MEETING unsigned long long kg_simt_exchange(unsigned long long value, unsigned from,
                                                    const char *what) {
  kg_simt_lane *lane = kg_simt.now;
  kg_simt_wave *wave = lane->wave;
  const void *site = __builtin_return_address(0);
  kg_simt_arrive(wave, what, site, false);
  const unsigned turn = wave->turn;
  wave->value[turn][lane->index] = value;
  kg_simt_meet(lane, wave);
  if (__builtin_expect(from >= KG_SIMT_WAVE || !(wave->present[turn] >> from & 1), 0))
    kg_simt.host->absent(kg_simt.group, what, site, from);
  return wave->value[turn][from];
}

/* The lanes where the predicate holds; *present: the lanes that were asked. */
KG_SIMT_MEETING unsigned long long kg_simt_vote(bool holds, const char *what,
                                                unsigned long long *present) {
  kg_simt_lane *lane = kg_simt.now;
  kg_simt_wave *wave = lane->wave;
  kg_simt_arrive(wave, what, __builtin_return_address(0), false);
  const unsigned turn = wave->turn;
  wave->ballot[turn] |= (unsigned long long)holds << lane->index;
  kg_simt_meet(lane, wave);
  *present = wave->present[turn];
  return wave->ballot[turn];
}

KG_SIMT_MEETING void kg_simt_barrier(const char *what) {
  kg_simt_lane *lane = kg_simt.now;
  kg_simt_wave *wave = lane->wave;
  kg_simt_group *group = kg_simt.group;
  const void *site = __builtin_return_address(0);
  kg_simt_arrive(wave, what, site, true);
  if (__builtin_expect(group->returned, 0)) kg_simt.host->returned(group, what, site);
  if (++wave->arrived < wave->live) {
    kg_simt_give_way(lane, lane->next);
    return;
  }
  wave->arrived = 0;
  if (group->arrived == 0)
    group->site = site, group->what = what;
  else if (__builtin_expect(group->site != site, 0))
    kg_simt.host->apart(group, what, site);
  if (++group->arrived == group->live) {
    group->arrived = 0;
    group->phase++;
    if (!group->strict) return;
  }
  wave->resume = lane->next;
  if (wave->next->resume != lane) kg_simt_give_way(lane, wave->next->resume);
}

/* ---- shuffles of any value of up to 8 bytes -------------------------------------------------- */

template <class V> KG_SIMT_IN V kg_simt_shuffle(V value, unsigned from, const char *what) {
  static_assert(sizeof(V) <= 8, "a lane operation takes a value of at most eight bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(V));
  bits = kg_simt_exchange(bits, from, what);
  __builtin_memcpy(&value, &bits, sizeof(V));
  return value;
}

KG_SIMT_IN unsigned kg_simt_lane_index() { return kg_simt_ours(kg_simt_now()->index); }

/* What a lane gets that asks past the wave's ends: any value at all, and on every backend the same.
** All-one bits, a value that nobody can mean; on runs that try others (sanitize.c) 0 and the
** largest number of one sign, by turns of lanes. */
template <class V> KG_SIMT_IN V kg_simt_beyond() {
  const unsigned which = kg_simt_ours(kg_simt.beyond), zero = (kg_simt_lane_index() ^ which) & 1u;
  const unsigned word = which == 0 ? ~0u : zero ? 0u : which == 1 ? 0x7f7fffffu : 0xff7fffffu;
  const unsigned words[2] = {word, word};
  V value;
  __builtin_memcpy(&value, words, sizeof(V));
  return value;
}

KG_SIMT_IN unsigned long long kg_simt_ballot(bool holds, const char *what) {
  unsigned long long present;
  return kg_simt_vote(holds, what, &present);
}

KG_SIMT_IN bool kg_simt_every(bool holds, const char *what) {
  unsigned long long present;
  const unsigned long long ballot = kg_simt_vote(holds, what, &present);
  return ballot == present;
}

/* ---- math: one host function a word, whichever text asks ------------------------------------- */

KG_SIMT_IN float kg_simt_sqrt(float x) { return __builtin_sqrtf(x); }
KG_SIMT_IN float kg_simt_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KG_SIMT_IN float kg_simt_abs(float x) { return __builtin_fabsf(x); }
KG_SIMT_IN float kg_simt_floor(float x) { return __builtin_floorf(x); }
KG_SIMT_IN float kg_simt_ceil(float x) { return __builtin_ceilf(x); }
KG_SIMT_IN float kg_simt_trunc(float x) { return __builtin_truncf(x); }
KG_SIMT_IN float kg_simt_rint(float x) { return __builtin_rintf(x); }
KG_SIMT_IN float kg_simt_min(float a, float b) { /* the other one when one is NaN; -0 below +0 */
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __builtin_signbitf(a) ? a : b;
  return a < b ? a : b;
}
KG_SIMT_IN float kg_simt_max(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return __builtin_signbitf(a) ? b : a;
  return a > b ? a : b;
}
KG_SIMT_IN unsigned kg_simt_mul_hi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}

/* ---- fast math --------------------------------------------------------------------------------
**
** What a device gives is off the right value, by no more than its maker says: CUDA C++ Programming
** Guide, "Intrinsic Functions"; Metal Shading Language Specification, "Numerical Compliance", the
** table of fast math, which is OpenCL C's of relaxed math.  Here it is off by the loosest of these,
** or nearly so, up or down by a hash of the argument: the same in every text. */
KG_SIMT_IN unsigned kg_simt_hash(float x) { /* MurmurHash3's finalizer */
  unsigned h = __builtin_bit_cast(unsigned, x);
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}
/* y moved by half to all of so many units in the last place; infinity, NaN and 0 stay. */
KG_SIMT_IN float kg_simt_off_by(float y, unsigned ulps, unsigned hash) {
  const unsigned bits = __builtin_bit_cast(unsigned, y), size = bits & 0x7fffffffu;
  const unsigned steps = ulps - (hash >> 1) % (ulps / 2 + 1);
  if (size == 0 || size >= 0x7f800000u) return y;
  if (hash & 1u ? size + steps >= 0x7f800000u : size <= steps) return y;
  return __builtin_bit_cast(float, hash & 1u ? bits + steps : bits - steps);
}
/* 3 + |2 x| units, of which the host's own function may take one; e^0 is 1 (PTX, ex2.approx). */
KG_SIMT_IN float kg_simt_fast_power(float x, float y) {
  const float most = 2.0f + __builtin_floorf(__builtin_fabsf(2 * x));
  return x == 0 || !(most < 4096) ? y : kg_simt_off_by(y, (unsigned)most, kg_simt_hash(x));
}
/* 2^-21 from 1/2 to 2, 3 units elsewhere. */
KG_SIMT_IN float kg_simt_fast_logarithm(float x, float y) {
  const unsigned hash = kg_simt_hash(x);
  if (!(x >= 0.5f && x <= 2.0f)) return kg_simt_off_by(y, 2, hash);
  const float most = 0x1p-22f + (float)(hash >> 8) * 0x1p-47f;
  return hash & 1u ? y + most : y - most;
}
KG_SIMT_IN float kg_simt_fast_exp(float x) { return kg_simt_fast_power(x, expf(x)); }
KG_SIMT_IN float kg_simt_fast_exp2(float x) { return kg_simt_fast_power(x, exp2f(x)); }
KG_SIMT_IN float kg_simt_fast_log(float x) { return kg_simt_fast_logarithm(x, logf(x)); }
KG_SIMT_IN float kg_simt_fast_log2(float x) { return kg_simt_fast_logarithm(x, log2f(x)); }

/* ---- the entry's call: its parameters out of the argument block ------------------------------ */

template <unsigned... I> struct kg_simt_indices {};
template <class T, T... I> struct kg_simt_sequence {
  using indices = kg_simt_indices<I...>;
};

template <class P> struct kg_simt_plain {
  using type = P;
};
template <class P> struct kg_simt_plain<const P> {
  using type = P;
};
template <class P> struct kg_simt_plain<P &> {
  using type = typename kg_simt_plain<P>::type;
};

template <unsigned N, class P, class... Q> struct kg_simt_nth {
  using type = typename kg_simt_nth<N - 1, Q...>::type;
};
template <class P, class... Q> struct kg_simt_nth<0, P, Q...> {
  using type = typename kg_simt_plain<P>::type;
};

template <class F> struct kg_simt_signature;
template <class... P> struct kg_simt_signature<void(P...)> {
  static constexpr unsigned count = sizeof...(P);
  static constexpr unsigned end(unsigned n) { /* of the first n parameters */
    const unsigned sizes[] = {(unsigned)sizeof(typename kg_simt_plain<P>::type)..., 0u};
    const unsigned alignments[] = {(unsigned)alignof(typename kg_simt_plain<P>::type)..., 1u};
    unsigned at = 0;
    for (unsigned i = 0; i < n; i++)
      at = ((at + alignments[i] - 1) & ~(alignments[i] - 1)) + sizes[i];
    return at;
  }
  static constexpr unsigned start(unsigned n) {
    const unsigned sizes[] = {(unsigned)sizeof(typename kg_simt_plain<P>::type)..., 0u};
    return end(n + 1) - sizes[n];
  }
  template <unsigned N> static typename kg_simt_nth<N, P...>::type &argument(const void *block) {
    return *(typename kg_simt_nth<N, P...>::type *)((const unsigned char *)block + start(N));
  }
  template <auto F, unsigned... I>
  static KG_SIMT_UNCHECKED void spread(const void *block, kg_simt_indices<I...>) {
    F(argument<I>(block)...);
  }
  template <auto F> static KG_SIMT_UNCHECKED void call(const void *block) {
    spread<F>(block, typename __make_integer_seq<kg_simt_sequence, unsigned, count>::indices());
  }
};

extern "C" {
__attribute__((weak, visibility("hidden"))) extern unsigned char __start_kg_shared,
    __stop_kg_shared;
__attribute__((visibility("hidden"))) kg_simt_state kg_simt;
}

#define KG_SIMT_TEXT(kernel_name, entry_name, bytes, caller)                                       \
  KG_SIMT_GAP(__COUNTER__)                                                                         \
  extern "C" __attribute__((visibility("default"), used)) kg_simt_text_type kg_simt_text = {       \
      kernel_name, entry_name, KG_SIMT_WAVE,       bytes,                                          \
      &kg_simt,    caller,     &__start_kg_shared, &__stop_kg_shared};
