// Coordinators that are stopped in the model of a shared port, and what goes on meanwhile.

#include <algorithm>
#include <cerrno>

#include "support/port_world.h"

namespace httpsys::test::model {

// The coordinator is stopped for longer than anybody waits for it. The others go on, in order or
// not. If one of them knows the port, somebody new is served.
void Model::Stop(uint32_t choice, uint32_t seed) {
  has_stopped_ = true;
  Process* const coordinator = Coordinator();
  if (coordinator == nullptr || !coordinator->IsRunning()) return;
  if (seed % 4 == 1) return Falter(*coordinator, choice, seed);
  coordinator->is_paused = true;
  const bool is_orderly = seed % 2 == 0;
  Process* const newcomer = is_orderly ? ChooseNewcomer(*coordinator) : nullptr;
  uint64_t ms = 1500 + choice % 2500;
  const uint64_t asked_ms = now_ms_;
  if (newcomer != nullptr) {
    DeliverAll();
    Register(*newcomer, seed);
    ms = std::max(ms, kServedMs + kTickMs);
  }
  std::mt19937 random(seed);
  if (!is_orderly) {
    // Two processes ask the stopped one, and later its successor, perhaps in another order.
    const uint32_t wanted = static_cast<uint32_t>(random());
    for (int i = 0; i < 2; ++i) {
      Process& asking = *processes_[random() % processes_.size()];
      if (&asking != coordinator) Register(asking, wanted);
    }
    GoOn(ms, random);
  }
  for (uint64_t end_ms = now_ms_ + ms; is_orderly && now_ms_ < end_ms && failure_.empty();
       ++steps_) {
    DeliverAll();
    Advance(kTickMs);
    if (newcomer == nullptr || now_ms_ - asked_ms < kServedMs) continue;
    const Server& server = newcomer->servers.back();
    if (server.token != 0 || server.error == ETIMEDOUT) {
      Fail("process " + std::to_string(newcomer->id) + " is not served beside a stopped one");
    }
  }
  coordinator->is_paused = choice % 4 == 0;
  if (seed % 5 < 2) EndSuccessor(*coordinator, choice);
}

// The successor ends, in order or not, or leaves the port, just when the other one goes on. What
// members have asked that one before they moved is unread.
void Model::EndSuccessor(const Process& coordinator, uint32_t choice) {
  Process* const successor = Coordinator();
  if (successor == nullptr || successor == &coordinator) return;
  if (choice % 3 == 0) return Kill(*successor);
  if (choice % 3 == 1) return Exit(*successor);
  for (size_t i = successor->servers.size(); i > 0; --i) Unregister(*successor, choice);
}

// The coordinator is stopped, and goes on when it may have been asked and is not succeeded yet.
// Then everybody else is stopped, so that its answers are unread when they go on.
void Model::Falter(Process& coordinator, uint32_t choice, uint32_t seed) {
  std::mt19937 random(seed);
  coordinator.is_paused = true;
  Process& waiting = *processes_[choice % processes_.size()];
  if (&waiting != &coordinator && waiting.port != nullptr) Register(waiting, seed);
  GoOn(limits::kDoubtMs + choice % limits::kSilentMs, random);
  std::vector<Process*> stopped;
  for (const auto& process : processes_) {
    if (!process->IsRunning() || process.get() == &coordinator) continue;
    process->is_paused = true;
    stopped.push_back(process.get());
  }
  coordinator.is_paused = false;
  DeliverAll();
  for (uint64_t end_ms = now_ms_ + limits::kSilentMs; now_ms_ < end_ms; ++steps_) Advance(kTickMs);
  for (Process* process : stopped) process->is_paused = false;
  Advance(kTickMs);
}

// Some of what may happen happens while time goes by.
void Model::GoOn(uint64_t ms, std::mt19937& random) {
  for (uint64_t end_ms = now_ms_ + ms; now_ms_ < end_ms && failure_.empty(); ++steps_) {
    for (uint32_t i = random() % 8; i > 0; --i) {
      (void)Deliver(static_cast<uint32_t>(random()), false);
      Apply(*processes_[random() % processes_.size()]);
    }
    Advance(kTickMs);
  }
}

// Somebody who is new on the port, if a member is there that can succeed the coordinator.
Process* Model::ChooseNewcomer(const Process& coordinator) const {
  if (RankOf(coordinator.id) + 1 >= static_cast<int>(limits::kRanksMax)) return nullptr;
  const bool has_heir = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
    return other.get() != &coordinator && other->IsRunning() && IsInSession(*other) &&
           !other->port->record().own.empty();
  });
  for (const auto& process : processes_) {
    const bool is_new = process->IsRunning() && process->port == nullptr;
    if (has_heir && is_new && process->servers.size() < 24) return process.get();
  }
  return nullptr;
}

}  // namespace httpsys::test::model
