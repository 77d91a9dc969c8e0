#pragma once
// Port sharing of one engine.
//
// SharedPorts owns the thread (SharingThread), the lock and the channels. Each port has a
// PortParticipant, a pure state machine. The thread starts when another member appears.

#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "peer/messages.h"
#include "sharing/channel.h"
#include "sharing/meeting_place.h"
#include "sharing/port_effects.h"
#include "sharing/port_links.h"
#include "sharing/port_routes.h"
#include "sharing/shared_port.h"
#include "sharing/sharing_thread.h"

namespace httpsys::sharing {

// The functions of the engine that SharedPorts calls, perhaps while it holds its lock: the engine
// must not call SharedPorts back. Thread: any.
class Delegate {
 public:
  // Gives routes to the lanes. `applied` is called, on any thread, when all lanes apply them.
  virtual void SetRoutes(std::shared_ptr<const PortRoutes> routes,
                         std::function<void()> applied) = 0;
  // Accepts connections from a listening descriptor, which the engine then owns, and passes them to
  // `sink`. Returns a key above 0 for Unwatch(), or a negative errno.
  virtual int Watch(int fd, std::function<void(int fd)> sink) = 0;
  virtual void Unwatch(int key) = 0;
  // Accepts connections for a server from a listening descriptor, which the engine then owns, until
  // the server stops listening.
  virtual void AcceptFor(uint32_t server_id, int fd) = 0;
  // Takes over a connection that a lane of another member has opened to the lanes of this engine.
  virtual void OnLink(int fd) = 0;
  // Makes JavaScript call TakeResult().
  virtual void WakeConsumer() = 0;
  virtual PortCounters Count(uint16_t port) = 0;
  // Answers a question about a server's entries in the output cache. An engine without a cache
  // returns nothing.
  virtual std::optional<CacheReport> AskCache(uint32_t /*server_id*/,
                                              const CacheQuestion& /*question*/) {
    return {};
  }
  // TellTicketKeys() returns this engine's keys for TLS session tickets on a port;
  // LearnTicketKeys() adopts keys that the port's coordinator has sent.
  virtual peer::TicketKeys TellTicketKeys(uint16_t port) = 0;
  virtual void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) = 0;

 protected:
  ~Delegate() = default;
};

class SharedPorts final : private Channel::Handler, private PortHost, private SharingThread::Owner {
 public:
  // Bounds the output cache of this process on behalf of a port (PortEffects::GrantCache). Called
  // with the lock of SharedPorts held.
  using BoundCache = std::function<void(uint16_t port, uint64_t bytes)>;

  // `bound_cache` is nullptr if the engine has no cache.
  explicit SharedPorts(Delegate* delegate, BoundCache bound_cache = nullptr);
  ~SharedPorts();
  SharedPorts& operator=(SharedPorts&&) = delete;

  // -- Thread: JavaScript. No call waits for another process.

