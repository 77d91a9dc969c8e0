#include "url/url_prefix_table.h"

#include <cstddef>
#include <span>
#include <utility>

#include "url/url_path.h"

namespace httpsys {
namespace {

std::string Folded(std::string text) {
  FoldCase(text.data(), text.size());
  return text;
}

// Returns the text that identifies the host of a prefix within its category.
std::string HostKey(const UrlPrefix& prefix) {
  if (prefix.host_kind == HostKind::kIpBound) return {prefix.ip.begin(), prefix.ip.end()};
  return Folded(prefix.host);
}

std::string_view IpKey(const LocalAddress& local) {
  return {reinterpret_cast<const char*>(local.ip.data()), local.ip.size()};
}

// The name of a request's host, folded like the hosts of prefixes. A name longer than any prefix
// can have becomes empty, which matches no prefix.
class ComparableName {
 public:
  explicit ComparableName(std::string_view name) {
    if (name.size() > kHostNameBytesMax) return;
    bytes_ = name.copy(text_, sizeof text_);
    FoldCase(text_, bytes_);
  }

  std::string_view view() const { return {text_, bytes_}; }

 private:
  char text_[kHostNameBytesMax];
  size_t bytes_ = 0;
};

// A request's path, decoded and folded like the paths of entries, and cut to their maximum length.
class ComparablePath {
 public:
  explicit ComparablePath(std::string_view path) {
    std::string decoded;
    if (!IsPlainPath(path)) {
      decoded = DecodePath(path);
      path = decoded;
    }
    bytes_ = path.copy(text_, kPrefixPathBytesMax);
    if (bytes_ == path.size() && text_[bytes_ - 1] != '/') text_[bytes_++] = '/';
    FoldCase(text_, bytes_);
  }

  std::string_view view() const { return {text_, bytes_}; }

