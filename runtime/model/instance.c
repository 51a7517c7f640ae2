/* instance.c: an instance's name and the text that is compiled for it.
**
** The name is MLX's: custom_kernel_<kernel>, then every dtype and in-key constant in key order.
** Types enter a kernel only as parameters, so all of them are in the name: none can be
** forgotten.  Texts are appended by hand, not by printf, since a name and a block are made on
** every launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kg.h"
#include "model/instance.h"
#include "model/kernel.h"

/* ---- appending to a bounded buffer ---------------------------------------------------------- */

typedef struct Text {
  char *at, *end; /* end: where the NUL goes at the latest */
  bool full;
} Text;

static void put(Text *t, const char *s) {
  const size_t len = strlen(s);
  if (len > (size_t)(t->end - t->at)) {
    t->full = true;
    return;
  }
  memcpy(t->at, s, len + 1);
  t->at += len;
}

static void put_number(Text *t, int64_t value) {
  char digits[24], *d = digits + sizeof digits;
  uint64_t rest = value < 0 ? (uint64_t)0 - (uint64_t)value : (uint64_t)value;
  *--d = 0;
  do *--d = (char)('0' + rest % 10);
  while ((rest /= 10) != 0);
  if (value < 0) *--d = '-';
  put(t, d);
}

/* ---- checks --------------------------------------------------------------------------------- */

static kg_status check_table(const kg_kernel *k, kg_error *error) {
  if (!k) return kg_fail(error, KG_BAD_ARGUMENT, "the instance has no kernel (a null pointer)");
  const kg_status status = kg_version_check(k->version, error);
  if (status) return status;
  if (k->type_count < 0 || k->type_count > KG_MAX_TYPES || k->const_count < 0 ||
      k->const_count > KG_MAX_CONSTS)
    return kg_fail(error, KG_BAD_ARGUMENT, "%s: its table is damaged: %d types, %d constants",
                   k->name, k->type_count, k->const_count);
  return KG_OK;
}

void kg_dtypes_text(const kg_type_param *type, char *text, size_t bytes) {
  Text t = {text, text + bytes - 1, false};
  int left = type->count;
  *text = 0;
  for (int d = 0; d < KG_DTYPES; d++) {
    if (!kg_type_has(type, (kg_dtype)d)) continue;
    if (t.at != text) put(&t, left == 1 ? " or " : ", ");
    put(&t, kg_dtype_name((kg_dtype)d));
    left--;
  }
  if (t.at == text) put(&t, "none");
}

kg_status kg_const_check(const kg_kernel *kernel, int i, int64_t value, kg_error *error) {
  const kg_const_param *const c = &kernel->consts[i];
  for (int v = 0; v < c->count; v++)
    if (c->values[v] == value) return KG_OK;
  char allowed[256];
  Text t = {allowed, allowed + sizeof allowed - 1, false};
  *allowed = 0;
  for (int v = 0; v < c->count; v++) {
    if (v > 0) put(&t, v == c->count - 1 ? " or " : ", ");
    put_number(&t, c->values[v]);
  }
  return kg_fail(
      error, KG_BAD_CONSTANT,
      "%s: the constant %s is %lld, but the kernel is made for %s%s; choose one of these, or add "
      "the value to the specification",
      kernel->name, c->name, (long long)value, allowed, t.full ? " ..." : "");
}

kg_status kg_instance_check(const kg_instance *instance, kg_error *error) {
  kg_status status = check_table(instance->kernel, error);
  if (status) return status;
  const kg_kernel *const k = instance->kernel;
  for (int i = 0; i < k->type_count; i++) {
    const kg_dtype dtype = instance->types[i];
    if (kg_type_has(&k->types[i], dtype)) continue;
    char allowed[KG_DTYPES_BYTES];
    kg_dtypes_text(&k->types[i], allowed, sizeof allowed);
    return kg_fail(error, KG_BAD_DTYPE, "%s: the type %s is %s, but the kernel is made for %s",
                   k->name, k->types[i].name, kg_dtype_name(dtype), allowed);
  }
  for (int i = 0; i < k->const_count && !status; i++)
    status = kg_const_check(k, i, instance->consts[i], error);
  return status;
}

/* ---- name and text -------------------------------------------------------------------------- */