  // Sets how reports describe this engine. Must be called before the first Meet() or Register().
  void Introduce(uint32_t thread, std::string program);
  // Take a port, with and without a meeting place; see SocketBackend. `stranger` may be nullptr.
  int Meet(uint16_t port, Stranger* stranger = nullptr);
  int TakeAlone(uint16_t port);
  // Adds a duplicate of a listening socket of the port that the server accepts from. `is_last`: the
  // server opens no further socket for the time being.
  int Contribute(uint16_t port, uint32_t server_id, int fd, bool is_last = true);
  // Must be called when a server stops accepting from the socket; see SocketBackend.
  void Withdraw(uint16_t port, int fd);
  // Returns the current sockets of the members of a port; none if this engine is no member.
  PortSockets Sockets(uint16_t port);
  // Sets how much memory this process wants for its output cache, and how much all members of a
  // port may use together (0 = the default). Takes effect at the next registration of a server with
  // a cache (peer::kEntryCached).
  void WishCache(uint64_t bytes, uint64_t port_limit);
  // Registers prefixes. Returns true if `result` is final; otherwise TakeResult() returns it later.
  bool Register(uint16_t port, peer::Register wanted, RegistrationResult* result);
  bool TakeResult(RegistrationResult* result);
  // Unregisters prefixes; the lanes of this engine have new routes when it returns. Returns false
  // if nothing else is on the port. Otherwise returns true; if gone.token is not 0, TakeResult()
  // returns a result with that token when every member applies the removal. `stays`: the server
  // keeps listening and remains on the port, even without prefixes.
  bool Unregister(uint16_t port, const peer::Unregister& gone, bool stays = false);
  // Changes the rules for client certificates of a server's prefixes; `terms_of` returns their
  // digest for a prefix. If another owner's prefix conflicts with the new rules, only sets
  // `conflict` and returns false. Otherwise informs the other members and returns true.
  bool ChangeTerms(uint32_t server_id, const PortParticipant::TermsOf& terms_of,
                   RegistrationResult* conflict);
  // Replaces the reserved prefixes of a port. Until such a prefix is registered, its requests are
  // rejected instead of going to a wider prefix.
  void Reserve(uint16_t port, const std::vector<std::string>& prefixes);
  // Runs a command on the thread that shares ports. Returns false if there is no such thread.
  bool RunOnThread(std::function<void()> command) {
    return thread_.PostIfRunning(std::move(command));
  }
  // Leaves a port if this engine has registered nothing there.
  void Leave(uint16_t port);
  // Must be called when a member reports that a coordinator does not answer (kDoubt). Thread: any.
  void OnDoubt(uint16_t port);
  // Ends the thread and leaves all ports; the Delegate is not called afterwards. Idempotent.
  void Close();

  uint64_t id() const { return id_; }

 private:
  // -- SharingThread::Owner. Called without mutex_, on the thread.

  void AfterCommands() override;
  void Tick() override;
  void TellTicketKeys() override;
  void BeforeEnd() override;

  // -- Ports. mutex_ must be held unless a comment says otherwise.

  SharedPort* Find(uint16_t number);
  SharedPort* Add(uint16_t number);
  // Must be called after each call of a port's participant: the port may have been given up, and
  // frames may wait to be sent.
  void AfterInput(uint16_t number);
  void Flush();
  void ArmTimers();  // Must run on the sharing thread.
  static uint64_t NowMs();
  // Listens under the name of this member unless it already does. Returns 0 or a positive errno.
  int EnsureLinkSocket();
  void OnVisitor(uint16_t number, int fd);  // Called without mutex_, on the acceptor's thread.
  void OnApplied(uint16_t number, uint64_t life, const Applied& applied);

  // -- Channel::Handler. Called without mutex_, on the thread.

  void OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) override;
  void OnBatchEnd(Channel*) override {}
  void OnBroken(Channel* channel) override;

  // -- PortHost. Called with mutex_ held.

  PortLinks& links() override { return links_; }
  Visit OpenLink(uint16_t port, int fd) override;
  int WatchMeeting(uint16_t port, int fd) override;
  void Unwatch(int key) override;
  void SetRoutes(std::shared_ptr<const PortRoutes> routes, uint64_t life,
                 std::optional<Applied> applied) override;
  void AcceptFor(uint32_t server_id, int fd) override;
  void Complete(RegistrationResult result) override;
  PortCounters Count(uint16_t port) override;
  std::optional<CacheReport> AskCache(uint32_t server_id, const CacheQuestion& question) override;
  void GrantCache(uint16_t port, uint64_t bytes) override;
  peer::TicketKeys TellTicketKeys(uint16_t port) override;
  void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) override;

  Delegate* const delegate_;
  const BoundCache bound_cache_;
  const uint64_t id_;
  uint32_t thread_number_ = 0;
  std::string program_;

  // Ports with a posted command of OnDoubt() that has not run: further reports post nothing.
  std::mutex doubts_mutex_;
  std::set<uint16_t> doubts_;

  std::mutex mutex_;  // Guards all members below except thread_.
  std::map<uint16_t, std::unique_ptr<SharedPort>> ports_;
  PortLinks links_;
  NamedSocket link_socket_;
  int link_key_ = 0;
  std::vector<RegistrationResult> results_;
  uint64_t last_life_ = 0;
  peer::CacheWish cache_;
  bool is_closed_ = false;

  SharingThread thread_;
};

}  // namespace httpsys::sharing
