/* text.h: sentences put together in a buffer of fixed size; what does not fit is cut. */
#ifndef KG_SIMT_TEXT_H
#define KG_SIMT_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

typedef struct Text {
  char *at;
  size_t left; /* bytes with the NUL, at least one */
} Text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline void
put(Text *text, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const int count = vsnprintf(text->at, text->left, format, args);
  va_end(args);
  if (count < 0) return;
  const size_t taken = (size_t)count < text->left ? (size_t)count : text->left - 1;
  text->at += taken, text->left -= taken;
}

#endif
