/* remarks.c: what is not wrong and is worth knowing: see verify.h. */
#include <math.h>
#include <stdarg.h>

#include "verify/verify.h"

/* A bound is loose that is so many times what was seen, and what one rounding of its dtype is.
** Sums of f32 grow with their terms, of which cases have few; 16 bits are rounded once. */
static double loose_from(kg_dtype dtype) { return kg_dtype_bytes(dtype) < 4 ? 20 : 200; }

void verify_remark(Verify *v, const Kernel *k, const char *format, ...) {
  va_list args;
  pthread_mutex_lock(&v->lock);
  GROW(v->arena, v->remarks, v->remark_count, v->remark_room);
  va_start(args, format);
  v->remarks[v->remark_count++] = (VerifyRemark){k->name, arena_vprintf(v->arena, format, args)};
  va_end(args);
  pthread_mutex_unlock(&v->lock);
}

/* Made cases that the reference cannot compute show nothing. */
static void dropped(Verify *v, int kernel) {
  const ProbesSeen *p = &v->probes_seen[kernel];
  if (p->dropped == 0) return;
  verify_remark(v, v->library->spec->kernels[kernel],
                "%d of %d made cases were not tried, as the reference does not compute them; the "
                "first: %s: %s",
                p->dropped, p->made, p->first, p->why);
}

static bool same_bound(const VerifyRow *a, const VerifyRow *b) {
  return a->kernel_index == b->kernel_index && a->inexact && b->inexact && a->dtype == b->dtype &&
         a->tolerance == b->tolerance;
}

/* The largest error of a kernel's rows that are held to this bound of this dtype. */
static double worst_error(const Verify *v, const VerifyRow *like) {
  double worst = 0;
  for (int i = 0; i < v->row_count; i++)
    if (same_bound(&v->rows[i], like)) worst = fmax(worst, v->rows[i].error);
  return worst;
}

static bool is_first_of_bound(const Verify *v, const VerifyRow *row) {
  for (const VerifyRow *r = v->rows; r < row; r++)
    if (same_bound(r, row)) return false;
  return true;
}

static void loose(Verify *v, const VerifyRow *row) {
  if (!row->inexact || !is_first_of_bound(v, row)) return;
  const double worst = worst_error(v, row),
               rounding = ldexp(1, -1 - kg_dtype_info(row->dtype)->fraction);
  if (row->tolerance <= loose_from(row->dtype) * fmax(worst, rounding)) return;
  if (worst > 0)
    verify_remark(v, row->kernel,
                  "the tolerance of %s, %.2g, is %.3g times the worst error seen, %.2g: faults of "
                  "that size pass",
                  kg_dtype_name(row->dtype), row->tolerance, row->tolerance / worst, worst);
  else
    verify_remark(v, row->kernel,
                  "the tolerance of %s is %.2g and no error was seen: faults of that size pass",
                  kg_dtype_name(row->dtype), row->tolerance);
}

/* One of an owner's text, however many instances. */
static void differs(Verify *v, const VerifyRow *row) {
  for (const VerifyRow *r = &v->rows[row->first]; r < row; r++)
    if (r->differs != NULL) return;
  if (row->differs != NULL)
    verify_remark(v, row->kernel,
                  "within the tolerance, a native text and one of kgen's say it in other bits: %s",
                  row->differs);
}

void verify_remarks(Verify *v) {
  for (int i = 0; i < v->row_count; i++) differs(v, &v->rows[i]);
  for (int i = 0; i < v->library->spec->kernel_count; i++) dropped(v, i);
  for (int i = 0; i < v->row_count; i++) loose(v, &v->rows[i]);
}
