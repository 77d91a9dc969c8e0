#include "engine/config/static_mounts.h"

#include <algorithm>
#include <utility>

#include "url/url_path.h"

namespace httpsys::engine {
namespace {

using semantics::ContentCoding;
using static_files::StaticOptions;

StaticOptions OptionsOf(const StaticMount& settings) {
  StaticOptions options;
  options.fallthrough = settings.fallthrough;
  options.dotfiles = static_cast<static_files::Dotfiles>(settings.dotfiles);
  options.index = settings.index;
  options.extensions = settings.extensions;
  options.redirect = settings.redirect;
  options.cache_control = settings.cache_control;
  options.max_age_seconds = settings.max_age;
  options.immutable = settings.immutable;
  options.etag = settings.etag;
  options.last_modified = settings.last_modified;
  options.accept_ranges = settings.accept_ranges;
  for (const ContentCoding coding :
       {ContentCoding::kBr, ContentCoding::kZstd, ContentCoding::kGzip}) {
    const uint32_t bit = 1u << static_cast<uint32_t>(coding);
    if ((settings.precompressed & bit) != 0) options.precompressed.Add(coding);
  }
  for (size_t i = 0; i + 1 < settings.types.size(); i += 2) {
    options.types.emplace(settings.types[i], settings.types[i + 1]);
  }
  for (size_t i = 0; i + 2 < settings.headers.size(); i += 3) {
    options.header_rules.push_back(
        {settings.headers[i], settings.headers[i + 1], settings.headers[i + 2]});
  }
  return options;
}

bool IsLonger(const StaticMounts::Mount& one, const StaticMounts::Mount& other) {
  return one.path.size() > other.path.size();
}

// Returns the first mount that contains the case-folded path; empty = the prefix without its slash.
const StaticMounts::Mount* FirstWith(const std::vector<StaticMounts::Mount>& mounts,
                                     std::string_view path) {
  const auto found = std::find_if(mounts.begin(), mounts.end(), [=](const auto& mount) {
    // A path without the final slash of the mount's path means the folder itself.
    const std::string_view folder = std::string_view(mount.path).substr(0, mount.path.size() - 1);
    return path.starts_with(mount.path) || path == folder;
  });
  return found == mounts.end() ? nullptr : &*found;
}

}  // namespace

StaticMounts::StaticMounts(const std::vector<StaticMount>& wanted, const StaticMounts* last,
                           static_files::StaticSites* sites) {
  for (const StaticMount& settings : wanted) {
    Mounts& mounts = settings.is_below_all ? below_all_ : at_prefix_[settings.prefix_id];
    const size_t order = static_cast<size_t>(&settings - wanted.data());
    const Mount* known = last == nullptr ? nullptr : last->FindSame(settings);
    if (known != nullptr) {
      mounts.push_back(*known);
      mounts.back().order = order;
      continue;
    }
    const auto links =
        settings.symlinks ? files::LinkPolicy::kFollowBeneath : files::LinkPolicy::kRefuse;
    Mount mount{settings, settings.path, order,
                sites->Make(OptionsOf(settings), settings.root, links)};
    FoldCase(mount.path.data(), mount.path.size());
    mounts.push_back(std::move(mount));
  }
  std::stable_sort(below_all_.begin(), below_all_.end(), IsLonger);
  for (auto& [prefix_id, mounts] : at_prefix_) {
    std::stable_sort(mounts.begin(), mounts.end(), IsLonger);
  }
}

const StaticMounts::Mount* StaticMounts::FindSame(const StaticMount& settings) const {
  const Mounts* mounts = &below_all_;
  if (!settings.is_below_all) {
    const auto found = at_prefix_.find(settings.prefix_id);
    if (found == at_prefix_.end()) return nullptr;
    mounts = &found->second;
  }
  const auto same = std::find_if(mounts->begin(), mounts->end(),
                                 [&](const Mount& mount) { return mount.settings == settings; });
  return same == mounts->end() ? nullptr : &*same;
}

StaticMounts::Found StaticMounts::Find(uint32_t prefix_id, size_t prefix_bytes,
                                       std::string_view path) const {
  std::string folded = IsPlainPath(path) ? std::string(path) : DecodePath(path);
  FoldCase(folded.data(), folded.size());
  const std::string_view view = folded;
  Found found;
  const auto at_prefix = at_prefix_.find(prefix_id);
  if (at_prefix != at_prefix_.end()) {
    found.mount = FirstWith(at_prefix->second, view);
    if (found.mount != nullptr) found.path_bytes = found.mount->path.size();
    const bool is_owned =
        std::any_of(at_prefix->second.begin(), at_prefix->second.end(),
                    [](const Mount& mount) { return mount.settings.owns_prefix; });
    if (is_owned) return found;
  }
  // Paths of these mounts are relative to the final slash of the prefix.
  const size_t before = prefix_bytes - 1;
  if (view.size() < before) return found;
  const Mount* below = FirstWith(below_all_, view.substr(before));
  if (below == nullptr) return found;
  const size_t path_bytes = before + below->path.size();
  const bool is_better = found.mount == nullptr || path_bytes > found.path_bytes ||
                         (path_bytes == found.path_bytes && below->order < found.mount->order);
  return is_better ? Found{below, path_bytes} : found;
}

}  // namespace httpsys::engine
