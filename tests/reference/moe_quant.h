/* moe_quant.h: made-up experts for the references of the packed mixture kernels, and the product of
** one of their rows with a vector. */
#ifndef MOE_QUANT_H
#define MOE_QUANT_H

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
  return (quant_matrix){ref_find(c, name[0]), ref_find(c, name[1]), ref_find(c, name[2]),
                        ref_int(c, "BITS"), columns, ref_int(c, "group_size")};
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
** has one that does not exist, the first past the end and the largest number among them. */
static inline void quant_experts(const ref_call *c, const char *how, uint64_t *state) {
  const ref_tensor *indices = ref_find(c, "indices");
  const int64_t E = ref_int(c, "E");
  for (int64_t k = 0; k < indices->count; k++) {
    indices->whole[k] = k < 2 ? E - 1 : (int64_t)(quant_random(state) % (uint64_t)E);
    if (strcmp(how, "beyond") == 0 && k % 2 == 1)
      indices->whole[k] = k == 1 ? E : k == 3 ? (int64_t)UINT32_MAX : E + k;
  }
}

/* A row, those of all experts counted through, times x: each weight is code * scale + bias, codes
** stand in the row low bits first. */
static inline double quant_row(quant_matrix m, int64_t row, const double *x) {
  double sum = 0;
  for (int64_t i = 0; i < m.columns; i++) {
    int64_t code = 0;
    for (int64_t b = 0; b < m.bits; b++) {
      const int64_t at = i * m.bits + b, word = row * (m.columns * m.bits / 32) + at / 32;
      code |= (m.words->whole[word] >> (at % 32) & 1) << b;
    }
    const int64_t group = row * (m.columns / m.group_size) + i / m.group_size;
    sum += x[i] * ((double)code * m.scales->real[group] + m.biases->real[group]);
  }
  return sum;
}

#endif
