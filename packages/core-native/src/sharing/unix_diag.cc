#include "sharing/unix_diag.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <functional>
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

namespace {

// Constants of Linux 5.3 for uids, which older headers lack.
constexpr uint32_t kShowUid = 0x40;
constexpr uint16_t kUidAttribute = 7;
// Values of udiag_state, which equal the states of TCP.
constexpr uint8_t kStateClosed = 7;
constexpr uint8_t kStateListening = 10;

constexpr size_t kReadBytes = 32 * 1024;
// Maximum number of reads of one answer: about a million sockets. Further sockets are ignored.
constexpr int kReadsMax = 4096;

// How well a socket explains that its name is taken. Accepted connections have their listener's
// name, too, but do not occupy it.
enum class Rank : uint8_t { kNone, kConnected, kBound, kListening };

bool SendRequest(int fd) {
  struct {
    nlmsghdr header;
    unix_diag_req body;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.body.sdiag_family = AF_UNIX;
  request.body.udiag_states = ~0U;
  request.body.udiag_show = UDIAG_SHOW_NAME | kShowUid;
  return send(fd, &request, sizeof request, 0) == static_cast<ssize_t>(sizeof request);
}

// A Unix socket with an abstract name.
struct NamedUnixSocket {
  std::string_view name;  // Without the zero byte.
  uint8_t state = 0;
  bool is_stream = false;
  bool has_uid = false;
  uint32_t uid = 0;
};

// Attributes are 2 bytes length (with this header), 2 bytes type, the value, padding to 4 bytes.
NamedUnixSocket Read(std::string_view attributes, const unix_diag_msg& socket) {
  NamedUnixSocket result;
  result.state = socket.udiag_state;
  result.is_stream = socket.udiag_type == SOCK_STREAM;
  while (attributes.size() >= sizeof(nlattr)) {
    nlattr head;
    std::memcpy(&head, attributes.data(), sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > attributes.size()) break;
    const std::string_view value = attributes.substr(sizeof head, head.nla_len - sizeof head);
    if (head.nla_type == UNIX_DIAG_NAME && value.size() > 1 && value[0] == '\0') {
      result.name = value.substr(1);
    } else if (head.nla_type == kUidAttribute && value.size() == sizeof result.uid) {
      std::memcpy(&result.uid, value.data(), sizeof result.uid);
      result.has_uid = true;
    }
    const size_t padded = NLA_ALIGN(head.nla_len);
    attributes.remove_prefix(padded < attributes.size() ? padded : attributes.size());
  }
  return result;
}

using Use = std::function<void(const NamedUnixSocket& socket)>;

// Calls `use` with each socket. Returns false after the last message or a malformed answer.
bool ReadMessages(std::string_view bytes, const Use& use) {
  while (bytes.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) return false;
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;
    const std::string_view payload = bytes.substr(sizeof header, header.nlmsg_len - sizeof header);
    if (payload.size() >= sizeof(unix_diag_msg)) {
      unix_diag_msg socket;
      std::memcpy(&socket, payload.data(), sizeof socket);
      const NamedUnixSocket found = Read(payload.substr(sizeof socket), socket);
      if (!found.name.empty() && found.is_stream) use(found);
    }
    const size_t padded = NLMSG_ALIGN(header.nlmsg_len);
    bytes.remove_prefix(padded < bytes.size() ? padded : bytes.size());
  }
  return true;
}

// Calls `use` with every stream socket of the network namespace that has an abstract name. Returns
// false if the kernel gives no list.
bool ForEachName(const Use& use) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd == -1) return false;
  bool goes_on = SendRequest(fd);
  bool has_answer = false;
  std::vector<char> buffer(kReadBytes);
  for (int i = 0; goes_on && i < kReadsMax; ++i) {
    // The kernel continues its answer within recv(), so there is nothing to wait for.
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    goes_on = got > 0 && ReadMessages({buffer.data(), static_cast<size_t>(got)}, use);
    has_answer = has_answer || goes_on;
  }
  close(fd);
  return has_answer;
}

}  // namespace

bool UidOfAbstractName(const std::string& name, uint32_t* uid) {
  Rank best = Rank::kNone;
  ForEachName([&](const NamedUnixSocket& socket) {
    if (socket.name != name || !socket.has_uid) return;
    Rank rank = Rank::kConnected;
    if (socket.state == kStateClosed) rank = Rank::kBound;
    if (socket.state == kStateListening) rank = Rank::kListening;
    if (rank <= best) return;
    best = rank;
    *uid = socket.uid;
  });
  return best != Rank::kNone;
}

bool ListAbstractNames(const std::string& start, size_t most, std::vector<std::string>* names) {
  return ForEachName([&](const NamedUnixSocket& socket) {
    const bool is_strangers = socket.has_uid && socket.uid != geteuid();
    const bool is_meant = socket.state == kStateListening && socket.name.starts_with(start);
    if (is_meant && !is_strangers && names->size() < most) names->emplace_back(socket.name);
  });
}

}  // namespace httpsys::sharing
