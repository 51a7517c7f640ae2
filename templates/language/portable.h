// portable.h: the kernel language.  Every word that a body or a library function may use stands here, with what it means.
//
// A body (.kc) is C++ as far as Metal, CUDA and HIP agree, plus these words.  libclang parses each body against this file,
// once for each instance at each width; the generated text never includes it: there, each word becomes what the backend's
// table (metal.lua, cuda.lua, hip.lua) says, and only the words that a kernel uses are written out.
//
// A body sees its specification: the types by name (T), the constants (THREADS), WAVE, the inputs and outputs as pointers
// to GLOBAL memory, each dim as a u32, each scalar.  It is the inside of a function: it may return early, and it ends.
//
// This file is read before all else: which names a parameter may not have, what a misspelt word was meant to be, and what the
// checks of a body know of a word come from here.  A new word is a declaration here, and a line of each backend's table.

// -- what kgen must know of a word besides its type: a mark before it.  Bodies do not see the marks ----------------------
#define KG_INDEX        // tells a thread who it is
#define KG_LANES        // every lane of the wave must come to it
#define KG_AGREED       // ... and all of them get one value
#define KG_OF_LANE      // ... and get the value of the lane whose number is given
#define KG_GROUP        // the whole group must come to it, and waits there
#define KG_FOUR         // moves four elements at once: the address is aligned to all four
#define KG_LIBRARY(...) // written in lib/*.kc in this language, and as good as a word
#define KG_OWN          // the backend's own function, with bits of its own: for ports with bits = "mlx"

// -- types -------------------------------------------------------------------------------------------------------------
typedef float f32;
typedef _Float16 f16; // storage only: f32(x) widens, f16(x) rounds once to nearest even.  Arithmetic on it is an error
typedef __bf16 bf16;  // storage only, as f16.  NaN stays NaN
typedef signed char i8;
typedef unsigned char u8;
typedef short i16;
typedef unsigned short u16;
typedef int i32;
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;

struct f32x4 { f32 x, y, z, w; }; // four values; sums and products: see "arithmetic"
struct u32x4 { u32 x, y, z, w; };

// -- where memory is: part of every pointer's type -----------------------------------------------------------------------
#define GLOBAL __attribute__((address_space(1))) // the arguments' memory
#define LOCAL __attribute__((address_space(3)))  // shared by the group.  `LOCAL f32 slot[N];` declares an array of it
#define PRIVATE                                  // a pointer or a reference to a thread's own variables

// -- who is asking ---------------------------------------------------------------------------------------------------------
KG_INDEX extern const u32 thread;                       // the thread's number in its group, x fastest
KG_INDEX extern const u32 thread_x, thread_y, thread_z; // its place in the group
KG_INDEX extern const u32 group_x, group_y, group_z;    // the group's place in the grid
KG_INDEX extern const u32 lane;                         // thread % WAVE
KG_INDEX extern const u32 wave_index;                   // thread / WAVE
// WAVE: the wavefront's width, a literal of the instance (32 or 64).  Writing 32, 31 or >> 5 in its place is an error.

// -- across lanes: every lane of the wave must be there ----------------------------------------------------------------------
// Where a number is to be below WAVE the devices differ at others, and a run on a CPU stops there.
KG_LANES f32 shuffle_xor(f32 x, u32 mask); // x of lane ^ mask; mask < WAVE
KG_LANES u32 shuffle_xor(u32 x, u32 mask);
KG_LANES i32 shuffle_xor(i32 x, u32 mask);
KG_LANES f32 shuffle_down(f32 x, u32 delta); // x of lane + delta; past the wave's end any value at all (backends differ)
KG_LANES u32 shuffle_down(u32 x, u32 delta);
KG_LANES i32 shuffle_down(i32 x, u32 delta);
KG_LANES f32 shuffle_up(f32 x, u32 delta); // x of lane - delta; before the wave's start any value at all
KG_LANES u32 shuffle_up(u32 x, u32 delta);
KG_LANES i32 shuffle_up(i32 x, u32 delta);
KG_LANES KG_OF_LANE f32 shuffle_idx(f32 x, u32 from); // x of lane from; from < WAVE
KG_LANES KG_OF_LANE u32 shuffle_idx(u32 x, u32 from);
KG_LANES KG_OF_LANE i32 shuffle_idx(i32 x, u32 from);
KG_LANES KG_AGREED bool wave_any(bool p);
KG_LANES KG_AGREED bool wave_all(bool p);

struct lanes { protected: u64 opaque; }; // a set of lanes: only the words below look into it
KG_LANES KG_AGREED lanes ballot(bool p); // the lanes where p holds
u32 lanes_count(lanes m);               // how many
u32 lanes_first(lanes m);               // the lowest one; WAVE when there is none
u32 lanes_before(lanes m, u32 at);      // how many are below lane `at`
bool lanes_has(lanes m, u32 at);        // is lane `at` in it

// Waits for the whole group; what was written to LOCAL and GLOBAL memory before it is seen after it by the group.
KG_GROUP void barrier();

// On top of the words here; a group operation returns only when its shared slots are free again.
KG_LIBRARY(broadcast, wave_sum, wave_max, wave_min, wave_scan)
KG_LIBRARY(group_sum, group_max, group_min, group_argmax, group_scan)

