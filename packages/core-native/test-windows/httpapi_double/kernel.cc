#include "kernel.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "call.h"
#include "connection.h"
#include "control.h"
#include "queue_handle.h"
#include "request.h"
#include "request_queue.h"
#include "text.h"

namespace {

// Of ntdll.dll: OBJECT_BASIC_INFORMATION, as PUBLIC_OBJECT_BASIC_INFORMATION's
// page has it.
struct ObjectBasicInformation {
  ULONG Attributes;
  ACCESS_MASK GrantedAccess;
  ULONG HandleCount;
  ULONG PointerCount;
  ULONG Reserved[10];
};

}  // namespace

extern "C" LONG NTAPI NtQueryObject(HANDLE handle, int kind, void* memory, ULONG bytes,
                                    ULONG* needed);

namespace httpapi_double {
namespace {

ULONG CountHandles(HANDLE handle) {
  ObjectBasicInformation information{};
  NtQueryObject(handle, 0, &information, sizeof information, nullptr);
  return information.HandleCount;
}

// Whether one is not the only handle of what it is for.
bool HasOtherHandles(HANDLE handle) { return CountHandles(handle) > 1; }

std::string Environment(const char* name) {
  char text[4096] = "";
  const DWORD length = GetEnvironmentVariableA(name, text, sizeof text);
  return length < sizeof text ? std::string(text, length) : std::string();
}

}  // namespace

Kernel::Kernel() {
  faults.Set(Environment(kFaultVariable));
  slow_ms_ = static_cast<uint32_t>(std::atoi(Environment(kSlowVariable).c_str()));
}

Kernel& Kernel::Get() {
  static Kernel* const kernel = new Kernel;
  return *kernel;
}

// -- Objects.

HandleRef Kernel::FindHandle(HANDLE value) const {
  for (const HandleRef& handle : handles) {
    if (handle->value() == value) return handle;
  }
  return nullptr;
}

QueueRef Kernel::FindQueue(const std::wstring& name) const {
  for (const HandleRef& handle : handles) {
    if (handle->queue()->name == name) return handle->queue();
  }
  return nullptr;
}

RequestRef Kernel::FindRequest(uint64_t id, const QueueHandle& handle) const {
  const auto found = requests.find(id);
  if (found == requests.end() || found->second->queue != handle.queue()) return nullptr;
  return found->second;
}

// Requests that nobody has received stay for other handles.
void Kernel::ShutDownHandle(const HandleRef& handle) {
  if (handle->is_shut_down()) return;
  handle->ShutDown();
  ++handle->queue()->shut_down_handles;
  handle->queue()->EndReceives(*handle);
  std::vector<Connection*> cut;
  for (const auto& [id, request] : requests) {
    if (request->owner == handle.get() && !request->is_head_sent)
      cut.push_back(request->connection);
  }
  for (Connection* connection : cut) connection->Reset();
  for (const auto& [id, connection] : connections) connection->EndDisconnectCalls(*handle);
}

void Kernel::CloseHandleOf(const HandleRef& handle) {
  std::erase(handles, handle);
  handle->Cancel(nullptr);
  const QueueRef queue = handle->queue();
  if (handle->is_shut_down()) --queue->shut_down_handles;
  const bool is_last = --queue->handles == 0;
  std::vector<Connection*> cut;
  for (const auto& [id, request] : requests) {
    if (request->queue != queue) continue;
    if (is_last || request->owner == handle.get()) cut.push_back(request->connection);
  }
  for (Connection* connection : cut) connection->Reset();
  if (!is_last) return;
  for (auto& [id, group] : groups) {
    if (group.queue == queue) group.queue = nullptr;
  }
}

const UrlGroup::Url* Kernel::Route(const Arrival& arrival, UrlGroup** group, bool* is_known_host) {
  const UrlGroup::Url* best = nullptr;
  for (auto& [id, candidate] : groups) {
    for (const UrlGroup::Url& url : candidate.urls) {
      *is_known_host = *is_known_host || url.prefix.IsForHost(arrival);
      if (!url.prefix.IsFor(arrival)) continue;
      if (best != nullptr && (url.prefix.kind > best->prefix.kind ||
                              (url.prefix.kind == best->prefix.kind &&
                               url.prefix.path.size() <= best->prefix.path.size()))) {
        continue;
      }
      best = &url;
      *group = &candidate;
    }
  }
  return best;
}

// A closed handle cannot be asked: what a token is, an event, has one more
// handle while the application has its own.
HANDLE Kernel::MakeToken() {
  const HANDLE token = CreateEventW(nullptr, TRUE, FALSE, nullptr);
  const HANDLE process = GetCurrentProcess();
  HANDLE own = nullptr;
  DuplicateHandle(process, token, process, &own, 0, FALSE, DUPLICATE_SAME_ACCESS);
  tokens_.push_back(own);
  return token;
}

size_t Kernel::open_tokens() const {
  return static_cast<size_t>(std::count_if(tokens_.begin(), tokens_.end(), HasOtherHandles));
}

// One handle for each: two would keep each other.
void Kernel::NoteFile(HANDLE file) {
  std::vector<ULONG> counts;
  for (const HANDLE other : files_) counts.push_back(CountHandles(other));
  const HANDLE process = GetCurrentProcess();
  HANDLE own = nullptr;
  if (DuplicateHandle(process, file, process, &own, 0, FALSE, DUPLICATE_SAME_ACCESS) == 0) return;
  for (size_t i = 0; i < files_.size(); ++i) {
    if (CountHandles(files_[i]) == counts[i]) continue;
    CloseHandle(own);
    return;
  }
  files_.push_back(own);
  if (files_.size() == 1) WatchFiles();
}

// Its own handles must not keep files that a test wants to delete.
void Kernel::WatchFiles() {
  constexpr uint32_t kWatchMs = 20;
  After(kWatchMs, [this] {
    if (CountFiles() != 0) WatchFiles();
  });
}

size_t Kernel::CountFiles() {
  std::erase_if(files_, [](HANDLE file) {
    if (HasOtherHandles(file)) return false;
    CloseHandle(file);
    return true;
  });
  return files_.size();
}

// -- Sockets.

SOCKET Kernel::Open(int family, const void* address, uint32_t* error) {
  const SOCKET opened = socket(family, SOCK_STREAM, IPPROTO_TCP);
  if (opened == INVALID_SOCKET) {
    *error = ERROR_NOT_SUPPORTED;
    return opened;
  }
  const BOOL is_exclusive = TRUE;
  setsockopt(opened, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&is_exclusive),
             sizeof is_exclusive);
  if (family == AF_INET6) {
    setsockopt(opened, IPPROTO_IPV6, IPV6_V6ONLY, reinterpret_cast<const char*>(&is_exclusive),
               sizeof is_exclusive);
  }
  const int bytes = family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  u_long is_nonblocking = 1;
  ioctlsocket(opened, FIONBIO, &is_nonblocking);
  if (bind(opened, static_cast<const sockaddr*>(address), bytes) != 0 ||
      listen(opened, SOMAXCONN) != 0) {
    const int failure = WSAGetLastError();
    // What the driver says of a port that another program has.
    *error = failure == WSAEADDRINUSE || failure == WSAEACCES ? ERROR_SHARING_VIOLATION
                                                              : static_cast<uint32_t>(failure);
    closesocket(opened);
    return INVALID_SOCKET;
  }
  return opened;
}

