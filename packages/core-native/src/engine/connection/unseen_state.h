#pragma once

namespace httpsys::engine {

// Count of bytes of an HTTP/1 connection that JavaScript has not heard of: of requests that the
// lane answered by itself (bytes read), or of these answers (bytes written). Only Announcer writes
// it.
template <typename Count>
class UnseenState {
 private:
  friend class Announcer;

  Count bytes_ = 0;
};

}  // namespace httpsys::engine
