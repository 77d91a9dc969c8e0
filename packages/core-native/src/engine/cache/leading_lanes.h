#pragma once
// Which lane of the process asks JavaScript for a missing response, and which ones wait for it.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace httpsys::engine {

// The keys for which a request of some lane leads (WaitingMisses, Refreshes), so that a missing or
// stale response is made once in the process and not once in each lane. Fresh answers do not come
// here. Thread: any.
class LeadingLanes {
 public:
  // Keys at a time. For more of them each lane asks for itself.
  static constexpr size_t kKeysMax = 4096;

  // What a lane is told about a key.
  enum class Event : uint8_t {
    kStored,    // The response of the lane that led is stored.
    kRefused,   // It is not.
    kFailed,    // The application has failed.
    kUnknown,   // JavaScript could not be asked.
    kLeadsNow,  // The other lane has no response: this lane leads in its place.
    kLook,      // Others wait for this lane, for a while by now.
  };
  // Is called by other threads and with the mutex: it must only post to the lane.
  using Tell = std::function<void(const std::string& key, Event event)>;

  LeadingLanes() = default;
  LeadingLanes(const LeadingLanes&) = delete;
  LeadingLanes& operator=(const LeadingLanes&) = delete;

  // `lane` is told of the keys that it waits for or leads, until Leave() has returned, which lets
  // others lead in its place.
  void Enter(const void* lane, Tell tell);
  void Leave(const void* lane);

  // Returns true if the lane leads: Finish() or Pass() must follow. Otherwise it waits for another
  // one, and is told.
  bool Begin(const void* lane, const std::string& key);
  // Returns true if no lane has led so far: the lane leads, and Finish() or Pass() must follow.
  // Otherwise the lane does not wait.
  bool Claim(const void* lane, const std::string& key);
  // The response is known. No effect, as with Pass(), if the lane does not lead.
  void Finish(const void* lane, const std::string& key, Event event);
  // There will be no response: the lane that has waited longest leads.
  void Pass(const void* lane, const std::string& key);
  // Nobody waits for the response any longer, whichever lane leads: tells kUnknown to those that
  // do.
  void GiveUp(const std::string& key);
  // Lets the lane that leads look whether its request still gets on.
  void Look(const std::string& key);

 private:
  struct Key {
    const void* leader = nullptr;
    std::vector<const void*> waiting;  // From the oldest to the newest.
  };
  using Keys = std::unordered_map<std::string, Key>;

  // With the mutex.
  void TellLane(const void* lane, const std::string& key, Event event) const;
  // Returns the next key.
  Keys::iterator PassAt(Keys::iterator at);

  std::mutex mutex_;
  std::map<const void*, Tell> lanes_;
  Keys keys_;
};

}  // namespace httpsys::engine
