/* fail.h: the one way to report a failure (status.c). */
#ifndef KG_MODEL_FAIL_H
#define KG_MODEL_FAIL_H

#include "kg.h"

/* Sets *error (may be NULL) and returns status. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
kg_status kg_fail(kg_error *error, kg_status status, const char *format, ...);

#endif
