#pragma once
// Port sharing of one engine: on which ports it meets other members, and what they have agreed on.
//
// SharedPorts owns the thread, the lock and the channels; what happens on a port is decided by its
// PortParticipant, a pure state machine. The thread starts with the first other member.

#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "peer/messages.h"
#include "sharing/channel.h"
#include "sharing/meeting_place.h"
#include "sharing/port_counters.h"
#include "sharing/port_links.h"
#include "sharing/port_routes.h"
#include "sharing/shared_port.h"

namespace httpsys::sharing {

// What the engine does for it. Thread: any; without locks of the caller's that SharedPorts needs.
class Delegate {
 public:
  // `applied` is called, on any thread, when all lanes go by the routes.
  virtual void SetRoutes(std::shared_ptr<const PortRoutes> routes,
                         std::function<void()> applied) = 0;
  // Accepts from a listening descriptor, which it takes over. A key above 0, or a negative errno.
  virtual int Watch(int fd, std::function<void(int fd)> sink) = 0;
  virtual void Unwatch(int key) = 0;
  // Accepts for a server, until it stops listening. Takes the descriptor over.
  virtual void AcceptFor(uint32_t server_id, int fd) = 0;
  // A lane of a peer wants to speak to a lane of ours. Takes the descriptor over.
  virtual void OnLink(int fd) = 0;
  // A result waits for TakeResult().
  virtual void WakeConsumer() = 0;
  virtual PortCounters Count(uint16_t port) = 0;
  // The keys of session tickets on a port, and those that its coordinator tells.
  virtual peer::TicketKeys TellTicketKeys(uint16_t port) = 0;
  virtual void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) = 0;

 protected:
  ~Delegate() = default;
};

class SharedPorts final : private Channel::Handler, private PortHost {
 public:
  explicit SharedPorts(Delegate* delegate);
  ~SharedPorts();
  SharedPorts(const SharedPorts&) = delete;
  SharedPorts& operator=(const SharedPorts&) = delete;

  // -- Thread: JavaScript. None of them waits.

  // Who this is, for other people: set before the first Meet() or Register().
  void Introduce(uint32_t thread, std::string program);
  // See Backend. `stranger` may be null.
  int Meet(uint16_t port, Stranger* stranger = nullptr);
  int TakeAlone(uint16_t port);
  // A listening socket of the port, which the server accepts on. Duplicated. `is_last`: the server
  // opens no further one for the time being.
  int Contribute(uint16_t port, uint32_t server_id, int fd, bool is_last = true);
  // The server accepts on it no more; see Backend.
  void Withdraw(uint16_t port, int fd);
  // See Backend.
  PortSockets Sockets(uint16_t port);
  // True when the result is there at once; otherwise TakeResult() has it later.
  bool Register(uint16_t port, peer::Register wanted, RegistrationResult* result);
  bool TakeResult(RegistrationResult* result);
  // When it returns this engine's lanes are told. False: nobody else is on the port. Otherwise,
  // with a token, TakeResult() says when everybody knows. `stays`: the server listens on, with what
  // it has left or without any prefix, and takes part.
  bool Unregister(uint16_t port, const peer::Unregister& gone, bool stays = false);
  // A server is to ask clients of its prefixes for certificates by other rules: `terms_of` gives
  // their digest for a prefix. False when a prefix of somebody else is in the way, which `conflict`
  // names; nothing has changed then. Otherwise others are told.
  bool ChangeTerms(uint32_t server_id, const PortParticipant::TermsOf& terms_of,
                   RegistrationResult* conflict);
  // Prefixes that nobody gets while their owner is not there. In place of those before.
  void Reserve(uint16_t port, const std::vector<std::string>& prefixes);
  // Gives a port back that nothing was registered on.
  void Leave(uint16_t port);
  // Idempotent; no Delegate calls after it.
  void Close();

  uint64_t id() const { return id_; }

 private:
  // -- The thread. The mutex is held unless said otherwise.

  // Without the mutex, or with it. False: it will not run.
  bool Post(std::function<void()> command);
  void AbandonLoop();  // With commands_mutex_.
  void RunCommands();  // Without.
  static void Main(void* argument);
  void Tick();  // Without.
  void ArmTimers();
  void TellTicketKeys();  // Without.
  void StopThread();
  static uint64_t NowMs();

  // -- Ports. The mutex is held.

  SharedPort* Find(uint16_t number);
  SharedPort* Add(uint16_t number);
  // After each call of a port's participant: it may have given the port back, and what it has to
  // say waits to be sent.
  void AfterInput(uint16_t number);
  void Flush();
  int EnsureLinkSocket();
  void OnVisitor(uint16_t number, int fd);  // Without.
  void OnApplied(uint16_t number, uint64_t life, const Applied& applied);

  // -- Channel::Handler. Without the mutex.

  void OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) override;
  void OnBatchEnd(Channel*) override {}
  void OnBroken(Channel* channel) override;

  // -- PortHost. The mutex is held.

  Visit OpenLink(uint16_t port, int fd) override;
  void Send(LinkId link, peer::FrameType type, std::string payload, bool is_cut_off) override;
  void SendSocket(LinkId link, const std::string& address) override;
  size_t UnsentBytes(LinkId link) override;
  void CloseLink(LinkId link) override;
  int WatchMeeting(uint16_t port, int fd) override;
  void Unwatch(int key) override;
  void SetRoutes(std::shared_ptr<const PortRoutes> routes, uint64_t life,
                 std::optional<Applied> applied) override;
  void AcceptFor(uint32_t server_id, int fd) override;
  void Complete(RegistrationResult result) override;
  PortCounters Count(uint16_t port) override;
  peer::TicketKeys TellTicketKeys(uint16_t port) override;
  void LearnTicketKeys(uint16_t port, const peer::TicketKeys& keys) override;

  Delegate* const delegate_;
  const uint64_t id_;
  uint32_t thread_number_ = 0;
  std::string program_;

  std::mutex mutex_;  // Guards everything below but the commands.
  std::map<uint16_t, std::unique_ptr<SharedPort>> ports_;
  PortLinks links_;
  NamedSocket link_socket_;
  int link_key_ = 0;
  std::vector<RegistrationResult> results_;
  uint64_t last_life_ = 0;
  bool is_closed_ = false;

  std::mutex commands_mutex_;
  std::vector<std::function<void()>> commands_;
  bool is_running_ = false;
  bool is_stopping_ = false;
  uv_loop_t loop_;
  uv_async_t wake_;
  uv_timer_t timer_;
  uv_timer_t keys_timer_;
  uv_thread_t thread_;
};

}  // namespace httpsys::sharing
