/* mlx.h: what the two files for MLX are written with alike (mlx_cpp.c, mlx_python.c). */
#ifndef TABLES_MLX_H
#define TABLES_MLX_H

#include "tables/tables.h"

typedef enum MlxLanguage { MLX_CPP, MLX_PYTHON } MlxLanguage;

/* An expression of the specification in one of them: over C++'s variables, or over Python's v["n"]. */
const char *mlx_expr(Arena *a, const Kernel *k, const kg_expr *e, MlxLanguage language);
/* "float32"; NULL: MLX has no such dtype. */
const char *mlx_dtype(kg_dtype dtype);
/* A text that MLX is given, as a literal that nothing inside it ends. */
void put_mlx_literal(Buf *b, const char *text, MlxLanguage language);
/* A type that no input has, so that the caller says it. */
bool mlx_type_is_given(const Kernel *k, int type);
/* The kernel's ports that MLX takes. */
typedef struct MlxPorts {
  bool there[MAX_BACKENDS];
  MlxPort ports[MAX_BACKENDS];
} MlxPorts;
MlxPorts mlx_ports(Arena *a, const Library *l, int kernel);

/* The two files.  fixed: templates/mlx/ports.h, module.py; wanted: by kernel.  NULL with *why: what a
** graph's file lacks. */
char *emit_mlx_cpp(Arena *a, const Library *l, const char *fixed, const bool *wanted,
                   const char **why);
char *emit_mlx_python(Arena *a, const Library *l, const char *fixed, const bool *wanted,
                      const char **why);

#endif
