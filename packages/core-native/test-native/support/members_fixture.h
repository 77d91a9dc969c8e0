#pragma once
// Members of one port in one process, and ends of connections that the test plays.

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "sharing/meeting_place.h"
#include "support/descriptors.h"
#include "support/member.h"

namespace httpsys::test {

// A connection whose other end is played by the test.
class Raw {
 public:
  explicit Raw(int fd) : fd_(fd) {}
  Raw(Raw&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Raw& operator=(Raw&&) = delete;
  ~Raw() { End(); }
  void End() {
    if (fd_ != -1) close(fd_);
    fd_ = -1;
  }
  int fd() const { return fd_; }
  template <typename Message>
  bool Send(peer::FrameType type, const Message& message) const {
    return SendBytes(type, peer::Encode(message));
  }
  bool SendBytes(peer::FrameType type, const std::string& payload) const {
    const std::string bytes = peer::FrameHeader(type, payload.size(), 0) + payload;
    return send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // The next frame of this type, others are passed over. Nothing when the connection ends.
  std::optional<std::string> Next(peer::FrameType type) {
    for (;;) {
      peer::Frame frame;
      while (reader_.Next(&frame) == peer::FrameReader::Result::kFrame) {
        if (frame.type == type) return std::string(frame.payload);
      }
      if (!Fill()) return std::nullopt;
    }
  }
  bool IsEnded() {
    while (Fill()) {
    }
    return is_ended_;
  }

 private:
  bool Fill() {
    pollfd watched{fd_, POLLIN, 0};
    if (poll(&watched, 1, 5000) != 1) return false;
    char buffer[4096];
    const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
    is_ended_ = got <= 0;
    if (got > 0) reader_.Append({buffer, static_cast<size_t>(got)});
    return got > 0;
  }

  int fd_;
  bool is_ended_ = false;
  peer::FrameReader reader_;
};

class MembersTest : public testing::Test {
 protected:
  ~MembersTest() override {
    alice_.reset();
    bob_.reset();
    carol_.reset();
    EXPECT_EQ(OpenDescriptors(), before_);
  }
  std::string Prefix(const char* path) const { return "http://*:" + std::to_string(port_) + path; }
  RegistrationResult Register(Member& member, const char* path) {
    return member.Register(port_, 1, {Prefix(path)});
  }
  // The first of the port, with a listening socket.
  Member& Alice() {
    alice_ = std::make_unique<Member>();
    EXPECT_EQ(alice_->sharing().Meet(port_), static_cast<int>(Meeting::kOurs));
    EXPECT_EQ(alice_->sharing().Contribute(port_, 1, holder_.fd()), 0);
    EXPECT_EQ(Register(*alice_, "/a/").error, 0);
    return *alice_;
  }
  Member& Bob() { return *(bob_ = std::make_unique<Member>()); }
  Member& Carol() { return *(carol_ = std::make_unique<Member>()); }
  Raw Visit(uint32_t rank = 0) const {
    const int fd = sharing::ConnectTo(sharing::PortName(port_, rank));
    EXPECT_GE(fd, 0);
    return Raw(fd);
  }
  // A coordinator that the test plays.
  void ListenAsCoordinator(uint32_t rank = 0) {
    ASSERT_EQ(sharing::ListenUnder(sharing::PortName(port_, rank), &coordinator_), 0);
  }
  Raw AcceptMember() const {
    pollfd watched{coordinator_.fd, POLLIN, 0};
    EXPECT_EQ(poll(&watched, 1, 5000), 1);
    return Raw(accept4(coordinator_.fd, nullptr, nullptr, SOCK_CLOEXEC));
  }
  peer::Register Wanted(const char* path) const {
    peer::Register wanted;
    wanted.token = 1;
    wanted.server_id = 1;
    wanted.prefixes.push_back({1, Prefix(path)});
    return wanted;
  }

  const int before_ = OpenDescriptors() + 1;  // The holder.
  PortHolder holder_;
  const uint16_t port_ = holder_.port();
  std::unique_ptr<Member> alice_;
  std::unique_ptr<Member> bob_;
  std::unique_ptr<Member> carol_;
  sharing::NamedSocket coordinator_;
};

}  // namespace httpsys::test
