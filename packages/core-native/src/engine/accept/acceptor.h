#pragma once
// The thread that accepts connections for all listeners of an engine.
//
// The acceptor does not use libuv, whose way to watch a listener wakes every process that shares
// it. Here the kernel wakes one process (EPOLLEXCLUSIVE). When the process is out of descriptors,
// connections wait in the backlog, and the acceptor pauses before it tries again; node:http would
// accept and close them.
//
// If several processes accept on one socket, one of them is on duty: it holds a lock on the socket,
// which the kernel releases when the process ends. Another process that is woken accepts the
// waiting connections once. Then, as long as there is load, it only checks the queue now and then
// (Standby) and leaves connections to the process on duty, which can accept them in batches. If the
// process on duty is stopped, connections wait until the next check.
//
// There may be thousands of listeners, one for each address, so only calls that concern all
// listeners, such as Stop(), iterate over them.

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
  // Called on the acceptor's thread. The callee takes over the non-blocking, close-on-exec `fds`.
  using Sink = std::function<void(const std::vector<int>& fds)>;
  // Like Sink, but called on a lane's thread, with the acceptor's lock held: no listener is added
  // or removed during the call, and the connections are in order with the lane's commands.
  using LentSink = std::function<void(uint32_t server_id, const std::vector<int>& fds)>;

  explicit Acceptor(std::unique_ptr<ListenerPoll> poll = MakeListenerPoll());
  ~Acceptor();
  Acceptor& operator=(Acceptor&&) = delete;

  // -- Thread: the owner's.

  // Starts the thread. Returns 0 or a negative errno.
  int Start();
  // Ends the thread and closes all listeners. Idempotent.
  void Stop();
  // Starts to accept from a listening, non-blocking descriptor, which it owns even on failure.
  // Returns a key above 0, or a negative errno. `server_id` 0 = no server: only RemoveOne() ends
  // the listener. `is_lendable`: no other process has the socket, and a lane may accept from it.
  int Add(uint32_t server_id, int fd, Sink sink, bool is_lendable = false);
  // Like Remove(), but for one listener.
  void RemoveOne(int key);
  // Accepts the waiting connections of a server, for which the kernel may have woken only this
  // process, and closes its listeners. Later connections of the server are not accepted.
  void Remove(uint32_t server_id);
  // Must be called with the number of members that a port has lost (PortRoutes). If it has grown,
  // accepts the port's waiting connections: the kernel may have woken a lost process for them.
  void LookAfter(uint16_t port, uint64_t departures);
  // Sets whether other processes accept on this port, too.
  void SetShared(uint16_t port, bool is_shared);

  // -- Thread: a lane's.

  // Opens a set of listeners that a lane can watch as one descriptor. The caller must close it.
  // Returns -1 if the system has no such sets or no free descriptor.
  int OpenSet() const { return poll_->OpenSet(); }
  // Puts lendable listeners of ports that are not shared into this set, from now on. The set must
  // outlive Stop(). Must be called once, before Add().
  void LendTo(int set);
  // Accepts from the ready listeners of the set. Returns false if no connection was waiting. When
  // the process is out of descriptors, the acceptor's thread takes the listener back.
  bool AcceptLent(const LentSink& sink);

 private:
  enum class AcceptResult : uint8_t { kAccepted, kNothing, kExhausted };
  // The locks on a shared socket, numbered by byte offset. The process that holds kAccept is on
  // duty; the process that holds kDeputy checks the queue more often than the others.
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
    // When to check the queue of a resting listener (also in looks_); 0 = the listener is watched.
    uint64_t look_at_ms = 0;
    Standby standby = {};
  };

  static void Main(void* argument);
  void Run();
  Listener* Find(int key);
  // Accepts from a listener, and adds the number of connections to *accepted. Returns false if the
  // process is out of descriptors, so that the acceptor must pause.
  bool Serve(Listener* listener, size_t* accepted);
  // Returns true if this process, although it is not on duty, should accept waiting connections.
  bool MayTake(Listener* listener);
  int TimeToLook() const;
  void AddDue(std::vector<int>* keys);
  void SetLookAt(Listener* listener, uint64_t at_ms);
  // Returns the time until the next check of a resting listener.
  static uint64_t PauseMs(const Listener& listener);
  bool Lock(const Listener& listener, Duty duty, bool is_wanted) const;
  void TakeTurn(Listener* listener);
  void StepDown(Listener* listener);
  void Rest(Listener* listener, uint64_t pause_ms);
  // Ends the rest of the listener: watches it again.
  void StandBy(Listener* listener);
  AcceptResult AcceptSome(const Listener& listener, size_t* count = nullptr);
  AcceptResult AcceptWaiting(const Listener& listener, std::vector<int>* accepted);
  AcceptResult AcceptOne(const Listener& listener, std::vector<int>* accepted);
  // Moves the listener to the thread that should watch it: the acceptor's or the lane's.
  void Settle(Listener* listener);
  bool IsForLane(const Listener& listener) const;
  int Watch(const Listener& listener);
  void Unwatch(const Listener& listener);
  using Listeners = std::map<int, Listener>;
  // Accepts the waiting connections of the listener, and closes it. Returns the next listener.
  Listeners::iterator Remove(Listeners::iterator at);
  void CloseListener(const Listener& listener);
  const std::unique_ptr<ListenerPoll> poll_;
  uv_thread_t thread_;
  bool is_started_ = false;
  // Decides whether the thread yields the CPU before it accepts. Used by the thread only.
  WaitBackoff way_backoff_;

  // Guards the members below. Held while accepting: after Remove(), no connection is accepted.
  std::mutex mutex_;
  Listeners listeners_;
  // Resting (unwatched) listeners: the time of the next check, and the key.
  std::set<std::pair<uint64_t, int>> looks_;
  int next_key_ = 1;
  bool is_stopping_ = false;
  std::unordered_map<uint16_t, uint64_t> departures_;  // The last argument of LookAfter() by port.
  std::set<uint16_t> ports_to_look_at_;
  std::vector<uint16_t> shared_ports_;
  std::atomic<bool> is_patient_ = false;  // True if any port is shared. Written with the lock held.

  int lent_set_ = -1;  // The set of LendTo(); -1 = none.
};

