#include "support/port_model.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "base/limits.h"
#include "sharing/port_participant.h"

namespace httpsys::test {
namespace {

using peer::FrameType;
using sharing::Applied;
using sharing::LinkId;
using sharing::PortParticipant;
using sharing::PortRoutes;
using sharing::Visit;

constexpr uint16_t kPort = 8080;
constexpr uint32_t kPrefixes = 6;
constexpr uint64_t kTickMs = 10;
// Nothing lasts longer: an announced successor is waited for, and then expected to be restarted.
constexpr uint32_t kWaitMs = 700;
constexpr uint64_t kSettleMs = kWaitMs + limits::kOfflineMs + 5000;

std::string PrefixText(uint32_t number) {
  return "http://*:8080/" + std::to_string(number % kPrefixes) + "/";
}

// Frames in one direction.
struct Direction {
  std::deque<std::pair<FrameType, std::string>> frames;
  bool is_ended = false;  // By the sender; the receiver hears of it behind the frames.
};

// A connection to the meeting place. Side 0 has connected, side 1 has the meeting place.
struct Link {
  int process[2] = {-1, -1};  // Index; -1 = a visitor that the model plays.
  uint64_t id[2] = {0, 0};    // Of the process, which may have ended since.
  Direction to[2];
  bool is_open[2] = {true, true};
  bool is_accepted = false;
};

class Model;

// What JavaScript of a process knows of one server.
struct Server {
  uint32_t id = 0;
  uint32_t prefix = 0;
  std::string queue;
  uint32_t token = 0;
  bool is_granted = false;
  bool is_gone = false;                  // Taken back, or told to be lost.
  uint64_t asked_ms = 0;                 // When it was asked for, or taken back.
  uint64_t gone_ms = 0;                  // Since when is_gone is true.
  uint32_t removal = 0;                  // Token of a removal that is not confirmed.
  bool is_cut = false;                   // Its process has lost its coordinator since.
  bool is_awaited = false;               // It was taken back with a successor to come.
  std::vector<uint64_t> witnesses = {};  // Who knew of it when its process was killed.

  void SetGone(uint64_t now_ms) {
    if (!std::exchange(is_gone, true)) gone_ms = now_ms;
  }
};

struct Process final : sharing::PortEffects {
  Process(Model* model, int index, uint64_t id) : model(model), index(index), id(id) {}

  Visit VisitMeeting() override;
  int TakeMeeting() override;
  bool IsStrangers(sharing::Credentials*) override { return false; }
  void OpenMeeting() override;
  bool IsGone(uint64_t member) override;
  void Send(LinkId link, FrameType type, std::string payload) override;
  void Tell(LinkId link, FrameType type, std::string payload) override {
    Send(link, type, std::move(payload));
  }
  void TellSocket(LinkId link, const std::string&) override {
    Send(link, FrameType::kSocket, peer::Encode(peer::Sync{}));
  }
  size_t UnsentBytes(LinkId) override { return 0; }
  void CloseLink(LinkId link) override;
  void Publish(std::shared_ptr<const PortRoutes> next, std::optional<Applied> applied) override {
    lanes.emplace_back(std::move(next), applied);
  }
  bool Accept(uint32_t, const std::string&) override { return true; }
  void Complete(RegistrationResult result, bool is_registration) override;
  sharing::PortCounters Count() override { return {}; }
  peer::TicketKeys TellTicketKeys() override { return {}; }
  void LearnTicketKeys(const peer::TicketKeys&) override {}

  bool IsRunning() const { return is_alive && !is_paused; }

  Model* model;
  int index;
  uint64_t id;
  bool is_alive = true;
  bool is_paused = false;
  uint64_t died_ms = 0;
  std::unique_ptr<PortParticipant> port;
  std::deque<std::pair<std::shared_ptr<const PortRoutes>, std::optional<Applied>>> lanes;
  std::shared_ptr<const PortRoutes> routes;  // In force.
  // Routes at the front of `lanes` that are of an earlier life of the port.
  size_t stale_lanes = 0;
  // Whose each prefix was, as far as the routes have told: member and server.
  std::array<std::vector<std::pair<uint64_t, uint32_t>>, kPrefixes> owners;
  std::vector<Server> servers;
  std::vector<RegistrationResult> results;  // That JavaScript has not read.
  LinkId synced_link = 0;                   // Over which it has confirmed something.
  bool is_cut = false;                      // By a coordinator that lives, and not back yet.
  int agains = 0;                           // Registrations told again and not answered.
  uint32_t last_token = 0;
  uint32_t last_server = 0;
};

class Model {
 public:
  explicit Model(uint32_t processes) {
    for (uint32_t i = 0; i < processes; ++i) Start(static_cast<int>(i));
  }

  void Play(const ModelStep& step);
  // Everything goes on and nobody does anything new: what must have happened by then.
  void Settle();
  const std::string& failure() const { return failure_; }
  uint64_t steps() const { return steps_; }

