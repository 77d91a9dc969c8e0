#include "http1/request_host.h"

#include "url/url_path.h"

namespace httpsys::http1 {

HostName HostOf(const RequestHead& head) {
  if (head.repeats_host || (!head.has_host && head.version_minor > 0)) return {};
  const HostName host = ReadHost(head.host);
  // An invalid line is refused even where the target would decide.
  if (!host.is_valid || head.target.starts_with('/')) return host;
  const TargetParts parts = SplitTarget(head.target);
  if (!parts.is_absolute) return host;
  const HostName named = ReadHost(parts.authority);
  // Unlike a Host line, a URL of HTTP always has a host (RFC 9110, section 4.2.1).
  return named.name.empty() ? HostName() : named;
}

}  // namespace httpsys::http1
