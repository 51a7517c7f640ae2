/* distance.c: see distance.h. */
#include "distance.h"

#include <limits.h>
#include <string.h>

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

int kg_name_distance(const char *x, const char *y) {
  int d[KG_NAME_MOST + 1][KG_NAME_MOST + 1];
  if (*x == 0 || *y == 0 || strlen(x) > KG_NAME_MOST || strlen(y) > KG_NAME_MOST) return INT_MAX;
  const int nx = (int)strlen(x), ny = (int)strlen(y);
  for (int i = 0; i <= nx; i++) d[i][0] = i * KG_NAME_EDIT;
  for (int j = 0; j <= ny; j++) d[0][j] = j * KG_NAME_EDIT;
  for (int i = 1; i <= nx; i++)
    for (int j = 1; j <= ny; j++) {
      const char p = x[i - 1], q = y[j - 1];
      int best = d[i - 1][j - 1] + (p == q ? 0 : lower(p) == lower(q) ? 1 : KG_NAME_EDIT);
      if (d[i - 1][j] + KG_NAME_EDIT < best) best = d[i - 1][j] + KG_NAME_EDIT;
      if (d[i][j - 1] + KG_NAME_EDIT < best) best = d[i][j - 1] + KG_NAME_EDIT;
      if (i > 1 && j > 1 && p == y[j - 2] && x[i - 2] == q && d[i - 2][j - 2] + KG_NAME_EDIT < best)
        best = d[i - 2][j - 2] + KG_NAME_EDIT;
      d[i][j] = best;
    }
  return d[nx][ny];
}
