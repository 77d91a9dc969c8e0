// What a site knows of its folder: how long, and what changes it.

#include "static_files/static_site.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/limits.h"

namespace httpsys::static_files {
namespace {

class StaticSiteTest : public testing::Test {
 protected:
  StaticSiteTest() {
    std::string name = testing::TempDir() + "/httpsys-XXXXXX";
    folder_ = mkdtemp(name.data());
    mkdir((folder_ + "/one").c_str(), 0755);
    mkdir((folder_ + "/two").c_str(), 0755);
    Write("one/a.txt", "a of one");
    Write("two/a.txt", "a of two");
    Write("one/a.txt.gz", "packed");
    EXPECT_EQ(symlink("one", (folder_ + "/current").c_str()), 0);
  }
  ~StaticSiteTest() override {
    const std::string command = "rm -r " + folder_;
    EXPECT_EQ(std::system(command.c_str()), 0);
  }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ + "/" + name) << content;
  }

  void Flip() const {
    const std::string next = folder_ + "/next";
    EXPECT_EQ(symlink("two", next.c_str()), 0);
    EXPECT_EQ(rename(next.c_str(), (folder_ + "/current").c_str()), 0);
  }

  std::shared_ptr<StaticSite> Make(StaticOptions options = {}) {
    return sites_.Make(std::move(options), folder_ + "/current", files::LinkPolicy::kRefuse);
  }

  static RequestPath PathOf(const std::string& relative) {
    RequestPath path;
    path.relative = relative;
    return path;
  }

  static std::string Read(const files::OpenFile& file) {
    char bytes[100];
    const ssize_t got = file.Read(bytes, sizeof bytes, 0);
    return got < 0 ? std::to_string(-errno) : std::string(bytes, static_cast<size_t>(got));
  }

  std::string folder_;
  StaticSites sites_{nullptr};
  bool is_due_ = false;
};

TEST_F(StaticSiteTest, RemembersASearchForASecond) {
  const auto site = Make();
  const RequestPath path = PathOf("a.txt");
  EXPECT_EQ(site->Find(path, 0, &is_due_), nullptr);
  const auto known = site->Search(path, 100);
  ASSERT_EQ(known->status, SearchStatus::kFound);
  EXPECT_EQ(known->path, "a.txt");
  EXPECT_EQ(known->facts.size, 8u);
  EXPECT_EQ(Read(*known->file), "a of one");
  EXPECT_EQ(site->Find(path, 100 + kKnownMs / 2 - 1, &is_due_), known);
  EXPECT_FALSE(is_due_);
  // One of those who ask in the second half has it renewed.
  EXPECT_EQ(site->Find(path, 100 + kKnownMs / 2, &is_due_), known);
  EXPECT_TRUE(is_due_);
  EXPECT_EQ(site->Find(path, 100 + kKnownMs - 1, &is_due_), known);
  EXPECT_FALSE(is_due_);
  EXPECT_EQ(site->Find(path, 100 + kKnownMs, &is_due_), nullptr);
  const auto again = site->Search(path, 200 + kKnownMs);
  EXPECT_EQ(again->file, known->file);
  EXPECT_EQ(site->Find(path, 200 + kKnownMs * 2 - 1, &is_due_), again);
  EXPECT_TRUE(is_due_);
}

TEST_F(StaticSiteTest, RemembersWhatIsNotThereToo) {
  const auto site = Make();
  EXPECT_EQ(site->Search(PathOf("none"), 0)->status, SearchStatus::kNotFound);
  const auto known = site->Find(PathOf("none"), 10, &is_due_);
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(known->status, SearchStatus::kNotFound);
  RequestPath folder = PathOf("a.txt");
  folder.has_final_slash = true;
  EXPECT_EQ(site->Find(folder, 10, &is_due_), nullptr);
}

