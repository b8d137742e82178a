/* How symbols leave the library, and how a compiler is told that a result matters. */
#ifndef DUNLIN_SYS_EXPORT_H
#define DUNLIN_SYS_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define DUNLIN_API __attribute__((visibility("default")))
#define DUNLIN_MUST_USE __attribute__((warn_unused_result))
#define DUNLIN_PRINTF(text_at, values_at)                                                          \
    __attribute__((__format__(__printf__, text_at, values_at)))
#else
#define DUNLIN_API
#define DUNLIN_MUST_USE
#define DUNLIN_PRINTF(text_at, values_at)
#endif

#endif
