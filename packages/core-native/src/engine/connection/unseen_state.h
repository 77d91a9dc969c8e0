#pragma once

namespace httpsys::engine {

// Bytes of one connection of HTTP/1 that JavaScript has not been told of: those of requests that
// the lane has answered by itself, or those of these answers. Only Announcer writes it.
template <typename Count>
class UnseenState {
 private:
  friend class Announcer;

  Count bytes_ = 0;
};

}  // namespace httpsys::engine
