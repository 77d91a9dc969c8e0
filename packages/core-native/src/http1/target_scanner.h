#pragma once
// Checks the bytes of a request target (RFC 9112, section 3.2) as Node's llhttp does: their
// sequence, not their meaning.

#include <cstdint>

namespace httpsys::http1 {

// Resumable at every byte. Thread: any, one at a time.
class TargetScanner {
 public:
  // `is_authority`: expects the target of CONNECT, which begins with a host.
  void Reset(bool is_authority) { state_ = is_authority ? State::kAuthority : State::kStart; }

  // Returns the first byte of [p, end) that does not belong to the target, or `end`.
  const char* Skip(const char* p, const char* end);

  // True if a target may end at the position of the last Skip().
  bool may_end() const { return state_ >= State::kAuthority; }

 private:
  // The states in which a target may end must come last (may_end()).
  enum class State : uint8_t {
    kStart,
    kScheme,
    kSchemeSlash,
    kSchemeSecondSlash,
    kAuthority,
    kAuthorityAfterAt,
    kPath,
    kQuery,
    kFragment,
  };

  // Returns the state after `c`. If `c` is not allowed, sets *accepted to false.
  State Next(char c, bool* accepted) const;

  State state_ = State::kStart;
};

}  // namespace httpsys::http1
