/* one_test.c: $KGEN_TEST, a test's name or a pattern of names, leaves all others of a test program
** out; linked into each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_the_others_out(void) {
  const char *name = getenv("KGEN_TEST");
  if (name != NULL) cmocka_set_test_filter(name);
}
