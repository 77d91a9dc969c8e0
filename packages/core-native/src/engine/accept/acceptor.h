#pragma once
// The thread that accepts connections for all listeners of an engine.
//
// The acceptor is not a lane, because libuv watches a listener in a way that wakes every process
// that shares it. Here the kernel wakes one (EPOLLEXCLUSIVE). When the process is out of
// descriptors, connections wait in the backlog, and the acceptor pauses before it looks again: it
// never spins. node:http would accept and close them.
//
// Of several processes on a socket, one is on duty, so that connections are accepted in batches.
// The process on duty holds a lock on the socket, which the kernel releases when the process ends.
// A process that is woken although another one is on duty accepts what waits. Then it only looks
// now and then (Standby) as long as there is load, and leaves connections to the process on duty.
// So connections wait a while, but not for ever, if the process on duty is stopped.
//
// There may be a listener for each of thousands of addresses: only what concerns all of them, such
// as Stop(), looks at each.

#include <uv.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/contention.h"
#include "engine/accept/listener_poll.h"

namespace httpsys::engine {

class Acceptor {
 public:
  // Called on the acceptor's thread with non-blocking, close-on-exec descriptors, which the callee
  // takes over.
  using Sink = std::function<void(const std::vector<int>& fds)>;
  // The same on a lane's thread. The acceptor's lock is held: no listener is added or removed
  // during the call, so that the connections are in order with the lane's commands.
  using LentSink = std::function<void(uint32_t server_id, const std::vector<int>& fds)>;

  explicit Acceptor(std::unique_ptr<ListenerPoll> poll = MakeListenerPoll());
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  // -- Thread: the owner's.
  //
  // Returns 0 or a negative errno.

  int Start();
  // Ends the thread and closes all listeners. Idempotent.
  void Stop();
  // Accepts from a listening, non-blocking descriptor, which it takes over in any case. Returns a
  // key above 0, or a negative errno. Server 0 is nobody's: only RemoveOne() ends such a listener.
  // `is_lendable`: no other process has the socket, and a lane may accept its connections.
  int Add(uint32_t server_id, int fd, Sink sink, bool is_lendable = false);
  // As Remove(), for one listener.
  void RemoveOne(int key);
  // Accepts what waits on the listeners of a server, because the kernel may have woken this process
  // only, and closes them. When it returns, no more connections of the server are accepted.
  void Remove(uint32_t server_id);
  // Must be called with the number of members that a port has lost so far (PortRoutes). When there
  // are more than before, the thread looks at the listeners of the port: the process that the
  // kernel woke for a connection may be one of them.
  void LookAfter(uint16_t port, uint64_t departures);
  // Says whether other processes accept on this port, too.
  void SetShared(uint16_t port, bool is_shared);

  // -- Thread: a lane's.

  // Opens a set of listeners that a lane can watch as one descriptor, which is the caller's to
  // close. Returns -1 if the system has no such sets or no descriptor left.
  int OpenSet() const { return poll_->OpenSet(); }
  // Watches lendable listeners of ports that are not shared in this set from now on. The set must
  // outlive Stop(). Called once, before Add().
  void LendTo(int set);
  // Accepts from the ready listeners of the set. Returns false if there was nothing to accept. When
  // the process is out of descriptors, the acceptor's thread takes the listener back.
  bool AcceptLent(const LentSink& sink);

 private:
  enum class AcceptResult : uint8_t { kAccepted, kNothing, kExhausted };
  // The locks on a shared socket, each a byte of it. The process with kAccept is on duty; the one
  // with kDeputy looks more often than the others.
  enum class Duty : uint8_t { kAccept = 0, kDeputy = 1 };

  struct Listener {
    uint32_t server_id;
    int fd;
    int key;
    Sink sink;
    uint16_t port = 0;
    bool is_shared = false;
    bool is_lendable = false;
    bool is_lent = false;  // The lane watches the listener.
    // This process holds Duty::kDeputy.
    bool is_deputy = false;
    // This process has given up the duty because it was out of descriptors.
    bool has_stepped_down = false;
    uint64_t look_at_ms = 0;  // When to look at the queue; 0 = the listener is watched. In looks_.
    Standby standby = {};
  };

  static void Main(void* argument);
  void Run();
  Listener* Find(int key);
  // Accepts from a listener, and adds to `accepted`. Returns false if out of descriptors.
  bool Serve(Listener* listener, size_t* accepted);
  // Returns true if this process, which is not on duty, shall accept what waits.
  bool MayTake(Listener* listener);
  int TimeToLook() const;
  void AddDue(std::vector<int>* keys);
  void SetLookAt(Listener* listener, uint64_t at_ms);
  // The time until the next look.
  static uint64_t PauseMs(const Listener& listener);
  bool Lock(const Listener& listener, Duty duty, bool is_wanted) const;
  void TakeTurn(Listener* listener);
  void StepDown(Listener* listener);
  void Rest(Listener* listener, uint64_t pause_ms);
  // Watches the listener again.
  void StandBy(Listener* listener);
  AcceptResult AcceptSome(const Listener& listener, size_t* count = nullptr);
  AcceptResult AcceptWaiting(const Listener& listener, std::vector<int>* accepted);
  AcceptResult AcceptOne(const Listener& listener, std::vector<int>* accepted);
  // Moves the watch between the acceptor's thread and the lane, to whoever shall have it.
  void Settle(Listener* listener);
  bool IsForLane(const Listener& listener) const;
  int Watch(const Listener& listener);
  void Unwatch(const Listener& listener);
  using Listeners = std::map<int, Listener>;
  // Accepts what waits on the listener, and closes it. Returns the next one.
  Listeners::iterator Remove(Listeners::iterator at);
  void CloseListener(const Listener& listener);
  const std::unique_ptr<ListenerPoll> poll_;
  uv_thread_t thread_;
  bool is_started_ = false;
  // Decides whether the thread gives way before it accepts. Used by the thread only.
  WaitBackoff way_backoff_;

  std::mutex mutex_;  // Guards everything below. Held while accepting, so that Remove() is exact.
  Listeners listeners_;  // By key.
  // The listeners that rest: when to look at the queue, and the key.
  std::set<std::pair<uint64_t, int>> looks_;
  int next_key_ = 1;
  bool is_stopping_ = false;
  std::unordered_map<uint16_t, uint64_t> departures_;  // By port; see LookAfter().
  std::set<uint16_t> ports_to_look_at_;
  std::vector<uint16_t> shared_ports_;
  std::atomic<bool> is_patient_ = false;  // Some port is shared. Written with the lock held.

  int lent_set_ = -1;  // The set of LendTo(); -1 = none.
};

}  // namespace httpsys::engine