TEST_F(StaticSiteTest, NoticesFilesThatHaveChanged) {
  const auto site = Make();
  const RequestPath path = PathOf("a.txt");
  const auto before = site->Search(path, 0);
  Write("one/b.txt", "another");
  ASSERT_EQ(rename((folder_ + "/one/b.txt").c_str(), (folder_ + "/one/a.txt").c_str()), 0);
  const auto after = site->Search(path, kKnownMs);
  EXPECT_EQ(Read(*after->file), "another");
  EXPECT_EQ(after->facts.size, 7u);
  // Whoever has the old file sends that.
  EXPECT_EQ(Read(*before->file), "a of one");
  ASSERT_EQ(unlink((folder_ + "/one/a.txt").c_str()), 0);
  EXPECT_EQ(site->Search(path, 2 * kKnownMs)->status, SearchStatus::kNotFound);
}

TEST_F(StaticSiteTest, ForgetsEverythingWhenItsFolderIsAnother) {
  const auto site = Make();
  const RequestPath path = PathOf("a.txt");
  site->Search(path, 0);
  site->Search(PathOf("none"), 0);
  Flip();
  // The folder is looked at twice a second.
  EXPECT_EQ(Read(*site->Search(path, kKnownMs / 2 - 1)->file), "a of one");
  EXPECT_EQ(Read(*site->Search(path, kKnownMs / 2)->file), "a of two");
  EXPECT_EQ(site->Find(PathOf("none"), kKnownMs / 2, &is_due_), nullptr);
}

// A result counts from the time when the folder was looked at.
TEST_F(StaticSiteTest, SendsNothingOfAFolderThatWasExchangedASecondAgo) {
  Write("one/b.txt", "b of one");
  const auto site = Make();
  site->Search(PathOf("a.txt"), 0);
  Flip();
  const uint64_t late = kKnownMs / 2 - 1;
  EXPECT_EQ(Read(*site->Search(PathOf("b.txt"), late)->file), "b of one");
  EXPECT_NE(site->Find(PathOf("b.txt"), kKnownMs - 1, &is_due_), nullptr);
  EXPECT_EQ(site->Find(PathOf("b.txt"), kKnownMs, &is_due_), nullptr);
}

TEST_F(StaticSiteTest, FindsNothingWithoutItsFolder) {
  const auto site = Make();
  ASSERT_EQ(unlink((folder_ + "/current").c_str()), 0);
  EXPECT_EQ(site->Search(PathOf("a.txt"), 0)->status, SearchStatus::kNotFound);
  EXPECT_EQ(symlink("two", (folder_ + "/current").c_str()), 0);
  EXPECT_EQ(Read(*site->Search(PathOf("a.txt"), kKnownMs)->file), "a of two");
}

// The process has no descriptors left while it exists.
class NoDescriptors {
 public:
  NoDescriptors() {
    EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before_), 0);
    const rlimit none{0, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  }
  ~NoDescriptors() { EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
};

TEST_F(StaticSiteTest, FailsWhileItsFolderCannotBeOpenedAndTriesAgain) {
  const auto site = Make();
  {
    const NoDescriptors none;
    EXPECT_EQ(site->Search(PathOf("a.txt"), 0)->status, SearchStatus::kFailed);
  }
  EXPECT_EQ(site->Find(PathOf("a.txt"), 0, &is_due_), nullptr);
  EXPECT_EQ(Read(*site->Search(PathOf("a.txt"), 0)->file), "a of one");
  Flip();
  {
    const NoDescriptors none;
    EXPECT_EQ(site->Search(PathOf("a.txt"), kKnownMs / 2)->status, SearchStatus::kFailed);
  }
  EXPECT_EQ(Read(*site->Search(PathOf("a.txt"), kKnownMs / 2)->file), "a of two");
}

TEST_F(StaticSiteTest, ForgetsThatDescriptorsWereLacking) {
  StaticOptions options;
  options.precompressed.Add(semantics::ContentCoding::kGzip);
  const auto site = Make(std::move(options));
  site->Search(PathOf("none"), 0);
  {
    const NoDescriptors none;
    EXPECT_EQ(site->Search(PathOf("a.txt"), 0)->status, SearchStatus::kFailed);
  }
  EXPECT_EQ(site->Find(PathOf("a.txt"), 0, &is_due_), nullptr);
  EXPECT_EQ(site->Search(PathOf("a.txt"), 0)->status, SearchStatus::kFound);
  EXPECT_NE(site->Find(PathOf("a.txt"), 0, &is_due_), nullptr);
}

