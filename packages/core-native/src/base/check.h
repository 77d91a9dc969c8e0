#pragma once
// Assertions about our own code. They stay on in release builds; bytes from the wire never reach
// one.

#include <cstdio>
#include <cstdlib>

#define HTTPSYS_CHECK(condition)                                                                  \
  do {                                                                                            \
    if (!(condition)) {                                                                           \
      std::fprintf(stderr, "httpsys: %s:%d: %s does not hold\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                               \
    }                                                                                             \
  } while (false)
