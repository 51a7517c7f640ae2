/* tokenizer.h: text to tokens and back, as GPT-2 and its kin do it: bytes are written as printable
** characters, a text is cut into words, and in each word the pair of neighbours that comes first in
** the list of merges is joined, again and again.
**
** Words are cut as SmolLM2 has it: each digit for itself, then GPT-2's rule: 's 't 're 've 'm 'll
** 'd, or a run of letters or of other signs with a space before it, or white space, whose last is
** left to the word after it.  Classes are exact in ASCII; beyond it, the usual spaces, punctuation,
** symbols and fractions are known and all else counts as letters, which is right for European
** text. */
#ifndef SMOLLM2_TOKENIZER_H
#define SMOLLM2_TOKENIZER_H

#include "gguf.h"

typedef struct tokenizer tokenizer;

/* Tokens that grow; the caller sets it to zeros and frees `ids`. */
typedef struct token_list {
  uint32_t *ids;
  size_t count, room;
} token_list;

kg_status token_list_add(token_list *list, uint32_t token, kg_error *error);

/* tokens[i] is the spelling of token i, in printable characters; control[i] says that it is one of
** those that stand for no text, such as <|im_start|>; merges are "left right".  The texts must
** outlive the tokenizer.  KG_BAD_ARGUMENT: a token is there twice, or a merge is no pair, or makes
** what is no token; KG_OUT_OF_MEMORY. */
kg_status tokenizer_make(const gguf_text *tokens, const bool *control, size_t token_count,
                         const gguf_text *merges, size_t merge_count, tokenizer **t,
                         kg_error *error);

/* From a file's tokenizer.ggml keys; the file must outlive it. */
kg_status tokenizer_read(const gguf_file *file, tokenizer **t, kg_error *error);

void tokenizer_free(tokenizer *t);

/* Adds the tokens of a text, in which no control token is recognised.  KG_BAD_ARGUMENT: a byte has
** no token. */
kg_status tokenizer_encode(const tokenizer *t, const char *text, size_t bytes, token_list *list,
                           kg_error *error);

/* The number of a control token; KG_BAD_ARGUMENT when there is none of this spelling. */
kg_status tokenizer_control(const tokenizer *t, const char *spelling, uint32_t *token,
                            kg_error *error);

/* SmolLM2's template: its system message, the user's one, and the start of the answer. */
kg_status tokenizer_chat(const tokenizer *t, const char *message, token_list *list,
                         kg_error *error);

/* The bytes that a token stands for, none for a control token or one that does not exist, go to
** `bytes`, which has room for `room`.  Returns their number, which may be more than that. */
size_t tokenizer_bytes(const tokenizer *t, uint32_t token, char *bytes, size_t room);

#endif
