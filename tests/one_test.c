/* one_test.c: $KGEN_TEST, a test's name or a pattern of names, leaves all others of a test program
** out, and $KGEN_TEST_NOT those that it names; linked into each of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <stdlib.h>

__attribute__((constructor)) static void leave_the_others_out(void) {
  const char *name = getenv("KGEN_TEST");
  const char *not_this = getenv("KGEN_TEST_NOT");
  if (name != NULL) cmocka_set_test_filter(name);
  if (not_this != NULL) cmocka_set_skip_filter(not_this);
}
