/* foreign.h: words that people bring from C, CUDA, Metal and MLX, and what stands for them here: the
** nearest spelling would be another word (half is no `all`, isinf no `sin`, clz no `ctz`). */
#ifndef KGEN_BASE_FOREIGN_H
#define KGEN_BASE_FOREIGN_H

typedef struct ForeignWord {
  const char *word;
  const char *ours;    /* the one word for it; NULL: there is none */
  const char *instead; /* what to write where there is none */
} ForeignWord;

const ForeignWord *foreign_word(const char *word); /* NULL: it is none of them */

#endif