  void Fail(const std::string& what) {
    if (failure_.empty()) failure_ = "at " + std::to_string(now_ms_) + " ms: " + what;
  }

 private:
  friend struct Process;

  void Start(int index);
  void Kill(Process& process);
  void Exit(Process& process);
  void Register(Process& process, uint32_t choice);
  void Unregister(Process& process, uint32_t choice);
  bool Deliver(uint32_t choice, bool is_twice);
  bool DeliverOn(size_t link, int side, bool is_twice);
  void Apply(Process& process);
  void Advance(uint64_t ms);
  void Visitor(uint32_t choice, bool is_query);
  void After(Process& process);
  void ReadResults(Process& process);
  void OnGranted(Process& process, Server& server);
  void OnRemoved(Process& process, Server& server);
  void LetGo(Process& process);
  void GiveBack(Process& process);
  void EndLink(size_t link, int side);
  void Cut(size_t link, int side);
  bool IsInSession(const Process& process) const;
  bool HasConfirmed(const Process& process) const;
  bool IsCut(const Process& process) const;
  bool IsLinked(const Process& process, const Process& coordinator) const;
  bool HasRoute(const Process& by, uint64_t owner, uint32_t server, uint64_t self) const;
  void CheckOwners();
  void CheckKnowledge(Process& process, const PortRoutes* before);
  bool MayForget(uint64_t member, uint32_t server_id) const;
  Server* FindServer(uint64_t member, uint32_t server_id, const Process** owner) const;
  void CheckAgreement();
  void CheckDeath();
  void CheckPromptness();
  void DeliverAll();
  Process* Coordinator() const;
  size_t Pending() const;

  uint64_t now_ms_ = 1000;
  uint64_t last_tick_ms_ = 1000;
  uint64_t last_id_ = 0;
  uint64_t steps_ = 0;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Process>> buried_;
  std::set<uint64_t> alive_;
  std::set<uint64_t> left_;  // Have given the port back once.
  std::vector<Link> links_;
  uint64_t holder_ = 0;  // Id of the process that has the meeting place; 0 = nobody.
  uint64_t holder_since_ms_ = 0;
  bool is_door_open_ = false;
  std::string failure_;
};

// -- The world of a process.

Visit Process::VisitMeeting() {
  if (model->holder_ == 0) return {Visit::Result::kNobody, 0, 0, {}};
  Link link;
  link.process[0] = index;
  link.id[0] = id;
  for (const auto& other : model->processes_) {
    if (other->id == model->holder_) link.process[1] = other->index;
  }
  link.id[1] = model->holder_;
  model->links_.push_back(link);
  return {Visit::Result::kLinked, model->links_.size(), 0, {0, static_cast<uint32_t>(link.id[1])}};
}

int Process::TakeMeeting() {
  if (model->holder_ != 0) return -EADDRINUSE;
  model->holder_ = id;
  model->holder_since_ms_ = model->now_ms_;
  model->is_door_open_ = false;
  return 0;
}

void Process::OpenMeeting() {
  if (model->holder_ == id) model->is_door_open_ = true;
}

bool Process::IsGone(uint64_t member) { return !model->alive_.contains(member); }

void Process::Send(LinkId link, FrameType type, std::string payload) {
  Link& sent = model->links_[link - 1];
  const int side = sent.id[0] == id ? 0 : 1;
  if (!sent.is_open[side]) return;
  peer::Register wanted;
  const bool is_again =
      type == FrameType::kRegister && peer::Decode(payload, &wanted) && wanted.token == 0;
  if (is_again) ++agains;
  if (type == FrameType::kSynced) synced_link = link;
  if (type == FrameType::kSynced && sent.is_open[1 - side]) is_cut = false;
  if (sent.is_open[1 - side]) sent.to[1 - side].frames.emplace_back(type, std::move(payload));
}

void Process::CloseLink(LinkId link) {
  model->Cut(link - 1, model->links_[link - 1].id[0] == id ? 0 : 1);
}

void Process::Complete(RegistrationResult result, bool) { results.push_back(std::move(result)); }

// -- Steps.

void Model::Start(int index) {
  auto process = std::make_unique<Process>(this, index, ++last_id_);
  alive_.insert(process->id);
  if (static_cast<size_t>(index) < processes_.size()) {
    buried_.push_back(std::exchange(processes_[index], std::move(process)));
  } else {
    processes_.push_back(std::move(process));
  }
}

void Model::EndLink(size_t index, int side) {
  Link& link = links_[index];
  if (!link.is_open[side]) return;
  link.is_open[side] = false;
  link.to[1 - side].is_ended = true;
  link.to[side].frames.clear();
}

// A process that lives ends one of its links.
void Model::Cut(size_t index, int side) {
  EndLink(index, side);
  for (const auto& process : processes_) {
    if (side == 1 && process->id == links_[index].id[0]) process->is_cut = true;
  }
}

// The port is given back, or its process has ended.
void Model::LetGo(Process& process) {
  for (size_t i = 0; i < links_.size(); ++i) {
    for (const int side : {0, 1}) {
      if (links_[i].id[side] == process.id) EndLink(i, side);
    }
  }
  if (holder_ == process.id) {
    holder_ = 0;
    is_door_open_ = false;
  }
  process.port.reset();
}

void Model::Kill(Process& process) {
  if (!process.is_alive) return;
  for (Server& server : process.servers) {
    if (!server.is_granted || server.is_gone || !IsInSession(process)) continue;
    for (const auto& other : processes_) {
      if (other.get() == &process || !IsInSession(*other)) continue;
      for (const auto& there : other->port->record().state.EntriesOfServer(process.id, server.id)) {
        if (!there.is_absent()) server.witnesses.push_back(other->id);
      }
    }
  }
  process.is_alive = false;
  process.died_ms = now_ms_;
  alive_.erase(process.id);
  LetGo(process);
}

void Model::Exit(Process& process) {
  if (!process.IsRunning()) return;
  if (process.port != nullptr) process.port->SayGoodbye(now_ms_);
  for (Server& server : process.servers) server.SetGone(now_ms_);
  Kill(process);
}

void Model::Register(Process& process, uint32_t choice) {
  if (!process.IsRunning() || process.servers.size() >= 24) return;
  Server server;
  server.id = ++process.last_server;
  server.prefix = choice % kPrefixes;
  server.token = ++process.last_token;
  server.asked_ms = now_ms_;
  if (choice % 5 == 0) server.queue = "q";
  peer::Register wanted;
  wanted.token = server.token;
  wanted.server_id = server.id;
  wanted.queue = server.queue;
  wanted.queue_mode = static_cast<uint8_t>(QueueMode::kCreateOrAttach);
  wanted.prefixes.push_back({server.id, PrefixText(server.prefix), {}});
  process.servers.push_back(server);
  if (process.port == nullptr) {
    peer::Member self{process.id, static_cast<uint32_t>(process.id), 0, peer::kProtocol, "model"};
    process.port = std::make_unique<PortParticipant>(kPort, self, &process);
    // Who finds the name free while others have the port's socket cannot listen, and joins them.
    const bool is_used = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
      return other->port != nullptr && other.get() != &process;
    });
    if (holder_ == 0 && !is_used) {
      holder_ = process.id;
      holder_since_ms_ = now_ms_;
      process.port->Found(now_ms_);
      process.port->Contribute("[::]", server.id);
      process.OpenMeeting();
    }
  }
  RegistrationResult result;
  if (process.port->Register(wanted, &result, now_ms_)) {
    result.token = server.token;
    process.results.push_back(result);
  } else {
    process.port->Tick(now_ms_);
  }
  After(process);
}