 private:
  char text_[kPrefixPathBytesMax + 1];
  size_t bytes_;
};

}  // namespace

UrlPrefixTable::Category UrlPrefixTable::CategoryOf(const UrlPrefix& prefix) {
  switch (prefix.host_kind) {
    case HostKind::kStrongWildcard:
      return kStrong;
    case HostKind::kExplicit:
      return prefix.is_subdomain_wildcard ? kSubdomains : kNames;
    case HostKind::kIpBound:
      return kAddresses;
    case HostKind::kWeakWildcard:
      break;
  }
  return kWeak;
}

const UrlPrefixTable::Entry* UrlPrefixTable::FindEntry(const UrlPrefix& prefix) const {
  const Host* host = FindHost(CategoryOf(prefix), HostKey(prefix));
  return host == nullptr ? nullptr : host->entries.Find(Folded(prefix.path));
}

UrlPrefixTable::Entry& UrlPrefixTable::FindOrCreate(const UrlPrefix& prefix) {
  Hosts& hosts = hosts_[CategoryOf(prefix)];
  const std::string name = HostKey(prefix);
  const Hosts::Position at = hosts.LowerBound(name);
  const Host* there = hosts.At(at);
  const bool is_known = there != nullptr && there->name == name;
  Entries& entries = (is_known ? hosts.Edit(at) : hosts.Insert(at, {name, {}})).entries;
  std::string path = Folded(prefix.path);
  const Entries::Position entry_at = entries.LowerBound(path);
  const Entry* entry = entries.At(entry_at);
  return entry != nullptr && entry->path == path ? entries.Edit(entry_at)
                                                 : entries.Insert(entry_at, {std::move(path)});
}

bool UrlPrefixTable::Add(const UrlPrefix& prefix, uint32_t id) {
  Entry& entry = FindOrCreate(prefix);
  if (entry.is_registered) return false;
  entry.is_registered = true;
  entry.id = id;
  return true;
}

std::optional<uint32_t> UrlPrefixTable::IdOf(const UrlPrefix& prefix) const {
  const Entry* entry = FindEntry(prefix);
  if (entry == nullptr || !entry->is_registered) return std::nullopt;
  return entry->id;
}

bool UrlPrefixTable::AddReservation(const UrlPrefix& prefix) {
  Entry& entry = FindOrCreate(prefix);
  if (entry.is_reserved) return false;
  entry.is_reserved = true;
  return true;
}

bool UrlPrefixTable::Remove(const UrlPrefix& prefix) {
  const Entry* there = FindEntry(prefix);
  if (there == nullptr || !there->is_registered) return false;
  if (there->is_reserved) {
    FindOrCreate(prefix).is_registered = false;
    return true;
  }
  Hosts& hosts = hosts_[CategoryOf(prefix)];
  const Hosts::Position at = hosts.LowerBound(HostKey(prefix));
  Entries& entries = hosts.Edit(at).entries;
  entries.Erase(entries.LowerBound(Folded(prefix.path)));
  if (entries.empty()) hosts.Erase(at);
  return true;
}

bool UrlPrefixTable::MatchesEverything(uint32_t* id) const {
  // Check `+` first: if it catches everything, no request reaches the other kinds of hosts.
  const bool strong = !hosts_[kStrong].empty();
  for (const Category category : {kNames, kSubdomains, kAddresses}) {
    if (!strong && !hosts_[category].empty()) return false;
  }
  const Hosts& hosts = hosts_[strong ? kStrong : kWeak];
  if (hosts.empty()) return false;
  const Entries& entries = hosts.At(hosts.begin())->entries;
  const Entry& entry = *entries.At(entries.begin());
  if (!entries.has_one() || entry.path != "/" || !entry.is_registered) return false;
  *id = entry.id;
  return true;
}

const UrlPrefixTable::Host* UrlPrefixTable::FindHost(Category category,
                                                     std::string_view name) const {
  return hosts_[category].Find(name);
}

const UrlPrefixTable::Entry* UrlPrefixTable::FindPath(const Host* host, std::string_view path) {
  if (host == nullptr) return nullptr;
  const Entry* longest = nullptr;
  if (const std::span<const Entry> few = host->entries.few(); !few.empty()) {
    // Entries are sorted, and end with a slash: the last prefix of the path is the longest.
    for (const Entry& entry : few) {
      if (path.starts_with(entry.path)) longest = &entry;
    }
    return longest;
  }
  // Entries that begin with the part compared so far are neighbours: each step narrows the range.
  Entries::Position first = host->entries.begin();
  for (size_t slash = 0; slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const std::string_view part = path.substr(0, slash + 1);
    first = host->entries.LowerBound(part, first);
    const Entry* entry = host->entries.At(first);
    if (entry == nullptr || !entry->path.starts_with(part)) break;
    if (entry->path.size() == part.size()) longest = entry;
  }
  return longest;
}

const UrlPrefixTable::Entry* UrlPrefixTable::FindExplicit(std::string_view name,
                                                          std::string_view path,
                                                          bool* host_known) const {
  if (hosts_[kNames].empty() && hosts_[kSubdomains].empty()) return nullptr;
  const ComparableName folded(name);
  name = folded.view();
  if (name.empty()) return nullptr;
  const Host* holder = FindHost(kNames, name);
  *host_known = *host_known || holder != nullptr;
  if (const Entry* entry = FindPath(holder, path)) return entry;
  // The longest suffix has precedence: `*.eu.shop.test` before `*.shop.test`.
  for (size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    name.remove_prefix(dot + 1);
    holder = dot == 0 ? nullptr : FindHost(kSubdomains, name);
    *host_known = *host_known || holder != nullptr;
    if (const Entry* entry = FindPath(holder, path)) return entry;
  }
  return nullptr;
}

std::vector<uint32_t> UrlPrefixTable::IdsOf(std::string_view name, const LocalAddress& local,
                                            bool* is_named) const {
  std::vector<uint32_t> ids;
  const auto add = [&ids](const Host* holder) {
    if (holder == nullptr) return;
    holder->entries.ForEach([&](const Entry& entry) {
      if (entry.is_registered) ids.push_back(entry.id);
    });
  };
  const ComparableName folded(name);
  name = folded.view();
  if (!name.empty()) add(FindHost(kNames, name));
  for (size_t dot = name.find('.'); ids.empty() && dot != std::string_view::npos;
       dot = name.find('.')) {
    name.remove_prefix(dot + 1);
    if (dot != 0) add(FindHost(kSubdomains, name));
  }
  *is_named = !ids.empty();
  if (!*is_named && local.is_ip) add(FindHost(kAddresses, IpKey(local)));
  if (!ids.empty()) return ids;
  add(FindHost(kStrong, {}));
  add(FindHost(kWeak, {}));
  return ids;
}

Route UrlPrefixTable::Match(std::string_view name, std::string_view target,
                            const LocalAddress& local) const {
  const ComparablePath comparable(SplitTarget(target).path);
  const std::string_view path = comparable.view();
  bool host_known = !hosts_[kStrong].empty() || !hosts_[kWeak].empty();
  const Entry* entry = FindPath(FindHost(kStrong, {}), path);
  if (entry == nullptr) entry = FindExplicit(name, path, &host_known);
  if (entry == nullptr && local.is_ip) {
    const Host* address = FindHost(kAddresses, IpKey(local));
    host_known = host_known || address != nullptr;
    entry = FindPath(address, path);
  }
  if (entry == nullptr) entry = FindPath(FindHost(kWeak, {}), path);
  if (entry == nullptr) return {host_known ? RouteStatus::kNotFound : RouteStatus::kUnknownHost, 0};
  if (!entry->is_registered) return {RouteStatus::kReserved, 0};
  return {RouteStatus::kMatch, entry->id};
}

}  // namespace httpsys
