#include "http1/request_host.h"

#include "url/url_path.h"

namespace httpsys::http1 {
namespace {

// Returns the host of CONNECT's target; invalid without a port (RFC 9110, section 9.3.6).
HostName HostOfTunnel(std::string_view target) {
  const HostName named = ReadHost(target);
  const bool has_port = !target.empty() && target.back() >= '0' && target.back() <= '9' &&
                        target.find(':', named.name.size()) != std::string_view::npos;
  return named.name.empty() || !has_port ? HostName() : named;
}

}  // namespace

HostName HostOf(const RequestHead& head) {
  if (head.repeats_host || (!head.has_host && head.version_minor > 0)) return {};
  const HostName host = ReadHost(head.host);
  // An invalid Host line makes the request invalid, even if the target names the host.
  if (head.is_connect) return host.is_valid ? HostOfTunnel(head.target) : host;
  if (!host.is_valid || head.target.starts_with('/')) return host;
  const TargetParts parts = SplitTarget(head.target);
  if (!parts.is_absolute) return host;
  const HostName named = ReadHost(parts.authority);
  // Unlike a Host line, a URL of HTTP must name a host (RFC 9110, section 4.2.1).
  return named.name.empty() ? HostName() : named;
}

}  // namespace httpsys::http1