void Model::Unregister(Process& process, uint32_t choice) {
  std::vector<Server*> there;
  for (Server& server : process.servers) {
    if (!server.is_gone) there.push_back(&server);
  }
  if (!process.IsRunning() || there.empty() || process.port == nullptr) return;
  Server& server = *there[choice % there.size()];
  server.SetGone(now_ms_);
  server.token = 0;  // Nobody waits for its registration any more.
  server.removal = ++process.last_token;
  server.asked_ms = now_ms_;
  server.is_awaited = choice % 3 == 0;
  server.is_cut = !IsInSession(process);
  const peer::Unregister gone{server.id, server.is_awaited ? kWaitMs : 0, 1, {}, server.removal};
  if (!process.port->Unregister(gone, false, now_ms_)) server.removal = 0;
  After(process);
}

void Model::Apply(Process& process) {
  if (!process.IsRunning() || process.lanes.empty()) return;
  const auto [routes, applied] = std::move(process.lanes.front());
  process.lanes.pop_front();
  const auto before = std::exchange(process.routes, routes);
  if (process.stale_lanes != 0) {
    --process.stale_lanes;
  } else if (process.port != nullptr) {
    CheckKnowledge(process, before.get());
  }
  if (applied && process.port != nullptr) process.port->OnApplied(*applied, now_ms_);
  After(process);
}

void Model::Advance(uint64_t ms) {
  now_ms_ += ms;
  if (now_ms_ - last_tick_ms_ < kTickMs) return;
  last_tick_ms_ = now_ms_;
  for (const auto& process : processes_) {
    if (!process->IsRunning() || process->port == nullptr || !process->port->NeedsTicks()) continue;
    process->port->Tick(now_ms_);
    After(*process);
  }
}

