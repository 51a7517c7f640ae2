#include "reference.h"
void reference(ref_call *c) {
  const int64_t T = ref_int(c, "THREADS"), rows = ref_int(c, "rows");
  const double *x = ref_find(c, "x")->real;
  double *y = ref_find(c, "y")->real;
  int64_t *z = ref_find(c, "z")->whole;
  for (int64_t r = 0; r < rows; r++, x += T, y += T * 16, z += T * 8) {
    double sum = 0, big = -1e30, small = 1e30, bign = -1e30, bigq = -1e30;
    int64_t isum = 0, ibig = -1000000, ismall = 1000000, inan = 0;
    for (int64_t i = 0; i < T; i++) {
      sum += x[i];
      big = fmax(big, x[i]);
      if (i % 5) small = fmin(small, x[i]);
      const int64_t w = (int64_t)((float)x[i] * 100.0f);
      isum += w;
      if (w > ibig) ibig = w;
      if (w < ismall) ismall = w;
      if (i % 3 && x[i] > bign) bign = x[i], inan = i;
      if (i % 5 && 2 * i >= T && x[i] > bigq) bigq = x[i];
    }
    double scan = 0;
    int64_t iscan = 0;
    for (int64_t i = 0; i < T; i++) {
      double *o = y + i * 16;
      int64_t *p = z + i * 8;
      scan += x[i];
      iscan += (int64_t)((float)x[i] * 100.0f) + 1000;
      o[0] = sum;
      o[1] = big;
      o[2] = small;
      o[3] = scan;
      o[4] = big;
      o[5] = 6;
      o[6] = bign;
      o[7] = (double)isum;
      o[8] = (double)ibig;
      o[9] = (double)ismall;
      o[10] = 3 * sum + 3.0 * (double)T;
      o[11] = 1;
      o[12] = 0;
      o[13] = 1;
      o[14] = bigq;
      o[15] = 1;
      p[0] = 6;
      p[1] = inan;
      p[2] = 4294967295;
      p[3] = isum + 1000 * T;
      p[4] = iscan;
      p[5] = ibig + 1000;
      p[6] = ismall + 1000;
      p[7] = 1;
    }
  }
}