// -- memory four at a time: p must be aligned to four elements ---------------------------------------------------------------
KG_FOUR f32x4 load4(GLOBAL const f32 *p);
KG_FOUR f32x4 load4(GLOBAL const f16 *p); // widened
KG_FOUR f32x4 load4(GLOBAL const bf16 *p);
KG_FOUR u32x4 load4u(GLOBAL const u32 *p);
KG_FOUR void store4(GLOBAL f32 *p, f32x4 v);
KG_FOUR void store4(GLOBAL f16 *p, f32x4 v); // each rounded once
KG_FOUR void store4(GLOBAL bf16 *p, f32x4 v);
KG_FOUR void store4u(GLOBAL u32 *p, u32x4 v);

// -- arithmetic: exact (the backend's accurate function).  Nothing is contracted: a fused multiply-add is written fma ------------
f32 fma(f32 a, f32 b, f32 c); // a * b + c, rounded once
f32 sqrt(f32 x);              // correctly rounded
f32 rsqrt(f32 x);             // 1 / sqrt(x), two roundings, the same on every backend
f32 exp(f32 x);
f32 exp2(f32 x);
f32 log(f32 x);
f32 log2(f32 x);
f32 sin(f32 x); // right for any argument, with full range reduction
f32 cos(f32 x);
f32 tanh(f32 x);
f32 abs(f32 x);
i32 abs(i32 x); // of the least i32, which has no positive: itself
i64 abs(i64 x);
f32 floor(f32 x);
f32 ceil(f32 x);
f32 min(f32 a, f32 b); // the other one when one is NaN
i32 min(i32 a, i32 b);
i64 min(i64 a, i64 b);
u32 min(u32 a, u32 b);
u64 min(u64 a, u64 b);
f32 max(f32 a, f32 b);
i32 max(i32 a, i32 b);
i64 max(i64 a, i64 b);
u32 max(u32 a, u32 b);
u64 max(u64 a, u64 b);
bool isnan(f32 x);
f32x4 operator+(f32x4 a, f32x4 b); // each of the four by itself, rounded once: a + b * c rounds twice
f32x4 operator-(f32x4 a, f32x4 b);
f32x4 operator*(f32x4 a, f32x4 b);
f32x4 operator*(f32x4 a, f32 b);

// On top of these, in templates/lib, with the same bits on every backend (but for tan) and edges as in C (a name of yours
// may be called like one of them where the body does not call it):
//   math.kc   expm1 log1p pow atan      to 1 or 1.5 units in the last place
//             erf atan2 sinh cosh       to 2
//             tan                       to 3, by sin and cos
//   whole.kc  trunc rint round fmod copysign sign clamp select isinf isfinite clz ctz: exact

// -- arithmetic: fast.  Another name, since other bits ------------------------------------------------------------------------------
f32 fast_exp(f32 x);  // to 3 + 2|x| units in the last place
f32 fast_exp2(f32 x);
f32 fast_log(f32 x);  // to 2^-21 from 1/2 to 2, to 3 units in the last place elsewhere: a logarithm near 0 has no right digit
f32 fast_log2(f32 x);

f32 rounded_product(f32 a, f32 b); // a * b, which no compiler's option fuses with a sum that takes it

// -- arithmetic: the backend's own ------------------------------------------------------------------------------------------------
// What MLX's kernels call there, for ports with bits = "mlx" alone: a result has that graph's bits, and other bits on each
// backend.  On a CPU, lane by lane, each is the C library's function, near to the right result: what a device makes of it,
// a run there does not show.  A backend whose table says nothing of one has no such function.
struct sine_cosine { f32 sine, cosine; };
KG_OWN f32 own_exp2(f32 x);            // to 2 units in the last place: exp2f, precise::exp2
KG_OWN f32 own_expm1(f32 x);           // to 2: expm1f.  Metal's library has none, MLX's Metal kernels write one out
KG_OWN f32 own_rsqrt(f32 x);           // to 2: CUDA's rsqrtf, precise::rsqrt; on HIP MLX takes 1 / sqrt(x)
KG_OWN sine_cosine own_sincos(f32 x);  // what a rope takes: sinf and cosf, sincosf; Metal's fast::sin and fast::cos
KG_OWN f32 own_fma(f32 a, f32 b, f32 c); // a * b + c where the graph's compiler contracts what its source has in one expression
KG_OWN f32 fast_sin(f32 x);            // no right digit where x is large: __sinf, fast::sin
KG_OWN f32 fast_cos(f32 x);

// -- bits ------------------------------------------------------------------------------------------------------------------------------
u32 bits(f32 x);           // the pattern of x
f32 f32_of_bits(u32 b);    // the value of a pattern
u16 bits16(f16 x);         // the pattern of a storage type's value
u16 bits16(bf16 x);
f16 f16_of_bits(u16 b);
bf16 bf16_of_bits(u16 b);
u32 mul_hi(u32 a, u32 b);  // the high half of the 64-bit product
u32 popcount(u32 x);

#define INF __builtin_inff()  // positive infinity
#define NOT_A_NUMBER __builtin_nanf("")

// -- rounding ---------------------------------------------------------------------------------------------------------------
KG_LIBRARY(rnd) // to a storage type and back, where an operation of the graph rounds