// Somebody who is no member: asks for the state, says nothing, or speaks nonsense.
void Model::Visitor(uint32_t choice, bool is_query) {
  if (holder_ == 0) return;
  Link link;
  link.id[1] = holder_;
  for (const auto& other : processes_) {
    if (other->id == holder_) link.process[1] = other->index;
  }
  auto& frames = link.to[1].frames;
  if (is_query) {
    frames.emplace_back(FrameType::kStateQuery, "");
  } else if (choice % 4 != 0) {
    std::string bytes(choice % 23, static_cast<char>(choice));
    frames.emplace_back(static_cast<FrameType>(choice % 20), std::move(bytes));
  }
  links_.push_back(std::move(link));
  if (choice % 2 == 0 && is_query) EndLink(links_.size() - 1, 0);
}

bool Model::DeliverOn(size_t index, int side, bool is_twice) {
  Process* process = links_[index].process[side] < 0
                         ? nullptr
                         : processes_[static_cast<size_t>(links_[index].process[side])].get();
  const bool is_it = process != nullptr && process->id == links_[index].id[side];
  if (!links_[index].is_open[side]) return false;
  if (links_[index].process[side] < 0) {
    links_[index].to[side].frames.clear();
    return false;
  }
  if (!is_it || !process->IsRunning() || process->port == nullptr) return false;
  const LinkId id = index + 1;
  if (side == 1 && !links_[index].is_accepted) {
    if (holder_ != process->id || !is_door_open_) return false;
    links_[index].is_accepted = true;
    const uint32_t pid = static_cast<uint32_t>(links_[index].id[0]);
    if (!process->port->OnVisitor(id, {0, pid}, now_ms_)) EndLink(index, 1);
    return true;
  }
  Direction& direction = links_[index].to[side];
  if (direction.frames.empty()) {
    if (!direction.is_ended) return false;
    EndLink(index, side);
    process->agains = side == 0 ? 0 : process->agains;
    if (side == 0) process->is_cut |= alive_.contains(links_[index].id[1]);
    for (Server& server : process->servers) server.is_cut = true;
    process->port->OnBroken(id, now_ms_);
    After(*process);
    return true;
  }
  const auto [type, payload] = direction.frames.front();
  direction.frames.pop_front();
  for (int i = 0; i < (is_twice ? 2 : 1); ++i) {
    if (process->port == nullptr || !links_[index].is_open[side]) break;
    peer::Registered answer;
    const bool is_again = side == 0 && type == FrameType::kRegistered &&
                          peer::Decode(payload, &answer) && answer.token == 0;
    if (is_again && process->agains > 0) --process->agains;
    const std::string address = type == FrameType::kSocket ? "[::]" : "";
    if (!process->port->OnFrame(id, {type, 0, payload}, address, now_ms_)) Cut(index, side);
    After(*process);
  }
  return true;
}

// False: there is nothing for anybody who runs.
bool Model::Deliver(uint32_t choice, bool is_twice) {
  std::vector<std::pair<size_t, int>> ready;
  for (size_t i = 0; i < links_.size(); ++i) {
    for (const int side : {0, 1}) {
      const Direction& to = links_[i].to[side];
      const bool has_any =
          !to.frames.empty() || to.is_ended || (side == 1 && !links_[i].is_accepted);
      if (links_[i].is_open[side] && has_any) ready.emplace_back(i, side);
    }
  }
  // One link after the other until there is something for somebody who runs.
  for (size_t i = 0; i < ready.size(); ++i) {
    const auto [link, side] = ready[(choice + i) % ready.size()];
    if (DeliverOn(link, side, is_twice)) return true;
  }
  return false;
}

// -- What JavaScript hears, and what must hold then.

void Model::GiveBack(Process& process) {
  for (Server& server : process.servers) {
    if (server.is_granted && !server.is_gone) Fail("a port was given back that is in use");
  }
  left_.insert(process.id);
  LetGo(process);
  // What lanes have yet to take is none of the next participant's.
  for (auto& [routes, applied] : process.lanes) applied.reset();
  process.stale_lanes = process.lanes.size();
  for (auto& owners : process.owners) owners.clear();
}

void Model::After(Process& process) {
  ReadResults(process);
  if (process.port != nullptr && process.port->is_over()) GiveBack(process);
  ReadResults(process);
  CheckOwners();
}

void Model::ReadResults(Process& process) {
  for (const RegistrationResult& result : std::exchange(process.results, {})) {
    for (Server& server : process.servers) {
      if (result.token == 0 && result.error != 0 && server.is_granted && !server.is_gone &&
          result.prefix == PrefixText(server.prefix)) {
        server.SetGone(now_ms_);  // Told to be lost. The engine keeps it, and asks again.
      }
      if (result.token == 0) continue;
      if (server.removal == result.token) {
        server.removal = 0;
        OnRemoved(process, server);
      } else if (server.token == result.token) {
        server.token = 0;
        if (result.error != 0) server.SetGone(now_ms_);
        if (result.error == 0 && !server.is_gone) OnGranted(process, server);
      }
    }
  }
  if (process.port == nullptr || holder_ != process.id || is_door_open_) return;
  // The founder binds the port's socket, unless somebody has it.
  const bool is_used = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
    return other.get() != &process && other->port != nullptr && other->port->record().has_joined;
  });
  const bool is_founding = std::any_of(process.servers.begin(), process.servers.end(),
                                       [](const Server& s) { return s.is_granted && !s.is_gone; });
  if (!is_founding) return;
  if (!is_used) {
    process.port->Contribute("[::]", 1);
    process.OpenMeeting();
    return;
  }
  for (Server& server : process.servers) {
    if (server.is_gone || process.port == nullptr) continue;
    server.SetGone(now_ms_);
    server.token = 0;
    process.port->Unregister({server.id, 0, 1, {}, 0}, false, now_ms_);
  }
}

