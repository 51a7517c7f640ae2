/* test_spec.c: what a specification says is read exactly, and what is wrong in it is told exactly.
** tests/bad/spec_* hold one faulty specification each, with the whole of what must be said in
** `expect`; each is laid over the files of tests/bad/spec.  Run from the project's root. */
#include "spec_fixture.h"

/* Names, sizes and times of all below a folder, in order, as a text. */
static void list_folder(Buf *b, const char *folder) {
  struct dirent **names;
  const int n = scandir(folder, &names, NULL, alphasort);
  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    char path[2 * PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", folder, names[i]->d_name);
    if (strcmp(names[i]->d_name, ".") != 0 && strcmp(names[i]->d_name, "..") != 0 &&
        lstat(path, &st) == 0) {
      buf_printf(b, "%s %lld %lld.%09ld\n", path, (long long)st.st_size,
                 (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
      if (S_ISDIR(st.st_mode)) list_folder(b, path);
    }
    free(names[i]);
  }
  free(names);
}

/* ---- tests/bad ------------------------------------------------------------------------------- */

static int is_spec_folder(const struct dirent *e) { return strncmp(e->d_name, "spec_", 5) == 0; }

static int check_bad(const char *name) {
  char folder[] = "/tmp/kgen-bad-XXXXXX", command[PATH_MAX];
  Buf before = {0}, after = {0};
  int wrong = 0;
  assert_non_null(mkdtemp(folder));
  snprintf(command, sizeof command, "cp -R tests/bad/spec/. %s && cp -R tests/bad/%s/. %s", folder,
           name, folder);
  assert_int_equal(system(command), 0);
  assert_non_null(getcwd(root, sizeof root));
  assert_int_equal(chdir(folder), 0);
  Arena *a = arena_new();
  size_t len;
  const char *why, *want = file_read(a, "expect", &len, &why);
  list_folder(&before, ".");
  Loaded l = load("kernels.lua");
  list_folder(&after, ".");
  if (!want || strcmp(want, l.said) != 0) {
    print_error("%s: expected\n%s%s: was said\n%s", name,
                want ? want : "(there is no file `expect`)\n", name, l.said);
    wrong = 1;
  }
  if (diags_errors(l.d) == 0) print_error("%s: no error\n", name), wrong = 1;
  if (strcmp(before.s, after.s) != 0) print_error("%s: something was written\n", name), wrong = 1;
  unload(&l);
  arena_free(a);
  buf_free(&before);
  buf_free(&after);
  assert_int_equal(chdir(root), 0);
  snprintf(command, sizeof command, "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
  return wrong;
}

static void each_bad_specification_says_exactly_what_is_wrong_and_writes_nothing(void **state) {
  (void)state;
  struct dirent **names;
  const int n = scandir("tests/bad", &names, is_spec_folder, alphasort);
  int wrong = 0;
  assert_true(n >= 80);
  for (int i = 0; i < n; i++) {
    wrong += check_bad(names[i]->d_name);
    free(names[i]);
  }
  free(names);
  assert_int_equal(wrong, 0);
}

/* ---- what is read ---------------------------------------------------------------------------- */

static void check_arg(const Kernel *k, int i, const char *name, int type, bool output, int line,
                      int rank) {
  const kg_arg *arg = &k->args[i];
  assert_string_equal(arg->name, name);
  assert_int_equal(arg->type, type);
  assert_int_equal(arg->output, output);
  assert_int_equal(k->arg_line[i], line);
  assert_int_equal(arg->rank, rank);
  for (int d = 0; d < rank; d++) {
    assert_int_equal(arg->shape[d].count, 1);
    assert_int_equal(arg->shape[d].steps[0].op, KG_OP_VAR);
    assert_int_equal(arg->shape[d].steps[0].value, rank == 1 ? 1 : d);
  }
}

static void check_type(const kg_type_param *t, const char *name) {
  assert_string_equal(t->name, name);
  assert_int_equal(t->count, 3);
  assert_int_equal(t->dtypes[0], KG_F32);
  assert_int_equal(t->dtypes[1], KG_F16);
  assert_int_equal(t->dtypes[2], KG_BF16);
}

static void check_expr(kg_expr e, const char *text) { assert_string_equal(e.text, text); }

static void check_ports(const Kernel *k) {
  assert_int_equal(k->port_count, 3);
  for (int i = 0; i < 3; i++) {
    const Port *p = &k->ports[i];
    assert_ptr_equal(p->backend, spec_backends[i]);
    assert_null(p->absent);
    assert_string_equal(p->body, "fused_add_rms_norm.kc");
    assert_false(p->own_body);
    assert_int_equal(p->waves, i == 2 ? 3 : 1); /* hip has both widths, the others 32 */
    check_expr(p->threads[0], "THREADS");
    assert_int_equal(p->define_count, 0);
    assert_null(p->why_defines);
    assert_false(p->mlx_bits);
  }
}

static void the_design_s_example_is_read_field_by_field(void **state) {
  (void)state;
  write_good();
  Loaded l = load("kernels.lua");
  assert_string_equal(l.said, "");
  assert_string_equal(l.spec->file, "kernels.lua");
  assert_string_equal(l.spec->folder, "");
  assert_int_equal(l.spec->read_count, 1);
  assert_string_equal(l.spec->read_files[0], "kernels.lua");
  assert_int_equal(l.spec->kernel_count, 1);
  const Kernel *k = l.spec->kernels[0];
  assert_string_equal(k->name, "fused_add_rms_norm");
  assert_string_equal(k->summary, "Residual add and RMSNorm in one pass over the row.");
  assert_string_equal(k->fallback, "add, then fast::rms_norm");
  assert_string_equal(k->file, "kernels.lua");
  assert_int_equal(k->line, 1);
  assert_string_equal(k->folder, "");
  assert_int_equal(k->type_count, 2);
  check_type(&k->types[0], "T");
  check_type(&k->types[1], "TW");
  assert_int_equal(k->const_count, 1);
  assert_string_equal(k->consts[0].name, "THREADS");
  assert_false(k->consts[0].in_key);
  assert_false(k->consts[0].is_bool);
  assert_int_equal(k->consts[0].count, 1);
  assert_int_equal(k->consts[0].values[0], 256);
  assert_int_equal(k->dim_count, 2);
  assert_string_equal(k->dims[0], "rows");
  assert_string_equal(k->dims[1], "D");
  assert_true(k->dim_max[0] == UINT32_MAX && k->dim_max[1] == UINT32_MAX);
  assert_int_equal(k->arg_count, 5);
  assert_int_equal(k->input_count, 3);
  check_arg(k, 0, "x", 0, false, 6, 2);
  check_arg(k, 1, "residual", 0, false, 7, 2);
  check_arg(k, 2, "weight", 1, false, 8, 1);
  check_arg(k, 3, "normed", 0, true, 12, 2);
  check_arg(k, 4, "new_residual", 0, true, 13, 2);
  assert_int_equal(k->scalar_count, 2);
  assert_string_equal(k->scalars[0].name, "eps");
  assert_string_equal(k->scalars[1].name, "weight_bias");
  assert_int_equal(k->scalars[0].dtype, KG_F32);
  check_expr(k->groups[0], "rows");
  check_expr(k->groups[1], "1");
  check_expr(k->groups[2], "1");
  check_expr(k->threads[0], "THREADS");
  check_expr(k->threads[1], "1");
  assert_int_equal(k->require_count, 1);
  check_expr(k->require[0], "D >= 1");
  assert_int_equal(k->waves, 3);
  check_ports(k);
  assert_true(k->tolerance[KG_F32].rms == 1e-6 && k->tolerance[KG_F32].max == 8e-6);
  assert_true(k->tolerance[KG_F16].rms == 2e-3 && k->tolerance[KG_BF16].rms == 1.6e-2);
  for (int i = 0; i < k->arg_count; i++) assert_false(k->has_out_tolerance[i]);
  assert_string_equal(k->body, "fused_add_rms_norm.kc");
  assert_null(k->reference);
  assert_int_equal(k->case_count, 0);
  assert_int_equal(k->allow_count, 0);
  assert_int_equal(k->budget_count, 0);
  unload(&l);
}

static void check_rich_declarations(const Kernel *k) {
  assert_string_equal(k->types[0].name,
                      "TB"); /* an array keeps its order, though TA is used first */
  assert_string_equal(k->types[1].name, "TA");
  assert_int_equal(k->types[1].count, 2);
  assert_int_equal(k->types[1].dtypes[0], KG_I32);
  assert_int_equal(k->args[0].type, 1);
  assert_int_equal(k->args[2].type, -1);
  assert_int_equal(k->args[2].dtype, KG_U8);
  assert_int_equal(k->args[2].rank, 0);
  assert_int_equal(k->args[1].rank, 4);
  check_expr(k->args[0].shape[2], "(H + 2) * D");
  check_expr(k->args[1].shape[1], "when(LAYOUT == 1, L, H)");
  check_expr(k->args[1].shape[3], "4");
  assert_true(k->dim_max[3] == 65536);
  static const char *const consts[] = {"TRADITIONAL", "LAYOUT", "WIDE", "THREADS",
                                       "ON"}; /* the key's first */
  assert_int_equal(k->const_count, 5);
  for (int i = 0; i < 5; i++) assert_string_equal(k->consts[i].name, consts[i]);
  assert_true(k->consts[0].is_bool && k->consts[0].in_key && k->consts[0].count == 2);
  assert_true(k->consts[0].values[0] == 0 && k->consts[0].values[1] == 1);
  assert_true(k->consts[1].in_key && k->consts[1].values[0] == 1 && k->consts[1].values[1] == 0);
  assert_true(k->consts[4].is_bool && !k->consts[4].in_key && k->consts[4].values[0] == 1);
  assert_true(k->has_out_tolerance[3] && k->out_tolerance[3].rms == 0 &&
              k->out_tolerance[3].max == 0);
  assert_true(k->has_out_tolerance[4] && k->out_tolerance[4].rms == 1 &&
              k->out_tolerance[4].max == 2);
}

static void check_rich_launch(const Kernel *k) {
  static const char *const require[] = {"D >= 2 && D % 2 == 0", "TRADITIONAL || n < 9", "!(B > 8)",
                                        "L != 3", "0 - L <= 1 - L"};
  check_expr(k->groups[0], "ceil_div(D / 2, WIDE)");
  check_expr(k->groups[1], "max(max(B, L), 1)");
  check_expr(k->groups[2], "H % 7");
  assert_int_equal(k->stated_count, 5);
  for (int i = 0; i < 5; i++) check_expr(k->require[i], require[i]);
  assert_int_equal(k->require_count, 6); /* a declared range is a requirement of the launch */
  check_expr(k->require[5], "D <= 65536");
  assert_int_equal(k->waves, 1);
  const Port *metal = &k->ports[0], *cuda = &k->ports[1], *hip = &k->ports[2];
  assert_true(metal->own_body);
  assert_string_equal(metal->body, "other.kc");
  check_expr(metal->threads[0], "THREADS");
  assert_string_equal(cuda->absent, "the graph is as fast");
  assert_string_equal(hip->body, "rich.kc");
  check_expr(hip->threads[0], "64");
  assert_int_equal(hip->waves, 1);
  assert_int_equal(hip->define_count, 2); /* by name */
  assert_string_equal(hip->defines[0].name, "ON");
  assert_true(hip->defines[0].is_bool && hip->defines[0].value == 0);
  assert_string_equal(hip->defines[1].name, "WIDE");
  assert_int_equal(hip->defines[1].value, 2);
  assert_string_equal(hip->why_defines, "fewer registers");
}

static void every_form_of_every_field_is_read(void **state) {
  (void)state;
  write_rich();
  Loaded l = load("kernels.lua");
  assert_string_equal(l.said, "");
  const Kernel *k = l.spec->kernels[0];
  assert_int_equal(k->line, 3);
  assert_int_equal(l.spec->read_count, 2);
  assert_string_equal(l.spec->read_files[1], "lib/types.lua");
  check_rich_declarations(k);
  check_rich_launch(k);
  assert_string_equal(k->reference, "rich.c");
  assert_int_equal(k->case_count, 2);
  const Case *c = &k->cases[0];
  static const int64_t values[] = {1, 2, 3, 4, 1, 0};
  for (int i = 0; i < 6; i++) assert_true(c->given[i] && c->values[i] == values[i]);
  assert_true(!c->given[6] && !c->given[7] && !c->given[8]); /* fixed constants are no case's */
  assert_true(c->given[9] && c->values[9] == 5);
  assert_true(c->given[10] && c->reals[1] == 2.0);
  assert_true(c->given[11] && c->values[11] == -7 && c->reals[2] == -7.0);
  assert_string_equal(c->fill, "ties");
  assert_string_equal(k->cases[1].fill, "");
  assert_true(!k->cases[1].given[4] && k->cases[1].reals[1] != k->cases[1].reals[1]);
  assert_int_equal(k->budget_count, 2);
  assert_string_equal(k->budget[0].name, "vgpr");
  assert_int_equal(k->budget[0].most, 64);
  assert_string_equal(k->budget[1].name, "scratch");
  unload(&l);
}

static void which_values_come_is_read(void **state) {
  (void)state;
  static const char from[] = "{ \"raw\", \"u8\", {} }",
                    to[] = "{ \"raw\", \"u8\", {}, index = const.WIDE * 4 },\n"
                           "{ \"b2\", \"TB\", { \"D\" }, finite = true },\n"
                           "{ \"b3\", \"TB\", { \"D\" }, range = { -0.5, 65504 } },\n"
                           "{ \"a2\", \"TA\", { \"D\" }, range = { 1, 7 } },\n"
                           "{ \"a3\", \"TA\", { \"D\" }, index = \"H\" }";
  write_rich();
  Buf b = {0};
  const char *at = strstr(rich, from);
  buf_put(&b, rich, (size_t)(at - rich));
  buf_puts(&b, to);
  const char *scalars = strstr(at, "{ \"n\", \"u32\" }");
  buf_put(&b, at + strlen(from), (size_t)(scalars - at) - strlen(from));
  buf_puts(&b, "{ \"n\", \"u32\", min = 1, max = 4294967295 }, { \"share\", f32, max = 2.5 }");
  buf_puts(&b, strchr(scalars, '}') + 1);
  write_text("kernels.lua", b.s);
  Loaded l = load("kernels.lua");
  assert_string_equal(l.said, "");
  const Kernel *k = l.spec->kernels[0];
  const ArgDomain *d = &k->domains[2];
  for (int i = 0; i < 2; i++)
    assert_false(k->domains[i].has_index || k->domains[i].has_range || k->domains[i].finite);
  assert_true(d[0].has_index && !d[0].has_range && !d[0].finite);
  check_expr(d[0].index, "WIDE * 4");
  assert_true(d[1].finite && !d[1].has_range);
  assert_true(d[2].finite && d[2].has_range && d[2].low == -0.5 && d[2].high == 65504);
  assert_true(!d[3].finite && d[3].has_range && d[3].low == 1 && d[3].high == 7);
  check_expr(d[4].index, "H");
  const ScalarDomain *s = k->scalar_domains;
  assert_true(s[0].has_min && s[0].min == 1 && s[0].has_max && s[0].max == 4294967295.0);
  assert_true(!s[1].has_min && s[1].has_max && s[1].max == 2.5);
  assert_true(!s[2].has_min && !s[2].has_max);
  assert_int_equal(k->require_count, k->stated_count + 3); /* a launch asks of dims and integers */
  check_expr(k->require[k->stated_count], "D <= 65536");
  check_expr(k->require[k->stated_count + 1], "n >= 1");
  check_expr(k->require[k->stated_count + 2], "n <= 4294967295");
  buf_free(&b);
  unload(&l);
}

/* What chooses between values of Lua's own is no fault: defaults, flags, the same names elsewhere. */
static void lua_s_own_choices_are_left_alone(void **state) {
  (void)state;
  static const char before[] =
      "local wide, D = true, dim.D\n"
      "local rows = dim.rows\n"
      "local function groups(rows, n) return rows or n and dim.rows or dim.D end\n"
      "local function pick(o) o = o or {} return { o.groups or rows, (wide and D) or rows, 1 } "
      "end\n"
      "for i, rows in ipairs { 1, 2 } do local twice = rows and i or 0 end\n"
      "local plain = { 1, 2, rows = 1, [3] = 4, ['a'] = { rows = 2 }, f = function(D)\n"
      "  local rows = 1; rows = D or 2; return { rows = rows, D = 1 } end, D = 3 }\n"
      "if not plain.x and plain.rows == 1 then plain.x = groups(nil, plain) end\n"
      "local threads = wide and const.THREADS or const.THREADS * 2\n"
      "local none = not wide or plain.y -- dim.D:ge(1) and dim.D:ge(2)\n"
      "local function least(a) return max(a, wide and dim.D or 1) end\n";
  Buf b = {0};
  buf_puts(&b, before);
  const char *at = strstr(good, "dim.rows, 1, 1");
  buf_put(&b, good, (size_t)(at - good));
  buf_puts(&b, "least(1), 1, 1");
  const char *require = strstr(at, "dim.D:ge(1)");
  buf_put(&b, at + strlen("dim.rows, 1, 1"), (size_t)(require - at) - strlen("dim.rows, 1, 1"));
  buf_puts(&b, "wide and dim.D:ge(1) or dim.D:ge(2), none and dim.D:ge(3) or nil");
  buf_puts(&b, require + strlen("dim.D:ge(1)"));
  write_text("fused_add_rms_norm.kc", "// body\n");
  write_text("kernels.lua", b.s);
  expect_fine("kernels.lua");
  buf_free(&b);
}

static void paths_and_diagnostics_are_relative_to_the_specification_s_folder(void **state) {
  (void)state;
  assert_int_equal(mkdir("sub", 0777), 0);
  write_text("sub/fused_add_rms_norm.kc", "// body\n");
  write_text("sub/more.lua", "kernel \"more\" {}\n");
  write_text("sub/kernels.lua", good);
  Loaded l = load("sub/kernels.lua");
  assert_string_equal(l.said, "");
  assert_string_equal(l.spec->folder, "sub");
  assert_string_equal(l.spec->kernels[0]->folder, "sub");
  assert_string_equal(l.spec->kernels[0]->body, "fused_add_rms_norm.kc");
  unload(&l);
  write_text("sub/kernels.lua", "include \"more.lua\"\nlocal x = y\n");
  l = load("sub/kernels.lua");
  assert_non_null(
      strstr(l.said, "sub/more.lua:1: error E021: more: the field 'summary' is missing"));
  assert_non_null(strstr(l.said, "sub/kernels.lua:2: error E010: 'y' is not a word"));
  unload(&l);
}

/* Loads it and compares what its kernel's body is with `body`, or what is said with `fault`. */
static void expect_body(const char *spec, const char *body, const char *fault) {
  Loaded l = load(spec);
  assert_string_equal(l.said, fault);
  if (body) assert_string_equal(l.spec->kernels[0]->body, body);
  unload(&l);
}

static void a_body_is_beside_the_file_that_holds_its_kernel(void **state) {
  (void)state;
  static const char folders[][16] = {"top", "top/norm"};
  for (int i = 0; i < 2; i++) assert_int_equal(mkdir(folders[i], 0777), 0);
  write_text("top/kernels.lua", "include \"norm/norm.lua\"\n");
  write_text("top/norm/norm.lua", good);
  expect_body("top/kernels.lua", NULL,
              "top/norm/norm.lua:22: error E072: fused_add_rms_norm: body: there is no file "
              "'fused_add_rms_norm.kc'; looked for top/norm/fused_add_rms_norm.kc and "
              "top/fused_add_rms_norm.kc\n");
  write_text("fused_add_rms_norm.kc", "// above\n"); /* the process's own folder is no place */
  Loaded l = load("top/kernels.lua");
  assert_int_equal(diags_errors(l.d), 1);
  unload(&l);
  write_text("top/fused_add_rms_norm.kc", "// of the specification's folder\n");
  expect_body("top/kernels.lua", "fused_add_rms_norm.kc", "");
  write_text("top/norm/fused_add_rms_norm.kc", "// beside it\n");
  expect_body("top/kernels.lua", "norm/fused_add_rms_norm.kc", "");
  /* the folder goes elsewhere as it is */
  assert_int_equal(rename("top/norm", "top/moved"), 0);
  write_text("top/kernels.lua", "include \"moved/norm.lua\"\n");
  expect_body("top/kernels.lua", "moved/fused_add_rms_norm.kc", "");
  /* a folder of that name beside the kernel is said, and not passed over */
  assert_int_equal(remove("top/moved/fused_add_rms_norm.kc"), 0);
  assert_int_equal(mkdir("top/moved/fused_add_rms_norm.kc", 0777), 0);
  expect_body("top/kernels.lua", NULL,
              "top/moved/norm.lua:22: error E071: fused_add_rms_norm: body: the path "
              "'fused_add_rms_norm.kc' is a directory; a path below the specification's folder is "
              "expected\n");
}

/* ---- the same specification, the same bytes -------------------------------------------------- */

static void dump_exprs(Buf *b, const kg_expr *e, int n) {
  for (int i = 0; i < n; i++) buf_printf(b, " %s", e[i].count ? e[i].text : "-");
  buf_puts(b, "\n");
}

/* All that a kernel holds but its lines. */
static char *dump(Arena *a, const Kernel *k) {
  Buf b = {0};
  buf_printf(&b, "%s|%s|%s|%s|%u\n", k->name, k->summary, k->fallback, k->body, k->waves);
  for (int i = 0; i < k->type_count; i++) {
    buf_printf(&b, "type %s", k->types[i].name);
    for (int j = 0; j < k->types[i].count; j++) buf_printf(&b, " %d", (int)k->types[i].dtypes[j]);
  }
  for (int i = 0; i < k->const_count; i++) {
    buf_printf(&b, "\nconst %s %d %d", k->consts[i].name, k->consts[i].is_bool,
               k->consts[i].in_key);
    for (int j = 0; j < k->consts[i].count; j++)
      buf_printf(&b, " %lld", (long long)k->consts[i].values[j]);
  }
  for (int i = 0; i < k->dim_count; i++)
    buf_printf(&b, "\ndim %s %lld", k->dims[i], (long long)k->dim_max[i]);
  for (int i = 0; i < k->scalar_count; i++)
    buf_printf(&b, "\nscalar %s %d", k->scalars[i].name, (int)k->scalars[i].dtype);
  for (int i = 0; i < k->arg_count; i++) {
    buf_printf(&b, "\narg %s %d %d %d", k->args[i].name, k->args[i].type, (int)k->args[i].dtype,
               k->args[i].output);
    dump_exprs(&b, k->args[i].shape, k->args[i].rank);
  }
  dump_exprs(&b, k->groups, 3);
  dump_exprs(&b, k->threads, 3);
  dump_exprs(&b, k->require, k->require_count);
  for (int i = 0; i < k->port_count; i++) {
    const Port *p = &k->ports[i];
    buf_printf(&b, "port %s %s %s %u", p->backend->name, p->absent ? p->absent : "-", p->body,
               p->waves);
    for (int j = 0; j < p->define_count; j++)
      buf_printf(&b, " %s=%lld", p->defines[j].name, (long long)p->defines[j].value);
    dump_exprs(&b, p->threads, 3);
  }
  for (int i = 0; i < KG_DTYPES; i++)
    buf_printf(&b, "%g %g ", k->tolerance[i].rms, k->tolerance[i].max);
  char *text = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return text;
}

static const char *const parts[] = {
    "summary = 's'",
    "dims = { 'rows', 'D' }",
    "wave = any",
    "fallback = 'f'",
    "body = 'k.kc'",
    "inputs = { { 'x', 'TW', { 'rows', 'D' } }, { 'w', 'T', { 'D' } } }",
    "outputs = { { 'y', 'TZ', { 'rows', 'D' } } }",
    "types = HASH:T = { f32 }|TW = { f32, f16 }|TZ = { bf16 }",
    "consts = HASH:THREADS = 256|A = 1|B = 2|FLAG = true|Z = -1",
    "launch = HASH:groups = { dim.rows, 1, 1 }|threads = { const.THREADS, 1, 1 }",
    "ports = HASH:metal = {}|cuda = absent 'why'|hip = { define = { Z = 5, A = 3 }, why = 'w' }",
    "numerics = HASH:accumulate = f32|tolerance = { f32 = 1, f16 = 2, bf16 = 3 }",
};
enum { PARTS = sizeof parts / sizeof *parts };

static void shuffle(const char **list, int n, uint32_t *seed) {
  for (int i = n - 1; i > 0; i--) {
    const int j = (int)(next_random(seed) % (uint32_t)(i + 1));
    const char *t = list[i];
    list[i] = list[j];
    list[j] = t;
  }
}

/* One field; the entries of a hash are shuffled, and half of the time made one by one through
** assignments. */
static void put_part(Buf *b, Buf *before, Arena *a, const char *part, uint32_t *seed) {
  const char *hash = strstr(part, "HASH:");
  if (!hash) {
    buf_printf(b, "  %s,\n", part);
    return;
  }
  char *entries = arena_strdup(a, hash + 5), *save = NULL;
  const char *list[16];
  int n = 0;
  for (char *e = strtok_r(entries, "|", &save); e; e = strtok_r(NULL, "|", &save)) list[n++] = e;
  shuffle(list, n, seed);
  if (next_random(seed) & 1) {
    buf_printf(b, "  %.*s{", (int)(hash - part), part);
    for (int i = 0; i < n; i++) buf_printf(b, " %s,", list[i]);
    buf_puts(b, " },\n");
    return;
  }
  const int len = (int)strcspn(part, " ");
  buf_printf(before, "local my_%.*s = { gone = 1 }\nmy_%.*s.gone = nil\n", len, part, len, part);
  for (int i = 0; i < n; i++) buf_printf(before, "my_%.*s.%s\n", len, part, list[i]);
  buf_printf(b, "  %.*s = my_%.*s,\n", len, part, len, part);
}

static void the_order_in_which_hash_tables_were_made_changes_nothing(void **state) {
  (void)state;
  char *first = NULL;
  uint32_t seed = 2463534242u;
  write_text("k.kc", "// body\n");
  for (int round = 0; round < 60; round++) {
    Buf before = {0}, b = {0};
    const char *list[PARTS];
    Arena *a = arena_new();
    memcpy(list, parts, sizeof parts);
    if (round) shuffle(list, PARTS, &seed);
    buf_puts(&before, "");
    for (int i = 0; i < PARTS; i++) put_part(&b, &before, a, list[i], &seed);
    buf_printf(&before, "kernel 'k' {\n%s}\n", b.s);
    write_file("kernels.lua", before.s, before.len);
    Loaded l = load("kernels.lua");
    assert_string_equal(l.said, "");
    char *text = dump(l.a, l.spec->kernels[0]);
    if (!first) first = strdup(text);
    assert_string_equal(text, first);
    unload(&l);
    arena_free(a);
    buf_free(&b);
    buf_free(&before);
  }
  /* TW, T, TZ as they are used, the fixed constants by name */
  assert_non_null(strstr(
      first, "type TW 0 1type T 0type TZ 2\nconst A 0 0 1\nconst B 0 0 2\nconst FLAG 1 0 1\n"));
  free(first);
}

/* ---- planted faults, each with a good twin --------------------------------------------------- */

/* The good specification with one piece replaced. */
static void write_changed(const char *from, const char *to) {
  const char *at = strstr(good, from);
  assert_non_null(at);
  Buf b = {0};
  buf_put(&b, good, (size_t)(at - good));
  buf_puts(&b, to);
  buf_puts(&b, at + strlen(from));
  write_text("fused_add_rms_norm.kc", "// body\n");
  write_file("kernels.lua", b.s, b.len);
  buf_free(&b);
}

static void each_check_has_a_twin_that_is_fine(void **state) {
  (void)state;
  static const struct {
    const char *from, *fine, *faulty, *code;
  } twins[] = {
      {"THREADS = 256", "THREADS = 512", "THREADS = 513", "E062"}, /* hip's limit here */
      {"dim.D:ge(1)", "(dim.D * 2):ge(1)", "dim.D * 2", "E055"},
      {"wave    = any", "wave    = 32", "wave    = 16", "E064"},
      {"bf16 = 1.6e-2", "bf16 = 0", "bf16 = -0.1", "E081"},
      {"\"rows\", \"D\" },\n  inputs", "{ \"rows\", max = 4294967295 }, \"D\" },\n  inputs",
       "{ \"rows\", max = 4294967296 }, \"D\" },\n  inputs", "E025"},
      {"cuda = {}", "cuda = absent \"slow\"", "cuda = absent \" \"", "E068"},
      {"hip = {}", "hip = { define = { THREADS = 128 }, why = \"w\" }",
       "hip = { define = { THREADS = 128 } }", "E070"},
      {"\"eps\"", "\"halve\"", "\"half\"", "E031"},
      {"\"eps\"", "\"kgx\"", "\"kg_x\"", "E033"},
      {"\"eps\", \"f32\"", "\"eps\", \"i32\"", "\"eps\", \"i64\"", "E044"},
      {"TW = { f32, f16, bf16 }", "TW = { \"float32\", i8 }", "TW = { \"float33\" }", "E040"},
      {"dim.rows, 1, 1", "dim.rows + const.THREADS, 1, 1", "dim.rows + const.ROWS, 1, 1", "E050"},
  };
  for (size_t i = 0; i < sizeof twins / sizeof *twins; i++) {
    write_changed(twins[i].from, twins[i].fine);
    expect_fine("kernels.lua");
    write_changed(twins[i].from, twins[i].faulty);
    Loaded l = load("kernels.lua");
    if (!strstr(l.said, twins[i].code))
      print_error("%s: expected %s, was said\n%s", twins[i].faulty, twins[i].code, l.said);
    assert_non_null(strstr(l.said, twins[i].code));
    unload(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_bad_specification_says_exactly_what_is_wrong_and_writes_nothing),
      IN_SCRATCH(the_design_s_example_is_read_field_by_field),
      IN_SCRATCH(every_form_of_every_field_is_read),
      IN_SCRATCH(which_values_come_is_read),
      IN_SCRATCH(lua_s_own_choices_are_left_alone),
      IN_SCRATCH(paths_and_diagnostics_are_relative_to_the_specification_s_folder),
      IN_SCRATCH(a_body_is_beside_the_file_that_holds_its_kernel),
      IN_SCRATCH(the_order_in_which_hash_tables_were_made_changes_nothing),
      IN_SCRATCH(each_check_has_a_twin_that_is_fine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
