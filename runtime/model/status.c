/* status.c: the statuses in words, and the one way to report a failure.
**
** A status is a row of the table; the sentence that goes with it is written where the failure is
** found, by kg_fail. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "device.h"

static const char *const status_names[KG_STATUSES] = {
    [KG_OK] = "ok",
    [KG_BAD_ARGUMENT] = "bad argument",
    [KG_BAD_DTYPE] = "bad dtype",
    [KG_BAD_RANK] = "bad rank",
    [KG_BAD_SHAPE] = "bad shape",
    [KG_NOT_CONTIGUOUS] = "not contiguous",
    [KG_ALIASED] = "aliased",
    [KG_BAD_CONSTANT] = "bad constant",
    [KG_REQUIRE_FAILED] = "requirement failed",
    [KG_TOO_LARGE] = "too large",
    [KG_NO_PORT] = "no port",
    [KG_BAD_WIDTH] = "bad wavefront width",
    [KG_LIMIT] = "over a device limit",
    [KG_WRONG_DEVICE] = "wrong device",
    [KG_BAD_TARGET] = "unknown target",
    [KG_NO_COMPILER] = "no compiler",
    [KG_COMPILE_FAILED] = "compilation failed",
    [KG_NO_DEVICE] = "no device",
    [KG_DEVICE_FAILED] = "device failed",
    [KG_OUT_OF_MEMORY] = "out of memory",
    [KG_BAD_VERSION] = "other version",
};

const char *kg_status_name(kg_status status) {
  const unsigned s = (unsigned)status;
  return s < KG_STATUSES && status_names[s] ? status_names[s] : "unknown status";
}

/* A cut message must still be valid UTF-8 and show that it was cut. */
static void mark_cut(char *text, size_t bytes) {
  size_t end = bytes - 1 - 3;
  while (end > 0 && ((unsigned char)text[end] & 0xc0u) == 0x80u) end--;
  memcpy(text + end, "...", 4);
}

kg_status kg_fail(kg_error *error, kg_status status, const char *format, ...) {
  if (!error) return status;
  char text[sizeof error->message]; /* apart, as an argument may be the old message itself */
  va_list args;
  va_start(args, format);
  const int written = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (written < 0)
    text[0] = 0;
  else if ((size_t)written >= sizeof text)
    mark_cut(text, sizeof text);
  error->status = status;
  memcpy(error->message, text, strlen(text) + 1);
  return status;
}

const char *kg_first_error(const char *log) {
  const char *e = log != NULL ? strstr(log, "error:") : NULL;
  while (e != NULL && e > log && e[-1] != '\n') e--;
  return e != NULL ? e : log != NULL ? log : "";
}