uint32_t Kernel::Listen(uint16_t port, bool is_secure) {
  for (const Listener& listener : listeners_) {
    if (listener.port == port && !listener.is_control) {
      return listener.is_secure == is_secure ? NO_ERROR : ERROR_INVALID_PARAMETER;
    }
  }
  uint32_t error = NO_ERROR;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  const SOCKET first = Open(AF_INET, &v4, &error);
  if (first == INVALID_SOCKET) return error;
  listeners_.push_back({first, port, is_secure, false});
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  // A machine may have no IPv6.
  if (const SOCKET second = Open(AF_INET6, &v6, &error); second != INVALID_SOCKET) {
    listeners_.push_back({second, port, is_secure, false});
  }
  Wake();
  return NO_ERROR;
}

void Kernel::CloseUnusedListeners() {
  std::erase_if(listeners_, [this](const Listener& listener) {
    if (listener.is_control) return false;
    for (const auto& [id, group] : groups) {
      for (const UrlGroup::Url& url : group.urls) {
        if (url.prefix.port == listener.port) return false;
      }
    }
    closesocket(listener.socket);
    return true;
  });
  Wake();
}

void Kernel::OpenControl() {
  uint32_t error = NO_ERROR;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const SOCKET opened = Open(AF_INET, &address, &error);
  if (opened == INVALID_SOCKET) return;
  int bytes = sizeof address;
  getsockname(opened, reinterpret_cast<sockaddr*>(&address), &bytes);
  const uint16_t port = ntohs(address.sin_port);
  listeners_.push_back({opened, port, false, true});
  SetEnvironmentVariableA(kControlVariable, std::to_string(port).c_str());
}

