#pragma once
// Requests that wait for the answer to another one with the same key.

#include <uv.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/cache/leading_lanes.h"
#include "engine/config/cache_terms.h"
#include "engine/connection/connection.h"
#include "engine/connection/file_output.h"
#include "engine/connection/input.h"
#include "engine/connection/output_pass.h"

namespace httpsys::engine {

// Of simultaneous misses of one key the first one leads: JavaScript gets it. The others wait, and
// are looked up again when its answer is stored. They go to JavaScript together if the answer is
// not stored, which is remembered for a while. If no answer comes, the oldest of them leads. The
// request that leads may be one of another lane of the process.
// Thread: the lane.
class WaitingMisses {
 public:
  // What becomes of a request that no entry answers.
  enum class Turn : uint8_t {
    kLeads,  // JavaScript gets it; Lead() must be called when it has.
    // The same, because the one that led has got no answer.
    kLeadsAnew,
    kGoesOn,  // JavaScript gets it, and nobody waits for its answer.
    kFailed,  // The same, unless a stale entry may answer: the request that led has failed.
    kWaits,   // The input will be resumed from kPauseOrder.
  };

  // What has become of the answer to the request that leads: one of the first four.
  using Decision = LeadingLanes::Event;

  static constexpr size_t kWaitingMax = 1000;     // Requests of one key.
  static constexpr size_t kWaitingAllMax = 4000;  // All requests.
  // How long a key is remembered whose answer was not stored, and how many of them are.
  static constexpr uint64_t kRememberedMs = 10'000;
  static constexpr size_t kRememberedMax = 4096;
  // How often the output of requests that lead is looked at.
  static constexpr uint64_t kLookMs = 1000;

  // `post` is as in FileOutput. `lanes` must outlive this object.
  WaitingMisses(uv_loop_t* loop, Input* input, OutputPass* output, LeadingLanes* lanes,
                FileOutput::Post post);
  WaitingMisses(const WaitingMisses&) = delete;
  WaitingMisses& operator=(const WaitingMisses&) = delete;

  // A request has found no entry. `hash` is that of the key. It waits no longer than its server
  // lets requests wait for JavaScript. `may_lead`: Lead() will be called if it is to lead, before
  // the next Join(), unless JavaScript does not get the request.
  Turn Join(Connection* connection, const std::string& key, uint64_t hash, bool may_lead);
  // True if the last Join() has let a request lead for which nobody in the process led before.
  bool has_claim() const { return !claimed_.empty(); }
  // JavaScript has the request of this key for which Join() has returned kLeads or kLeadsAnew.
  // It does not lead any more if its client does not take the answer as fast as it comes.
  void Lead(const Connection* connection, const std::string& key);
  // The lane itself asks JavaScript in place of the request for which Join() has returned
  // kLeadsAnew: that one goes on waiting, before all others.
  void WaitFirst(Connection* connection, const std::string& key);

  // -- The request that leads. Those that wait are resumed after the present pass.

  void OnDecided(const std::string& key, uint64_t hash, Decision decision);
  // There is no response to the request of this connection, if that leads.
  void OnLost(const Connection* connection, const std::string& key);

  // False if no request waits, or is being resumed.
  bool has_waiting() const { return !waiting_.empty() || resumed_ != nullptr; }
  // The clock of the lane.
  uint64_t now_ms() const { return uv_now(loop_); }
  void OnDetached(Connection* connection);
  // Must be called before the loop is closed.
  void Close();

 private:
  struct Wait {
    const Connection* leader = nullptr;
    bool was_held = false;      // The leader's output was held when it was looked at last.
    bool is_elsewhere = false;  // A request of another lane leads.
    uint64_t looked_ms = 0;     // When the leader's output was looked at last.
    std::deque<Connection*> connections;  // From the oldest to the newest.
  };
  struct Waiter {
    std::string key;
    uint64_t deadline_ms = 0;  // 0 = none.
    bool was_first = false;    // WaitFirst() was called for it.
  };
  struct Remembered {
    uint64_t hash = 0;
    uint64_t until_ms = 0;
  };
  using Waits = std::unordered_map<std::string, Wait>;

  void Release(const std::string& key, Turn turn);
  void LetNextLead(const std::string& key);
  void Remember(uint64_t hash);
  // What another lane tells, on this one.
  void OnEvent(const std::string& key, uint64_t hash, LeadingLanes::Event event);
  // A request that was to lead has not reached JavaScript.
  void DropClaim();
  // Looks at the output of the request that leads, from which others wait. Returns true if it was
  // held this time and the last time.
  bool IsHeld(Wait* wait) const;
  void ReplaceLeader(const std::string& key);
  void Resume(Connection* connection, Turn turn, const std::string& key);
  void Add(Connection* connection, const std::string& key, bool is_first);
  void ReleaseOverdue();
  void ReplaceHeldLeaders();
  void OnTimer();
  void ArmFor(uint64_t due_ms);
  void ArmTimer(uint64_t due_ms);
  void TakeOut(Connection* connection);

  uv_loop_t* loop_;
  Input* input_;
  OutputPass* output_;
  LeadingLanes* lanes_;
  const FileOutput::Post post_;
  Waits waits_;
  std::unordered_map<const Connection*, Waiter> waiting_;
  // The connection that is being resumed, the key that it has waited with, and the answer that it
  // gets from Join() for the same key.
  const Connection* resumed_ = nullptr;
  std::string resumed_key_;
  Turn resumed_turn_ = Turn::kGoesOn;
  std::string claimed_;  // The key with which Join() has let the last request lead, until Lead().
  std::vector<Remembered> remembered_;
  uv_timer_t timer_;
  uint64_t timer_due_ms_ = 0;  // 0 = the timer is not running.
  uint64_t look_due_ms_ = 0;   // 0 = nobody waits.
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