Process* Model::Coordinator() const {
  for (const auto& process : processes_) {
    if (process->id == holder_ && process->port != nullptr) return process.get();
  }
  return nullptr;
}

// Both ends of its link to the coordinator are there, and both go by it.
bool Model::IsInSession(const Process& process) const {
  if (process.port == nullptr) return false;
  if (process.port->is_coordinator()) return holder_ == process.id;
  for (const Link& link : links_) {
    const bool is_its = link.id[0] == process.id && link.id[1] == holder_ && link.is_accepted;
    if (is_its && link.is_open[0] && link.is_open[1]) return process.port->is_joined();
  }
  return false;
}

// It has been in session for so long that it has confirmed something.
bool Model::HasConfirmed(const Process& process) const {
  return process.port->is_coordinator() || process.synced_link == process.port->link();
}

// A coordinator that lives has ended the session, or has waited in vain for the process to come
// back after an election: it does not wait for it now.
bool Model::IsCut(const Process& process) const {
  const Process* coordinator = Coordinator();
  const bool is_late = coordinator != nullptr && coordinator != &process &&
                       now_ms_ - holder_since_ms_ >= limits::kReunionMs &&
                       !coordinator->port->record().state.members().contains(process.id);
  return process.is_cut || is_late ||
         std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
           return link.id[0] == process.id && link.is_open[0] && !link.is_open[1] &&
                  alive_.contains(link.id[1]);
         });
}

bool Model::IsLinked(const Process& process, const Process& coordinator) const {
  return std::any_of(links_.begin(), links_.end(), [&](const Link& link) {
    return link.id[0] == process.id && link.id[1] == coordinator.id && link.is_open[0] &&
           link.is_accepted;
  });
}

bool Model::HasRoute(const Process& by, uint64_t owner, uint32_t server, uint64_t self) const {
  if (by.routes == nullptr) return false;
  for (uint32_t i = 0; i < by.routes->target_count(); ++i) {
    for (const PortRoutes::Owner& each : by.routes->target(i).owners) {
      const uint64_t member = each.member == 0 ? self : each.member;
      if (member == owner && each.server_id == server) return true;
    }
  }
  return false;
}

// A registration is in force everywhere when it is answered. Who does not confirm in time is not
// waited for, so that only what was answered sooner is looked at.
void Model::OnGranted(Process& process, Server& server) {
  server.is_granted = true;
  if (now_ms_ - server.asked_ms >= limits::kConfirmMs) return;
  for (const auto& other : processes_) {
    // Alone, it decides at once, and its lanes follow.
    if (other.get() == &process || !other->is_alive || !IsInSession(*other)) continue;
    if (!IsInSession(process) || !HasConfirmed(*other)) continue;
    if (!HasRoute(*other, process.id, server.id, other->id)) {
      Fail("process " + std::to_string(other->id) + " has no route to a confirmed prefix of " +
           std::to_string(process.id));
    }
  }
}

// A removal is known everywhere when it is answered, also by those who have not come to the new
// coordinator yet.
void Model::OnRemoved(Process& process, Server& server) {
  if (now_ms_ - server.asked_ms >= limits::kConfirmMs || server.token != 0) return;
  // Cut by a coordinator that lives, it can tell nobody.
  if (!server.is_granted || process.is_cut) return;
  const bool has_left = process.port != nullptr && process.port->is_over();
  for (const auto& other : processes_) {
    if (other.get() == &process || !other->is_alive || other->port == nullptr) continue;
    if (!other->port->record().has_joined) continue;
    // A coordinator that leaves has told it, and does not wait.
    if (IsCut(*other) || (has_left && IsLinked(*other, process))) continue;
    if (HasRoute(*other, process.id, server.id, other->id)) {
      Fail("process " + std::to_string(other->id) + " has a route to a prefix that " +
           std::to_string(process.id) + " was told to be gone");
    }
  }
}