kg_status kg_instance_name(const kg_instance *instance, char name[KG_NAME_BYTES], kg_error *error) {
  if (!instance || !name) {
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_instance_name: %s is a null pointer",
                   instance ? "name" : "instance");
  }
  *name = 0;
  const kg_status status = check_table(instance->kernel, error);
  if (status) return status;
  const kg_kernel *const k = instance->kernel;
  Text t = {name, name + KG_NAME_BYTES - 1, false};
  put(&t, "custom_kernel_");
  put(&t, k->name);
  for (int i = 0; i < k->type_count; i++) {
    if (kg_dtype_bytes(instance->types[i]) == 0) {
      return kg_fail(error, KG_BAD_DTYPE, "%s: the type %s is no dtype (%d)", k->name,
                     k->types[i].name, (int)instance->types[i]);
    }
    put(&t, "_");
    put(&t, kg_dtype_mlx_name(instance->types[i]));
  }
  for (int i = 0; i < k->const_count; i++) {
    if (!k->consts[i].in_key) continue;
    put(&t, "_");
    if (k->consts[i].is_bool)
      put(&t, instance->consts[i] ? "t" : "f");
    else
      put_number(&t, instance->consts[i]);
  }
  if (!t.full) return KG_OK;
  return kg_fail(error, KG_TOO_LARGE, "%s: the instance's name passes %d bytes", k->name,
                 KG_NAME_BYTES - 1);
}

kg_status kg_instance_block(const kg_instance *instance, const kg_port *port, const char *name,
                            char block[KG_BLOCK_BYTES], size_t *bytes, kg_error *error) {
  const kg_kernel *const k = instance->kernel;
  Text t = {block, block + KG_BLOCK_BYTES - 1, false};
  *block = 0;
  put(&t, "#define KG_INSTANCE 1\n#define KG_WAVE ");
  put_number(&t, instance->wave);
  for (int i = 0; i < k->type_count; i++) {
    put(&t, "\n#define KG_T_");
    put(&t, k->types[i].name);
    put(&t, " ");
    put(&t, kg_dtype_name(instance->types[i]));
  }
  for (int i = 0; i < k->const_count; i++) {
    if (!k->consts[i].in_key) continue;
    put(&t, "\n#define KG_C_");
    put(&t, k->consts[i].name);
    put(&t, " ");
    put_number(&t, instance->consts[i]);
  }
  put(&t, "\n#define KG_ENTRY ");
  put(&t, name);
  put(&t, "\n");
  if (port->file) { /* outside the body, compilers then name lines of the committed file */
    put(&t, "#line 1 \"");
    put(&t, port->file);
    put(&t, "\"\n");
  }
  *bytes = (size_t)(t.at - block);
  if (!t.full) return KG_OK;
  return kg_fail(error, KG_TOO_LARGE, "%s: the instance's block of definitions passes %d bytes",
                 k->name, KG_BLOCK_BYTES - 1);
}

kg_status kg_instance_text(const kg_instance *instance, const kg_port *port, char **text,
                           size_t *bytes, kg_error *error) {
  if (text) *text = NULL;
  if (bytes) *bytes = 0;
  if (!instance || !port || !text || !bytes) {
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_instance_text: %s is a null pointer",
                   !instance ? "instance"
                   : !port   ? "port"
                   : !text   ? "text"
                             : "bytes");
  }
  if (!port->text)
    return kg_fail(error, KG_BAD_ARGUMENT, "kg_instance_text: the %s port has no text",
                   port->backend);
  char name[KG_NAME_BYTES], block[KG_BLOCK_BYTES];
  size_t block_bytes;
  kg_status status = kg_instance_name(instance, name, error);
  if (!status) status = kg_instance_block(instance, port, name, block, &block_bytes, error);
  if (status) return status;
  const size_t port_bytes = strlen(port->text);
  char *const all = malloc(block_bytes + port_bytes + 1);
  if (!all) {
    return kg_fail(error, KG_OUT_OF_MEMORY, "%s: no memory for its text of %zu bytes",
                   instance->kernel->name, block_bytes + port_bytes);
  }
  memcpy(all, block, block_bytes);
  memcpy(all + block_bytes, port->text, port_bytes + 1);
  *text = all;
  *bytes = block_bytes + port_bytes;
  return KG_OK;
}
