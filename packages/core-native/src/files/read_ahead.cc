#include "files/read_ahead.h"

#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "base/limits.h"
#include "base/thread.h"

namespace httpsys::files {

// The tasks and the state that the threads share. Thread: any.
class ReadAhead::Pool {
 public:
  struct Task {
    std::function<void()> work;
    std::function<void()> done;  // May be empty. Called even if no thread can be started.
  };

  // Adds a task. If no idle thread can take it and the limit allows, starts a thread.
  static Ticket Start(const std::shared_ptr<Pool>& pool, WaitPlace place, Task task);
  void Cancel(WaitPlace place, Ticket ticket) {
    Task dropped;  // Destroyed without the lock.
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(place);
    if (found == tasks_.end()) return;
    const auto task = found->second.find(ticket);
    if (task == found->second.end()) return;
    dropped = std::move(task->second);
    found->second.erase(task);
    if (found->second.empty()) tasks_.erase(found);
  }
  static void StartSweeps(const std::shared_ptr<Pool>& pool);
  explicit Pool(Sweep sweep) : sweep_(std::move(sweep)) {}
  void Close() {
    Tasks dropped;  // Destroyed without the lock: releasing a file may add a task.
    std::unique_lock lock(mutex_);
    is_closed_ = true;
    dropped.swap(tasks_);
    has_tasks_.notify_all();
    has_ended_.wait(lock, [this] { return threads_ == reading_; });
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Tasks by place, in the order of their tickets. No inner map is empty.
  using Tasks = std::map<WaitPlace, std::map<Ticket, Task>>;

  // Adds a task. Returns true if the caller must start a thread.
  bool Add(WaitPlace place, Task task, Ticket* ticket) {
    const std::lock_guard lock(mutex_);
    *ticket = ++last_ticket_;
    if (is_closed_) return false;
    tasks_[place].emplace(*ticket, std::move(task));
    if (busy_.contains(place)) return false;
    if (idle_ > called_) {
      ++called_;
      has_tasks_.notify_one();
      return false;
    }
    if (threads_ == limits::kFileThreadsMax) return false;
    ++threads_;
    return true;
  }

  // Must be called when a counted thread could not be started. Without any thread, all tasks fail.
  void OnNoThread() {
    Tasks failed;  // Destroyed without the lock.
    const std::lock_guard lock(mutex_);
    --threads_;
    if (threads_ > 0) return;
    failed.swap(tasks_);
    for (const auto& [place, tasks] : failed) {
      for (const auto& [ticket, task] : tasks) {
        if (task.done != nullptr) task.done();
      }
    }
  }

  // Plans a sweep. Returns true if the caller must start a thread.
  bool AddSweep() {
    const std::lock_guard lock(mutex_);
    if (sweep_ == nullptr || is_closed_) return false;
    if (!std::exchange(is_sweep_due_, true)) sweep_at_ = Clock::now() + kUnused;
    if (threads_ > 0) return false;
    ++threads_;
    return true;
  }

  static void StartThread(const std::shared_ptr<Pool>& pool);

  void SweepOnce(std::unique_lock<std::mutex>* lock) {
    is_sweep_due_ = false;
    lock->unlock();
    const bool is_due = sweep_();
    lock->lock();
    if (!is_due || is_sweep_due_) return;
    is_sweep_due_ = true;
    sweep_at_ = Clock::now() + kUnused;
  }

  void Run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      // Sweep between tasks, too: there may always be another task.
      if (is_sweep_due_ && !is_closed_ && Clock::now() >= sweep_at_) SweepOnce(&lock);
      const auto found = std::find_if(tasks_.begin(), tasks_.end(), [this](const auto& entry) {
        return !busy_.contains(entry.first);
      });
      if (found == tasks_.end()) {
        if (is_closed_) break;
        ++idle_;
        const bool is_called =
            has_tasks_.wait_for(lock, kUnused, [this] { return called_ > 0 || is_closed_; });
        --idle_;
        called_ = std::max(called_ - 1, 0);
        // The last idle thread waits for the next sweep.
        if (is_called || (is_sweep_due_ && idle_ == 0)) continue;
        break;
      }
      const WaitPlace place = found->first;
      Task task = std::move(found->second.begin()->second);
      found->second.erase(found->second.begin());
      if (found->second.empty()) tasks_.erase(found);
      busy_.insert(place);
      ++reading_;
      lock.unlock();
      task.work();
      task.work = nullptr;  // May close a file, and wait for its server.
      lock.lock();
      --reading_;
      busy_.erase(place);
      if (!is_closed_ && task.done != nullptr) task.done();
      // Destroy the task without the lock: releasing its file may add a task.
      lock.unlock();
      task = {};
      lock.lock();
    }
    --threads_;
    has_ended_.notify_all();
  }

