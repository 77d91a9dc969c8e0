#pragma once

#include <cstdint>

namespace httpsys::engine {

// The action that follows once all output has been given to the socket.
enum class AfterOutput : uint8_t { kNothing, kShutdown, kClose };

// Which directions of one connection or stream have ended. Only Endings writes it; everybody reads
// it.
class EndState {
 public:
  AfterOutput after_output() const { return after_output_; }
  // True if the client has ended its sending direction.
  bool peer_ended() const { return peer_ended_; }
  // True if the client sends nothing more, and the connection ends with its output.
  bool is_left() const { return peer_ended_ && after_output_ != AfterOutput::kNothing; }
  // True if the last request had been read to its end when it was answered.
  bool has_read_all() const { return has_read_all_; }
  // True if the sending direction has been shut down.
  bool is_fin_sent() const { return is_fin_sent_; }

 private:
  friend class Endings;

  AfterOutput after_output_ = AfterOutput::kNothing;
  bool peer_ended_ : 1 = false;
  bool has_read_all_ : 1 = false;
  bool is_fin_sent_ : 1 = false;
};

}  // namespace httpsys::engine
