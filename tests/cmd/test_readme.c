/* test_readme.c: what README.md shows is what happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above */
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kg.h"
#include "shell.h"

static char readme[65536];

static int read_readme(void **state) {
  (void)state;
  FILE *f = fopen("README.md", "r");
  if (!f) return -1;
  readme[fread(readme, 1, sizeof readme - 1, f)] = 0;
  fclose(f);
  strcpy(folder, "/tmp/kgen-test-readme-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

/* Writes the first fenced block of a language to a file of the folder. */
static void take_block(const char *language, const char *name) {
  char fence[32], path[256];
  snprintf(fence, sizeof fence, "```%s\n", language);
  const char *at = strstr(readme, fence);
  assert_non_null(at);
  at += strlen(fence);
  const char *end = strstr(at, "```");
  assert_non_null(end);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_int_equal(fwrite(at, 1, (size_t)(end - at), f), end - at);
  assert_int_equal(fclose(f), 0);
}

/* `kgen new` brings the reference; the specification and the body are the README's own. */
static void the_specification_shown_gives_the_files_listed(void **state) {
  (void)state;
  assert_int_equal(run(".build/kgen new scale -f @/kernels.lua 2>&1"), 0);
  take_block("lua", "kernels/scale/scale.lua");
  take_block("c++", "kernels/scale/scale.kc");
  if (run(".build/kgen -f @/kernels.lua 2>&1") != 0) fail_msg("%s", said);
  static const char *const files[] = {"metal/scale.metal", "hip/scale.hip", "kernels.h",
                                      "kernels.c",         "kernels.json",  "PORTS.md"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    char path[256];
    if (!strstr(readme, files[i])) fail_msg("README does not list %s", files[i]);
    snprintf(path, sizeof path, "%s/generated/%s", folder, files[i]);
    if (access(path, R_OK) != 0) fail_msg("%s was not made", path);
  }
  assert_int_equal(run("ls @/generated/cuda 2>/dev/null"), 2); /* absent, as it says */
  assert_int_equal(run("cat @/generated/kernels.h"), 0);
  static const char *const names[] = {"scale_ports", "scale_available(", "scale_launch("};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    assert_non_null(strstr(readme, names[i]));
    assert_non_null(strstr(said, names[i]));
  }
}

static void the_kernel_shown_is_right(void **state) {
  (void)state;
  kg_device *device = NULL;
  kg_error error = {0};
  if (kg_device_open("simt64", &device, &error) != KG_OK) {
    print_message("skipped: %s\n", error.message);
    skip();
  }
  kg_device_close(device);
  if (run(".build/kgen run scale T=bf16 n=1000 --device simt64 -f @/kernels.lua 2>&1") != 0)
    fail_msg("%s", said);
}

static void the_matrix_shown_is_the_one_of_kgen_ports(void **state) {
  (void)state;
  assert_int_equal(run(".build/kgen ports 2>&1"), 0);
  char *end = strstr(said, "\n\n"); /* below the matrix: what ports have of their own */
  if (end) end[1] = '\0';
  for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
    char indented[256];
    snprintf(indented, sizeof indented, "\n    %s\n", line);
    if (!strstr(readme, indented)) fail_msg("README does not have the line:\n%s", line);
  }
}

static void every_link_leads_to_a_file(void **state) {
  (void)state;
  int links = 0;
  for (const char *at = readme; (at = strstr(at, "](")) != NULL; links++) {
    char path[256];
    at += 2;
    snprintf(path, sizeof path, "%.*s", (int)strcspn(at, ")#"), at);
    if (access(path, R_OK) != 0) fail_msg("README links to %s, which is not there", path);
  }
  assert_true(links >= 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_specification_shown_gives_the_files_listed),
      cmocka_unit_test(the_kernel_shown_is_right),
      cmocka_unit_test(the_matrix_shown_is_the_one_of_kgen_ports),
      cmocka_unit_test(every_link_leads_to_a_file),
  };
  return cmocka_run_group_tests(tests, read_readme, remove_folder);
}