  static constexpr std::chrono::milliseconds kUnused{limits::kUnusedMs};

  std::mutex mutex_;
  std::condition_variable has_tasks_;
  std::condition_variable has_ended_;
  Tasks tasks_;
  Ticket last_ticket_ = 0;
  std::set<WaitPlace> busy_;  // Places on which a thread works.
  int threads_ = 0;
  int idle_ = 0;
  int called_ = 0;  // Idle threads that were woken for tasks.
  int reading_ = 0;
  const Sweep sweep_;
  bool is_sweep_due_ = false;
  Clock::time_point sweep_at_;  // Valid with is_sweep_due_.
  bool is_closed_ = false;
};

ReadAhead::ReadAhead(Sweep sweep) : pool_(std::make_shared<Pool>(std::move(sweep))) {}

ReadAhead::Ticket ReadAhead::Pool::Start(const std::shared_ptr<Pool>& pool, WaitPlace place,
                                         Task task) {
  Ticket ticket = 0;
  if (pool->Add(place, std::move(task), &ticket)) StartThread(pool);
  return ticket;
}

void ReadAhead::Pool::StartSweeps(const std::shared_ptr<Pool>& pool) {
  if (pool->AddSweep()) StartThread(pool);
}

void ReadAhead::Pool::StartThread(const std::shared_ptr<Pool>& pool) {
  const SignalsBlocked blocked;
  const auto run = [](void* argument) -> void* {
    const std::unique_ptr<std::shared_ptr<Pool>> own(static_cast<std::shared_ptr<Pool>*>(argument));
    SetThreadName("httpsys files");
    (*own)->Run();
    return nullptr;
  };
  auto argument = std::make_unique<std::shared_ptr<Pool>>(pool);
  pthread_t thread;
  if (pthread_create(&thread, nullptr, run, argument.get()) != 0) return pool->OnNoThread();
  (void)argument.release();
  pthread_detach(thread);
}

namespace {

ReadAhead::Result ReadBlock(const OpenFile& file, uint64_t offset, size_t bytes, bool keeps) {
  auto block = std::make_shared<FileBlock>();
  block->memory.reset(new (std::nothrow) uint8_t[bytes]);
  if (block->memory == nullptr) return {-ENOMEM, nullptr};
  const ssize_t got = file.Read(block->memory.get(), bytes, offset);
  if (got < 0) return {-errno, nullptr};
  block->offset = offset;
  block->bytes = static_cast<size_t>(got);
  if (!keeps || got == 0) block.reset();
  return {got, std::move(block)};
}

}  // namespace

ReadAhead::Ticket ReadAhead::Read(std::shared_ptr<const OpenFile> file, uint64_t offset,
                                  size_t bytes, bool keeps, Done done) {
  const size_t count = std::min(bytes, limits::kFileWindowBytes);
  const WaitPlace place = PlaceOf(*file);
  const auto result = std::make_shared<Result>(Result{-ENOMEM, nullptr});
  const auto work = [file = std::move(file), offset, count, keeps, result] {
    *result = ReadBlock(*file, offset, count, keeps);
  };
  return Pool::Start(pool_, place, {work, [result, done = std::move(done)] { done(*result); }});
}

ReadAhead::Ticket ReadAhead::Run(WaitPlace place, std::function<void()> work,
                                 std::function<void()> done) {
  return Pool::Start(pool_, place, {std::move(work), std::move(done)});
}

void ReadAhead::Cancel(WaitPlace place, Ticket ticket) { pool_->Cancel(place, ticket); }

std::shared_ptr<const OpenFile> ReadAhead::Share(std::unique_ptr<const OpenFile> file) {
  const auto let_go = [pool = pool_](const OpenFile* last) {
    std::shared_ptr<const OpenFile> owner(last);
    if (last->way() != ReadWay::kUnsure && last->path().empty()) return;
    const WaitPlace place{owner->facts().device, WaitPlace::Use::kNames};
    Pool::Start(pool, place, {[owner = std::move(owner)] {}, nullptr});
  };
  return {file.release(), let_go};
}

void ReadAhead::SweepLater() { Pool::StartSweeps(pool_); }

void ReadAhead::Close() { pool_->Close(); }

}  // namespace httpsys::files