// A file where the folder was is no reason to try again.
TEST_F(StaticSiteTest, FindsNothingWhereItsFolderIsAFile) {
  const auto site = Make();
  ASSERT_EQ(unlink((folder_ + "/current").c_str()), 0);
  Write("current", "a file");
  EXPECT_EQ(site->Search(PathOf("a.txt"), 0)->status, SearchStatus::kNotFound);
}

TEST_F(StaticSiteTest, WaitsWhereItsFolderIs) {
  const auto site = Make();
  const auto same = sites_.Make({}, folder_ + "/two", files::LinkPolicy::kRefuse);
  const auto other = sites_.Make({}, "/proc", files::LinkPolicy::kRefuse);
  const auto refuse = files::MountPolicy::kRefuse;
  // Nothing is known of folders that were not opened.
  EXPECT_EQ(site->PlaceOf(refuse), other->PlaceOf(refuse));
  for (const auto& one : {site, same, other}) one->Search(PathOf("a.txt"), 0);
  EXPECT_EQ(site->PlaceOf(refuse), same->PlaceOf(refuse));
  EXPECT_NE(site->PlaceOf(refuse).device, other->PlaceOf(refuse).device);
  EXPECT_NE(site->PlaceOf(refuse), site->PlaceOf(files::MountPolicy::kCross));
}

// /proc is mounted below the root, as a rule.
TEST_F(StaticSiteTest, CrossesToAMountOnlyIfItMay) {
  struct stat root;
  struct stat proc;
  ASSERT_EQ(stat("/", &root), 0);
  ASSERT_EQ(stat("/proc", &proc), 0);
  int error = 0;
  const auto folder =
      files::RootFolder::Open("/", files::LinkPolicy::kRefuse, files::OpenWay::kBest, &error);
  if (root.st_dev == proc.st_dev || folder->walks()) GTEST_SKIP() << "there is nothing to cross";
  const auto site = sites_.Make({}, "/", files::LinkPolicy::kRefuse);
  const RequestPath path = PathOf("proc/version");
  EXPECT_EQ(site->Search(path, 0, files::MountPolicy::kRefuse), nullptr);
  EXPECT_EQ(site->Find(path, 0, &is_due_), nullptr);
  EXPECT_EQ(site->Search(path, 0, files::MountPolicy::kCross)->status, SearchStatus::kFound);
  EXPECT_EQ(site->Search(PathOf("none"), 0, files::MountPolicy::kRefuse)->status,
            SearchStatus::kNotFound);
}

TEST_F(StaticSiteTest, KnowsThePrecompressedFilesThatTheOptionsName) {
  StaticOptions options;
  options.precompressed.Add(semantics::ContentCoding::kGzip);
  options.precompressed.Add(semantics::ContentCoding::kBr);
  const auto known = Make(std::move(options))->Search(PathOf("a.txt"), 0);
  const auto& gzip = known->siblings[static_cast<size_t>(semantics::ContentCoding::kGzip)];
  ASSERT_TRUE(gzip.has_value());
  EXPECT_EQ(gzip->facts.size, 6u);
  EXPECT_EQ(Read(*gzip->file), "packed");
  EXPECT_FALSE(known->siblings[static_cast<size_t>(semantics::ContentCoding::kBr)].has_value());
}

TEST_F(StaticSiteTest, ForgetsWhatNobodyAsksFor) {
  auto site = Make();
  site->Search(PathOf("a.txt"), 0);
  site->Search(PathOf("none"), limits::kFileUnusedMs);
  EXPECT_TRUE(sites_.Sweep(limits::kFileUnusedMs));
  EXPECT_EQ(site->Find(PathOf("a.txt"), 1, &is_due_), nullptr);
  EXPECT_FALSE(sites_.Sweep(2 * limits::kFileUnusedMs));
  site.reset();
  EXPECT_FALSE(sites_.Sweep(0));
}

TEST_F(StaticSiteTest, KnowsABoundedNumberOfPaths) {
  const auto site = Make();
  for (size_t i = 0; i < kKnownPathsMax + 10; ++i) site->Search(PathOf(std::to_string(i)), 0);
  EXPECT_EQ(site->Find(PathOf("9"), 0, &is_due_), nullptr);
  EXPECT_NE(site->Find(PathOf("10"), 0, &is_due_), nullptr);
}

