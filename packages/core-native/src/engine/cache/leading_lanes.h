#pragma once
// Decides which lane requests a missing response from JavaScript while other lanes wait.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace httpsys::engine {

// Keys for which a request of one lane leads: it goes to JavaScript, and others wait for its answer
// (WaitingMisses, Refreshes). So a missing or stale response is made once in the process, not once
// in each lane. Fresh answers do not use this class. Thread: any.
class LeadingLanes {
 public:
  // Maximum number of keys. For further keys each lane sends its own request to JavaScript.
  static constexpr size_t kKeysMax = 4096;

  // News about a key, for a lane that waits or leads.
  enum class Event : uint8_t {
    kStored,    // The response of the lane that led is stored.
    kRefused,   // The response is not stored.
    kFailed,    // The application has failed.
    kUnknown,   // JavaScript could not get the request.
    kLeadsNow,  // The lane that led gave up: this lane leads now.
    kLook,      // Other lanes have waited long: check whether the leading request makes progress.
  };
  // Informs a lane. Called on other threads with the mutex held, so it must only post to the lane.
  using Tell = std::function<void(const std::string& key, Event event)>;

  LeadingLanes& operator=(LeadingLanes&&) = delete;

  // Registers a lane. `tell` gets the events of keys for which the lane waits or leads, until
  // Leave() has returned. Leave() lets other lanes lead instead of this one.
  void Enter(const void* lane, Tell tell);
  void Leave(const void* lane);

  // If no other lane leads for the key, makes this lane lead and returns true: Finish() or Pass()
  // must follow. Otherwise makes this lane wait for an event, and returns false.
  bool Begin(const void* lane, const std::string& key);
  // If no lane leads for the key, makes this lane lead and returns true: Finish() or Pass() must
  // follow. Otherwise returns false without waiting.
  bool Claim(const void* lane, const std::string& key);
  // If the lane leads, ends the lead, and reports `event` to the waiting lanes.
  void Finish(const void* lane, const std::string& key, Event event);
  // If the lane leads, ends the lead without a response: the longest waiting lane leads next.
  void Pass(const void* lane, const std::string& key);
  // Ends all waiting for the key, whichever lane leads: reports kUnknown to the waiting lanes.
  void GiveUp(const std::string& key);
  // Makes the leading lane check whether its request makes progress (kLook).
  void Look(const std::string& key);

 private:
  struct Key {
    const void* leader = nullptr;
    std::vector<const void*> waiting;  // Lanes, oldest wait first.
  };
  using Keys = std::unordered_map<std::string, Key>;

  // The mutex must be held for both functions.
  void TellLane(const void* lane, const std::string& key, Event event) const;
  // Makes the lane that has waited longest lead, or removes the key. Returns the next key.
  Keys::iterator PassAt(Keys::iterator at);

  std::mutex mutex_;
  std::map<const void*, Tell> lanes_;
  Keys keys_;
};

}  // namespace httpsys::engine
