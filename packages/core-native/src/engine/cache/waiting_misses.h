#pragma once
// Requests that wait for the answer to another request with the same key.

#include <uv.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/cache/leading_lanes.h"
#include "engine/cache/process_cache.h"
#include "engine/config/cache_terms.h"
#include "engine/connection/connection.h"
#include "engine/connection/file_output.h"
#include "engine/connection/input.h"
#include "engine/connection/output_pass.h"

namespace httpsys::engine {

// The first of several simultaneous cache misses with one key leads: it goes to JavaScript. The
// others wait, and are looked up again when the leader's answer is stored. They go to JavaScript
// together if the answer is not stored, or if it takes longer than CacheTerms::coalesce_ms. If no
// answer comes, the oldest of them leads. The leader may be a request of another lane of the
// process. Only requests whose answer will probably be stored wait and lead. Thread: the lane.
class WaitingMisses {
 public:
  // How to handle a request that no entry answers.
  enum class Turn : uint8_t {
    kLeads,  // Give it to JavaScript, then call Lead().
    // Like kLeads; an earlier leader has got no answer.
    kLeadsAnew,
    kGoesOn,  // Give it to JavaScript; no request waits for its answer.
    kFailed,  // Like kGoesOn, unless a stale entry may answer: the application has failed.
    kWaits,   // Keep it; the input will be resumed from kPauseOrder.
  };

  // Result of the leading request: one of the first four events.
  using Decision = LeadingLanes::Event;

  static constexpr size_t kWaitingMax = 1000;  // Maximum number of requests that wait for one key.
  static constexpr size_t kWaitingAllMax = 4000;  // Maximum number of waiting requests in a lane.
  // Interval of the checks whether clients of leading requests read their answers.
  static constexpr uint64_t kLookMs = 1000;

  // `post` is as in FileOutput. `lanes` and `keys` must outlive this object.
  WaitingMisses(uv_loop_t* loop, Input* input, OutputPass* output, LeadingLanes* lanes,
                StorableKeys* keys, FileOutput::Post post);
  WaitingMisses& operator=(WaitingMisses&&) = delete;

  // A request for which no entry was found.
  struct Miss {
    const std::string& key;
    uint64_t hash;  // Of the key.
    // True if the request may lead. If Join() lets it lead and JavaScript gets it, Lead() must be
    // called before the next Join().
    bool may_lead;
    // True if others may wait for the answer although no earlier answer with the key is known.
    bool is_storable;
  };
  // Decides about a miss. It waits at most as long as its server lets requests wait.
  Turn Join(Connection* connection, const Miss& miss);
  // True if the last Join() has let a request lead, and no other one of the process was leading.
  bool has_claim() const { return !claimed_.empty(); }
  // Must be called when JavaScript has got the request for which Join() has returned kLeads or
  // kLeadsAnew; from then on the request leads, unless its client reads the answer too slowly.
  void Lead(const Connection* connection, const std::string& key, uint64_t hash);
  // Lets a request lead that went to JavaScript without leading, because the head of its answer
  // shows that the answer may be stored: others then wait for the rest. Returns false if another
  // request leads, or if the last answer with the key was not stored.
  bool LeadLate(const Connection* connection, const std::string& key, uint64_t hash);
  // Must be called when the lane itself sends a request to JavaScript instead of the one for which
  // Join() has returned kLeadsAnew. That one continues to wait, before all others.
  void WaitFirst(Connection* connection, const std::string& key);

  // -- Results of the leading request. Waiting requests are resumed after the present pass.

  void OnDecided(const std::string& key, Decision decision);
  // Must be called when the request of this connection gets no response. Matters if it leads.
  void OnLost(const Connection* connection, const std::string& key);

  // True if a request waits or is being resumed.
  bool has_waiting() const { return !waiting_.empty() || resumed_ != nullptr; }
  uint64_t now_ms() const { return uv_now(loop_); }
  void OnDetached(Connection* connection);
  // Must be called before the loop is closed.
  void Close();

 private:
  struct Wait {
    uint64_t hash = 0;  // Of the key.
    const Connection* leader = nullptr;
    bool was_held = false;      // The leader's client had not taken all output at the last check.
    bool is_elsewhere = false;  // A request of another lane leads.
    uint64_t looked_ms = 0;     // Time of the last check of the leader's output.
    std::deque<Connection*> connections;  // Oldest first.
  };
  struct Waiter {
    std::string key;
    uint64_t deadline_ms = 0;
    bool was_first = false;  // WaitFirst() was called for the request.
  };
  using Waits = std::unordered_map<std::string, Wait>;

  void Release(const std::string& key, Turn turn);
  void LetNextLead(const std::string& key);
  // Returns true if requests may wait for the answer, because it will probably be stored.
  bool IsAwaited(const Miss& miss) const;
  // Handles an event that another lane has reported.
  void OnEvent(const std::string& key, LeadingLanes::Event event);
  // Gives up the lead that Join() has granted to a request that has not reached JavaScript.
  void DropClaim();
  // Checks the output of the leading request. Returns true if its client has not taken all of it,
  // neither now nor at the last check.
  bool IsHeld(Wait* wait) const;
  void ReplaceLeader(const std::string& key);
  void Resume(Connection* connection, Turn turn, const Waiter& waiter);
  void Add(Connection* connection, Waiter waiter);
  uint64_t DeadlineOf(const Connection* connection) const;
  // Ends all waiting for the answer. Requests wait for this key again once an answer was stored.
  void GiveUp(const std::string& key);
  void GiveUpOverdue();
  void ReplaceHeldLeaders();
  void OnTimer();
  void ArmFor(uint64_t due_ms);
  void ArmTimer(uint64_t due_ms);
  void TakeOut(Connection* connection);

  uv_loop_t* loop_;
  Input* input_;
  OutputPass* output_;
  LeadingLanes* lanes_;
  StorableKeys* keys_;
  const FileOutput::Post post_;
  Waits waits_;
  std::unordered_map<const Connection*, Waiter> waiting_;
  // The connection that is being resumed, its key, and the result that Join() returns for that key.
  const Connection* resumed_ = nullptr;
  std::string resumed_key_;
  Turn resumed_turn_ = Turn::kGoesOn;
  uint64_t resumed_deadline_ms_ = 0;
  std::string claimed_;  // Key for which the last Join() has granted the lead, until Lead().
  uv_timer_t timer_;
  uint64_t timer_due_ms_ = 0;  // 0 = the timer is not running.
  uint64_t look_due_ms_ = 0;   // 0 = no request waits.
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
