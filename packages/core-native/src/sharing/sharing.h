#pragma once
// Port sharing of one engine: on which ports it meets other members, and what they have agreed on.
//
// The member that holds a port's meeting place coordinates: it decides on registrations and tells
// all others. When it goes, the others run for its place; requests are routed all the while.
// A thread of its own starts with the first other member.

#include <uv.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backend/backend.h"
#include "peer/messages.h"
#include "sharing/channel.h"
#include "sharing/meeting_place.h"
#include "sharing/port_routes.h"
#include "sharing/port_state.h"

namespace httpsys::sharing {

// What a member has done on a port since it started.
struct PortCounters {
  uint64_t connections = 0;  // Open now, that JavaScript knows of.
  uint64_t handed_over = 0;
  uint64_t received = 0;
  struct Server {
    uint64_t queued = 0;
    uint64_t queue_limit = 0;
    uint64_t refused = 0;  // Because the queue was full.
  };
  std::map<uint32_t, Server> servers;
  // By server and prefix id.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> requests;
};

// What the engine does for it. Thread: any; without locks of the caller's that Sharing needs.
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

class Sharing final : private Channel::Handler {
 public:
  explicit Sharing(Delegate* delegate);
  ~Sharing();
  Sharing(const Sharing&) = delete;
  Sharing& operator=(const Sharing&) = delete;

  // -- Thread: JavaScript. None of them waits.

  // Who this is, for other people: set before the first Register().
  void Introduce(uint32_t thread, std::string program);
  // See Backend. `stranger` may be null.
  int Meet(uint16_t port, Stranger* stranger = nullptr);
  int TakeAlone(uint16_t port);
  // A listening socket of the port, which the server accepts on. Duplicated.
  int Contribute(uint16_t port, uint32_t server_id, int fd);
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
  bool ChangeTerms(uint32_t server_id,
                   const std::function<std::string(const std::string& prefix)>& terms_of,
                   RegistrationResult* conflict);
  // Prefixes that nobody gets while their owner is not there. In place of those before.
  void Reserve(uint16_t port, const std::vector<std::string>& prefixes);
  // Gives a port back that nothing was registered on.
  void Leave(uint16_t port);
  // Idempotent; no Delegate calls after it.
  void Close();

  uint64_t id() const { return id_; }

 private:
  enum class Role : uint8_t { kCoordinator, kJoining, kMember };

  // Of the coordinator: one other member, or somebody who only asks.
  struct Session {
    uint64_t id = 0;  // 0 = has not said hello.
    uint64_t since_ms = 0;
    Credentials credentials;
    uint32_t synced = 0;  // Serial of the last change it has confirmed.
    uint16_t protocol = 0;
  };

  // Of the coordinator: a registration that is to be confirmed by all.
  struct Confirmation {
    uint32_t serial = 0;
    uint64_t deadline_ms = 0;
    Channel* channel = nullptr;  // Whose; null = our own.
    uint32_t token = 0;
    bool is_applied = false;  // By our own lanes.
  };

  // Of the coordinator: somebody asked for the state of the port.
  struct Query {
    Channel* channel = nullptr;
    uint64_t deadline_ms = 0;
    std::set<Channel*> waiting;
    std::string members;
  };

  // What was taken back, and not everybody is known to have heard of.
  struct Removal {
    peer::Unregister gone;
    uint64_t since_ms = 0;
    bool is_told = false;  // To the present coordinator, or all if that is this member.
  };

  struct SharedSocket {
    std::string address;
    int fd = -1;
    uint32_t accepted_by = 0;  // A server of ours, or 0.
  };

  struct Port {
    explicit Port(uint16_t number) : number(number), state(number) {}

    const uint16_t number;
    PortState state;
    Role role = Role::kJoining;
    bool has_joined = false;  // Once.
    std::vector<SharedSocket> sockets;
    std::vector<UrlPrefix> reserved;
    // By server; empty lists are of those that have lost their prefixes and listen on.
    std::map<uint32_t, std::vector<peer::Register>> own;
    std::vector<peer::Register> queued;        // Until there is a coordinator.
    std::map<uint32_t, peer::Register> asked;  // By token.
    std::set<uint32_t> changed_terms;          // Tokens of those that have others since.
    std::map<uint32_t, Removal> removals;      // By token.
    // Coordinator.
    NamedSocket meeting;
    int meeting_key = 0;
    std::map<Channel*, Session> sessions;
    uint32_t serial = 0;
    std::vector<Confirmation> confirmations;
    std::vector<Query> queries;
    uint64_t reunion_deadline_ms = 0;
    std::string told_key;  // The newest one of those that the members know.
    // Member.
    Channel* upstream = nullptr;
    Credentials coordinator;
    uint64_t coordinator_id = 0;
    uint16_t protocol = 0;            // That it speaks.
    std::unique_ptr<PortState> told;  // By a new coordinator, until that is everything.
    uint64_t join_deadline_ms = 0;
    uint64_t retry_at_ms = 0;
    uint64_t stranger_look_at_ms = 0;
    bool is_stranger_told = false;    // Of this loss of the meeting place.
    uint64_t answer_deadline_ms = 0;  // Of what was asked; 0 = nothing was.
  };

  // -- sharing.cc: the thread and what both roles share. The mutex is held unless said otherwise.

