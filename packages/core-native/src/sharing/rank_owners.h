#pragma once
// Remembers which ranks of meeting places belong to other users, for names whose backlog is full.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace httpsys::sharing {

// Remembers the kernel's answers, because each one lists all Unix sockets of the network namespace.
// A coordinator looks at the ranks above its own before each input, so another user who fills the
// backlog of such a name would slow down all inputs. Thread: any.
class RankOwners {
 public:
  // Asks the kernel whether another user has the name.
  using Ask = std::function<bool(const std::string& name)>;

  explicit RankOwners(Ask ask) : ask_(std::move(ask)) {}
  RankOwners(const RankOwners&) = delete;
  RankOwners& operator=(const RankOwners&) = delete;

  // Returns true if another user has the name. Keeps answers for limits::kRankOwnerMs.
  bool IsStrangers(const std::string& name, uint64_t now_ms);

 private:
  struct Answer {
    uint64_t asked_ms = 0;
    bool is_strangers = false;
  };

  const Ask ask_;
  std::mutex mutex_;
  std::map<std::string, Answer> answers_;  // By name; old answers are dropped.
};

}  // namespace httpsys::sharing