// Never two owners of a prefix outside one queue.
void Model::CheckOwners() {
  std::map<uint32_t, std::pair<uint64_t, std::string>> owners;
  for (const auto& process : processes_) {
    if (!process->is_alive || process->agains != 0 || !IsInSession(*process)) continue;
    for (const Server& server : process->servers) {
      if (!server.is_granted || server.is_gone) continue;
      const auto [found, is_new] = owners.insert({server.prefix, {process->id, server.queue}});
      const bool is_shared = !server.queue.empty() && server.queue == found->second.second;
      if (is_new || is_shared) continue;
      Fail("prefix " + std::to_string(server.prefix) + " has two owners: " +
           std::to_string(found->second.first) + " and " + std::to_string(process->id));
    }
  }
}

Server* Model::FindServer(uint64_t member, uint32_t server_id, const Process** owner) const {
  for (const auto* list : {&processes_, &buried_}) {
    for (const auto& process : *list) {
      if (process->id != member) continue;
      *owner = process.get();
      for (Server& server : process->servers) {
        if (server.id == server_id) return &server;
      }
    }
  }
  return nullptr;
}

// What was taken back, has been away for long enough, or was taken back by a successor.
bool Model::MayForget(uint64_t member, uint32_t server_id) const {
  const Process* owner = nullptr;
  const Server* server = FindServer(member, server_id, &owner);
  if (server == nullptr || server->is_gone || !server->is_granted) return true;
  if (owner->is_alive) return false;
  if (now_ms_ - owner->died_ms >= limits::kOfflineMs) return true;
  for (const auto* list : {&processes_, &buried_}) {
    for (const auto& other : *list) {
      for (const Server& later : other->servers) {
        const bool is_other = later.prefix == server->prefix && &later != server && later.is_gone;
        // What was said before may be heard after.
        const bool is_slow =
            !later.is_granted || (!server->queue.empty() && later.queue == server->queue);
        const uint64_t slack_ms = is_slow ? limits::kRemovalMs : 0;
        if (is_other && later.gone_ms + slack_ms >= owner->died_ms) return true;
      }
    }
  }
  return false;
}

// Requests for a prefix whose process was killed get 503 for a while, or its successor, and never
// 404.
void Model::CheckKnowledge(Process& process, const PortRoutes* before) {
  for (uint32_t prefix = 0; prefix < kPrefixes; ++prefix) {
    const std::string path = "/" + std::to_string(prefix) + "/";
    auto& owners = process.owners[prefix];
    const Route route = process.routes->Find("a", path, {});
    if (route.status == RouteStatus::kMatch && !process.routes->target(route.id).owners.empty()) {
      owners.clear();
      for (const PortRoutes::Owner& owner : process.routes->target(route.id).owners) {
        owners.emplace_back(owner.member == 0 ? process.id : owner.member, owner.server_id);
      }
    }
    if (route.status == RouteStatus::kOffline && owners.empty()) {
      for (const sharing::StateEntry& there : process.port->record().state.entries()) {
        if (there.is_absent() && there.entry.prefix == PrefixText(prefix)) {
          owners.emplace_back(there.entry.member, there.entry.server_id);
        }
      }
    }
    const bool is_known =
        route.status == RouteStatus::kMatch || route.status == RouteStatus::kOffline;
    if (is_known || before == nullptr) continue;
    const bool may_forget = std::any_of(owners.begin(), owners.end(), [this](const auto& owner) {
      return MayForget(owner.first, owner.second);
    });
    if (!owners.empty() && !may_forget) {
      const Process* owner = nullptr;
      FindServer(owners[0].first, owners[0].second, &owner);
      Fail("process " + std::to_string(process.id) + " has forgotten a prefix of the " +
           (owner->is_alive ? "living" : "killed") + " process " + std::to_string(owner->id));
    }
    owners.clear();
  }
}

size_t Model::Pending() const {
  size_t pending = 0;
  for (const Link& link : links_) {
    for (const int side : {0, 1}) {
      if (link.process[side] < 0 || !link.is_open[side]) continue;
      pending += link.to[side].frames.size() + (link.to[side].is_ended ? 1 : 0);
      pending += side == 1 && !link.is_accepted ? 1 : 0;
    }
  }
  for (const auto& process : processes_) pending += process->is_alive ? process->lanes.size() : 0;
  return pending;
}

// -- The end of a schedule.

void Model::Settle() {
  for (const auto& process : processes_) process->is_paused = false;
  const uint64_t end_ms = now_ms_ + kSettleMs;
  bool has_died = false;
  while (now_ms_ < end_ms && failure_.empty()) {
    DeliverAll();
    if (!has_died && now_ms_ >= end_ms - kSettleMs + 2 * limits::kCoordinatorMs + kWaitMs + 1500) {
      has_died = true;
      CheckAgreement();
      CheckDeath();
      CheckPromptness();
    }
    const bool is_busy = now_ms_ < end_ms - limits::kOfflineMs;
    Advance(is_busy ? kTickMs : 20 * kTickMs);
    ++steps_;
  }
  if (failure_.empty()) CheckAgreement();
  for (const auto& process : processes_) {
    if (process->port != nullptr && process->port->NeedsTicks()) {
      Fail("process " + std::to_string(process->id) + " waits for something for ever");
    }
  }
}

