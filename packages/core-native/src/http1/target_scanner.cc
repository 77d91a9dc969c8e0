#include "http1/target_scanner.h"

#include "base/ascii.h"
#include "http1/byte_scan.h"

namespace httpsys::http1 {

TargetScanner::State TargetScanner::Next(char c, bool* accepted) const {
  *accepted = true;
  switch (state_) {
    case State::kStart:
      if (c == '/' || c == '*') return State::kPath;
      if (IsAlpha(c)) return State::kScheme;
      break;
    case State::kScheme:
      if (IsAlpha(c)) return State::kScheme;
      if (c == ':') return State::kSchemeSlash;
      break;
    case State::kSchemeSlash:
      if (c == '/') return State::kSchemeSecondSlash;
      break;
    case State::kSchemeSecondSlash:
      if (c == '/') return State::kAuthority;
      break;
    case State::kAuthority:
    case State::kAuthorityAfterAt:
      if (c == '/') return State::kPath;
      if (c == '?') return State::kQuery;
      if (c == '@' && state_ == State::kAuthority) return State::kAuthorityAfterAt;
      if (HasClass(c, kAuthorityChar)) return State::kAuthority;
      break;
    case State::kPath:
      if (c == '?') return State::kQuery;
      if (c == '#') return State::kFragment;
      if (HasClass(c, kTargetChar)) return State::kPath;
      break;
    case State::kQuery:
      if (c == '#') return State::kFragment;
      if (c == '?' || HasClass(c, kTargetChar)) return State::kQuery;
      break;
    case State::kFragment:
      if (c == '?' || c == '#' || HasClass(c, kTargetChar)) return State::kFragment;
      break;
  }
  *accepted = false;
  return state_;
}

const char* TargetScanner::Skip(const char* p, const char* end) {
  // Most targets are paths.
  if (state_ == State::kStart && p != end && *p == '/') {
    state_ = State::kPath;
    p = SkipTarget(p + 1, end);
  }
  // A space ends the target.
  while (p != end && *p != ' ') {
    bool accepted;
    state_ = Next(*p, &accepted);
    if (!accepted) return p;
    ++p;
    if (state_ >= State::kPath) p = SkipTarget(p, end);
  }
  return p;
}

}  // namespace httpsys::http1
