// The table of files that stay open, on the file system of the temporary folder.

#include "files/open_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptors.h"
#include "base/limits.h"

namespace httpsys::files {
namespace {

class OpenFilesTest : public testing::Test {
 protected:
  OpenFilesTest() {
    std::string name = testing::TempDir() + "/httpsys-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~OpenFilesTest() override {
    for (const std::string& path : written_) unlink(path.c_str());
    rmdir(folder_.c_str());
  }

  static std::shared_ptr<const OpenFile> Share(std::unique_ptr<const OpenFile> file) {
    return file;
  }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << content;
    written_.push_back(path);
    return path;
  }

  static std::shared_ptr<const OpenFile> Open(OpenFiles* table, const std::string& path,
                                              uint64_t now_ms = 0) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    return table->Add(OpenFile::Take(fd, path), now_ms);
  }

  static std::string Read(const OpenFile& file) {
    char bytes[100];
    const ssize_t got = file.Read(bytes, sizeof bytes, 0);
    return got < 0 ? std::to_string(-errno) : std::string(bytes, static_cast<size_t>(got));
  }

  // Whether the file system lets files be kept: overlayfs does not.
  bool MayKeep() {
    const auto table = OpenFiles::Make(2, Share);
    Open(table.get(), Write("probe", "x"));
    return table->count() == 1;
  }

  std::shared_ptr<OpenFiles> table_ = OpenFiles::Make(3, Share);
  FileFacts facts_;
  std::string folder_;
  std::vector<std::string> written_;
};

#define SKIP_WITHOUT_PROBES() \
  if (!MayKeep()) GTEST_SKIP() << "nothing is known of files in the temporary folder"

// A burst of requests for a file that nobody has opened would otherwise leave a descriptor for
// each.
TEST_F(OpenFilesTest, ADescriptorThatOtherCodeHasClosedIsNeitherReadNorClosed) {
  const std::shared_ptr<OpenFiles> table = OpenFiles::Make(8, Share);
  const std::string path = Write("a", "public");
  const std::shared_ptr<const OpenFile> file = Open(table.get(), path);
  const int number = file->descriptor();
  close(number);
  const int secret = open(Write("b", "secret").c_str(), O_RDONLY | O_CLOEXEC);
  const int other = dup3(secret, number, O_CLOEXEC);
  ASSERT_EQ(other, number);
  FileFacts facts;
  EXPECT_EQ(table->Find(path, 0, &facts), nullptr);
  EXPECT_EQ(table->count(), 0u);
  EXPECT_EQ(Read(*file), std::to_string(-EBADF));
  EXPECT_EQ(file->Pin(), -1);
  EXPECT_FALSE(file->GiveUp());
  EXPECT_EQ(Read(*Open(table.get(), path)), "public");
  EXPECT_EQ(fcntl(other, F_GETFD), FD_CLOEXEC);
  close(other);
  close(secret);
}

