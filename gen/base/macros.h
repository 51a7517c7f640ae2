/* macros.h: names that some platform's headers or compilers define as macros. */
#ifndef KGEN_BASE_MACROS_H
#define KGEN_BASE_MACROS_H

/* Whose it is: "C's headers, as a macro"; NULL: nobody's that is known here.  A name of ours that is
** one would be replaced wherever such a header comes first. */
const char *macro_owner(const char *name);

#endif
