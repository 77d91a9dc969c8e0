// Attacks on the way from the target of a request to a file, generated. Beside the folder that is
// served lies a canary; no attack may open it, or anything else outside.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "files/root_folder.h"
#include "static_files/request_path.h"
#include "support/temporary_folder.h"
#include "url/url_path.h"
#include "url/url_prefix_table.h"

namespace httpsys::static_files {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kCanary = "canary";
constexpr std::string_view kInside = "inside";
constexpr int kDepthMax = 8;

// What an attack puts between the beginning of the path and the name of the canary.
constexpr std::array kSegments = {".."sv,  "."sv,        ""sv,    ".hidden"sv,
                                  "out"sv, "absolute"sv, "..\0"sv};
constexpr std::array kSeparators = {"/"sv,   "%2f"sv, "%2F"sv, "\\"sv,
                                    "%5c"sv, "//"sv,  "/./"sv, "%252f"sv};

// Ways to write the dots of a segment.
constexpr std::array kDots = {"."sv,         "%2e"sv,          "%2E"sv,    "%252e"sv,   "%c0%ae"sv,
                              "%e0%80%ae"sv, "%f0%80%80%ae"sv, "%u002e"sv, "\xc0\xae"sv};

std::string Encode(std::string_view segment, std::string_view dot) {
  std::string encoded;
  for (const char c : segment) {
    if (c == '.') {
      encoded += dot;
    } else if (c == '\0') {
      encoded += "%00";
    } else {
      encoded += c;
    }
  }
  return encoded;
}

class TraversalTest : public testing::TestWithParam<files::OpenWay> {
 protected:
  static constexpr std::array kPrefixes = {"/"sv, "/files/"sv};

  TraversalTest() {
    // As deep as the attacks go, so that each of them would reach a canary on its way up.
    std::string above;
    for (int i = 0; i < kDepthMax; ++i) {
      above += "up/";
      folder_.MakeFolder(above);
      folder_.Write(above + "canary.txt", kCanary);
    }
    folder_.Write("canary.txt", kCanary);
    root_ = above + "root";
    folder_.MakeFolder(root_ + "/sub/.hidden");
    for (const char* below : {"", "/sub", "/sub/.hidden"}) {
      const std::string at = root_ + below;
      folder_.Write(at + "/a.txt", kInside);
      folder_.Link(at + "/absolute", folder_.PathOf(above));
      struct stat found {};
      EXPECT_EQ(stat(folder_.PathOf(at).c_str(), &found), 0);
      folders_inside_.insert(found.st_ino);
    }
    folder_.Link(root_ + "/out", "..");
    folder_.Link(root_ + "/sub/out", "../..");
    folder_.Link(root_ + "/link.txt", "../canary.txt");
    for (size_t i = 0; i < kPrefixes.size(); ++i) {
      UrlPrefix prefix;
      if (ParseUrlPrefix("http://*:80" + std::string(kPrefixes[i]), &prefix) !=
          PrefixError::kNone) {
        ADD_FAILURE() << kPrefixes[i];
      }
      EXPECT_TRUE(table_.Add(prefix, static_cast<uint32_t>(i)));
    }
    for (const files::LinkPolicy links :
         {files::LinkPolicy::kRefuse, files::LinkPolicy::kFollowBeneath}) {
      int error = 0;
      roots_.push_back(files::RootFolder::Open(folder_.PathOf(root_), links, GetParam(), &error));
      EXPECT_NE(roots_.back(), nullptr);
    }
  }

  // Plays a request, whose target goes the whole way, and whose path below a prefix also skips the
  // table. Counts what is opened inside.
  void Attack(const std::string& target) {
    ++attacks_;
    const Route route = table_.Match("h", target, {});
    ASSERT_EQ(route.status, RouteStatus::kMatch) << "a prefix of the root matches everything";
    const std::string_view path = SplitTarget(target).path;
    for (const size_t prefix_bytes : {kPrefixes[route.id].size(), size_t{1}}) {
      Open(ReadRequestPath(path, prefix_bytes), target);
    }
  }

  void Open(const RequestPath& read, const std::string& target) {
    if (read.status != PathStatus::kValid) return;
    for (const auto& root : roots_) {
      const files::OpenedFile opened = root->OpenFile(read.relative);
      if (opened.error == 0 && opened.facts.kind == files::FileKind::kFolder) {
        ASSERT_TRUE(folders_inside_.contains(opened.facts.inode)) << target << " names a folder";
      }
      if (opened.fd == -1) continue;
      const std::string text = test::ReadStart(opened.fd);
      close(opened.fd);
      ASSERT_EQ(text, kInside) << target << " names " << read.relative;
      ++opened_;
    }
  }