void Kernel::OpenWaker() {
  waker_ = socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bind(waker_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  int bytes = sizeof address;
  getsockname(waker_, reinterpret_cast<sockaddr*>(&address), &bytes);
  connect(waker_, reinterpret_cast<const sockaddr*>(&address), bytes);
  u_long is_nonblocking = 1;
  ioctlsocket(waker_, FIONBIO, &is_nonblocking);
}

void Kernel::Start() {
  if (is_started_) return;
  is_started_ = true;
  WSADATA data;
  WSAStartup(MAKEWORD(2, 2), &data);
  OpenWaker();
  OpenControl();
  std::thread([this] { Main(); }).detach();
}

void Kernel::Wake() { send(waker_, "", 1, 0); }

void Kernel::After(uint32_t ms, std::function<void()> task) {
  if (ms == 0) return task();
  tasks_.emplace(GetTickCount64() + ms, std::move(task));
  Wake();
}

void Kernel::Bury(uint64_t connection) {
  const auto found = connections.find(connection);
  if (found == connections.end()) return;
  buried_.push_back(found->second);
  connections.erase(found);
  Wake();
}

// -- The thread.

void Kernel::Main() {
  std::unique_lock lock(mutex);
  for (;;) {
    buried_.clear();
    Poll(lock);
  }
}

int Kernel::RunTasks() {
  while (!tasks_.empty()) {
    const uint64_t now = GetTickCount64();
    if (tasks_.begin()->first > now) return static_cast<int>(tasks_.begin()->first - now);
    const std::function<void()> task = std::move(tasks_.begin()->second);
    tasks_.erase(tasks_.begin());
    task();
  }
  return 1000;
}

void Kernel::Poll(std::unique_lock<std::mutex>& lock) {
  const int timeout_ms = RunTasks();
  std::vector<WSAPOLLFD> sockets{{waker_, POLLIN, 0}};
  const size_t polled_listeners = listeners_.size();
  for (const Listener& listener : listeners_) sockets.push_back({listener.socket, POLLIN, 0});
  std::vector<ConnectionRef> polled;
  for (const auto& [id, connection] : connections) {
    SHORT events = connection->wants_to_read() ? POLLIN : 0;
    if (connection->wants_to_write()) events |= POLLOUT;
    if (events == 0) continue;
    sockets.push_back({connection->socket(), events, 0});
    polled.push_back(connection);
  }
  lock.unlock();
  WSAPoll(sockets.data(), static_cast<ULONG>(sockets.size()), timeout_ms);
  lock.lock();
  char bytes[64];
  if (sockets[0].revents != 0) {
    while (recv(waker_, bytes, sizeof bytes, 0) > 0) continue;
  }
  // Without the lock a listener may have been closed, and one of another port
  // have got its handle.
  for (size_t i = 0; i < polled_listeners; ++i) {
    if (sockets[1 + i].revents == 0) continue;
    const SOCKET readable = sockets[1 + i].fd;
    const auto found =
        std::find_if(listeners_.begin(), listeners_.end(),
                     [readable](const Listener& other) { return other.socket == readable; });
    if (found != listeners_.end()) Accept(*found);
  }
  for (size_t i = 0; i < polled.size(); ++i) {
    const SHORT events = sockets[1 + polled_listeners + i].revents;
    if ((events & POLLOUT) != 0) polled[i]->OnWritable();
    if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) polled[i]->OnReadable();
  }
}

void Kernel::Accept(const Listener& listener) {
  for (;;) {
    const SOCKET accepted = accept(listener.socket, nullptr, nullptr);
    if (accepted == INVALID_SOCKET) return;
    u_long is_nonblocking = 1;
    ioctlsocket(accepted, FIONBIO, &is_nonblocking);
    const BOOL is_quick = TRUE;
    setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&is_quick),
               sizeof is_quick);
    const uint64_t id = NextId();
    connections[id] = std::make_shared<Connection>(id, accepted, listener.port, listener.is_secure,
                                                   listener.is_control);
    if (listener.is_secure && !config.HasSslBinding(listener.port)) connections[id]->Reset();
  }
}

}  // namespace httpapi_double