// Lets a lane accept connections itself.
//
// The acceptor's thread saves a lane a quarter of the work for a connection without TLS, and can
// distribute connections among several lanes. With TLS, accepting is small beside the handshake,
// and not worth waking two threads. So if an engine has only one lane, and no other process accepts
// from the socket, the lane watches such listeners in its own loop. The acceptor still owns the
// listeners, and takes them back when other processes start to accept on the port.
// Thread: the lane.
class AcceptWatch {
 public:
  // Watches the lendable listeners of `acceptor`, which must outlive the loop. `sink` gets the
  // accepted connections; then `done` is called, once for each report of readiness.
  AcceptWatch(Acceptor* acceptor, Acceptor::LentSink sink, std::function<void()> done)
      : acceptor_(acceptor), sink_(std::move(sink)), done_(std::move(done)) {}
  ~AcceptWatch();
  AcceptWatch& operator=(AcceptWatch&&) = delete;

  // Starts to watch. Must be called before the loop runs. Does nothing if the system cannot watch a
  // set of descriptors as one, or has no free descriptor: then the acceptor's thread accepts.
  void Start(uv_loop_t* loop);
  // Stops watching. The loop frees the handle in its next iteration.
  void Close();

 private:
  Acceptor* const acceptor_;
  const Acceptor::LentSink sink_;
  const std::function<void()> done_;
  uv_poll_t poll_;
  bool is_started_ = false;
  int fd_ = -1;
};

}  // namespace httpsys::engine
