#pragma once
// How a system waits on listening sockets and accepts from them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace httpsys::engine {

// Watches the listeners of an Acceptor. Each listener has a key above 0. Thread: any, unless a
// method says otherwise. Only Wait() and Pause() block.
class ListenerPoll {
 public:
  virtual ~ListenerPoll() = default;

  // Must be called first. Returns 0 or a negative errno.
  virtual int Open() = 0;
  // Must be called after the last Wait().
  virtual void Close() = 0;
  // Ends the current Wait() or Pause(), or the next one.
  virtual void Signal() = 0;
  // Watches a listener. Returns 0, or a negative errno on failure.
  virtual int Watch(int fd, int key) = 0;
  virtual void Unwatch(int fd, int key) = 0;
  // Waits until listeners are ready, Signal() is called or the timeout expires. Sets `keys` to the
  // ready listeners' keys. timeout_ms -1 = no timeout. Thread: always the same one.
  virtual void Wait(std::vector<int>* keys, int timeout_ms) = 0;
  // Waits for Signal() or the timeout. Thread: the one that calls Wait().
  virtual void Pause(int timeout_ms) = 0;

  // -- Listeners that another loop watches, all of them as one descriptor.

  // Opens a set of listeners that can be polled as one descriptor; -1 = not supported.
  virtual int OpenSet() const = 0;
  // Adds a listener to the set. Returns 0 or a negative errno.
  virtual int WatchIn(int set, int fd, int key) const = 0;
  virtual void UnwatchIn(int set, int fd) const = 0;
  virtual void ReadyIn(int set, std::vector<int>* keys) const = 0;

  // -- Sockets.

  // Accepts one connection: a non-blocking, close-on-exec descriptor, or -1 and errno.
  virtual int Accept(int fd) const = 0;
  // Reads how many connections wait to be accepted, and how many may wait. Returns false if the
  // system does not report that.
  virtual bool ReadQueue(int fd, size_t* waiting, size_t* room) const = 0;
  // Locks or unlocks one byte of the socket for this process. Returns false if another process has
  // the lock. Returns true on systems without such locks.
  virtual bool Lock(int fd, uint8_t byte, bool is_wanted) const = 0;
};

// Makes the best ListenerPoll for this system.
std::unique_ptr<ListenerPoll> MakeListenerPoll();
// Makes a ListenerPoll that works on every system: it uses poll(2) and has no sets or locks.
std::unique_ptr<ListenerPoll> MakePortableListenerPoll();

}  // namespace httpsys::engine
