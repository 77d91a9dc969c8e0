#pragma once
// Assertions about our own code, also in release builds. Bytes from the network must not fail any.

#include <cstdio>
#include <cstdlib>

#define HTTPSYS_CHECK(condition)                                                                  \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::fprintf(stderr, "httpsys: %s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                               \
    }                                                                                             \
  } while (false)
