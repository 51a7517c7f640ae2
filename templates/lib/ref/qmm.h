/* qmm.h: made-up packed weights of the qmv and gather_qmm kernels, and one weight of them. */
#ifndef QMM_H
#define QMM_H

#include "moe_quant.h"

static inline bool is_mxfp4(const ref_call *c) { return strstr(c->kernel, "mxfp4") != NULL; }

/* Weights that make a row's product with standard normals about 1.  MXFP4's exponents lie within 3
** of each other; "tiny": they are 0 or 1; "nan": one in nine is 255; "huge": they are 253 or 254,
** for an x of about 2^-30. */
static inline void qmm_fill(ref_call *c, const char *how, uint64_t *state) {
  const ref_tensor *w = ref_find(c, "w"), *scales = ref_find(c, "scales");
  const int64_t K = ref_int(c, "K");
  if (!is_mxfp4(c)) {
    quant_fill((quant_matrix){w, scales, ref_find(c, "biases"), ref_int(c, "BITS"), K,
                              ref_int(c, "group_size")},
               state);
    return;
  }
  const int64_t middle = 127 - (int64_t)lround(log2(3 * sqrt((double)K)));
  for (int64_t i = 0; i < w->count; i++) w->whole[i] = (int64_t)(quant_random(state) >> 32);
  for (int64_t i = 0; i < scales->count; i++) {
    const int64_t any = (int64_t)(quant_random(state) % 1008);
    scales->whole[i] = strcmp(how, "tiny") == 0                  ? any % 2
                       : strcmp(how, "huge") == 0                ? 253 + any % 2
                       : strcmp(how, "nan") == 0 && any % 9 == 4 ? 255
                                                                 : middle + any % 4 - 2;
  }
  const ref_tensor *x = ref_find(c, "x");
  for (int64_t i = 0; strcmp(how, "huge") == 0 && i < x->count; i++) x->real[i] *= 0x1p-30;
}

/* Weight k of a row, those of all experts counted through. */
static inline double qmm_weight(const ref_call *c, int64_t row, int64_t k) {
  static const double e2m1[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const ref_tensor *w = ref_find(c, "w"), *scales = ref_find(c, "scales");
  const bool mxfp4 = is_mxfp4(c);
  const int64_t K = ref_int(c, "K"), bits = mxfp4 ? 4 : ref_int(c, "BITS");
  const int64_t size = mxfp4 ? 32 : ref_int(c, "group_size");
  int64_t code = 0;
  for (int64_t b = 0; b < bits; b++) { /* one of 6 bits may lie in two words */
    const int64_t at = k * bits + b;
    code |= (w->whole[row * (K * bits / 32) + at / 32] >> (at % 32) & 1) << b;
  }
  const int64_t group = row * (K / size) + k / size;
  if (!mxfp4) return (double)code * scales->real[group] + ref_find(c, "biases")->real[group];
  const int64_t e = scales->whole[group];
  const double scale = e == 255 ? NAN : ldexp(1, (int)e - 127);
  return (code & 8 ? -1 : 1) * e2m1[code & 7] * scale;
}

/* A row of K weights, for the caller to free. */
static inline double *qmm_row(const ref_call *c, int64_t row) {
  const int64_t K = ref_int(c, "K");
  double *weights = malloc((size_t)K * sizeof *weights);
  if (!weights) abort();
  for (int64_t k = 0; k < K; k++) weights[k] = qmm_weight(c, row, k);
  return weights;
}

static inline double qmm_dot(const double *x, const double *weights, int64_t K) {
  double sum = 0;
  for (int64_t k = 0; k < K; k++) sum += x[k] * weights[k];
  return sum;
}

#endif
