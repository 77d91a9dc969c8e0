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
  options.max_age_seconds = settings.max_age_s;
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

}  // namespace

StaticMounts::StaticMounts(const std::vector<StaticMount>& wanted, const StaticMounts& last,
                           static_files::StaticSites* sites) {
  for (const StaticMount& settings : wanted) {
    const auto same = [&](const Mount& mount) { return mount.settings == settings; };
    const auto known = std::find_if(last.mounts_.begin(), last.mounts_.end(), same);
    if (known != last.mounts_.end()) {
      mounts_.push_back(*known);
      continue;
    }
    const auto links =
        settings.follows_links ? files::LinkPolicy::kFollowBeneath : files::LinkPolicy::kRefuse;
    Mount mount{settings, settings.path, sites->Make(OptionsOf(settings), settings.root, links)};
    FoldCase(mount.path.data(), mount.path.size());
    mounts_.push_back(std::move(mount));
  }
  std::stable_sort(mounts_.begin(), mounts_.end(),
                   [](const Mount& a, const Mount& b) { return a.path.size() > b.path.size(); });
}

const StaticMounts::Mount* StaticMounts::Find(uint32_t prefix_id, std::string_view path) const {
  std::string folded = IsPlainPath(path) ? std::string(path) : DecodePath(path);
  FoldCase(folded.data(), folded.size());
  const std::string_view view = folded;
  for (const Mount& mount : mounts_) {
    if (mount.settings.prefix_id != prefix_id) continue;
    // The path of the mount without its slash is the folder itself.
    const std::string_view folder = std::string_view(mount.path).substr(0, mount.path.size() - 1);
    if (view.starts_with(mount.path) || view == folder) return &mount;
  }
  return nullptr;
}

}  // namespace httpsys::engine
