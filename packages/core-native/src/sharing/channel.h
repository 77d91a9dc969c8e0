#pragma once
// A connection between two members of a port: frames, some with descriptors, over a Unix socket.

#include <uv.h>

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peer/frame_reader.h"

namespace httpsys::sharing {

// One end of the connection. Everything that arrives is untrusted. Thread: that of the loop.
class Channel {
 public:
  class Handler {
   public:
    // Called for each frame that arrives. The handler must close `fds`: as many as the frame says,
    // or fewer if the sender sent none or this process had no free descriptors.
    virtual void OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) = 0;
    // Called when all frames of one read have been given to OnFrame().
    virtual void OnBatchEnd(Channel* channel) = 0;
    // Called when the peer has gone or sent an invalid frame. The handler must call Close().
    virtual void OnBroken(Channel* channel) = 0;

   protected:
    ~Handler() = default;
  };

  // Takes over a connected, non-blocking descriptor.
  Channel(uv_loop_t* loop, int fd, Handler* handler);
  Channel& operator=(Channel&&) = delete;

  // Begins to read. Returns 0 or a negative errno; after a failure only Close() may be called.
  int Start();
  // Sends a frame. `fds`, at most kFrameFdsMax, stay the caller's. Returns false if nothing was
  // sent: the channel is broken (OnBroken() follows), or `payload` or `fds` are refused.
  bool Send(peer::FrameType type, std::string_view payload, std::span<const int> fds = {});
  bool Send(peer::FrameType type, std::string_view payload, int fd) {
    return Send(type, payload, std::span<const int>(&fd, fd == -1 ? 0 : 1));
  }
  // The number of bytes that were not sent yet, because the peer does not read.
  size_t unsent_bytes() const { return unsent_bytes_; }
  // Returns true if bytes, or the end of the peer, wait to be read.
  bool HasUnread() const;
  // Returns true if the peer has closed its end. Bytes that it sent before may wait to be read.
  bool HasEnded() const;
  void ReadNow();
  // If false, only ReadNow() reads bytes; the channel itself notices only the peer's end.
  void set_is_reading(bool is_reading);
  // Shuts down both directions: the peer's later sends fail. ReadRest() delivers what it sent
  // before; Close() must follow.
  void ShutDown();
  void ReadRest();
  // Closes the channel. The object frees itself when libuv has released its handle.
  void Close();
  bool is_closed() const { return is_closed_; }

 private:
  struct Unsent {
    std::string bytes;
    size_t at = 0;
    std::vector<int> fds;  // Duplicates of the caller's descriptors.
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
  // The descriptors that were received, one list for each message that brought some.
  std::deque<std::vector<int>> received_fds_;
  std::deque<Unsent> unsent_;
  size_t unsent_bytes_ = 0;
  bool is_started_ = false;
  bool is_reading_ = true;
  bool is_broken_ = false;
  bool is_closed_ = false;
};

}  // namespace httpsys::sharing
