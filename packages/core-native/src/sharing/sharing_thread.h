#pragma once
// The thread on which an engine shares ports: a loop that runs commands of other threads.

#include <uv.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

namespace httpsys::sharing {

// Starts the thread with the first command, and ends it with Stop().
class SharingThread {
 public:
  // Receives calls on the thread.
  class Owner {
   public:
    virtual void AfterCommands() = 0;
    virtual void Tick() = 0;
    // Called when the timer of TellKeysLater() expires.
    virtual void TellTicketKeys() = 0;
    // Called before the thread ends: must close the owner's handles on the loop.
    virtual void BeforeEnd() = 0;

   protected:
    ~Owner() = default;
  };

  // `owner` must outlive the thread.
  explicit SharingThread(Owner* owner) : owner_(owner) {}
  SharingThread& operator=(SharingThread&&) = delete;

  // -- Thread: any.

  // Runs a command on the thread. Returns false if the thread cannot be started, or is ending.
  bool Post(std::function<void()> command);
  // Like Post(), but does not start the thread.
  bool PostIfRunning(std::function<void()> command);
  // Ends the thread and waits for its end. Commands that were posted before run first. Must be
  // called once, before the destructor and never on the thread itself.
  void Stop();
  // Returns true if the caller runs on this thread.
  bool IsCurrent() const;

  // -- Thread: this one.

  uv_loop_t* loop() { return &loop_; }
  // Calls Tick() once, a few milliseconds later. Does nothing if that is due already.
  void TickSoon();
  // Calls TellTicketKeys() once, after kTicketTellMs. Does nothing if that is due already.
  void TellKeysLater();

 private:
  bool Start();
  void CloseHandles();
  void RunCommands();
  static void Main(void* argument);

  Owner* const owner_;
  std::mutex mutex_;  // Guards the next three fields.
  std::vector<std::function<void()>> commands_;
  bool is_running_ = false;
  bool is_stopping_ = false;
  uv_loop_t loop_;
  uv_async_t wake_;
  uv_timer_t ticks_;
  uv_timer_t keys_;
  uv_thread_t thread_;
};

}  // namespace httpsys::sharing
