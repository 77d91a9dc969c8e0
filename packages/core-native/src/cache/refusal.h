#pragma once
// Reasons why a request is not answered from the cache, or a response is not stored. Each reason
// has a counter and a name, which Cache-Status shows (RFC 9211, section 2.8).

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace httpsys::cache {

// X(enumerator, name)
// clang-format off
#define HTTPSYS_CACHE_REFUSALS(X)                                                     \
  X(None, "")                                                                         \
  /* The request bypasses the cache: it is neither answered by it nor fills it. */    \
  X(Method, "METHOD")                                                                 \
  X(Authorization, "AUTHORIZATION")                                                   \
  X(ClientCertificate, "CLIENT_CERTIFICATE")                                          \
  X(Body, "BODY")                                                                     \
  X(Upgrade, "UPGRADE")                                                               \
  X(Expect, "EXPECT")                                                                 \
  X(UrlOverride, "URL_OVERRIDE")                                                      \
  X(Host, "HOST")                                                                     \
  X(LongKey, "LONG_KEY")                                                              \
  /* The request may be answered by the cache, and does not fill it. */               \
  X(Head, "HEAD")                                                                     \
  X(Range, "RANGE")                                                                   \
  X(RequestNoStore, "REQUEST_NO_STORE")                                               \
  X(Precondition, "PRECONDITION")                                                     \
  X(Translate, "TRANSLATE")                                                           \
  /* The response, or both together. */                                               \
  X(Cookie, "COOKIE")                                                                 \
  X(Status, "STATUS")                                                                 \
  X(Partial, "PARTIAL")                                                               \
  X(NotModified, "NOT_MODIFIED")                                                      \
  X(Incomplete, "INCOMPLETE")                                                         \
  X(Trailers, "TRAILERS")                                                             \
  X(TooLarge, "TOO_LARGE")                                                            \
  X(File, "FILE")                                                                     \
  X(Obsolete, "OBSOLETE")                                                             \
  X(SetCookie, "SET_COOKIE")                                                          \
  X(NoStore, "NO_STORE")                                                              \
  X(Private, "PRIVATE")                                                               \
  X(VaryStar, "VARY_STAR")                                                            \
  X(VaryCredentials, "VARY_CREDENTIALS")                                              \
  X(VaryNames, "VARY_NAMES")                                                          \
  X(NoFreshness, "NO_FRESHNESS")                                                      \
  X(Stale, "STALE")                                                                   \
  X(NoCache, "NO_CACHE")                                                              \
  X(Garbled, "GARBLED")                                                               \
  X(Pragma, "PRAGMA")                                                                 \
  /* Rules of HTTP.SYS only. */                                                       \
  X(NoPolicy, "NO_POLICY")                                                            \
  X(NotPublic, "NOT_PUBLIC")                                                          \
  X(Vary, "VARY")                                                                     \
  X(ErrorStatus, "ERROR_STATUS")                                                      \
  X(RequestField, "REQUEST_FIELD")                                                    \
  X(ContentType, "CONTENT_TYPE")                                                      \
  X(Date, "DATE")                                                                     \
  X(LastModified, "LAST_MODIFIED")                                                    \
  X(SeveralWrites, "SEVERAL_WRITES")
// clang-format on

enum class Refusal : uint8_t {
#define HTTPSYS_CACHE_REFUSAL(enumerator, name) k##enumerator,
  HTTPSYS_CACHE_REFUSALS(HTTPSYS_CACHE_REFUSAL)
#undef HTTPSYS_CACHE_REFUSAL
};

#define HTTPSYS_CACHE_REFUSAL(enumerator, name) name,
inline constexpr auto kRefusalNames =
    std::to_array<std::string_view>({HTTPSYS_CACHE_REFUSALS(HTTPSYS_CACHE_REFUSAL)});
#undef HTTPSYS_CACHE_REFUSAL

inline constexpr size_t kRefusals = kRefusalNames.size();

// Returns the name of a reason for Cache-Status; empty for kNone.
constexpr std::string_view RefusalName(Refusal refusal) {
  return kRefusalNames[static_cast<size_t>(refusal)];
}

}  // namespace httpsys::cache
