#pragma once
// What a system has for waiting on listening sockets and accepting from them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace httpsys::engine {

// Watches the listeners of an Acceptor. Each is named by a key above 0. Calls that do not say
// otherwise may come from any thread, and none of them waits.
class ListenerPoll {
 public:
  virtual ~ListenerPoll() = default;

  // 0 or a negative errno. Before everything else.
  virtual int Open() = 0;
  // After the last Wait().
  virtual void Close() = 0;
  // Ends a Wait(), or the next one.
  virtual void Signal() = 0;
  // 0 or a negative errno; then nothing is watched.
  virtual int Watch(int fd, int key) = 0;
  virtual void Unwatch(int fd, int key) = 0;
  // Thread: one. Waits until listeners are ready, Signal() is called or the time is over, and fills
  // `keys`. -1 = for ever.
  virtual void Wait(std::vector<int>* keys, int timeout_ms) = 0;
  // Thread: the one of Wait(). Waits for Signal() or the end of this time.
  virtual void Pause(int timeout_ms) = 0;

  // -- Listeners that another loop watches, as one descriptor.

  // Such a descriptor, or -1 where the system has none.
  virtual int OpenSet() const = 0;
  // 0 or a negative errno.
  virtual int WatchIn(int set, int fd, int key) const = 0;
  virtual void UnwatchIn(int set, int fd) const = 0;
  // The listeners of the set that are ready.
  virtual void ReadyIn(int set, std::vector<int>* keys) const = 0;

  // -- Sockets.

  // A non-blocking descriptor that is closed on exec, or -1 and errno.
  virtual int Accept(int fd) const = 0;
  // Connections that wait to be accepted, and how many may wait. False where nobody knows.
  virtual bool ReadQueue(int fd, size_t* waiting, size_t* room) const = 0;
  // Takes or gives back this byte of the socket, among processes. True where nobody else has it, or
  // the system has no such locks.
  virtual bool Lock(int fd, uint8_t byte, bool is_wanted) const = 0;
};

// That of this system.
std::unique_ptr<ListenerPoll> MakeListenerPoll();
// One for every system: poll(2), without sets and locks.
std::unique_ptr<ListenerPoll> MakePortableListenerPoll();

}  // namespace httpsys::engine