TEST_F(OpenFilesTest, DescriptorsHaveNumbersThatProgramsHardlyHave) {
  SKIP_WITHOUT_PROBES();
  const auto file = Open(table_.get(), Write("a", "first"));
  EXPECT_GE(file->descriptor(), kOwnDescriptorsFrom);
  ASSERT_TRUE(file->GiveUp());
  EXPECT_GE(file->Pin(), kOwnDescriptorsFrom);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 256;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const auto other = Open(table_.get(), Write("b", "second"));
  EXPECT_GE(other->descriptor(), kOwnDescriptorsFromAtLeast);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(OpenFilesTest, AFileThatHasChangedInPlaceIsClosed) {
  SKIP_WITHOUT_PROBES();
  const std::string path = Write("a", "first");
  std::shared_ptr<const OpenFile> file = Open(table_.get(), path);
  EXPECT_TRUE(file->IsUnchanged());
  const int number = file->descriptor();
  Write("a", "second");
  EXPECT_FALSE(file->IsUnchanged());
  EXPECT_FALSE(file->HasLostDescriptor());
  EXPECT_EQ(table_->Find(path, 0, &facts_), nullptr);
  file.reset();
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

TEST_F(OpenFilesTest, HasOneDescriptorForAFileThatSeveralHaveOpened) {
  SKIP_WITHOUT_PROBES();
  const std::string path = Write("a", "first");
  const auto first = Open(table_.get(), path, 1);
  EXPECT_EQ(Open(table_.get(), path, 2), first);
  ASSERT_TRUE(first->GiveUp());
  const auto second = Open(table_.get(), path, 3);
  EXPECT_NE(second, first);
  EXPECT_TRUE(second->has_descriptor());
  Write("a", "another size");
  EXPECT_NE(Open(table_.get(), path, 4), second);
  EXPECT_EQ(table_->count(), 1U);
}

TEST_F(OpenFilesTest, FindsAFileAsLongAsItIsTheSame) {
  SKIP_WITHOUT_PROBES();
  const std::string path = Write("a", "first");
  EXPECT_EQ(table_->Find(path, 0, &facts_), nullptr);
  const auto file = Open(table_.get(), path);
  EXPECT_EQ(table_->Find(path, 0, &facts_), file);
  EXPECT_EQ(facts_.size, 5u);
  EXPECT_EQ(table_->Find(folder_ + "/./a", 0, &facts_), nullptr);

  // Another file of that name.
  ASSERT_EQ(rename(Write("b", "second").c_str(), path.c_str()), 0);
  EXPECT_EQ(table_->Find(path, 0, &facts_), nullptr);
  EXPECT_EQ(table_->count(), 0u);
  EXPECT_EQ(Read(*file), "first");
  const auto second = Open(table_.get(), path);
  EXPECT_EQ(Read(*table_->Find(path, 0, &facts_)), "second");

  // Others may read it, or nobody: whether this process may is asked by opening it.
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  EXPECT_EQ(table_->Find(path, 0, &facts_), nullptr);
  Open(table_.get(), path);
  ASSERT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(table_->Find(path, 0, &facts_), nullptr);
  EXPECT_EQ(table_->count(), 0u);
}

TEST_F(OpenFilesTest, ClosesWhatNobodyUsesFirst) {
  SKIP_WITHOUT_PROBES();
  const std::vector<std::string> paths = {Write("a", "a"), Write("b", "b"), Write("c", "c"),
                                          Write("d", "d")};
  const auto used = Open(table_.get(), paths[0]);
  Open(table_.get(), paths[1]);
  Open(table_.get(), paths[2]);
  Open(table_.get(), paths[3]);
  EXPECT_TRUE(used->has_descriptor());
  EXPECT_EQ(table_->count(), 3u);
  EXPECT_EQ(table_->Find(paths[1], 0, &facts_), nullptr);
  EXPECT_NE(table_->Find(paths[2], 0, &facts_), nullptr);
}

TEST_F(OpenFilesTest, LetsFilesThatAreSentOpenTheirsAgain) {
  SKIP_WITHOUT_PROBES();
  std::vector<std::shared_ptr<const OpenFile>> files;
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    files.push_back(Open(table_.get(), Write(name, name)));
  }
  EXPECT_FALSE(files[0]->has_descriptor());
  EXPECT_FALSE(files[1]->has_descriptor());
  EXPECT_EQ(files[0]->descriptor(), -1);
  char byte = 0;
  EXPECT_EQ(files[0]->ReadNow(&byte, 1, 0), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_FALSE(files[0]->IsInMemory(0, 1));
  EXPECT_EQ(Read(*files[0]), "a");
  EXPECT_TRUE(files[0]->has_descriptor());
  // Behind the back of those who have it given up, the file has changed.
  Write("b", "changed");
  EXPECT_EQ(Read(*files[1]), std::to_string(-ESTALE));
}

TEST_F(OpenFilesTest, MakesRoomForAFileThatIsOpenedAgain) {
  SKIP_WITHOUT_PROBES();
  const std::vector<std::string> names = {"a", "b", "c", "d", "e", "f", "g", "h"};
  std::vector<std::shared_ptr<const OpenFile>> files;
  for (const std::string& name : names) files.push_back(Open(table_.get(), Write(name, name)));
  const auto is_open = [](const auto& file) { return file->has_descriptor(); };
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_EQ(Read(*files[i]), names[i]);
      EXPECT_LE(std::count_if(files.begin(), files.end(), is_open), 3);
    }
  }
  // The table is gone, and what is still sent goes on.
  table_.reset();
  for (size_t i = 0; i < files.size(); ++i) EXPECT_EQ(Read(*files[i]), names[i]);
}

