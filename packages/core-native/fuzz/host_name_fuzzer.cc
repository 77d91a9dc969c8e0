// Input: a Host value, the authority of a target and a second Host line, one a line. Traps when a
// promise of host_name.h or request_host.h is broken, above all when one value could be read in two
// ways.

#include <cstdint>
#include <string>
#include <string_view>

#include "http1/request_host.h"
#include "pieces.h"
#include "url/host_name.h"
#include "url/url_prefix_table.h"

namespace {

using httpsys::HostName;
using httpsys::IsSameHost;
using httpsys::ReadHost;
using httpsys::fuzz::Check;
using httpsys::http1::HostOf;
using httpsys::http1::RequestHead;

std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

// Whether a name has a character at which other parsers of URLs end a host, or skip a part of the
// authority.
bool HasDelimiter(std::string_view name) {
  return name.find_first_of("@/?#\\ \t\r\n\"<>^`{|}") != std::string_view::npos ||
         name.find('\0') != std::string_view::npos;
}

void CheckReading(const std::string& value) {
  const HostName host = ReadHost(value);
  Check(host.is_valid || host.name.empty());
  // None of these can be a part of a valid value, so that it does not matter who cuts first.
  Check(!ReadHost("u@" + value).is_valid && !ReadHost(value + "@a").is_valid);
  Check(!ReadHost(value + "/").is_valid && !ReadHost(value + "#a").is_valid);
  Check(!ReadHost(value + " ").is_valid && !ReadHost(" " + value).is_valid);
  if (!host.is_valid) return;
  Check(!HasDelimiter(value));
  Check(value.starts_with(host.name));
  const std::string name(host.name);
  // One of two final dots is left, and would be the next one to go.
  if (name.empty() || name.ends_with('.')) return;
  const bool is_address = name.front() == '[';
  Check(is_address == (name.back() == ']'));
  Check(is_address || name.find(':') == std::string::npos);
  // A name names itself, with a port, with a final dot and in capitals.
  Check(ReadHost(name + ":80").name == name);
  Check(is_address || ReadHost(name + ".").name == name);
  std::string capitals = name;
  for (char& c : capitals) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  Check(ReadHost(capitals).is_valid && IsSameHost(capitals, name));
  // Routing knows no other name than the certificate's choice.
  httpsys::UrlPrefix prefix;
  if (httpsys::ParseUrlPrefix("http://" + name + ":80/", &prefix) != httpsys::PrefixError::kNone ||
      prefix.host_kind != httpsys::HostKind::kExplicit || prefix.is_subdomain_wildcard) {
    return;
  }
  httpsys::UrlPrefixTable table;
  Check(table.Add(prefix, 7));
  bool is_named = false;
  Check(table.IdsOf(capitals, {}, &is_named).size() == 1 && is_named);
  Check(table.Match(capitals, "/", {}).id == 7);
}

void CheckRequest(std::string_view value, std::string_view authority, bool repeats) {
  RequestHead head;
  head.has_host = true;
  head.host = value;
  head.target = "/x";
  const HostName line = HostOf(head);
  const HostName read = ReadHost(value);
  Check(line.is_valid == read.is_valid && line.name == read.name);
  head.repeats_host = repeats;
  Check(!repeats || !HostOf(head).is_valid);
  head.repeats_host = false;
  const std::string target = "http://" + std::string(authority) + "/x";
  head.target = target;
  const HostName named = HostOf(head);
  if (authority.find_first_of("/?#") == std::string_view::npos) {
    const HostName wanted = ReadHost(authority);
    Check(named.is_valid == (read.is_valid && !wanted.name.empty()));
    Check(!named.is_valid || named.name == wanted.name);
  }
  head.has_host = false;
  head.host = {};
  Check(!HostOf(head).is_valid);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view value = TakeLine(&text);
  const std::string_view authority = TakeLine(&text);
  CheckReading(std::string(value));
  CheckReading(std::string(authority));
  CheckRequest(value, authority, TakeLine(&text) == value);
  return 0;
}
