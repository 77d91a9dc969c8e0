#pragma once
// Decides which lane of the process asks JavaScript for a missing response while other lanes wait.

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
// (WaitingMisses, Refreshes). A missing or stale response is thus made once in the process, not
// once in each lane. Fresh answers do not use this class. Thread: any.
class LeadingLanes {
 public:
  // Maximum number of keys at a time. For further keys each lane asks JavaScript itself.
  static constexpr size_t kKeysMax = 4096;

  // News about a key, for a lane that waits or leads.
  enum class Event : uint8_t {
    kStored,    // The response of the lane that led is stored.
    kRefused,   // The response is not stored.
    kFailed,    // The application has failed.
    kUnknown,   // JavaScript could not be asked.
    kLeadsNow,  // The lane that led gave up: this lane leads now.
    kLook,      // Other lanes wait for long: check the request that leads.
  };
  // Informs a lane. Called on other threads with the mutex held, so it must only post to the lane.
  using Tell = std::function<void(const std::string& key, Event event)>;

  LeadingLanes() = default;
  LeadingLanes(const LeadingLanes&) = delete;
  LeadingLanes& operator=(const LeadingLanes&) = delete;

  // Registers a lane. `tell` gets the events of keys for which the lane waits or leads, until
  // Leave() has returned. Leave() lets other lanes lead in place of this one.
  void Enter(const void* lane, Tell tell);
  void Leave(const void* lane);

  // If no other lane leads for the key, this lane leads and Begin() returns true: Finish() or
  // Pass() must follow. Otherwise this lane waits for an event, and Begin() returns false.
  bool Begin(const void* lane, const std::string& key);
  // If no lane leads for the key, this lane leads and Claim() returns true: Finish() or Pass() must
  // follow. Otherwise Claim() returns false, and this lane does not wait.
  bool Claim(const void* lane, const std::string& key);
  // Ends the lead, and reports `event` to the waiting lanes. Finish() and Pass() have no effect if
  // the lane does not lead.
  void Finish(const void* lane, const std::string& key, Event event);
  // Ends the lead without a response: the lane that has waited longest leads next.
  void Pass(const void* lane, const std::string& key);
  // Ends all waiting for the key, whichever lane leads: reports kUnknown to the waiting lanes.
  void GiveUp(const std::string& key);
  // Asks the lane that leads to check whether its request makes progress (kLook).
  void Look(const std::string& key);

 private:
  struct Key {
    const void* leader = nullptr;
    std::vector<const void*> waiting;  // Lanes, oldest wait first.
  };
  using Keys = std::unordered_map<std::string, Key>;

  // The caller of both functions holds the mutex.
  void TellLane(const void* lane, const std::string& key, Event event) const;
  // Lets the lane that has waited longest lead, or removes the key. Returns the next key.
  Keys::iterator PassAt(Keys::iterator at);

  std::mutex mutex_;
  std::map<const void*, Tell> lanes_;
  Keys keys_;
};

}  // namespace httpsys::engine
