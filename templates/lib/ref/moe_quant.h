/* moe_quant.h: made-up experts for the references of the packed mixture kernels, the product of one
** of their rows with a vector, and how far off it a right kernel may be. */
#ifndef MOE_QUANT_H
#define MOE_QUANT_H

#include <float.h>

#include "reference.h"

static inline uint64_t quant_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static inline double quant_uniform(uint64_t *state) {
  return (double)(quant_random(state) >> 11) * 0x1p-53;
}

/* The arguments <prefix>_w, <prefix>_s and <prefix>_b: [E, rows, columns] weights. */
typedef struct quant_matrix {
  const ref_tensor *words, *scales, *biases;
  int64_t bits, columns, group_size;
} quant_matrix;

static inline quant_matrix quant_find(const ref_call *c, const char *prefix, int64_t columns) {
  char name[3][64];
  for (int i = 0; i < 3; i++) snprintf(name[i], sizeof name[i], "%s_%c", prefix, "wsb"[i]);
  return (quant_matrix){ref_find(c, name[0]),
                        ref_find(c, name[1]),
                        ref_find(c, name[2]),
                        ref_int(c, "BITS"),
                        columns,
                        ref_int(c, "group_size")};
}

/* Random codes; scales of either sign that make a row's product with standard normals about 1, and
** biases that centre the codes, each about a tenth off, so that no two groups have the same. */
static inline void quant_fill(quant_matrix m, uint64_t *state) {
  for (int64_t i = 0; i < m.words->count; i++)
    m.words->whole[i] = (int64_t)(quant_random(state) >> 32);
  const double levels = ldexp(1, (int)m.bits) - 1;
  for (int64_t i = 0; i < m.scales->count; i++) {
    const double near = 0.9 + 0.2 * quant_uniform(state);
    const double size = sqrt(12.0 / (double)m.columns) / levels * near;
    m.scales->real[i] = quant_random(state) % 2 ? size : -size;
    m.biases->real[i] = -m.scales->real[i] * levels / 2 * (0.9 + 0.2 * quant_uniform(state));
  }
}

/* Experts for K slots: the last one first, then it again, then any.  "beyond": every second slot
** has one that does not exist, the first past the end and the largest number among them; where
** there are no experts every slot has such a one. */
static inline void quant_experts(const ref_call *c, const char *how, uint64_t *state) {
  const ref_tensor *indices = ref_find(c, "indices");
  const int64_t E = ref_int(c, "E");
  for (int64_t k = 0; k < indices->count; k++) {
    if (E == 0)
      indices->whole[k] = k;
    else
      indices->whole[k] = k < 2 ? E - 1 : (int64_t)(quant_random(state) % (uint64_t)E);
    if (strcmp(how, "beyond") == 0 && k % 2 == 1)
      indices->whole[k] = k == 1 ? E : k == 3 ? (int64_t)UINT32_MAX : E + k;
  }
}

/* ---- a row ----------------------------------------------------------------------------------- */

typedef struct quant_sum {
  double sum;
  double size;   /* of all parts, each code's scale and bias apart: what rounding is relative to */
  double widest; /* what no partial sum of a kernel passes, nor one of codes before their scale */
} quant_sum;

/* Code i of a row, which is one long number, low bits first. */
static inline double quant_code(quant_matrix m, int64_t row, int64_t i) {
  const int64_t *word = m.words->whole + row * (m.columns * m.bits / 32) + i * m.bits / 32;
  const int64_t shift = i * m.bits % 32;
  const uint64_t next = shift + m.bits > 32 ? (uint64_t)word[1] : 0;
  return (double)((next << 32 | (uint64_t)word[0]) >> shift & ((UINT64_C(1) << m.bits) - 1));
}

