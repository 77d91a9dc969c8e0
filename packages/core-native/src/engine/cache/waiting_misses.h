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
#include "engine/cache/storable_keys.h"
#include "engine/config/cache_terms.h"
#include "engine/connection/connection.h"
#include "engine/connection/file_output.h"
#include "engine/connection/input.h"
#include "engine/connection/output_pass.h"

namespace httpsys::engine {

// Of simultaneous misses of one key the first one leads: JavaScript gets it. The others wait, and
// are looked up again when its answer is stored. They go to JavaScript together if the answer is
// not stored, or if it takes longer than CacheTerms::coalesce_ms. If no answer comes, the oldest of
// them leads. The request that leads may be one of another lane of the process. Only requests
// whose answer will probably be stored wait and lead.
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
  // How often the output of requests that lead is looked at.
  static constexpr uint64_t kLookMs = 1000;

  // `post` is as in FileOutput. `lanes` and `keys` must outlive this object.
  WaitingMisses(uv_loop_t* loop, Input* input, OutputPass* output, LeadingLanes* lanes,
                StorableKeys* keys, FileOutput::Post post);
  WaitingMisses(const WaitingMisses&) = delete;
  WaitingMisses& operator=(const WaitingMisses&) = delete;

  // What is known of a request that has found no entry.
  struct Miss {
    const std::string& key;
    uint64_t hash;  // Of the key.
    // Lead() will be called if the request is to lead, before the next Join(), unless JavaScript
    // does not get the request.
    bool may_lead;
    // The answer is worth waiting for if nothing is known of earlier answers with the key.
    bool is_storable;
  };
  // A request waits no longer than its server lets requests wait for others and for JavaScript.
  Turn Join(Connection* connection, const Miss& miss);
  // True if the last Join() has let a request lead for which nobody in the process led before.
  bool has_claim() const { return !claimed_.empty(); }
  // JavaScript has the request of this key for which Join() has returned kLeads or kLeadsAnew.
  // It does not lead any more if its client does not take the answer as fast as it comes.
  void Lead(const Connection* connection, const std::string& key, uint64_t hash);
  // The answer to a request that has gone on may be stored, by its head: others wait for the rest
  // of it. Returns false if some request leads already.
  bool LeadLate(const Connection* connection, const std::string& key, uint64_t hash);
  // The lane itself asks JavaScript in place of the request for which Join() has returned
  // kLeadsAnew: that one goes on waiting, before all others.
  void WaitFirst(Connection* connection, const std::string& key);

  // -- The request that leads. Those that wait are resumed after the present pass.

  void OnDecided(const std::string& key, Decision decision);
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
    uint64_t hash = 0;  // Of the key.
    const Connection* leader = nullptr;
    bool was_held = false;      // The leader's output was held when it was looked at last.
    bool is_elsewhere = false;  // A request of another lane leads.
    uint64_t looked_ms = 0;     // When the leader's output was looked at last.
    std::deque<Connection*> connections;  // From the oldest to the newest.
  };
  struct Waiter {
    std::string key;
    uint64_t deadline_ms = 0;
    bool was_first = false;  // WaitFirst() was called for it.
  };
  using Waits = std::unordered_map<std::string, Wait>;

  void Release(const std::string& key, Turn turn);
  void LetNextLead(const std::string& key);
  // Returns true if the answer is worth waiting for.
  bool IsAwaited(const Miss& miss) const;
  // What another lane tells, on this one.
  void OnEvent(const std::string& key, LeadingLanes::Event event);
  // A request that was to lead has not reached JavaScript.
  void DropClaim();
  // Looks at the output of the request that leads, from which others wait. Returns true if it was
  // held this time and the last time.
  bool IsHeld(Wait* wait) const;
  void ReplaceLeader(const std::string& key);
  void Resume(Connection* connection, Turn turn, const Waiter& waiter);
  void Add(Connection* connection, Waiter waiter);
  uint64_t DeadlineOf(const Connection* connection) const;
  // Nobody waits for the answer any more, until one with this key was stored again.
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
  // The connection that is being resumed, the key that it has waited with, and the answer that it
  // gets from Join() for the same key.
  const Connection* resumed_ = nullptr;
  std::string resumed_key_;
  Turn resumed_turn_ = Turn::kGoesOn;
  uint64_t resumed_deadline_ms_ = 0;
  std::string claimed_;  // The key with which Join() has let the last request lead, until Lead().
  uv_timer_t timer_;
  uint64_t timer_due_ms_ = 0;  // 0 = the timer is not running.
  uint64_t look_due_ms_ = 0;   // 0 = nobody waits.
  bool is_closed_ = false;
};

}  // namespace httpsys::engine