  // Without the mutex, or with it. False: it will not run.
  bool Post(std::function<void()> command);
  // On the thread, in order: at once when this is the thread.
  void OnThread(uint16_t number, std::function<void(Port*)> function);
  void AbandonLoop();  // With commands_mutex_.
  void RunCommands();  // Without.
  static void Main(void* argument);
  void Tick();
  void ArmTimer();
  Port* Find(uint16_t number);
  Port* PortOf(Channel* channel);
  void PublishRoutes(Port* port, std::function<void()> applied = {});
  // Takes it over. 0, or a positive errno: EEXIST when its address is known, ENOSPC when there are
  // too many, EINVAL when it is no listening socket of the port.
  int AddSocket(Port* port, int fd);
  void EnsureAccepted(Port* port);
  void AddOwn(Port* port, peer::Register registered);
  static PortSockets CopySockets(const Port& port);
  static void AddSockets(const Port& port, RegistrationResult* result);
  void Complete(RegistrationResult result, const Port* port);
  void FailAll(Port* port, const RegistrationResult& why);
  void Drop(Port* port);
  void SayGoodbye(Port* port);
  void Forget(Channel* channel);
  int EnsureLinkSocket();
  static bool WantsNothing(const Port& port) {
    return port.own.empty() && port.queued.empty() && port.asked.empty();
  }
  // Who leaves in order is heard first: by its coordinator, which others ask; or by those who have
  // come back to it as the new one.
  static bool IsUnused(const Port& port) {
    const bool is_heard = port.role == Role::kCoordinator && !IsAwaiting(port);
    return WantsNothing(port) && (port.removals.empty() || is_heard);
  }
  static uint64_t NowMs();

  // Without.
  void OnFrame(Channel* channel, const peer::Frame& frame, std::span<const int> fds) override;
  void OnBatchEnd(Channel*) override {}
  void OnBroken(Channel* channel) override;

  // -- coordinator.cc

  void BecomeCoordinator(Port* port, NamedSocket meeting);  // OpenMeeting() follows.
  void OpenMeeting(Port* port);
  void OnVisitor(uint16_t number, int fd);  // Without.
  bool OnSessionFrame(Port* port, Channel* channel, const peer::Frame& frame, int* fd);
  bool OnHello(Port* port, Channel* channel, std::string_view payload);
  void SendSnapshot(Port* port, Channel* channel);
  bool OnRegister(Port* port, Channel* channel, std::string_view payload);
  bool OnUnregister(Port* port, Channel* channel, std::string_view payload);
  void RemoveEntries(Port* port, uint64_t member, const peer::Unregister& gone);
  RegistrationResult Decide(Port* port, uint64_t member, const peer::Register& wanted);
  void OnSessionBroken(Port* port, Channel* channel);
  void RemoveMember(Port* port, uint64_t id);
  void DropSilent(Port* port, uint64_t now_ms);
  uint32_t SyncAll(Port* port);
  void Confirm(Port* port, uint32_t serial, Channel* channel, uint32_t token);
  void CheckConfirmations(Port* port);
  std::string Describe(const Port& port);
  void BeginQuery(Port* port, Channel* channel);
  void FinishQueries(Port* port);
  void TickCoordinator(Port* port, uint64_t now_ms);
  void TellTicketKeys();
  void Broadcast(Port* port, peer::FrameType type, std::string_view payload, int fd = -1,
                 const Channel* except = nullptr);
  static void SendTo(Channel* channel, peer::FrameType type, std::string_view payload, int fd = -1);
  void TellEntry(Port* port, const peer::Entry& entry);
  peer::Member Self() const;
  uint32_t PidOf(const Port& port, uint64_t member) const;
  bool HasDied(const Port& port, uint64_t member) const;
  static bool IsHere(const Port& port, uint64_t member);
  static bool IsAwaiting(const Port& port);

  // -- member.cc

  void Connect(Port* port);
  bool FailByStranger(Port* port, uint64_t now_ms);
  void AddOwnAgain(Port* port);
  void TellStranger(Port* port, RegistrationResult why);
  void OnJoinFailed(Port* port, const RegistrationResult& why);
  bool OnUpstreamFrame(Port* port, const peer::Frame& frame, int* fd);
  bool OnWelcome(Port* port, std::string_view payload);
  bool OnSync(Port* port, std::string_view payload);
  void AskForAll(Port* port);
  void Ask(Port* port, const peer::Register& wanted);
  static void SendRegister(const Port& port, peer::Register wanted);
  static void SendAgain(const Port& port, peer::Register registered);
  void ExpectAnswer(Port* port);
  bool OnRegistered(Port* port, std::string_view payload);
  void OnUpstreamBroken(Port* port);
  void GiveUpAsked(Port* port);
  void TickMember(Port* port, uint64_t now_ms);

  // -- terms.cc, with ChangeTerms()

  using TermsOf = std::function<std::string(const std::string& prefix)>;
  static void ForRegistrations(Port* port, uint32_t server_id,
                               const std::function<void(peer::Register*)>& use);
  static bool SetTerms(peer::Register* registered, const TermsOf& terms_of);
  void ApplyTerms(Port* port, uint32_t server_id, const TermsOf& terms_of);

  // -- removals.cc, with Unregister()

  void CompleteRemoval(uint32_t token);
  void CompleteRemovals(Port* port);
  void FinishRemoval(uint16_t number, uint32_t token);
  void TellRemoval(Port* port, uint32_t token, const peer::Unregister& gone);
  void TellRemovalsAgain(Port* port);
  std::vector<peer::Unregister> StaleEntries(const Port& port) const;
  void GiveUpRemovals(Port* port, uint64_t now_ms);

  Delegate* const delegate_;
  const uint64_t id_;
  uint32_t thread_number_ = 0;
  std::string program_;

  std::mutex mutex_;  // Guards everything below but the commands.
  std::map<uint16_t, std::unique_ptr<Port>> ports_;
  std::map<Channel*, uint16_t> channels_;
  NamedSocket link_socket_;
  int link_key_ = 0;
  std::vector<RegistrationResult> results_;
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
