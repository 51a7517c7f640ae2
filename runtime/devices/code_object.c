/* code_object.c: a reader of ELF notes and of as much MessagePack as AMD's metadata uses.  Every
** length is checked against what is left. */
#include "devices/code_object.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

#define NOTE_AMDGPU_METADATA 32
#define MACHINE_AMDGPU 224
#define MAX_DEPTH 16

/* ---- MessagePack ----------------------------------------------------------------------------- */

typedef struct reader {
  const unsigned char *at, *end;
  bool bad;
} reader;

typedef enum kind { NOTHING, NUMBER, TEXT, ARRAY, MAP } kind;

typedef struct item {
  kind kind;
  uint64_t number; /* NUMBER: its value; TEXT: bytes; ARRAY: items; MAP: pairs */
  const char *text;
} item;

static uint64_t big_endian(reader *r, unsigned bytes) {
  uint64_t n = 0;
  if ((size_t)(r->end - r->at) < bytes) {
    r->bad = true;
    return 0;
  }
  while (bytes-- > 0) n = n << 8 | *r->at++;
  return n;
}

static item counted(reader *r, kind k, uint64_t count) {
  const item i = {k, count, (const char *)r->at};
  if (count > (uint64_t)(r->end - r->at))
    r->bad = true; /* an item takes a byte or more */
  else if (k == TEXT)
    r->at += count;
  return i;
}

/* The next item; a map's or an array's items follow it. */
static item next(reader *r) {
  const item nothing = {NOTHING, 0, NULL};
  if (r->bad || r->at == r->end) {
    r->bad = true;
    return nothing;
  }
  const unsigned b = *r->at++;
  if (b <= 0x7f) return (item){NUMBER, b, NULL};
  if (b <= 0x8f) return counted(r, MAP, b & 0x0f);
  if (b <= 0x9f) return counted(r, ARRAY, b & 0x0f);
  if (b <= 0xbf) return counted(r, TEXT, b & 0x1f);
  if (b >= 0xe0) return (item){NUMBER, (uint64_t)(int64_t)(int8_t)b, NULL};
  switch (b) {
  case 0xc0: return nothing; /* nil */
  case 0xc2:
  case 0xc3: return (item){NUMBER, b & 1, NULL}; /* false, true */
  case 0xcc:
  case 0xcd:
  case 0xce:
  case 0xcf: /* unsigned */
  case 0xd0:
  case 0xd1:
  case 0xd2:
  case 0xd3: /* signed; none that is asked for here is negative */
    return (item){NUMBER, big_endian(r, 1u << (b & 3)), NULL};
  case 0xc4:
  case 0xd9: return counted(r, TEXT, big_endian(r, 1)); /* binary is as good as text */
  case 0xc5:
  case 0xda: return counted(r, TEXT, big_endian(r, 2));
  case 0xc6:
  case 0xdb: return counted(r, TEXT, big_endian(r, 4));
  case 0xdc: return counted(r, ARRAY, big_endian(r, 2));
  case 0xdd: return counted(r, ARRAY, big_endian(r, 4));
  case 0xde: return counted(r, MAP, big_endian(r, 2));
  case 0xdf: return counted(r, MAP, big_endian(r, 4));
  default: break; /* floats, extensions: not in this metadata */
  }
  r->bad = true;
  return nothing;
}

static void skip_items(reader *r, item i, int depth) {
  const uint64_t inside = i.kind == ARRAY ? i.number : i.kind == MAP ? 2 * i.number : 0;
  if (inside > 0 && depth == MAX_DEPTH) r->bad = true;
  for (uint64_t n = 0; n < inside && !r->bad; n++) skip_items(r, next(r), depth + 1);
}

static void skip(reader *r) { skip_items(r, next(r), 0); }

static bool text_is(item i, const char *s) {
  return i.kind == TEXT && i.number == strlen(s) && memcmp(i.text, s, strlen(s)) == 0;
}

/* A reader that stands on the value of a key of the map that `map` stands on.  .at is NULL: no
** such key. */
static reader find(reader map, const char *key) {
  const item m = next(&map);
  for (uint64_t n = 0; m.kind == MAP && n < m.number && !map.bad; n++) {
    const item k = next(&map);
    if (text_is(k, key)) return map;
    skip(&map);
  }
  return (reader){NULL, NULL, true};
}

static uint32_t find_number(reader map, const char *key) {
  reader value = find(map, key);
  if (value.at == NULL) return 0;
  const item i = next(&value);
  return i.kind == NUMBER && i.number <= UINT32_MAX ? (uint32_t)i.number : 0;
}

/* ---- the note -------------------------------------------------------------------------------- */

