#include "win/http_sys_backend.h"

#include <uv.h>

#include <algorithm>
#include <string_view>

#include "backend/create_http_sys_backend.h"
#include "base/check.h"
#include "url/url_prefix.h"
#include "win/http_api.h"

namespace httpsys::win {
namespace {

// Length and verbosity of the queue for servers without such options: the defaults of the HTTP
// Server API (HttpServerQueueLengthProperty, HttpServer503VerbosityProperty).
constexpr std::pair<uint32_t, Http503Verbosity> kUsualQueue = {1000, Http503Verbosity::kBasic};

// Returns an equivalent URL for Wine, which finds no weak wildcards and compares addresses as text.
std::string CoreUrl(const std::string& url) {
  UrlPrefix prefix;
  if (ParseUrlPrefix(url, &prefix) != PrefixError::kNone) return url;
  if (prefix.host_kind != HostKind::kWeakWildcard && prefix.host_kind != HostKind::kIpBound) {
    return url;
  }
  return "http://+:" + std::to_string(prefix.port) + prefix.path;
}

int ErrnoOf(uint32_t error) {
  switch (error) {
    case NO_ERROR:
      return 0;
    case ERROR_ACCESS_DENIED:
      return UV_EACCES;
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_NO_SYSTEM_RESOURCES:
      return UV_ENOMEM;
    case ERROR_SERVICE_DISABLED:
    case ERROR_SERVICE_NOT_ACTIVE:
    case ERROR_FILE_NOT_FOUND:
      return UV_ENOENT;
    default:
      return UV_UNKNOWN;
  }
}

}  // namespace

HttpSysBackend::HttpSysBackend(BackendOptions options)
    : methods_(std::move(options.methods)), signal_(std::move(options.wake_consumer)) {
  HTTPSYS_CHECK(options.lanes.size() == 1);
  memory_ = std::move(options.lanes[0]);
}

HttpSysBackend::~HttpSysBackend() {
  Close();
  if (lane_ != nullptr && !lane_->IsQuiet()) (void)lane_.release();
}

uint32_t HttpSysBackend::Start() {
  uint32_t error = NO_ERROR;
  session_ = ServerSession::Open(&error);
  if (session_ == nullptr) return error;
  port_ = CompletionPort::Open(&error);
  if (port_ == nullptr) return error;
  lane_ = std::make_unique<Lane>(port_.get(), memory_, &methods_, &signal_);
  lane_->Start();
  return NO_ERROR;
}

uint32_t HttpSysBackend::AddReplySegment(size_t, std::span<const uint8_t> memory) {
  return lane_->replies().AddSegment(memory);
}

void HttpSysBackend::WakeLane(size_t) {
  if (!is_closed_) lane_->Wake();
}

void HttpSysBackend::Wake(size_t) {
  if (!is_closed_) lane_->WakeIfSleeping();
}

int HttpSysBackend::Configure(uint32_t server_id, ServerSettings settings) {
  for (const NumberedPrefix& changed : settings.prefixes.changes) {
    UrlPrefix prefix;
    const bool is_gone = changed.text.empty();
    if (!is_gone && ParseUrlPrefix(changed.text, &prefix) != PrefixError::kNone) return UV_EINVAL;
  }
  if (is_closed_) return UV_EBADF;
  Server& server = servers_[server_id];
  server.kernel = settings.kernel;
  server.queue_key = {settings.queue_limit, settings.http_503_verbosity};
  lane_->SetServer(server_id, std::move(settings));
  return 0;
}

// -- Queues.

namespace {

UrlResult SetProperties(KernelQueue* queue, uint32_t length, Http503Verbosity verbosity) {
  if (IsCoreOnly()) return {};
  const uint32_t error = queue->SetLength(length);
  if (error != NO_ERROR) return {error, "queueLimit"};
  return {queue->SetVerbosity(verbosity), "http503Verbosity"};
}

}  // namespace

UrlResult HttpSysBackend::OpenQueue(uint32_t server_id, const std::string& name, QueueMode mode) {
  const auto found = servers_.find(server_id);
  if (is_closed_ || found == servers_.end()) return {ERROR_INVALID_HANDLE, ""};
  Server& server = found->second;
  if (!name.empty()) return OpenNamedQueue(&server, server_id, name, mode);
  UrlResult result;
  // Wine's queues have no properties: all servers share the usual queue.
  server.queue = FindOrOpenQueue(IsCoreOnly() ? kUsualQueue : server.queue_key, &result);
  return result;
}

std::shared_ptr<KernelQueue> HttpSysBackend::FindOrOpenQueue(const QueueKey& key,
                                                             UrlResult* result) {
  std::shared_ptr<KernelQueue>& queue = queues_[key];
  if (queue != nullptr) return queue;
  std::shared_ptr<KernelQueue> opened =
      KernelQueue::Open(port_.get(), {}, QueueMode::kCreate, &result->status);
  if (opened == nullptr) return nullptr;
  *result = SetProperties(opened.get(), key.first, key.second);
  if (result->status != NO_ERROR) return nullptr;
  lane_->AddQueue(opened, 0);
  queue = std::move(opened);
  return queue;
}

UrlResult HttpSysBackend::OpenNamedQueue(Server* server, uint32_t server_id,
                                         const std::string& name, QueueMode mode) {
  UrlResult result;
  std::shared_ptr<KernelQueue> queue = KernelQueue::Open(port_.get(), name, mode, &result.status);
  if (queue == nullptr) {
    result.property = "queueName";
    return result;
  }
  if (!queue->is_attached()) {
    result = SetProperties(queue.get(), server->queue_key.first, server->queue_key.second);
    if (result.status != NO_ERROR) return result;
  }
  result.is_attached = queue->is_attached();
  lane_->AddQueue(queue, result.is_attached ? server_id : 0);
  server->queue = std::move(queue);
  server->has_own_queue = true;
  return result;
}

UrlResult HttpSysBackend::AddUrl(uint32_t server_id, uint32_t prefix_id, const std::string& url) {
  const auto found = servers_.find(server_id);
  if (is_closed_ || found == servers_.end() || found->second.queue == nullptr) {
    return {ERROR_INVALID_HANDLE, ""};
  }
  const Server& server = found->second;
  const HTTP_URL_CONTEXT context = uint64_t{server_id} << 32 | prefix_id;
  UrlResult result;
  std::unique_ptr<UrlGroup> group = UrlGroup::Open(*session_, &result.status);
  if (group == nullptr) return result;
  if (!IsCoreOnly()) {
    const char* property = "";
    result.status = group->Apply(server.kernel, &property);
    if (result.status != NO_ERROR) return {result.status, property};
  }
  result.status = group->Add(*server.queue, IsCoreOnly() ? CoreUrl(url) : url, context);
  if (result.status == NO_ERROR) urls_[{server_id, prefix_id}] = std::move(group);
  return result;
}

void HttpSysBackend::RemoveUrl(uint32_t server_id, uint32_t prefix_id) {
  urls_.erase({server_id, prefix_id});
}

void HttpSysBackend::Unlisten(uint32_t server_id) {
  urls_.erase(urls_.lower_bound({server_id, 0}), urls_.lower_bound({server_id + 1, 0}));
  if (is_closed_) return;
  lane_->Unlisten(server_id);
  const auto found = servers_.find(server_id);
  if (found == servers_.end()) return;
  if (found->second.has_own_queue) lane_->RemoveQueue(found->second.queue.get());
  servers_.erase(found);
  // Keep the usual queue open for the next server.
  std::erase_if(queues_, [this](const auto& item) {
    const auto& [key, queue] = item;
    const bool is_used = std::any_of(servers_.begin(), servers_.end(), [&](const auto& server) {
      return server.second.queue == queue;
    });
    if (is_used || key == kUsualQueue || IsCoreOnly()) return false;
    lane_->RemoveQueue(queue.get());
    return true;
  });
}

uint32_t HttpSysBackend::FlushCache(uint32_t server_id, const std::string& url, bool is_recursive) {
  const auto found = servers_.find(server_id);
  if (is_closed_ || found == servers_.end() || found->second.queue == nullptr) {
    return ERROR_INVALID_HANDLE;
  }
  return found->second.queue->FlushCache(url, is_recursive);
}

int64_t HttpSysBackend::SendFile(size_t, Descriptor fd, uint32_t, uint64_t start, uint64_t bytes) {
  if (is_closed_) return UV_ECANCELED;
  std::unique_ptr<SentFile> file = SentFile::Open(fd, start, bytes);
  if (file == nullptr) return UV_EBADF;
  const uint32_t id = lane_->lent().Lend(nullptr, 0);
  lane_->files().Put(id, std::move(file));
  return id;
}

bool HttpSysBackend::Drain(uint64_t timeout_ms, DrainGoal goal) {
  return is_closed_ || lane_->Drain(timeout_ms, goal);
}

// Closes in this order: URLs (no new requests arrive), the lane's calls and thread, the queues
// (which resets unanswered requests). The lane's objects remain for late calls.
void HttpSysBackend::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  urls_.clear();
  if (lane_ != nullptr) lane_->Stop();
  for (const auto& [key, queue] : queues_) queue->Close();
  for (const auto& [id, server] : servers_) {
    if (server.queue != nullptr) server.queue->Close();
  }
  session_.reset();
}

}  // namespace httpsys::win

namespace httpsys {

BackendCapabilities HttpSysCapabilities() {
  const bool is_whole = !win::IsCoreOnly();
  BackendCapabilities capabilities;
  capabilities.name = "http.sys";
  capabilities.lanes_max = 1;
  capabilities.sees_disconnects = is_whole;
  capabilities.aborts = is_whole;
  capabilities.chunked_bodies = is_whole;
  capabilities.body_pieces = is_whole;
  capabilities.slow_readers = is_whole;
  capabilities.upgrades = is_whole;
  capabilities.named_queues = is_whole;
  capabilities.caches = is_whole;
  capabilities.sends_files = is_whole;
  capabilities.kernel_options = is_whole;
  capabilities.system_certificates = is_whole;
  capabilities.foreign_hosts = is_whole;
  capabilities.ipv6 = is_whole;
  return capabilities;
}

std::unique_ptr<UrlBackend> CreateHttpSysBackend(BackendOptions options, int* status) {
  auto created = std::make_unique<win::HttpSysBackend>(std::move(options));
  *status = win::ErrnoOf(created->Start());
  if (*status == 0) return created;
  created->Close();
  return nullptr;
}

}  // namespace httpsys
