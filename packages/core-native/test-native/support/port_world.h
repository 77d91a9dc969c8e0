#pragma once
// The inside of support/port_model.h: processes, their links and the clock. port_process.cc answers
// what a process asks of the world, port_world.cc lets things happen, port_stops.cc stops
// coordinators, port_checks.cc says what must hold after each step, port_endings.cc at the end,
// port_model.cc plays schedules.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "sharing/cache_shares.h"
#include "sharing/port_participant.h"
#include "support/port_model.h"

namespace httpsys::test::model {

using peer::FrameType;
using sharing::Applied;
using sharing::LinkId;
using sharing::PortParticipant;
using sharing::PortRoutes;
using sharing::Visit;

inline constexpr uint16_t kPort = 8080;
inline constexpr uint32_t kPrefixes = 6;
inline constexpr uint64_t kTickMs = 10;
// Nothing lasts longer: an announced successor is waited for, and then expected to be restarted.
inline constexpr uint32_t kWaitMs = 700;
inline constexpr uint64_t kSettleMs = kWaitMs + limits::kOfflineMs + 7000;
// How late a newcomer is served while the coordinator is stopped.
inline constexpr uint64_t kServedMs = 3000;

// What all processes may use for their caches: less than they want.
inline constexpr uint64_t kCacheLimit = 5 * sharing::CacheShares::kUnitBytes;

inline std::string PrefixText(uint32_t number) {
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
  bool is_session = false;  // A member has introduced itself: it does more than to ask.
  uint32_t rank = 0;        // The rank of the meeting place that side 0 has connected to.
  uint64_t since_ms = 0;
};

class Model;

// What JavaScript of a process knows of one server.
struct Server {
  uint32_t id = 0;
  uint32_t prefix = 0;
  std::string queue;
  uint32_t token = 0;
  bool is_cached = false;  // It has an output cache.
  bool is_granted = false;
  bool is_gone = false;   // Taken back, or told to be lost.
  bool is_lost = false;   // Told to be lost: the engine keeps it, and asks for it again.
  uint64_t asked_ms = 0;  // When it was asked for, or taken back.
  uint64_t gone_ms = 0;   // Since when is_gone is true.
  // Since when the coordinator does not have it, although its process lived then: the process was
  // silent, or spoke nonsense, or the coordinator does not know it yet. 0 = the coordinator has it.
  uint64_t dropped_ms = 0;
  // The same from before the last coordinator had the server, or since when a member takes the
  // process, its coordinator, for gone. It counts if nobody is left who knows better.
  uint64_t last_dropped_ms = 0;
  uint32_t removal = 0;                  // Token of a removal that is not confirmed.
  bool is_cut = false;                   // Its process has lost its coordinator since.
  bool is_awaited = false;               // The server was taken back, and a successor is to come.
  int error = 0;                         // Why it was refused.
  std::vector<uint64_t> witnesses = {};  // Who knew of it when its process was killed.
  // Since when a coordinator has it again after everybody might have forgotten it. 0 = not yet.
  uint64_t regained_ms = 0;
  // The processes whose state had it, joined or not, when its process was killed, or dropped_ms
  // was set.
  std::vector<uint64_t> seen_by = {};
  // When its process was killed, somebody took a server that had left for an owner of its queue.
  bool is_shared_with_gone = false;

  void SetGone(uint64_t now_ms) {
    if (!std::exchange(is_gone, true)) gone_ms = now_ms;
  }
};

struct Process final : sharing::PortEffects {
  Process(Model* model, int index, uint64_t id) : model(model), index(index), id(id) {}

  Visit VisitMeeting() override;
  Visit VisitRank(uint32_t rank) override;
  int TakeMeeting(uint32_t rank) override;
  int TakeRankAbove(uint32_t rank) override;
  void TellDoubt(const std::vector<uint64_t>& members) override;
  void LeaveMeeting() override;
  bool IsSucceeded(uint32_t rank) override;
  bool HasUnread(LinkId link) override;
  bool HasEnded(LinkId link) override;
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
  void Publish(std::shared_ptr<const PortRoutes> next, std::optional<Applied> applied) override;
  void NoteDropped();
  uint32_t Overdue(const PortRoutes& next);
  bool Accept(uint32_t, const std::string&) override { return true; }
  void Complete(RegistrationResult result, bool is_registration) override;
  sharing::PortCounters Count() override { return {}; }
  peer::TicketKeys TellTicketKeys() override { return {}; }
  void LearnTicketKeys(const peer::TicketKeys&) override {}
  void GrantCache(uint64_t bytes) override { granted = bytes; }

  bool IsRunning() const { return is_alive && !is_paused; }