  const test::TemporaryFolder folder_;
  std::string root_;
  std::set<uint64_t> folders_inside_;  // By their inodes.
  std::vector<std::unique_ptr<files::RootFolder>> roots_;
  UrlPrefixTable table_;
  int attacks_ = 0;
  int opened_ = 0;
};

TEST_P(TraversalTest, NoAttackLeavesTheRoot) {
  for (const std::string_view begin : {"/"sv, "/sub/"sv, "//"sv, "/files/"sv, "/files/sub/"sv,
                                       "http://h/"sv, "http://h/files/"sv}) {
    for (const std::string_view segment : kSegments) {
      for (const std::string_view separator : kSeparators) {
        for (const std::string_view dot : kDots) {
          std::string attack;
          for (int depth = 1; depth <= kDepthMax; ++depth) {
            attack += Encode(segment, dot) + std::string(separator);
            // In front of the file, in the middle of a path, and behind.
            for (const std::string_view end : {"canary.txt"sv, "sub/../canary.txt"sv, "a.txt"sv,
                                               "link.txt"sv, "/canary.txt"sv}) {
              Attack(std::string(begin) + attack + std::string(end));
              if (HasFatalFailure()) return;
            }
            Attack(std::string(begin) + "sub" + std::string(separator) + attack + "canary.txt");
            Attack(std::string(begin) + "a.txt" + std::string(separator) + attack);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
  EXPECT_GT(attacks_, 190'000);
  EXPECT_GT(opened_, 1000) << "some of the paths name a file inside";
}

TEST_P(TraversalTest, MixedSegmentsNeverLeaveTheRoot) {
  // All paths of four segments, each in its own notation.
  constexpr std::array kParts = {".."sv,    "%2e%2e"sv, ".%2E"sv, "."sv,
                                 ""sv,      "sub"sv,    "out"sv,  "absolute"sv,
                                 "..%2f"sv, "..%5c"sv,  "..\\"sv, "%252e%252e"sv};
  std::array<size_t, 4> at{};
  for (;;) {
    std::string path;
    for (const size_t part : at) path += "/" + std::string(kParts[part]);
    for (const std::string_view end : {"/canary.txt"sv, "/a.txt"sv}) {
      Attack(path + std::string(end));
      Attack("/files" + path + std::string(end));
      if (HasFatalFailure()) return;
    }
    size_t place = 0;
    while (place < at.size() && ++at[place] == kParts.size()) at[place++] = 0;
    if (place == at.size()) break;
  }
  EXPECT_GT(opened_, 1000);
}

TEST_P(TraversalTest, TheOpenerAloneNeverLeavesTheRoot) {
  // As if nothing had looked at the path before.
  constexpr std::array kParts = {".."sv,  "."sv,        ""sv,           "sub"sv,
                                 "out"sv, "absolute"sv, "canary.txt"sv, "a.txt"sv};
  std::array<size_t, 5> at{};
  for (;;) {
    RequestPath raw;
    for (const size_t part : at) raw.relative += "/" + std::string(kParts[part]);
    Open(raw, "the path");
    raw.relative.erase(0, 1);
    Open(raw, "the path");
    raw.relative = folder_.PathOf("canary.txt");
    if (at[0] == 0) Open(raw, "an absolute path");
    if (HasFatalFailure()) return;
    size_t place = 0;
    while (place < at.size() && ++at[place] == kParts.size()) at[place++] = 0;
    if (place == at.size()) break;
  }
  EXPECT_GT(opened_, 100);
}

// The oracle sees a canary: without the protection the same paths open one.
TEST_P(TraversalTest, TheCanaryIsThere) {
  const std::string served = folder_.PathOf(root_);
  for (const char* path : {"/../canary.txt", "/sub/../../canary.txt", "/out/canary.txt",
                           "/absolute/canary.txt", "/link.txt"}) {
    const int fd = open((served + path).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_NE(fd, -1) << path;
    EXPECT_EQ(test::ReadStart(fd), kCanary) << path;
    close(fd);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, TraversalTest,
                         testing::Values(files::OpenWay::kBest, files::OpenWay::kWalk),
                         [](const testing::TestParamInfo<files::OpenWay>& way) {
                           return way.param == files::OpenWay::kBest ? "Best" : "Walk";
                         });

}  // namespace
}  // namespace httpsys::static_files
