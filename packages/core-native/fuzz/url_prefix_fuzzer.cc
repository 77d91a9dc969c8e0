// Registers the lines of the input up to an empty one as prefixes, then matches the two lines after
// it (host, target). Traps when a promise of url_prefix.h or url_prefix_table.h is broken.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "url/host_name.h"
#include "url/url_path.h"
#include "url/url_prefix_table.h"

namespace {

std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

void Check(bool promise) {
  if (!promise) std::abort();
}

// Each '%' begins an escape.
bool IsEscaped(std::string_view path) {
  const auto has_digits = [&](size_t at, size_t count) {
    return path.size() >= at + count &&
           path.find_first_not_of("0123456789ABCDEFabcdef", at) >= at + count;
  };
  for (size_t at = path.find('%'); at != path.npos; at = path.find('%', at + 1)) {
    const bool is_unit = at + 1 < path.size() && path[at + 1] == 'u';
    if (!(is_unit ? has_digits(at + 2, 4) : has_digits(at + 1, 2))) return false;
  }
  return true;
}

void CheckStrict(std::string_view target) {
  if (!target.starts_with('/')) return;
  const std::string path(target.substr(0, target.find_first_of("?#")));
  const bool is_strict = httpsys::IsStrictTarget(target);
  Check(is_strict == httpsys::IsStrictTarget(path));
  Check(is_strict == httpsys::IsStrictTarget(path + "/?%"));
  Check(!httpsys::IsStrictTarget(path + "%"));
  Check(httpsys::IsStrictTarget("http://h" + path) == is_strict);
  if (!is_strict) return;
  Check(IsEscaped(path));
  // What was not decoded is whole.
  if (path.find("%25") == path.npos) Check(IsEscaped(httpsys::DecodePath(path)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  httpsys::UrlPrefixTable table;
  std::vector<httpsys::UrlPrefix> added;
  for (std::string_view line = TakeLine(&text); !line.empty(); line = TakeLine(&text)) {
    httpsys::UrlPrefix prefix;
    if (httpsys::ParseUrlPrefix(line, &prefix) != httpsys::PrefixError::kNone) continue;
    Check(prefix.path.front() == '/' && prefix.path.back() == '/' && prefix.port != 0);
    if (table.Add(prefix, static_cast<uint32_t>(added.size()))) added.push_back(prefix);
    Check(!table.Add(prefix, 0));
  }
  const std::string_view line = TakeLine(&text);
  const std::string_view host = httpsys::ReadHost(line).name;
  const std::string_view target = TakeLine(&text);
  if (target.starts_with('/') && httpsys::IsPlainPath(target)) {
    Check(httpsys::DecodePath(target) == target);
  }
  CheckStrict(target);
  httpsys::LocalAddress local;
  local.is_ip = httpsys::ParseIpAddress(line, &local.ip);
  const httpsys::Route route = table.Match(host, target, local);
  uint32_t everything = 0;
  if (route.status == httpsys::RouteStatus::kMatch) Check(route.id < added.size());
  if (table.MatchesEverything(&everything)) {
    Check(route.status == httpsys::RouteStatus::kMatch && route.id == everything);
  }
  for (const httpsys::UrlPrefix& prefix : added) Check(table.Remove(prefix));
  Check(table.Match(host, target, local).status == httpsys::RouteStatus::kUnknownHost);
  return 0;
}
