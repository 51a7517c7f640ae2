/* output.c: puts a run's texts into the output folder, and says whether they are there.
**
** All or nothing: every changed text is written to a temporary file beside its place and forced
** to disk before the first is renamed.  Until then any failure, and any signal that ends the
** process, leaves the folder as it was; what a killed process leaves behind are temporaries,
** which the next run removes.  Runs on one folder wait for each other.
**
** A text carries its own content hash, so a file that someone edited can be told from one that
** is merely out of date, and a file of kgen's that nothing gives any more from one that kgen
** never wrote. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "tables/output.h"
#include "tables/tables.h"

/* ---- what is in the folder ------------------------------------------------------------------ */

typedef enum State { SAME, MISSING, STALE, EDITED, IN_THE_WAY } State;

typedef struct Found {
  State state;
  mode_t mode;
  const char *why;
} Found; /* why: what is in the way */

static const char *kind_text(mode_t mode) {
  return S_ISDIR(mode) ? "a directory is in the way"
                       : "something that is no regular file is in the way";
}

/* NULL with errno: it cannot be read.  That there is no room for it says nothing of the file. */
static char *read_output(const char *path, size_t *len) {
  char *text = kg_read_file(path, len);
  if (!text && errno == ENOMEM) exhausted("no room to read %s", path);
  return text;
}

static Found look(const char *path, const Output *o) {
  struct stat s;
  if (lstat(path, &s) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return (Found){MISSING, 0666, NULL}; /* what is there shows on writing */
    return (Found){IN_THE_WAY, 0, strerror(errno)};
  }
  if (S_ISLNK(s.st_mode)) { /* one that leads nowhere is as good as none; others are followed */
    if (stat(path, &s) != 0) return (Found){MISSING, 0666, NULL};
  }
  if (!S_ISREG(s.st_mode)) return (Found){IN_THE_WAY, 0, kind_text(s.st_mode)};
  size_t len;
  char *text = read_output(path, &len);
  if (!text) return (Found){IN_THE_WAY, 0, strerror(errno)};
  const bool same = len == o->len && memcmp(text, o->text, len) == 0;
  const State state = same ? SAME : content_holds(text, len) ? STALE : EDITED;
  free(text);
  return (Found){state, s.st_mode & 0777, NULL};
}

typedef struct Walk { /* files under the output folder, as paths below it */
  Arena *a;
  const char *folder;
  int count, room;
  const char **list;
} Walk;

static void walk_add(Walk *w, const char *path) {
  GROW(w->a, w->list, w->count, w->room);
  w->list[w->count++] = path;
}

/* Temporaries are .NAME.kgen-PID; other hidden files are nobody's business here. */
static bool is_temporary(const char *name) {
  const char *mark = strstr(name, ".kgen-");
  if (name[0] != '.' || !mark || mark == name) return false;
  mark += strlen(".kgen-");
  return *mark && mark[strspn(mark, "0123456789")] == 0;
}

/* The entries of one folder: files to w, folders to `inner`. */
static void look_into(Walk *w, Walk *inner, const char *below, bool temporaries) {
  const char *path = *below ? arena_printf(w->a, "%s/%s", w->folder, below) : w->folder;
  /* another specification's output folder, when this one's is above it, is none of our business */
  if (*below && access(arena_printf(w->a, "%s/kernels.json", path), F_OK) == 0) return;
  DIR *dir = opendir(path);
  if (!dir) return;
  for (struct dirent *e; (e = readdir(dir)) != NULL;) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    const char *name =
        *below ? arena_printf(w->a, "%s/%s", below, e->d_name) : arena_strdup(w->a, e->d_name);
    struct stat s;
    if (lstat(arena_printf(w->a, "%s/%s", w->folder, name), &s) != 0) continue;
    if (S_ISDIR(s.st_mode) && e->d_name[0] != '.')
      walk_add(inner, name);
    else if (!S_ISDIR(s.st_mode) && (temporaries ? is_temporary(e->d_name) : e->d_name[0] != '.'))
      walk_add(w, name);
  }
  closedir(dir);
}

static void walk(Walk *w, bool temporaries) {
  Walk inner = {.a = w->a};
  look_into(w, &inner, "", temporaries);
  for (int i = 0; i < inner.count; i++) look_into(w, &inner, inner.list[i], temporaries);
}

