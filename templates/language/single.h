/* single.h: a reference's arithmetic in single precision: see reference.h.  The names of math.h become
** those of their float functions where they are called; a constant is one already (by the compiler's
** option). */
#ifndef KG_SINGLE_H
#define KG_SINGLE_H

#define double float

/* To the nearest integer, ties to even, in whatever direction sums are being rounded: what a
** reference rounds by its meaning is no sum. */
static inline float ref_nearest(float x) {
  if (!(fabsf(x) < 0x1p23f)) return x;
  const float low = floorf(x), over = x - low;
  const int up = over > 0.5f || (over == 0.5f && fmodf(low, 2) != 0);
  return copysignf(up ? low + 1 : low, x);
}

#define acos(x) acosf(x)
#define acosh(x) acoshf(x)
#define asin(x) asinf(x)
#define asinh(x) asinhf(x)
#define atan(x) atanf(x)
#define atanh(x) atanhf(x)
#define cbrt(x) cbrtf(x)
#define ceil(x) ceilf(x)
#define cos(x) cosf(x)
#define cosh(x) coshf(x)
#define erf(x) erff(x)
#define erfc(x) erfcf(x)
#define exp(x) expf(x)
#define exp2(x) exp2f(x)
#define expm1(x) expm1f(x)
#define fabs(x) fabsf(x)
#define floor(x) floorf(x)
#define lgamma(x) lgammaf(x)
#define log(x) logf(x)
#define log10(x) log10f(x)
#define log1p(x) log1pf(x)
#define log2(x) log2f(x)
#define logb(x) logbf(x)
#define nearbyint(x) ref_nearest(x)
#define rint(x) ref_nearest(x)
#define round(x) roundf(x)
#define sin(x) sinf(x)
#define sinh(x) sinhf(x)
#define sqrt(x) sqrtf(x)
#define tan(x) tanf(x)
#define tanh(x) tanhf(x)
#define tgamma(x) tgammaf(x)
#define trunc(x) truncf(x)
#define lrint(x) ((long)ref_nearest(x))
#define llrint(x) ((long long)ref_nearest(x))
#define lround(x) lroundf(x)
#define llround(x) llroundf(x)
#define ilogb(x) ilogbf(x)
#define atan2(x, y) atan2f(x, y)
#define copysign(x, y) copysignf(x, y)
#define fdim(x, y) fdimf(x, y)
#define fmax(x, y) fmaxf(x, y)
#define fmin(x, y) fminf(x, y)
#define fmod(x, y) fmodf(x, y)
#define hypot(x, y) hypotf(x, y)
#define nextafter(x, y) nextafterf(x, y)
#define pow(x, y) powf(x, y)
#define remainder(x, y) remainderf(x, y)
#define ldexp(x, y) ldexpf(x, y)
#define scalbn(x, y) scalbnf(x, y)
#define scalbln(x, y) scalblnf(x, y)
#define frexp(x, y) frexpf(x, y)
#define modf(x, y) modff(x, y)
#define fma(x, y, z) fmaf(x, y, z)
#define remquo(x, y, z) remquof(x, y, z)

#endif
