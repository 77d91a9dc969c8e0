#pragma once
// How a member finds out that its coordinator is stopped, and succeeds it.

#include <cstdint>

#include "peer/frame_reader.h"
#include "sharing/port_effects.h"

namespace httpsys::sharing {

// A pure state machine, part of PortMembership. A member that waits for its coordinator in vain
// doubts it, and asks it over a second link (kPing) whether it is stopped. Without an answer, the
// member takes a higher rank of the meeting place. A member that cannot take the coordinator's
// place informs others of its doubt. A coordinator for which no member waits is never asked, so
// that an idle port causes no wake-ups. Thread: one at a time.
class PortSuccession {
 public:
  explicit PortSuccession(PortEffects* effects) : effects_(effects) {}

  // The state of the member that asks.
  struct Member {
    LinkId link = 0;           // To the coordinator.
    uint32_t rank = 0;         // The rank at which the coordinator was found.
    uint64_t coordinator = 0;  // The id of the coordinator; 0 = not known yet.
    bool is_joined = false;    // The member has the state of the coordinator.
    bool is_waiting = false;   // The coordinator owes the member an answer.
    bool may_succeed = false;  // The member knows the port, and the coordinator would yield to it.
  };

  enum class Finding : uint8_t {
    kNothing,
    kElsewhere,  // Another member coordinates the port: this one must look for it.
    kUnable,     // This member cannot succeed the coordinator in doubt: others must be informed.
    kSucceeded,  // This engine has taken the meeting place: TakeVictory() says at which rank.
  };

  // Success: this engine has taken the highest rank.
  struct Victory {
    uint32_t rank = 0;
    LinkId watch = 0;  // A link to the coordinator that was succeeded; 0 = none.
  };

  bool is_doubting() const { return is_doubting_; }
  // The link over which the coordinator was asked; 0 = none.
  LinkId ping() const { return ping_; }
  Victory TakeVictory();

  // Must be called when this engine begins to wait for the coordinator.
  void Expect(uint64_t now_ms);
  // Must be called when the coordinator has sent anything: it is not stopped.
  void OnHeard(uint64_t now_ms);
  // Begins to doubt the coordinator, although this engine does not wait for it.
  void Doubt() { is_doubting_ = true; }
  // Ends all doubt: the coordinator is another one from now on.
  void End();
  Finding Tick(const Member& member, uint64_t now_ms);
  // Handles a frame that came over the link of ping(), or the end of that link (`frame` = nullptr).
  Finding OnPing(const Member& member, const peer::Frame* frame, uint64_t now_ms);

 private:
  Finding Ask(const Member& member, uint64_t now_ms);
  bool IsReplaced();
  Finding Succeed(const Member& member);

  PortEffects* const effects_;
  bool is_doubting_ = false;
  // Time since when an answer of the coordinator is due; 0 = none is due.
  uint64_t silent_since_ms_ = 0;
  uint64_t look_at_ms_ = 0;
  uint64_t tell_at_ms_ = 0;
  LinkId ping_ = 0;
  uint32_t pinged_rank_ = 0;
  Credentials pinged_;  // The process that the ping was sent to.
  uint64_t pinged_ms_ = 0;
  Victory victory_;
};

// How the successor of a stopped coordinator returns to rank 0 of the meeting place.
// A pure state machine, part of PortCoordinator. Keeps a link to the stopped coordinator that this
// engine has succeeded. The link ends when that member yields or dies; then this coordinator takes
// a lower rank. Thread: one at a time.
class PortDescent {
 public:
  explicit PortDescent(PortEffects* effects) : effects_(effects) {}

  uint32_t rank() const { return rank_; }
  // The link to the member at the next lower occupied rank; 0 = none.
  LinkId watch() const { return watch_; }
  // True if a lower rank is free, so that Tick() must be called.
  bool is_descending() const { return rank_ != 0 && watch_ == 0; }

  void Begin(const PortSuccession::Victory& victory);
  // Gives up the meeting place: the coordinator steps down.
  void End();
  void Tick(uint64_t now_ms);
  // Must be called when the link of watch() has ended.
  void OnBroken(uint64_t now_ms);

 private:
  void Descend(uint64_t now_ms);

  PortEffects* const effects_;
  uint32_t rank_ = 0;
  LinkId watch_ = 0;
  uint64_t retry_at_ms_ = 0;
};

}  // namespace httpsys::sharing
