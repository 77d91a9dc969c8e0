#pragma once
// The thread that accepts connections for all listeners of an engine.
//
// It is not a lane because libuv's way of watching a listener that many processes share wakes them
// all; here the kernel wakes one (EPOLLEXCLUSIVE). Out of descriptors it gives up a reserve to
// accept and close what waits, or pauses: it never spins.
//
// Of several processes on a socket one is on duty, so that connections are taken in batches. It
// holds a lock on the socket, which the kernel takes from it when it ends. Whoever is woken because
// that one is busy takes what is there and then looks only now and then, as long as there is load,
// and leaves what it finds to that one (Standby): so a process that is stopped on duty makes
// connections wait, but not for long.

#include <uv.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/contention.h"
#include "engine/accept/listener_poll.h"

namespace httpsys::engine {

class Acceptor {
 public:
  // Called on the acceptor's thread with non-blocking, close-on-exec descriptors to take over.
  using Sink = std::function<void(const std::vector<int>& fds)>;
  // The same on a lane's thread. No listener is added or removed meanwhile: what it gives to the
  // lane is in order with the commands that follow from that.
  using LentSink = std::function<void(uint32_t server_id, const std::vector<int>& fds)>;

  explicit Acceptor(std::unique_ptr<ListenerPoll> poll = MakeListenerPoll());
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // -- Thread: the owner's. 0 or a negative errno.

  int Start();
  // Idempotent. Closes all listeners.
  void Stop();
  // Takes a listening, non-blocking descriptor over, whatever it returns: a key above 0, or a
  // negative errno. Server 0 is nobody: only RemoveOne() ends it. `is_lendable`: this process alone
  // has the socket, and a lane may accept its connections.
  int Add(uint32_t server_id, int fd, Sink sink, bool is_lendable = false);
  // The same as Remove() for one descriptor of a server.
  void RemoveOne(int key);
  // When it returns no more connections of this server are accepted and its descriptors are closed.
  // What waits on them is accepted first: the kernel may have woken this process for it, and no
  // other one.
  void Remove(uint32_t server_id);
  // Looks at all listeners: a process that the kernel woke for a connection may have died.
  void Look();
  // Whether other processes accept on this port, too.
  void SetShared(uint16_t port, bool is_shared);

  // -- Thread: a lane's.

  // A set of listeners that a lane can watch as one descriptor, which is the caller's to close. -1:
  // the system has none, or no more descriptors.
  int OpenSet() const { return poll_->OpenSet(); }
  // What is lendable, and on no shared port, is watched in this set from now on; it outlives the
  // acceptor's use (Stop()). Once, before Add().
  void LendTo(int set);
  // Accepts from the listeners that are ready there. False: there was nothing. Out of descriptors
  // the acceptor's thread takes the listener back.
  bool AcceptLent(const LentSink& sink);

 private:
  enum class AcceptResult : uint8_t { kAccepted, kNothing, kExhausted };
  // Bytes of the socket that are locked.
  enum class Duty : uint8_t { kAccept = 0, kDeputy = 1 };

  struct Listener {
    uint32_t server_id;
    int fd;
    int key;
    Sink sink;
    uint16_t port = 0;
    bool is_shared = false;
    bool is_lendable = false;
    bool is_lent = false;  // A lane watches it.
    bool is_deputy = false;
    bool has_stepped_down = false;
    uint64_t look_at_ms = 0;  // 0 = it is watched.
    Standby standby = {};
  };

  static void Main(void* argument);
  void Run();
  Listener* Find(int key);
  // Counts those that it accepts; false: out of descriptors.
  bool Serve(Listener* listener, size_t* accepted);
  // Whether what waits is for this process, which rests, to take.
  bool MayTake(Listener* listener);
  int TimeToLook() const;
  void AddDue(std::vector<int>* keys);
  // Until the next look.
  static uint64_t PauseMs(const Listener& listener);
  bool Lock(const Listener& listener, Duty duty, bool is_wanted) const;
  void TakeTurn(Listener* listener);
  void StepDown(Listener* listener);
  void Rest(Listener* listener, uint64_t pause_ms);
  // Waits to be woken.
  void StandBy(Listener* listener);
  AcceptResult AcceptSome(const Listener& listener, size_t* count = nullptr);
  AcceptResult AcceptWaiting(const Listener& listener, std::vector<int>* accepted);
  AcceptResult AcceptOne(const Listener& listener, std::vector<int>* accepted);
  bool GiveUpReserve(const Listener& listener);
  // Has it watched by whoever is to.
  void Settle(Listener* listener);
  bool IsForLane(const Listener& listener) const;
  int Watch(const Listener& listener);
  void Unwatch(const Listener& listener);
  template <typename Predicate>
  void RemoveIf(Predicate is_meant);
  void CloseListener(const Listener& listener);
  void CloseOwnDescriptors();

  const std::unique_ptr<ListenerPoll> poll_;
  uv_thread_t thread_;
  bool is_started_ = false;
  WaitBackoff way_backoff_;  // The thread's.

  std::mutex mutex_;  // Guards what follows; held while accepting, so that Remove() is exact.
  std::vector<Listener> listeners_;
  int next_key_ = 1;
  bool is_stopping_ = false;
  bool is_asked_to_look_ = false;
  std::vector<uint16_t> shared_ports_;
  std::atomic<bool> is_patient_ = false;  // Written with the lock.

  int reserve_fd_ = -1;
  int lent_set_ = -1;  // The lane's. Guarded by mutex_.
};

}  // namespace httpsys::engine