  Model* model;
  int index;
  uint64_t id;
  bool is_alive = true;
  bool is_paused = false;
  bool is_doubted = false;  // A kDoubt waits for it.
  // Another process has taken its place as the coordinator, and it has joined nobody since.
  bool is_succeeded = false;
  uint64_t succeeded_ms = 0;  // When that has happened.
  uint64_t died_ms = 0;
  uint64_t granted = UINT64_MAX;  // What the port lets it use for its cache.
  std::unique_ptr<PortParticipant> port;
  struct Version {
    std::shared_ptr<const PortRoutes> routes;
    std::optional<Applied> applied;
    uint32_t overdue = 0;  // A bit for each prefix that was offline for long enough.
  };
  std::deque<Version> lanes;
  std::shared_ptr<const PortRoutes> routes;  // In force.
  // Routes at the front of `lanes` that are of an earlier life of the port.
  size_t stale_lanes = 0;
  // Routes at the front of `lanes` that are older than the grant of these prefixes (a bit each),
  // which a process that was stopped is told before its lanes apply it.
  size_t late_lanes = 0;
  uint32_t late_prefixes = 0;
  // Those in force are, too: no connection is accepted with them.
  bool are_routes_stale = false;
  // Whose each prefix was, as far as the routes have told: member and server.
  std::array<std::vector<std::pair<uint64_t, uint32_t>>, kPrefixes> owners;
  // Since when each prefix is offline in what was published; 0 = it has an owner.
  std::array<uint64_t, kPrefixes> offline_since_ms = {};
  std::set<uint64_t> known_members;  // Of its term as the coordinator.
  bool is_dropped = false;           // A coordinator takes it for gone, although it lives.
  std::vector<Server> servers;
  std::vector<RegistrationResult> results;  // That JavaScript has not read.
  LinkId hello_link = 0;                    // Over which it has introduced itself last.
  LinkId joined_link = 0;                   // Over which it was told the state last.
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
  void Stop(uint32_t choice, uint32_t seed);
  void Falter(Process& coordinator, uint32_t choice, uint32_t seed);
  void EndSuccessor(const Process& coordinator, uint32_t choice);
  void GoOn(uint64_t ms, std::mt19937& random);
  Process* ChooseNewcomer(const Process& coordinator) const;
  void Visitor(uint32_t choice, bool is_query);
  void After(Process& process);
  // In the state that the process knows.
  bool HasEntry(const Process& process, const Server& server) const;
  void ReadResults(Process& process);
  void OnGranted(Process& process, Server& server);
  void OnRemoved(Process& process, Server& server);
  void LetGo(Process& process);
  void GiveBack(Process& process);
  void EndLink(size_t link, int side);
  void Cut(size_t link, int side);
  void NoteCut(Process& process, uint64_t coordinator);
  void SetName(uint32_t rank, uint64_t id);
  void LeaveName(uint64_t id);
  int RankOf(uint64_t id) const;
  uint64_t Holder() const;
  LinkId Connect(const Process& process, uint32_t rank);
  bool IsInSession(const Process& process) const;
  bool HasConfirmed(const Process& process) const;
  bool IsCut(const Process& process) const;
  bool IsUnheardOf(const Process& process) const;
  bool IsLinked(const Process& process, const Process& coordinator) const;
  bool HasRoute(const Process& by, uint64_t owner, uint32_t server, uint64_t self) const;
  void CheckOwners();
  void CheckTakeover(const Process& process, uint32_t rank);
  void CheckSucceeded();
  void CheckKnowledge(Process& process, const PortRoutes* before, uint32_t overdue);
  std::vector<uint64_t> KnowersOf(const Process& process, const Server& server) const;
  bool IsSharedWithGone(const Server& server) const;
  uint64_t GoneSince(const Process& process, const Server& server) const;
  bool MayForget(uint64_t member, uint32_t server_id) const;
  Server* FindServer(uint64_t member, uint32_t server_id, const Process** owner) const;
  void CheckAgreement();
  void CheckDeath();
  void CheckPromptness();
  void CheckGrants();
  void CheckCacheMemory();
  void CheckLoss(const Process& process, const Server& lost);
  void CheckSizes();
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
  // The ids of the processes that have the names of the meeting place, by rank; 0 = nobody.
  std::array<uint64_t, limits::kRanksMax> names_ = {};
  std::array<bool, limits::kRanksMax> are_doors_open_ = {};
  uint64_t holder_since_ms_ = 0;  // Since when the present coordinator has its place.
  uint64_t successor_ = 0;        // Who has succeeded another process last, which it watches.
  uint64_t succeeded_ = 0;        // That process, which has not yielded yet; 0 = none.
  std::set<uint32_t> kept_;       // Servers of that process that the successor knew.
  bool has_stopped_ = false;      // A coordinator was stopped, and perhaps goes on again.
  std::string failure_;
};

}  // namespace httpsys::test::model
