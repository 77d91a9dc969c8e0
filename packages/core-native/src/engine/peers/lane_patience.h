#pragma once
// How a lane shares the CPUs with the other members of its ports.

#include <cstdint>
#include <functional>

#include "base/thread.h"

namespace httpsys::engine {

// A lane of a shared port is patient: it does not interrupt threads of other members, and lets them
// run before it waits, so that requests and replies gather and are handled together. Each such
// pause takes as long as the scheduler lets another program work, up to some milliseconds. A
// request that leaves blocked JavaScript meets some ten such pauses until another member has
// answered it. So a lane is in haste while its JavaScript seems to be blocked, and while such
// requests come from another member. Thread: the lane.
class LanePatience {
 public:
  // `set_patient` makes the calling thread patient or not; `give_way` lets other threads run.
  explicit LanePatience(std::function<void(bool)> set_patient = SetPatient,
                        std::function<void()> give_way = httpsys::GiveWay)
      : set_patient_(std::move(set_patient)), give_way_(std::move(give_way)) {}
  LanePatience& operator=(LanePatience&&) = delete;

  // Must be called when the first other member has come to the lane's ports, or the last has left.
  void SetShared(bool is_shared);
  // Must be called when requests leave the blocked JavaScript of this member. Other members learn
  // of that by kHaste. All times are in ms, on the loop's clock.
  void OnBlocked(uint64_t now_ms);
  // Puts the lane in haste for limits::kHasteMs. Must be called when requests may soon have to move
  // to another member because JavaScript here seems to be blocked, and when requests arrive that
  // another member has passed on for that reason.
  void OnHaste(uint64_t now_ms);
  bool is_hasty() const { return hasty_until_ms_ != 0; }
  // Must be called in each turn of the loop: ends the haste when its time is over.
  void BeginPass(uint64_t now_ms) {
    if (hasty_until_ms_ != 0 && now_ms >= hasty_until_ms_) End();
  }
  // True if members that get connections or requests now must also get kHaste.
  bool TellsHaste(uint64_t now_ms) const { return now_ms < tells_until_ms_; }
  // Lets other threads that wait for this CPU run first, unless the lane is in haste.
  void GiveWay() {
    if (is_shared_ && !is_hasty()) give_way_();
  }

 private:
  void End();
  void Apply();

  const std::function<void(bool)> set_patient_;
  const std::function<void()> give_way_;
  bool is_shared_ = false;
  bool is_patient_ = false;      // The thread is patient.
  uint64_t hasty_until_ms_ = 0;  // 0 = the lane is not in haste.
  uint64_t tells_until_ms_ = 0;
};

}  // namespace httpsys::engine
