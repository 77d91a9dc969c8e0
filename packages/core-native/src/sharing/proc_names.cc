#include "sharing/proc_names.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace httpsys::sharing {
namespace {

// Size of the buffer for a line, which has seven columns and a name of at most 108 bytes.
constexpr int kLineBytes = 512;
// Flags of a listening socket. Accepted connections have their listener's name, but not the flag.
constexpr std::string_view kListens = " 00010000 ";

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};

}  // namespace

// Uses stdio: streams of the C++ library would bring its locales into the addon, 0.3 MB.
void ListProcNames(const std::string& start, size_t most, std::vector<std::string>* names) {
  const std::unique_ptr<FILE, CloseFile> file(fopen("/proc/net/unix", "re"));
  if (file == nullptr) return;
  // The leading zero byte of an abstract name is listed as '@'.
  const std::string wanted = " @" + start;
  char bytes[kLineBytes];
  while (names->size() < most && fgets(bytes, kLineBytes, file.get()) != nullptr) {
    const std::string_view line(bytes, strcspn(bytes, "\n"));
    const size_t at = line.find(wanted);
    if (at == std::string_view::npos || line.find(kListens) > at) continue;
    names->emplace_back(line.substr(at + 2));
  }
}

}  // namespace httpsys::sharing
