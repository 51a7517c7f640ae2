/* host_cc.h: the host's own C compiler, and folders for what it is given. */
#ifndef HOST_CC_H
#define HOST_CC_H

#include "base/arena.h"
#include "child.h"

/* Runs the first of cc, gcc, clang and clang-19 that is there, with these words (NULL ends them)
** behind its name, in that folder (NULL: here).  single: a constant without a suffix is a float.
** Its name, and *of for kg_child_outcome_free; NULL: there is none, and nothing to free. */
const char *host_cc(const char *const *words, bool single, const char *folder,
                    kg_child_outcome *of);
#define NO_HOST_CC "no C compiler was found (cc, gcc, clang)"

typedef struct HostFile {
  const char *name, *text; /* below the folder or its model/ */
} HostFile;

/* A temporary folder kgen-PURPOSE-... with these files; NULL and *why when there is none. */
const char *host_folder(Arena *a, const char *purpose, const HostFile *files, int count,
                        const char **why);
/* Removes them, what was made beside them, and the folder. */
void host_folder_remove(Arena *a, const char *folder, const HostFile *files, int count,
                        const char *made);

#endif
