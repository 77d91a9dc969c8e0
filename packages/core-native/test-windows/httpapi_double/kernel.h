#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fault_plan.h"
#include "ledger.h"
#include "model.h"
#include "response_cache.h"
#include "service_config.h"
#include "url_group.h"

namespace httpapi_double {

// What the driver would have: all objects, and the thread that serves their
// sockets. Everything but Get() is with `mutex`.
class Kernel {
 public:
  // It is never freed: calls may come while the process ends.
  static Kernel& Get();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  std::mutex mutex;
  std::condition_variable finished;  // A synchronous call.

  FaultPlan faults;
  Ledger ledger;
  ResponseCache cache;
  ServiceConfig config;
  size_t initialized = 0;
  // DER. What clients of https:// prefixes show with their handshake, and what
  // when they are asked.
  std::string client_certificate;
  std::string asked_certificate;
  bool answers_asking = true;
  std::map<uint64_t, ServerSession> sessions;
  std::map<uint64_t, UrlGroup> groups;
  std::vector<HandleRef> handles;
  std::map<uint64_t, RequestRef> requests;
  std::map<uint64_t, ConnectionRef> connections;

  uint64_t NextId() { return next_id_ += 0x10; }
  HandleRef FindHandle(HANDLE value) const;
  QueueRef FindQueue(const std::wstring& name) const;
  // Nullptr when it is over, or not of that handle's queue.
  RequestRef FindRequest(uint64_t id, const QueueHandle& handle) const;
  // The steps that the page of HttpShutdownRequestQueue() has, for this handle
  // in place of its process.
  void ShutDownHandle(const HandleRef& handle);
  void CloseHandleOf(const HandleRef& handle);

  // The URL and its group that requests go to; `is_known_host` = only the path
  // is nobody's.
  const UrlGroup::Url* Route(const Arrival& arrival, UrlGroup** group, bool* is_known_host);
  // NO_ERROR, or why the port cannot be listened on.
  uint32_t Listen(uint16_t port, bool is_secure);
  // Ends listening where nothing is left to listen for.
  void CloseUnusedListeners();

  // Of a login; and how many of them nobody has closed.
  HANDLE MakeToken();
  size_t open_tokens() const;

  // A file that is sent, while anybody has a handle of it.
  void NoteFile(HANDLE file);
  size_t CountFiles();

  // Milliseconds that every completion takes.
  uint32_t slow_ms() const { return slow_ms_; }
  void set_slow_ms(uint32_t ms) { slow_ms_ = ms; }
  // At once for 0, otherwise on the thread.
  void After(uint32_t ms, std::function<void()> task);
  // The thread looks again at what there is to read and write.
  void Wake();
  // A connection that is gone is freed when nobody is inside it any more.
  void Bury(uint64_t connection);
  // Starts the thread, once.
  void Start();

 private:
  struct Listener {
    SOCKET socket;
    uint16_t port;
    bool is_secure;
    bool is_control;
  };

  // Reads the environment.
  Kernel();
  SOCKET Open(int family, const void* address, uint32_t* error);
  void WatchFiles();
  void OpenControl();
  void OpenWaker();
  void Main();
  void Poll(std::unique_lock<std::mutex>& lock);
  void Accept(const Listener& listener);
  int RunTasks();

  uint64_t next_id_ = 0xfb00'0000'0000'0000;
  uint32_t slow_ms_ = 0;
  bool is_started_ = false;
  SOCKET waker_ = INVALID_SOCKET;  // Connected to itself.
  std::vector<Listener> listeners_;
  std::multimap<uint64_t, std::function<void()>> tasks_;  // By the time that they are due.
  std::vector<ConnectionRef> buried_;
  std::vector<HANDLE> tokens_;  // Duplicates of what was given away,
  std::vector<HANDLE> files_;   // and of what was given.
};

}  // namespace httpapi_double
