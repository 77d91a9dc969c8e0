#include "sharing/member_names.h"

#include <sys/socket.h>
#include <unistd.h>

#include <charconv>
#include <string>
#include <string_view>

#include "base/descriptors.h"
#include "base/limits.h"
#include "peer/frame_reader.h"
#include "peer/messages.h"
#include "sharing/meeting_place.h"

namespace httpsys::sharing {
namespace {

constexpr size_t kIdDigits = 16;

// Returns the text with which all members' names begin; the digits of the id follow.
std::string StartOfNames() {
  const std::string name = MemberName(0);
  return name.substr(0, name.size() - kIdDigits);
}

// Returns the id in a member's name, or 0 for any other name.
uint64_t IdOf(std::string_view name, const std::string& start) {
  if (name.size() != start.size() + kIdDigits || !name.starts_with(start)) return 0;
  uint64_t id = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + start.size(), end, id, 16);
  return error == std::errc() && stop == end ? id : 0;
}

}  // namespace

std::vector<uint64_t> FindMembers() {
  const std::string start = StartOfNames();
  std::vector<uint64_t> ids;
  for (const std::string& name : NamesOfUser(start, limits::kMembersMax)) {
    if (const uint64_t id = IdOf(name, start); id != 0) ids.push_back(id);
  }
  return ids;
}

void SendDoubt(uint64_t member, uint16_t port) {
  const int fd = ConnectTo(MemberName(member));
  if (fd < 0) return;
  Credentials there;
  if (ReadCredentials(fd, &there) && there.uid == geteuid()) {
    const std::string link = peer::Encode(peer::Link{});
    const std::string doubt = peer::Encode(peer::Doubt{port});
    const std::string bytes = peer::FrameHeader(peer::FrameType::kLink, link.size(), 0) + link +
                              peer::FrameHeader(peer::FrameType::kDoubt, doubt.size(), 0) + doubt;
    // The few bytes fit into the empty send buffer of a new connection.
    (void)send(fd, bytes.data(), bytes.size(), kSendFlags);
  }
  close(fd);
}

}  // namespace httpsys::sharing
