#include "win/http_sys_backend.h"

#include <uv.h>

#include <string_view>

#include "common/check.h"
#include "common/url_prefix.h"
#include "win/create_backend.h"
#include "win/http_api.h"

namespace httpsys::win {
namespace {

// Wine never finds a weak wildcard, and goes by the text of an address.
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
  kernel_ = KernelQueue::Open(&error);
  if (kernel_ == nullptr) return error;
  lane_ = std::make_unique<Lane>(kernel_.get(), memory_, &methods_, &signal_);
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
  for (const std::string& text : settings.prefixes) {
    UrlPrefix prefix;
    if (!text.empty() && ParseUrlPrefix(text, &prefix) != PrefixError::kNone) return UV_EINVAL;
  }
  if (is_closed_) return UV_EBADF;
  lane_->SetServer(server_id, std::move(settings));
  return 0;
}

uint32_t HttpSysBackend::AddUrl(uint32_t server_id, uint32_t prefix_id, const std::string& url) {
  if (is_closed_) return ERROR_INVALID_HANDLE;
  const HTTP_URL_CONTEXT context = uint64_t{server_id} << 32 | prefix_id;
  uint32_t error = NO_ERROR;
  std::unique_ptr<UrlGroup> group =
      UrlGroup::Open(*session_, *kernel_, IsCoreOnly() ? CoreUrl(url) : url, context, &error);
  if (group != nullptr) urls_[{server_id, prefix_id}] = std::move(group);
  return error;
}

void HttpSysBackend::RemoveUrl(uint32_t server_id, uint32_t prefix_id) {
  urls_.erase({server_id, prefix_id});
}

void HttpSysBackend::Unlisten(uint32_t server_id) {
  urls_.erase(urls_.lower_bound({server_id, 0}), urls_.lower_bound({server_id + 1, 0}));
  if (!is_closed_) lane_->Unlisten(server_id);
}

bool HttpSysBackend::Drain(uint64_t timeout_ms, DrainGoal goal) {
  return is_closed_ || lane_->Drain(timeout_ms, goal);
}

// 1. No new requests, 2. the calls end, and the thread, 3. the queue, which resets what is not
// answered. The lane's objects stay for late calls.
void HttpSysBackend::Close() {
  if (is_closed_) return;
  is_closed_ = true;
  urls_.clear();
  if (lane_ != nullptr) lane_->Stop();
  if (kernel_ != nullptr) kernel_->Close();
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
