/* check.c: what `kgen check` says of the ledger.  See ledger.h. */
#include <stdlib.h>
#include <unistd.h>

#include "ledger/ledger.h"

enum { COMPILED_MOST = 200 }; /* rows: half a minute; a check that takes longer is not made */

const char *ledger_roots(void) {
  const char *given = getenv("KGEN_ROCM");
  return given != NULL && given[0] != '\0' ? given : "/var/tmp/kgen-rocm";
}

int ledger_check(Arena *a, const Library *l, const char *path, const char *command, FILE *out) {
  const char *why = NULL;
  if (access(path, F_OK) != 0) return 0;
  const Ledger *old = ledger_read(a, path, &why);
  if (old == NULL) {
    fprintf(out, "%s: edited: %s; remove it and run '%s'\n", path, why, command);
    return 1;
  }
  Ledger *wanted = ledger_wanted(a, l);
  const int stale = ledger_reuse(wanted, old);
  if (stale == 0 && wanted->count == old->count) return ledger_over_budget(l, wanted, out);
  fprintf(out,
          "%s: stale: %d of %d rows are of texts that have changed, %d of its rows are of none; "
          "run '%s'\n",
          path, stale, wanted->count, old->count - (wanted->count - stale), command);
  if (stale > COMPILED_MOST) {
    fprintf(out, "more than %d rows are not compiled here: '%s' does, and shows what has moved\n",
            COMPILED_MOST, command);
    return 1;
  }
  fflush(out); /* before the wait */
  const long jobs = sysconf(_SC_NPROCESSORS_ONLN);
  if (ledger_fill(a, l, wanted, ledger_roots(), jobs > 0 ? (int)jobs : 1, NULL, &why) &&
      ledger_moved(old, wanted, out) == 0)
    fprintf(out, "nothing has moved in the rows that both have\n");
  return 1;
}