static bool inside(size_t size, uint64_t offset, uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

static reader note_metadata(const unsigned char *notes, uint64_t bytes) {
  for (uint64_t at = 0; bytes - at >= sizeof(Elf64_Nhdr);) {
    Elf64_Nhdr n;
    memcpy(&n, notes + at, sizeof n);
    at += sizeof n;
    const uint64_t name = ((uint64_t)n.n_namesz + 3) & ~3ull,
                   content = ((uint64_t)n.n_descsz + 3) & ~3ull;
    if (name > bytes - at || n.n_descsz > bytes - at - name) break;
    if (n.n_type == NOTE_AMDGPU_METADATA && n.n_namesz == 7 && memcmp(notes + at, "AMDGPU", 7) == 0)
      return (reader){notes + at + name, notes + at + name + n.n_descsz, false};
    if (content > bytes - at - name) break;
    at += name + content;
  }
  return (reader){NULL, NULL, true};
}

static reader find_metadata(const unsigned char *bytes, size_t size) {
  const reader none = {NULL, NULL, true};
  Elf64_Ehdr e;
  if (size < sizeof e) return none;
  memcpy(&e, bytes, sizeof e);
  if (memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 || e.e_ident[EI_CLASS] != ELFCLASS64 ||
      e.e_ident[EI_DATA] != ELFDATA2LSB || e.e_machine != MACHINE_AMDGPU ||
      e.e_phentsize != sizeof(Elf64_Phdr))
    return none;
  for (unsigned i = 0; i < e.e_phnum; i++) {
    Elf64_Phdr p;
    const uint64_t step = (uint64_t)i * sizeof p;
    if (e.e_phoff > size || !inside(size, e.e_phoff + step, sizeof p)) return none;
    memcpy(&p, bytes + e.e_phoff + step, sizeof p);
    if (p.p_type != PT_NOTE || !inside(size, p.p_offset, p.p_filesz)) continue;
    const reader found = note_metadata(bytes + p.p_offset, p.p_filesz);
    if (found.at != NULL) return found;
  }
  return none;
}

/* ---- the facts ------------------------------------------------------------------------------- */

/* "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-" */
static void read_target(reader root, char *target, size_t bytes) {
  reader value = find(root, "amdhsa.target");
  const item i = value.at != NULL ? next(&value) : (item){NOTHING, 0, NULL};
  char whole[160] = "";
  if (i.kind == TEXT && i.number < sizeof whole) memcpy(whole, i.text, (size_t)i.number);
  const char *dashes = strstr(whole, "--");
  snprintf(target, bytes, "%.90s", dashes != NULL ? dashes + 2 : whole);
}

/* Parameters that the compiler adds are hidden_*. */
static uint32_t declared_bytes(reader kernel) {
  reader args = find(kernel, ".args");
  uint32_t end = 0;
  if (args.at == NULL) return 0;
  const item list = next(&args);
  for (uint64_t n = 0; list.kind == ARRAY && n < list.number && !args.bad; n++) {
    reader value = find(args, ".value_kind");
    const item k = value.at != NULL ? next(&value) : (item){NOTHING, 0, NULL};
    const uint32_t to = find_number(args, ".offset") + find_number(args, ".size");
    if (!(k.kind == TEXT && k.number > 7 && memcmp(k.text, "hidden_", 7) == 0) && to > end)
      end = to;
    skip(&args);
  }
  return end;
}

static const struct {
  const char *key;
  size_t offset;
} numbers[] = {
    {".wavefront_size", offsetof(kg_code_object, wave)},
    {".max_flat_workgroup_size", offsetof(kg_code_object, threads)},
    {".group_segment_fixed_size", offsetof(kg_code_object, shared_bytes)},
    {".private_segment_fixed_size", offsetof(kg_code_object, scratch_bytes)},
    {".vgpr_count", offsetof(kg_code_object, vgprs)},
    {".agpr_count", offsetof(kg_code_object, agprs)},
    {".sgpr_count", offsetof(kg_code_object, sgprs)},
    {".vgpr_spill_count", offsetof(kg_code_object, vgpr_spills)},
    {".sgpr_spill_count", offsetof(kg_code_object, sgpr_spills)},
};

kg_status kg_code_object_read(const void *bytes, size_t size, const char *entry,
                              kg_code_object *facts, kg_error *error) {
  memset(facts, 0, sizeof *facts);
  const reader root = find_metadata(bytes, size);
  if (root.at == NULL)
    return kg_fail(error, KG_DEVICE_FAILED, "%s: not a code object with AMD's metadata", entry);
  reader all = root; /* to its end: what is asked of it below then finds what is there */
  skip(&all);
  if (all.bad)
    return kg_fail(error, KG_DEVICE_FAILED,
                   "%s: the code object's metadata is damaged, or nested more than %d deep: too "
                   "deep to be checked",
                   entry, MAX_DEPTH);
  read_target(root, facts->target, sizeof facts->target);

  reader kernels = find(root, "amdhsa.kernels");
  const item list = kernels.at != NULL ? next(&kernels) : (item){NOTHING, 0, NULL};
  for (uint64_t n = 0; list.kind == ARRAY && n < list.number && !kernels.bad; n++) {
    reader name = find(kernels, ".name");
    if (name.at != NULL && text_is(next(&name), entry)) {
      for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const uint32_t value = find_number(kernels, numbers[i].key);
        memcpy((char *)facts + numbers[i].offset, &value, sizeof value);
      }
      facts->argument_bytes = declared_bytes(kernels);
      return KG_OK;
    }
    skip(&kernels);
  }
  return kg_fail(error, KG_DEVICE_FAILED, "the code object for %s has no kernel %s", facts->target,
                 entry);
}
