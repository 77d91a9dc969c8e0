#pragma once
// Skips runs of bytes of one class, 16 at a time where the processor has SSE2 (all of x86-64).
// Never reads at or beyond `end`.

#include "http1/char_class.h"

#if defined(__SSE2__) || defined(_M_X64)
#include <emmintrin.h>

#include <bit>
#define HTTPSYS_SSE2 1
#else
#define HTTPSYS_SSE2 0
#endif

namespace httpsys::http1 {

template <CharClass kClass>
const char* SkipClass(const char* p, const char* end) {
  while (p != end && HasClass(*p, kClass)) ++p;
  return p;
}

#if HTTPSYS_SSE2

namespace sse2 {

inline __m128i Load(const char* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }

// Selects the bytes whose unsigned distance from `low` is at most `span`.
inline __m128i InRange(__m128i bytes, char low, char span) {
  const __m128i distance = _mm_sub_epi8(bytes, _mm_set1_epi8(low));
  return _mm_cmpeq_epi8(_mm_min_epu8(distance, _mm_set1_epi8(span)), distance);
}

inline __m128i Equals(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }

inline unsigned Mask(__m128i bytes) { return static_cast<unsigned>(_mm_movemask_epi8(bytes)); }

}  // namespace sse2

// Returns the first byte that is not a token character. Names consist mostly of letters, digits and
// '-'; only for other bytes the class is looked up.
inline const char* SkipToken(const char* p, const char* end) {
  while (end - p >= 16) {
    const __m128i bytes = sse2::Load(p);
    const __m128i letters = sse2::InRange(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), 'a', 25);
    const __m128i digits = sse2::InRange(bytes, '0', 9);
    const __m128i common = _mm_or_si128(_mm_or_si128(letters, digits), sse2::Equals(bytes, '-'));
    const unsigned others = sse2::Mask(common) ^ 0xFFFFu;
    if (others == 0) {
      p += 16;
      continue;
    }
    p += std::countr_zero(others);
    if (!HasClass(*p, kTokenChar)) return p;
    ++p;
  }
  return SkipClass<kTokenChar>(p, end);
}

// Returns the first byte that must not be in a field value: a control character other than HTAB.
inline const char* SkipFieldValue(const char* p, const char* end) {
  while (end - p >= 16) {
    const __m128i bytes = sse2::Load(p);
    const __m128i controls =
        _mm_andnot_si128(sse2::Equals(bytes, '\t'), sse2::InRange(bytes, 0, 31));
    const unsigned stops = sse2::Mask(_mm_or_si128(controls, sse2::Equals(bytes, 0x7F)));
    if (stops != 0) return p + std::countr_zero(stops);
    p += 16;
  }
  return SkipClass<kFieldValueChar>(p, end);
}

// Returns the first byte that is not part of a path.
inline const char* SkipTarget(const char* p, const char* end) {
  while (end - p >= 16) {
    const __m128i bytes = sse2::Load(p);
    const __m128i marks = _mm_or_si128(sse2::Equals(bytes, '?'), sse2::Equals(bytes, '#'));
    const __m128i path = _mm_andnot_si128(marks, sse2::InRange(bytes, '!', '~' - '!'));
    const unsigned stops = sse2::Mask(path) ^ 0xFFFFu;
    if (stops != 0) return p + std::countr_zero(stops);
    p += 16;
  }
  return SkipClass<kTargetChar>(p, end);
}

#else

inline const char* SkipToken(const char* p, const char* end) {
  return SkipClass<kTokenChar>(p, end);
}
inline const char* SkipFieldValue(const char* p, const char* end) {
  return SkipClass<kFieldValueChar>(p, end);
}
inline const char* SkipTarget(const char* p, const char* end) {
  return SkipClass<kTargetChar>(p, end);
}

#endif

}  // namespace httpsys::http1
