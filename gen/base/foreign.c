/* foreign.c: see foreign.h. */
#include "base/foreign.h"

#include <stddef.h>
#include <string.h>

static const char no_atomics[] =
    "no backend's atomics are shared: give each group its own place in an output";

static const ForeignWord words[] = {
    /* types */
    {"half", "f16", NULL},
    {"float16", "f16", NULL},
    {"float16_t", "f16", NULL},
    {"fp16", "f16", NULL},
    {"bfloat", "bf16", NULL},
    {"bfloat16", "bf16", NULL},
    {"bfloat16_t", "bf16", NULL},
    {"float", "f32", NULL},
    {"float32", "f32", NULL},
    {"float32_t", "f32", NULL},
    {"fp32", "f32", NULL},
    {"int", "i32", NULL},
    {"uint", "u32", NULL},
    {"uint32", "u32", NULL},
    {"int32", "i32", NULL},
    {"int8_t", "i8", NULL},
    {"uint8_t", "u8", NULL},
    {"uchar", "u8", NULL},
    {"int16_t", "i16", NULL},
    {"uint16_t", "u16", NULL},
    {"ushort", "u16", NULL},
    {"int32_t", "i32", NULL},
    {"uint32_t", "u32", NULL},
    {"int64_t", "i64", NULL},
    {"uint64_t", "u64", NULL},
    {"ulong", "u64", NULL},
    {"size_t", "u64", NULL},
    {"ptrdiff_t", "i64", NULL},
    {"float4", "f32x4", NULL},
    {"uint4", "u32x4", NULL},
    {"double", NULL, "Metal has no double: write f32"},
    /* values and functions */
    {"INFINITY", "INF", NULL},
    {"HUGE_VALF", "INF", NULL},
    {"NAN", "NOT_A_NUMBER", NULL},
    {"FLT_MAX", NULL, "write 3.40282347e38f"},
    {"FLT_EPSILON", NULL, "write 1.1920929e-7f"},
    {"M_PI", NULL, "write 3.14159265f"},
    {"isinf", NULL, "write abs(x) == INF"},
    {"isfinite", NULL, "write abs(x) < INF"},
    {"fabs", "abs", NULL},
    {"fabsf", "abs", NULL},
    {"fmin", "min", NULL},
    {"fminf", "min", NULL},
    {"fmax", "max", NULL},
    {"fmaxf", "max", NULL},
    {"fmaf", "fma", NULL},
    {"sqrtf", "sqrt", NULL},
    {"rsqrtf", "rsqrt", NULL},
    {"expf", "exp", NULL},
    {"exp2f", "exp2", NULL},
    {"logf", "log", NULL},
    {"log2f", "log2", NULL},
    {"sinf", "sin", NULL},
    {"cosf", "cos", NULL},
    {"tanhf", "tanh", NULL},
    {"floorf", "floor", NULL},
    {"ceilf", "ceil", NULL},
    {"pow", NULL, "write exp2(y * log2(x)), which is for x > 0"},
    {"powf", NULL, "write exp2(y * log2(x)), which is for x > 0"},
    {"mulhi", "mul_hi", NULL},
    {"popc", "popcount", NULL},
    {"clz", NULL,
     "set all bits below the highest (x |= x >> 1, 2, 4, 8, 16); it is 32 - popcount(x)"},
    {"ctz", NULL, "write popcount((x & (0u - x)) - 1u)"},
    {"ffs", NULL, "write popcount(x ^ (x - 1u)), which is for x != 0"},
    {"as_type", NULL, "write bits(x) or f32_of_bits(b)"},
    {"atomicAdd", NULL, no_atomics},
    {"atomicMax", NULL, no_atomics},
    {"atomicCAS", NULL, no_atomics},
    {"atomic_fetch_add_explicit", NULL, no_atomics},
    {"syncthreads", "barrier", NULL},
    {"simd_shuffle_xor", "shuffle_xor", NULL},
    {"simd_shuffle_down", "shuffle_down", NULL},
    {"simd_shuffle", "shuffle_idx", NULL},
    {"simd_max", "wave_max", NULL},
    {"simd_min", "wave_min", NULL},
};

const ForeignWord *foreign_word(const char *word) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i].word, word) == 0) return &words[i];
  return NULL;
}
