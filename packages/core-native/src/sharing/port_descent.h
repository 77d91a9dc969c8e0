#pragma once
// How the successor of a stopped coordinator returns to rank 0 of the meeting place.

#include <cstdint>

#include "sharing/port_effects.h"
#include "sharing/port_succession.h"

namespace httpsys::sharing {

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