static int by_text(const void *x, const void *y) {
  return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* What other commands of kgen's write into the folder. */
static const char *const others[] = {"ledger.json"};
enum { OTHERS = sizeof others / sizeof *others };

/* Files that no output accounts for, sorted. */
static Walk orphans(Arena *a, const Library *l, const char *folder) {
  Walk all = {.a = a, .folder = folder};
  walk(&all, false);
  const char **known = arena_alloc(a, (size_t)(l->output_count + OTHERS) * sizeof *known);
  int known_count = 0;
  for (int i = 0; i < l->output_count; i++) known[known_count++] = l->outputs[i].path;
  for (int i = 0; i < OTHERS; i++) known[known_count++] = others[i];
  qsort(known, (size_t)known_count, sizeof *known, by_text);
  int kept = 0;
  for (int i = 0; i < all.count; i++)
    if (!bsearch(&all.list[i], known, (size_t)known_count, sizeof *known, by_text))
      all.list[kept++] = all.list[i];
  all.count = kept;
  if (kept) qsort(all.list, (size_t)kept, sizeof *all.list, by_text);
  return all;
}

/* A file that kgen wrote and nobody touched since. */
static bool is_own(const char *path) {
  struct stat s;
  size_t len;
  char *text = lstat(path, &s) == 0 && S_ISREG(s.st_mode) ? read_output(path, &len) : NULL;
  const bool own = text && content_holds(text, len) && memmem(text, len, "kgen", 4);
  free(text);
  return own;
}

static const char *joined(Arena *a, const char *folder, const char *path) {
  return arena_printf(a, "%s/%s", folder, path);
}

/* For a shell. */
const char *quoted(Arena *a, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:@%,";
  if (*word && word[strspn(word, plain)] == 0) return word;
  Buf b = {0};
  buf_puts(&b, "'");
  for (; *word; word++) {
    if (*word == '\'')
      buf_puts(&b, "'\\''");
    else
      buf_put(&b, word, 1);
  }
  buf_puts(&b, "'");
  const char *s = arena_strndup(a, b.s, b.len);
  buf_free(&b);
  return s;
}

/* ---- check ---------------------------------------------------------------------------------- */

int outputs_check(const Library *l, const char *folder, const char *command, FILE *to) {
  Arena *a = arena_new();
  const char *spec = path_from_spec(l->spec, l->spec->file);
  int findings = 0;
  for (int i = 0; i < l->output_count; i++) {
    const Output *o = &l->outputs[i];
    const char *path = joined(a, folder, o->path);
    const Found f = look(path, o);
    findings += f.state != SAME;
    switch (f.state) {
    case SAME: break;
    case MISSING: fprintf(to, "%s: missing; from %s; run '%s'\n", path, o->from, command); break;
    case STALE:
      fprintf(to, "%s: stale: another text is due; from %s; run '%s'\n", path, o->from, command);
      break;
    case EDITED:
      fprintf(to, "%s: edited: not as kgen wrote it; from %s (make the change there); run '%s'\n",
              path, o->from, command);
      break;
    case IN_THE_WAY:
      fprintf(to, "%s: missing: %s (move it); from %s; run '%s'\n", path, f.why, o->from, command);
      break;
    }
  }
  const Walk extra = orphans(a, l, folder);
  for (int i = 0; i < extra.count; i++) {
    const char *path = joined(a, folder, extra.list[i]);
    if (is_own(path))
      fprintf(to, "%s: orphan: nothing in %s gives it any more; run '%s'\n", path, spec, command);
    else
      fprintf(
          to,
          "%s: orphan: no file of kgen's, or edited since (move it if it is wanted); run 'rm %s'\n",
          path, quoted(a, path));
  }
  findings += extra.count;
  arena_free(a);
  return findings;
}

/* ---- write ---------------------------------------------------------------------------------- */

static const int ending_signal[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_SIGNALS = sizeof ending_signal / sizeof *ending_signal };

typedef struct Staged {
  const char *path, *temporary;
  int fd;
  const char *word;
} Staged;

typedef struct Stage {
  Arena *a;
  Diags *d;
  const char *folder;
  int count;
  Staged *list;
  int made_count; /* folders that were not there */
  const char **made;
} Stage;

static bool refuse(Stage *s, const char *path, const char *why) {
  diag_add(s->d, (Place){path, 0, 0}, D_OUTPUT, why);
  return false;
}

/* mkdir -p.  made: those that were not there, or NULL.  The folder that cannot be, with *why; else
** NULL. */
static const char *folders_made(Arena *a, const char *path, const char **made, int *made_count,
                                const char **why) {
  for (const char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
    const char *part = slash ? arena_strndup(a, path, (size_t)(slash - path)) : path;
    struct stat st;
    if (mkdir(part, 0777) == 0) {
      if (made) made[(*made_count)++] = part;
    } else if (errno != EEXIST) {
      *why = strerror(errno);
      return part;
    } else if (stat(part, &st) != 0 || !S_ISDIR(st.st_mode)) {
      *why = "a folder is needed there, and it is a file";
      return part;
    }
    if (!slash) return NULL;
  }
}

static bool make_folders(Stage *s, const char *path) {
  const char *why, *failed = folders_made(s->a, path, s->made, &s->made_count, &why);
  return !failed || refuse(s, failed, why);
}

bool output_folder(const char *path, const char **why) {
  Arena *a = arena_new();
  const bool made = !folders_made(a, path, NULL, NULL, why);
  arena_free(a);
  return made;
}

static const char *folder_of(Arena *a, const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? arena_strndup(a, path, (size_t)(slash - path)) : ".";
}

static bool stage_one(Stage *s, const Output *o, const char *path, const Found *f) {
  const char *folder = folder_of(s->a, path), *slash = strrchr(path, '/');
  if (f->state == IN_THE_WAY) return refuse(s, path, f->why);
  if (!make_folders(s, folder)) return false;
  Staged *t = &s->list[s->count];
  t->path = path;
  t->word = f->state == EDITED ? "wrote (over an edited one)" : "wrote";
  t->temporary =
      arena_printf(s->a, "%s/.%s.kgen-%ld", folder, slash ? slash + 1 : path, (long)getpid());
  t->fd = open(t->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (t->fd < 0) return refuse(s, path, strerror(errno));
  s->count++;
  if (f->state != MISSING)
    (void)!fchmod(t->fd, f->mode); /* a folder that keeps no modes is no reason to stop */
  if (!kg_write_all(t->fd, o->text, o->len)) return refuse(s, path, strerror(errno));
  return true;
}

/* SIGINT and the like wait until the folder is in order; they are asked for between files. */
static bool interrupted(void) {
  sigset_t pending;
  struct sigaction how;
  if (sigpending(&pending) != 0) return false;
  for (int i = 0; i < ENDING_SIGNALS; i++) {
    const bool waits = sigismember(&pending, ending_signal[i]) == 1;
    if (waits && sigaction(ending_signal[i], NULL, &how) == 0 && how.sa_handler != SIG_IGN)
      return true;
  }
  return false;
}

static bool stage_all(Stage *s, const Library *l) {
  for (int i = 0; i < l->output_count; i++) {
    const char *path = joined(s->a, s->folder, l->outputs[i].path);
    const Found f = look(path, &l->outputs[i]);
    if (f.state == SAME) continue;
    if (!stage_one(s, &l->outputs[i], path, &f)) return false;
    if (interrupted()) return refuse(s, path, "interrupted");
  }
  for (int i = 0; i < s->count;
       i++) { /* all are written, so the first fsync takes most of the rest along */
    const int synced = fsync(s->list[i].fd), error = errno, closed = close(s->list[i].fd);
    s->list[i].fd = -1;
    if (synced != 0 && error != EINVAL) return refuse(s, s->list[i].path, strerror(error));
    if (closed != 0) return refuse(s, s->list[i].path, strerror(errno));
    if (interrupted()) return refuse(s, s->list[i].path, "interrupted");
  }
  return true;
}

/* Takes back what is staged from number `from` on, and the folders that were made for it. */
static void unstage(Stage *s, int from) {
  for (int i = from; i < s->count; i++) {
    if (s->list[i].fd >= 0) close(s->list[i].fd);
    unlink(s->list[i].temporary);
  }
  for (int i = s->made_count; i-- > 0;) rmdir(s->made[i]); /* only empty ones go */
}

static void sync_folder(const char *path) {
  const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

static bool put_in_place(Stage *s, FILE *log) {
  for (int i = 0; i < s->count; i++) {
    if (rename(s->list[i].temporary, s->list[i].path) != 0) {
      diag_add(s->d, (Place){s->list[i].path, 0, 0}, D_OUTPUT_RENAME, strerror(errno));
      unstage(s, i);
      return false;
    }
    if (log) fprintf(log, "%s %s\n", s->list[i].word, s->list[i].path);
  }
  const char *last = "";
  for (int i = 0; i < s->count; i++) { /* outputs of one folder stand together */
    const char *folder = folder_of(s->a, s->list[i].path);
    if (strcmp(folder, last) != 0) sync_folder(folder);
    last = folder;
  }
  return true;
}

static int remove_orphans(Arena *a, const Library *l, const char *folder, FILE *log) {
  const Walk extra = orphans(a, l, folder);
  int removed = 0;
  for (int i = 0; i < extra.count; i++) {
    const char *path = joined(a, folder, extra.list[i]);
    if (!is_own(path) || unlink(path) != 0) continue;
    if (log) fprintf(log, "removed %s (nothing gives it any more)\n", path);
    if (strchr(extra.list[i], '/'))
      rmdir(folder_of(a, path)); /* goes when it was the last one there */
    removed++;
  }
  return removed;
}

/* The folder's lock, held while it is open; -1 where the file system has none.  Under it,
** temporaries are of dead runs. */
static int lock_folder(Arena *a, const char *folder) {
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return -1;
  if (flock(fd, LOCK_EX) != 0) {
    close(fd);
    return -1;
  }
  Walk left = {.a = a, .folder = folder};
  walk(&left, true);
  for (int i = 0; i < left.count; i++) unlink(joined(a, folder, left.list[i]));
  return fd;
}

static int write_outputs(const Library *l, const char *folder, FILE *log, bool remove, Diags *d) {
  Arena *a = arena_new();
  Stage s = {.a = a, .d = d, .folder = folder};
  size_t parts = 2;
  for (const char *p = folder; *p; p++) parts += *p == '/';
  s.list = arena_alloc(a, (size_t)(l->output_count + 1) * sizeof *s.list);
  s.made = arena_alloc(a, ((size_t)l->output_count * 2 + parts) * sizeof *s.made);

  sigset_t ending, before;
  sigemptyset(&ending);
  for (int i = 0; i < ENDING_SIGNALS; i++) sigaddset(&ending, ending_signal[i]);
  sigprocmask(SIG_BLOCK, &ending, &before);

  int changed = -1;
  if (make_folders(&s, folder)) {
    const int lock = lock_folder(a, folder);
    if (!stage_all(&s, l))
      unstage(&s, 0);
    else if (put_in_place(&s, log))
      changed = s.count + (remove ? remove_orphans(a, l, folder, log) : 0);
    if (lock >= 0) close(lock);
  } else {
    unstage(&s, 0);
  }
  sigprocmask(SIG_SETMASK, &before, NULL); /* a signal that waited ends the process here */
  arena_free(a);
  return changed;
}

int outputs_write(const Library *l, const char *folder, FILE *log, Diags *d) {
  return write_outputs(l, folder, log, true, d);
}

int outputs_write_some(const Library *l, const char *folder, Diags *d) {
  return write_outputs(l, folder, NULL, false, d);
}

bool output_file(const char *path, const char *text, size_t len, const char **why) {
  Arena *a = arena_new();
  const char *slash = strrchr(path, '/');
  const char *temporary = arena_printf(a, "%s/.%s.kgen-%ld", folder_of(a, path),
                                       slash ? slash + 1 : path, (long)getpid());
  const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  bool done = fd >= 0 && kg_write_all(fd, text, len);
  if (!done) *why = strerror(errno);
  if (fd >= 0 && close(fd) != 0 && done) {
    *why = strerror(errno);
    done = false;
  }
  if (done && rename(temporary, path) != 0) {
    *why = strerror(errno);
    done = false;
  }
  if (!done && fd >= 0) unlink(temporary);
  arena_free(a);
  return done;
}

const Output *library_output(const Library *l, const char *path) {
  for (int i = 0; i < l->output_count; i++)
    if (l->outputs[i].path && strcmp(l->outputs[i].path, path) == 0) return &l->outputs[i];
  return NULL;
}