void Model::DeliverAll() {
  for (size_t i = 0; i < 4000 && Pending() != 0; ++i) {
    const size_t before = Pending();
    for (const auto& process : processes_) {
      while (process->IsRunning() && !process->lanes.empty()) Apply(*process);
    }
    ++steps_;
    if (!Deliver(0, false) && Pending() == before) break;
  }
}

// While everybody runs and nothing is on its way, nobody waits for a deadline: a registration and
// its removal are confirmed without any time going by.
void Model::CheckPromptness() {
  const Process* coordinator = Coordinator();
  if (coordinator == nullptr || !failure_.empty()) return;
  const auto& state = coordinator->port->record().state;
  uint32_t choice = 1;
  while (choice < kPrefixes && state.HasPrefix(PrefixText(choice))) ++choice;
  if (choice == kPrefixes || choice % 5 == 0) return;
  for (const auto& process : processes_) {
    if (!process->is_alive || process->port == nullptr || !failure_.empty()) continue;
    Register(*process, choice);
    DeliverAll();
    const Server& server = process->servers.back();
    if (server.token == 0 && server.is_granted) {
      const auto there = std::count_if(process->servers.begin(), process->servers.end(),
                                       [](const Server& each) { return !each.is_gone; });
      Unregister(*process, static_cast<uint32_t>(there - 1));
      DeliverAll();
    }
    if (server.token != 0 || server.removal != 0) {
      Fail("process " + std::to_string(process->id) + " waits although everybody runs");
    }
  }
}

// There is one coordinator, and all have the same state, in which everybody's prefixes are.
void Model::CheckAgreement() {
  std::optional<std::set<std::string>> first;
  int coordinators = 0;
  for (const auto& process : processes_) {
    if (process->port == nullptr) {
      for (const Server& server : process->servers) {
        if (process->is_alive && (server.token != 0 || server.removal != 0)) {
          Fail("process " + std::to_string(process->id) + " was never answered");
        }
      }
      continue;
    }
    coordinators += process->port->is_coordinator() ? 1 : 0;
    if (!IsInSession(*process)) {
      Fail("process " + std::to_string(process->id) + " has found no coordinator");
      continue;
    }
    std::set<std::string> entries;
    for (const sharing::StateEntry& there : process->port->record().state.entries()) {
      const peer::Entry& entry = there.entry;
      entries.insert(std::to_string(entry.member) + ":" + std::to_string(entry.server_id) + " " +
                     entry.prefix + (there.is_absent() ? " absent" : ""));
      if (!there.is_absent() && !alive_.contains(entry.member)) {
        Fail("an entry of the dead process " + std::to_string(entry.member) + " is left");
      }
    }
    if (!first) first = entries;
    if (*first != entries) {
      std::string text = "process " + std::to_string(process->id) + " knows another state:";
      for (const std::string& each : *first) text.append(entries.contains(each) ? "" : " -" + each);
      for (const std::string& each : entries) text.append(first->contains(each) ? "" : " +" + each);
      Fail(text);
    }
    for (const Server& server : process->servers) {
      if (server.token != 0 || server.removal != 0) {
        Fail("process " + std::to_string(process->id) + " was never answered");
      }
      const bool is_there =
          entries.contains(std::to_string(process->id) + ":" + std::to_string(server.id) + " " +
                           PrefixText(server.prefix));
      const bool is_lost = server.is_gone && server.is_granted && !is_there;
      if (server.is_granted && !server.is_gone && !is_there) {
        Fail("a prefix of process " + std::to_string(process->id) + " was lost untold");
      }
      (void)is_lost;
      if (!server.is_granted && server.is_gone && is_there) {
        Fail("process " + std::to_string(process->id) + " has a prefix that it was refused");
      }
      const bool is_own = process->port->record().own.contains(server.id);
      if (server.is_gone && is_there && !is_own) {
        Fail("a prefix that process " + std::to_string(process->id) + " took back is left");
      }
    }
  }
  if (coordinators > 1) Fail("there are two coordinators");
}

// What a killed process had is expected back for a while, unless somebody has it.
void Model::CheckDeath() {
  const Process* coordinator = Coordinator();
  if (coordinator == nullptr) return;
  for (const auto& process : processes_) {
    if (process->is_alive) continue;
    for (const Server& server : process->servers) {
      const bool is_known =
          std::any_of(server.witnesses.begin(), server.witnesses.end(),
                      [this](uint64_t id) { return alive_.contains(id) && !left_.contains(id); });
      const auto& entries = coordinator->port->record().state.entries();
      const bool is_there =
          std::any_of(entries.begin(), entries.end(), [&](const sharing::StateEntry& there) {
            return there.entry.prefix == PrefixText(server.prefix);
          });
      if (is_known && !is_there && !MayForget(process->id, server.id)) {
        Fail("the prefix of a killed process is forgotten at once");
      }
    }
  }
}

