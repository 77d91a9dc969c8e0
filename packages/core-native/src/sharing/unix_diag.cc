#include "sharing/unix_diag.h"

#ifdef __linux__

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace httpsys::sharing {
namespace {

// Of Linux 5.3; headers that are older do not have them.
constexpr uint32_t kShowUid = 0x40;
constexpr uint16_t kUidAttribute = 7;
// Values of udiag_state, which are those of TCP.
constexpr uint8_t kStateClosed = 7;
constexpr uint8_t kStateListening = 10;

constexpr size_t kReadBytes = 32 * 1024;
// Of one answer: a million sockets. What lies behind is not looked at.
constexpr int kReadsMax = 4096;

// How well a socket explains that its name is taken. Accepted connections have the name of their
// listener, too, and do not keep it.
enum class Rank : uint8_t { kNone, kConnected, kBound, kListening };

struct Found {
  Rank rank = Rank::kNone;
  uint32_t uid = 0;
};

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

// Attributes are 2 bytes length (with this header), 2 bytes type, the value, padding to 4 bytes.
void Look(std::string_view attributes, const unix_diag_msg& socket, std::string_view name,
          Found* found) {
  bool is_it = false;
  bool has_uid = false;
  uint32_t uid = 0;
  while (attributes.size() >= sizeof(nlattr)) {
    nlattr head;
    std::memcpy(&head, attributes.data(), sizeof head);
    if (head.nla_len < sizeof head || head.nla_len > attributes.size()) break;
    const std::string_view value = attributes.substr(sizeof head, head.nla_len - sizeof head);
    if (head.nla_type == UNIX_DIAG_NAME) {
      is_it = value.size() == name.size() + 1 && value[0] == '\0' && value.substr(1) == name;
    } else if (head.nla_type == kUidAttribute && value.size() == sizeof uid) {
      std::memcpy(&uid, value.data(), sizeof uid);
      has_uid = true;
    }
    const size_t padded = NLA_ALIGN(head.nla_len);
    attributes.remove_prefix(padded < attributes.size() ? padded : attributes.size());
  }
  if (!is_it || !has_uid || socket.udiag_type != SOCK_STREAM) return;
  Rank rank = Rank::kConnected;
  if (socket.udiag_state == kStateClosed) rank = Rank::kBound;
  if (socket.udiag_state == kStateListening) rank = Rank::kListening;
  if (rank > found->rank) *found = {rank, uid};
}

// Returns false behind the last message, or when the answer makes no sense.
bool ReadMessages(std::string_view bytes, std::string_view name, Found* found) {
  while (bytes.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (header.nlmsg_len < sizeof header || header.nlmsg_len > bytes.size()) return false;
    if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;
    const std::string_view payload = bytes.substr(sizeof header, header.nlmsg_len - sizeof header);
    if (payload.size() >= sizeof(unix_diag_msg)) {
      unix_diag_msg socket;
      std::memcpy(&socket, payload.data(), sizeof socket);
      Look(payload.substr(sizeof socket), socket, name, found);
    }
    const size_t padded = NLMSG_ALIGN(header.nlmsg_len);
    bytes.remove_prefix(padded < bytes.size() ? padded : bytes.size());
  }
  return true;
}

}  // namespace

bool UidOfAbstractName(const std::string& name, uint32_t* uid) {
  const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (fd == -1) return false;
  Found found;
  bool goes_on = SendRequest(fd);
  std::vector<char> buffer(kReadBytes);
  for (int i = 0; goes_on && i < kReadsMax; ++i) {
    // The kernel goes on with its answer within recv(): nothing is ever waited for.
    const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
    goes_on = got > 0 && ReadMessages({buffer.data(), static_cast<size_t>(got)}, name, &found);
  }
  close(fd);
  if (found.rank == Rank::kNone) return false;
  *uid = found.uid;
  return true;
}

}  // namespace httpsys::sharing

#else

namespace httpsys::sharing {

bool UidOfAbstractName(const std::string&, uint32_t*) { return false; }

}  // namespace httpsys::sharing

#endif