// A download goes on although others needed its descriptor and a new release is there.
TEST_F(StaticSiteTest, ReadsAFileOfTheFolderOfBeforeWhoseDescriptorWasGivenUp) {
  const auto table =
      files::OpenFiles::Make(10, [](std::unique_ptr<const files::OpenFile> file) { return file; });
  StaticSites sites(table);
  const auto site = sites.Make({}, folder_ + "/current", files::LinkPolicy::kRefuse);
  const auto known = site->Search(PathOf("a.txt"), 0);
  ASSERT_EQ(known->status, SearchStatus::kFound);
  ASSERT_TRUE(known->file->GiveUp());
  Flip();
  EXPECT_EQ(Read(*known->file), "a of one");
  ASSERT_TRUE(known->file->GiveUp());
  ASSERT_EQ(unlink((folder_ + "/one/a.txt").c_str()), 0);
  EXPECT_EQ(Read(*known->file), std::to_string(-ENOENT));
}

// Files of procfs are as those of a network: their descriptors cannot be given up, so that each
// known path has one.
TEST_F(StaticSiteTest, HasNoMoreFilesOpenThanTheTableMayHave) {
  constexpr size_t kFilesMax = 3;
  const auto table = files::OpenFiles::Make(
      kFilesMax, [](std::unique_ptr<const files::OpenFile> file) { return file; });
  StaticSites sites(table);
  const auto site = sites.Make({}, "/proc/sys/kernel", files::LinkPolicy::kRefuse);
  const std::vector<std::string> names = {"ostype",  "osrelease",   "version", "hostname",
                                          "pid_max", "threads-max", "panic",   "printk"};
  std::vector<std::weak_ptr<const files::OpenFile>> opened;
  for (const std::string& name : names) {
    const auto known = site->Search(PathOf(name), 0);
    ASSERT_EQ(known->status, SearchStatus::kFound) << name;
    ASSERT_EQ(known->file->way(), files::ReadWay::kUnsure) << name;
    opened.push_back(known->file);
  }
  const auto is_open = [](const auto& file) { return !file.expired(); };
  EXPECT_EQ(std::count_if(opened.begin(), opened.end(), is_open), kFilesMax);
  EXPECT_NE(site->Find(PathOf(names.back()), 0, &is_due_), nullptr);
  EXPECT_EQ(site->Find(PathOf(names.front()), 0, &is_due_), nullptr);
  EXPECT_TRUE(sites.Sweep(0));
  EXPECT_FALSE(sites.Sweep(limits::kFileUnusedMs));
  EXPECT_EQ(std::count_if(opened.begin(), opened.end(), is_open), 0);
}

// A thread that waits for a disk may come back when the engine is gone.
TEST_F(StaticSiteTest, OutlivesWhoeverHasMadeIt) {
  auto table =
      files::OpenFiles::Make(3, [](std::unique_ptr<const files::OpenFile> file) { return file; });
  const std::weak_ptr<files::OpenFiles> rest = table;
  auto sites = std::make_unique<StaticSites>(std::move(table));
  auto site = sites->Make({}, folder_ + "/current", files::LinkPolicy::kRefuse);
  sites.reset();
  EXPECT_EQ(Read(*site->Search(PathOf("a.txt"), 0)->file), "a of one");
  site.reset();
  EXPECT_TRUE(rest.expired());
}

TEST_F(StaticSiteTest, IsSearchedByManyThreadsWhileItsFolderChanges) {
  const auto site = Make();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t now = 0; now < 2000; ++now) {
        bool is_due = false;
        const RequestPath path = PathOf(i % 2 == 0 ? "a.txt" : "none");
        auto known = site->Find(path, now, &is_due);
        if (known == nullptr || is_due) known = site->Search(path, now);
        ASSERT_EQ(known->status, i % 2 == 0 ? SearchStatus::kFound : SearchStatus::kNotFound);
        if (known->file != nullptr) ASSERT_EQ(Read(*known->file).substr(0, 5), "a of ");
      }
    });
  }
  usleep(1000);
  Flip();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace httpsys::static_files