/* A row, those of all experts counted through, times x: each weight is code * scale + bias. */
static inline quant_sum quant_row(quant_matrix m, int64_t row, const double *x) {
  quant_sum s = {0, 0, 0};
  double codes = 0, plain = 0;
  for (int64_t i = 0; i < m.columns; i++) {
    const int64_t group = row * (m.columns / m.group_size) + i / m.group_size;
    const double scale = m.scales->real[group], bias = m.biases->real[group];
    const double code = quant_code(m, row, i), far = fabs(x[i]);
    s.sum += x[i] * (code * scale + bias);
    s.size += far * (code * fabs(scale) + fabs(bias));
    codes += far * code;
    plain += far;
  }
  s.widest = fmax(s.size, fmax(codes, plain));
  return s;
}

/* How far off a right f32 sum may be.  Its rounding errors are relative to the size of the parts
** and not of the sum, which may be next to nothing.  Of 800000 random rows of 8 columns the worst
** was 2.4 * 2^-24 of it off; longer rows, whose partial sums are smaller parts of it, are less. */
static inline double quant_slack(quant_sum s) { return 0x1p-22 * s.size; }

/* Fills that the kernels have in common, for the rows of m and the x that slot 0 has.  In the last
** expert's first row: "special": a NaN scale.  "cancel": a product that is next to nothing beside
** its parts.  And "huge": an x of 3e38, which is infinite in f16. */
static inline void quant_edge(const char *how, quant_matrix m, int64_t rows, double *x) {
  if (m.scales->count == 0) return; /* no experts, say */
  const int64_t groups = m.columns / m.group_size, row = m.scales->count / groups - rows;
  const double scale = m.scales->real[row * groups], bias = m.biases->real[row * groups];
  if (strcmp(how, "special") == 0) m.scales->real[row * groups] = NAN;
  if (strcmp(how, "cancel") == 0)
    x[0] -= quant_row(m, row, x).sum / (quant_code(m, row, 0) * scale + bias);
  if (strcmp(how, "huge") == 0) x[0] = 3e38;
}

/* ---- results --------------------------------------------------------------------------------- */

typedef struct quant_value {
  double value; /* by the formula, not rounded */
  double slack; /* a right kernel is no further off */
  bool passes;  /* some partial sum may pass what f32 holds, though the value need not */
} quant_value;

static inline bool quant_passes(quant_sum s) { return s.widest > (double)FLT_MAX; }

/* Kernels add scale * sum(code x) and bias * sum(x), which may be infinities of either sign where
** the formula has a number or an infinity: what is not finite is as good as any there, and so is
** the 0 that a relu makes of one. */
static inline bool quant_right(quant_value v, double got) {
  const double slack = (isfinite(v.slack) ? v.slack : 0) + (double)FLT_MIN;
  if (isnan(v.value)) return isnan(got);
  if (v.passes && (!isfinite(got) || got == 0)) return true;
  if (isinf(got)) return copysign(1, got) * v.value + slack > (double)FLT_MAX;
  return fabs(got - v.value) <= slack;
}

/* The value of output element `at`. */
typedef quant_value quant_element(const ref_call *c, int64_t at);

static inline void quant_reference(const ref_call *c, const char *output, quant_element *element) {
  const ref_tensor *t = ref_find(c, output);
  for (int64_t at = 0; at < t->count; at++) t->real[at] = element(c, at).value;
}

static inline const char *quant_judge(const ref_call *want, const ref_call *got, const char *output,
                                      quant_element *element) {
  static _Thread_local char said[256];
  const ref_tensor *t = ref_find(got, output);
  const int64_t columns = t->shape[1];
  for (int64_t at = 0; at < t->count; at++) {
    const quant_value v = element(want, at);
    if (quant_right(v, t->real[at])) continue;
    snprintf(said, sizeof said, "%s [%lld, %lld] is %.9g, expected %.9g, give or take %.2g", output,
             (long long)(at / columns), (long long)(at % columns), t->real[at], v.value, v.slack);
    return said;
  }
  return NULL;
}

#endif
