#include "win/url_group.h"

#include "win/kernel_queue.h"
#include "win/server_session.h"

namespace httpsys::win {
namespace {

std::wstring Widen(const std::string& text) {
  const int bytes = static_cast<int>(text.size());
  std::wstring wide;
  wide.resize(static_cast<size_t>(MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, nullptr, 0)));
  MultiByteToWideChar(CP_UTF8, 0, text.data(), bytes, wide.data(), static_cast<int>(wide.size()));
  return wide;
}

}  // namespace

std::unique_ptr<UrlGroup> UrlGroup::Open(const ServerSession& session, const KernelQueue& queue,
                                         const std::string& url, HTTP_URL_CONTEXT context,
                                         uint32_t* error) {
  std::unique_ptr<UrlGroup> group(new UrlGroup);
  *error = HttpCreateUrlGroup(session.id(), &group->id_, 0);
  if (*error != NO_ERROR) return nullptr;
  HTTP_BINDING_INFO binding{};
  binding.Flags.Present = 1;
  binding.RequestQueueHandle = queue.handle();
  *error = HttpSetUrlGroupProperty(group->id_, HttpServerBindingProperty, &binding, sizeof binding);
  if (*error != NO_ERROR) return nullptr;
  std::wstring wide = Widen(url);
  *error = HttpAddUrlToUrlGroup(group->id_, wide.c_str(), context, 0);
  if (*error != NO_ERROR) return nullptr;
  group->url_ = std::move(wide);
  return group;
}

UrlGroup::~UrlGroup() {
  if (!url_.empty()) HttpRemoveUrlFromUrlGroup(id_, url_.c_str(), 0);
  if (id_ != 0) HttpCloseUrlGroup(id_);
}

}  // namespace httpsys::win
