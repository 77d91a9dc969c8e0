#pragma once
// A connection between two members of a port: frames, some with a descriptor, over a Unix socket.

#include <uv.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peer/frame_reader.h"

namespace httpsys::sharing {

// Thread: its loop's. Everything that arrives is untrusted.
class Channel {
 public:
  class Handler {
   public:
    // `fds` are the handler's: as many as the frame says, or fewer, when the sender had none or
    // this process has no room for them.
    virtual void OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) = 0;
    // Frames that were in one read have been told.
    virtual void OnBatchEnd(Channel* channel) = 0;
    // The peer has gone or spoke nonsense. Close() follows from the handler.
    virtual void OnBroken(Channel* channel) = 0;

   protected:
    ~Handler() = default;
  };

  // Takes the connected, non-blocking descriptor over.
  Channel(uv_loop_t* loop, int fd, Handler* handler);
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // 0 or a negative errno; after a failure only Close() may follow.
  int Start();
  // `fds`, at most kFrameFdsMax, stay the caller's. False when nothing was sent: the channel is
  // broken, of which OnBroken() tells later; or the payload is too long, or the system refuses the
  // descriptors.
  bool Send(peer::FrameType type, std::string_view payload, std::span<const int> fds = {});
  bool Send(peer::FrameType type, std::string_view payload, int fd) {
    return Send(type, payload, std::span<const int>(&fd, fd == -1 ? 0 : 1));
  }
  // Frames that wait for the peer to read, in bytes.
  size_t unsent_bytes() const { return unsent_bytes_; }
  // Reads without waiting for readiness.
  void ReadNow();
  // False: what comes waits for ReadNow(); only the peer's end is noticed by itself.
  void set_is_reading(bool is_reading);
  // From here on the peer's sends fail; ReadRest() tells what it has sent before. Close() follows.
  void ShutDown();
  void ReadRest();
  // Ends it; the object frees itself when libuv has let go.
  void Close();
  bool is_closed() const { return is_closed_; }

 private:
  struct Unsent {
    std::string bytes;
    size_t at = 0;
    std::vector<int> fds;  // Duplicates.
  };

  ~Channel();
  static void OnPoll(uv_poll_t* poll, int status, int events);
  void Watch();
  void Read();
  bool ReadOnce();
  std::vector<int> TakeFds(const peer::Frame& frame);
  bool HasStrayFds() const;
  void Deliver();
  void FlushUnsent();
  void Break();

  uv_poll_t poll_;
  const int fd_;
  Handler* handler_;
  peer::FrameReader reader_;
  std::deque<std::vector<int>> received_fds_;  // By the frame that they came with.
  std::deque<Unsent> unsent_;
  size_t unsent_bytes_ = 0;
  bool is_started_ = false;
  bool is_reading_ = true;
  bool is_broken_ = false;
  bool is_closed_ = false;
};

}  // namespace httpsys::sharing
