/* static.c: what can be said without running or compiling anything: the specification, the
** bodies as libclang reads them, and the ledger.  See verify.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ledger/ledger.h"
#include "verify/verify.h"

/* Of some kernels only: the other rows of the file are not looked at. */
static void check_part(const Verify *v, const char *path, FILE *out) {
  const char *why = NULL;
  const Ledger *old = ledger_read(v->arena, path, &why);
  Ledger *wanted = ledger_wanted(v->arena, v->library);
  if (old == NULL) {
    fprintf(out, "%s: edited: %s; remove it and run 'kgen ledger'\n", path, why);
    return;
  }
  const int stale = ledger_reuse(wanted, old);
  if (stale > 0)
    fprintf(out, "%s: stale: %d of %d rows are of texts that have changed; run 'kgen ledger'\n",
            path, stale, wanted->count);
  ledger_over_budget(v->library, wanted, out);
}

/* Reading the library has found what libclang's passes find; here is the rest. */
/* Each port's text once. */
static void check_hidden(Verify *v) {
  for (int r = 0; r < v->row_count; r++) {
    const VerifyRow *row = &v->rows[r];
    if (row->first != r) continue;
    const Output *port = library_output(v->library, port_file(v->arena, row->kernel, row->port));
    if (row->port->native) continue; /* its frame hides nothing, and its owner may not (E162) */
    const char *fault = hidden_fault(v->arena, row->port->backend->name, port->text);
    if (fault != NULL)
      verify_found(v, VERIFY_STATIC, 0, row->kernel, row->port->backend->name, (VerifyPlace){0},
                   "%s", fault);
  }
}

void verify_static(Verify *v) {
  check_hidden(v);
  if (!verify_wants(v, "ledger")) return;
  const char *path = arena_printf(v->arena, "%s/" LEDGER_FILE, v->output);
  VerifyTool *t = verify_tool(v, VERIFY_STATIC, "ledger", NULL);
  struct stat facts;
  char *said = NULL;
  size_t bytes = 0;
  t->title = LEDGER_FILE;
  if (stat(path, &facts) != 0) {
    t->why = arena_printf(v->arena, "there is no %s; `kgen ledger` makes it", path);
    return;
  }
  FILE *out = open_memstream(&said, &bytes);
  if (out == NULL) exhausted("the text of the faults");
  if (v->part)
    check_part(v, path, out);
  else
    ledger_check(v->arena, v->library, path, "kgen ledger", out);
  fclose(out);
  if (said != NULL && said[0] != 0)
    verify_found(v, VERIFY_STATIC, 0, NULL, NULL, (VerifyPlace){.tool = "ledger"}, "%s", said);
  free(said);
}