TEST_F(OpenFilesTest, DoesNotTakeTheDescriptorOfAFileThatIsPinned) {
  SKIP_WITHOUT_PROBES();
  const auto file = Open(table_.get(), Write("a", "a"));
  ASSERT_TRUE(file->GiveUp());
  const int fd = file->Pin();
  ASSERT_GE(fd, 0);
  EXPECT_FALSE(file->GiveUp());
  std::vector<std::shared_ptr<const OpenFile>> others;
  for (const char* name : {"b", "c", "d", "e"})
    others.push_back(Open(table_.get(), Write(name, name)));
  EXPECT_GE(fcntl(fd, F_GETFD), 0);
  EXPECT_EQ(Read(*file), "a");
}

TEST_F(OpenFilesTest, ClosesWhatNobodyHasUsedForAWhile) {
  SKIP_WITHOUT_PROBES();
  const std::string first = Write("a", "a");
  const std::string second = Write("b", "b");
  Open(table_.get(), first, 1000);
  auto used = Open(table_.get(), second, 1000);
  EXPECT_TRUE(table_->Sweep(1000 + limits::kFileUnusedMs - 1));
  EXPECT_NE(table_->Find(first, 2000, &facts_), nullptr);
  EXPECT_TRUE(table_->Sweep(1000 + limits::kFileUnusedMs));
  EXPECT_EQ(table_->count(), 2u);
  EXPECT_TRUE(table_->Sweep(2000 + limits::kFileUnusedMs));
  EXPECT_EQ(table_->count(), 1u);
  used.reset();
  EXPECT_TRUE(table_->Sweep(1999 + 2 * limits::kFileUnusedMs));
  EXPECT_FALSE(table_->Sweep(2000 + 2 * limits::kFileUnusedMs));
  EXPECT_EQ(table_->count(), 0u);
}

TEST_F(OpenFilesTest, SparesDescriptorsOfTheProcess) {
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = 256;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(OpenFiles::SparedDescriptors(), 64u);
  limit.rlim_cur = before;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_LE(OpenFiles::SparedDescriptors(), limits::kOpenFilesMax);
}

// Many threads that open files again have one descriptor each beyond those of the table.
TEST_F(OpenFilesTest, StaysBoundedWhileManyThreadsRead) {
  SKIP_WITHOUT_PROBES();
  constexpr int kThreads = 4;
  std::vector<std::shared_ptr<const OpenFile>> files;
  for (char name = 'a'; name <= 'p'; ++name) {
    files.push_back(Open(table_.get(), Write(std::string(1, name), "content")));
  }
  std::vector<std::thread> readers;
  for (size_t i = 0; i < kThreads; ++i) {
    readers.emplace_back([&, i] {
      for (size_t round = 0; round < 3000; ++round) {
        ASSERT_EQ(Read(*files[(round * 7 + i) % files.size()]), "content");
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  const auto is_open = [](const auto& file) { return file->has_descriptor(); };
  EXPECT_LE(std::count_if(files.begin(), files.end(), is_open), 3 + kThreads);
}

// Descriptors are given up by one thread while others read.
TEST_F(OpenFilesTest, FilesAreReadWhileTheirDescriptorsGo) {
  SKIP_WITHOUT_PROBES();
  const auto file = Open(table_.get(), Write("a", "content"));
  std::atomic<bool> is_over = false;
  std::atomic<int> given_up = 0;
  std::thread taker([&] {
    while (!is_over) given_up += file->GiveUp() ? 1 : 0;
  });
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      for (int round = 0; round < 5000; ++round) ASSERT_EQ(Read(*file), "content");
    });
  }
  for (std::thread& reader : readers) reader.join();
  is_over = true;
  taker.join();
  EXPECT_GT(given_up, 0);
}

}  // namespace
}  // namespace httpsys::files