void Model::Play(const ModelStep& step) {
  ++steps_;
  Process& process = *processes_[step.a % processes_.size()];
  switch (step.kind) {
    case ModelStep::Kind::kDeliver:
      (void)Deliver(step.a, false);
      return;
    case ModelStep::Kind::kApply:
      return Apply(process);
    case ModelStep::Kind::kAdvance:
      return Advance(step.a % 40 == 0 ? 300 : step.a % 12);
    case ModelStep::Kind::kRegister:
      return Register(process, step.b);
    case ModelStep::Kind::kUnregister:
      return Unregister(process, step.b);
    case ModelStep::Kind::kKill:
      return Kill(process);
    case ModelStep::Kind::kExit:
      return Exit(process);
    case ModelStep::Kind::kStart:
      if (!process.is_alive) Start(process.index);
      return;
    case ModelStep::Kind::kPause:
      process.is_paused = true;
      return;
    case ModelStep::Kind::kContinue:
      process.is_paused = false;
      return;
    case ModelStep::Kind::kDuplicate:
      (void)Deliver(step.a, true);
      return;
    case ModelStep::Kind::kHostile:
      return Visitor(step.b, false);
    case ModelStep::Kind::kQuery:
      return Visitor(step.b, true);
  }
}

}  // namespace

std::string PlayModel(const ModelOptions& options, uint64_t* steps_played) {
  Model model(options.processes);
  for (size_t i = 0; i < options.steps.size() && model.failure().empty(); ++i) {
    model.Play(options.steps[i]);
  }
  if (model.failure().empty()) model.Settle();
  if (steps_played != nullptr) *steps_played += model.steps();
  return model.failure();
}

ModelOptions ModelSchedule(uint64_t seed) {
  std::mt19937_64 random(seed);
  ModelOptions options;
  options.processes = 2 + static_cast<uint32_t>(random() % 5);
  using Kind = ModelStep::Kind;
  // How often each happens; what a schedule is made of differs from one to the next.
  const std::array<std::pair<Kind, uint32_t>, 13> weights = {{
      {Kind::kDeliver, 600},
      {Kind::kApply, 250},
      {Kind::kAdvance, 150},
      {Kind::kRegister, 40},
      {Kind::kUnregister, 25},
      {Kind::kKill, random() % 12},
      {Kind::kExit, random() % 6},
      {Kind::kStart, 10},
      {Kind::kPause, random() % 6},
      {Kind::kContinue, 12},
      {Kind::kDuplicate, random() % 8},
      {Kind::kHostile, random() % 6},
      {Kind::kQuery, random() % 6},
  }};
  uint32_t total = 0;
  for (const auto& [kind, weight] : weights) total += weight;
  const size_t count = 100 + random() % 500;
  for (size_t i = 0; i < count; ++i) {
    uint32_t at = static_cast<uint32_t>(random() % total);
    ModelStep step;
    for (const auto& [kind, weight] : weights) {
      step.kind = kind;
      if (at < weight) break;
      at -= weight;
    }
    step.a = static_cast<uint32_t>(random() % 100'000);
    step.b = static_cast<uint32_t>(random() % 100'000);
    options.steps.push_back(step);
  }
  return options;
}

ModelOptions ShrinkModel(ModelOptions options) {
  // The same failure is one with the same words, at whatever time and with whatever numbers.
  const auto words_of = [](std::string text) {
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
  };
  const std::string failure = words_of(PlayModel(options));
  for (size_t size = options.steps.size() / 2; size > 0;) {
    bool is_shorter = false;
    for (size_t at = 0; at + size <= options.steps.size();) {
      ModelOptions less = options;
      const auto first = less.steps.begin() + static_cast<std::ptrdiff_t>(at);
      less.steps.erase(first, first + static_cast<std::ptrdiff_t>(size));
      if (words_of(PlayModel(less)) == failure) {
        options = std::move(less);
        is_shorter = true;
      } else {
        at += size;
      }
    }
    if (!is_shorter || size > options.steps.size()) size /= 2;
  }
  return options;
}

std::string ModelProgram(const ModelOptions& options) {
  static constexpr const char* kNames[] = {
      "kDeliver", "kApply", "kAdvance",  "kRegister",  "kUnregister", "kKill", "kExit",
      "kStart",   "kPause", "kContinue", "kDuplicate", "kHostile",    "kQuery"};
  std::string text =
      "ModelOptions options;\noptions.processes = " + std::to_string(options.processes) +
      ";\noptions.steps = {\n";
  for (const ModelStep& step : options.steps) {
    text.append("    {ModelStep::Kind::").append(kNames[static_cast<size_t>(step.kind)]);
    text.append(", " + std::to_string(step.a) + ", " + std::to_string(step.b) + "},\n");
  }
  return text + "};\nEXPECT_EQ(PlayModel(options), \"\");\n";
}

}  // namespace httpsys::test
