#include "support/fake_javascript.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "backend/create_engine.h"
#include "base/limits.h"
#include "records/control_block.h"
#include "records/words.h"

namespace httpsys::test {
namespace {

constexpr size_t kReplySegmentBytes = 64 * 1024;
constexpr int kPatienceMs = 5000;

const std::vector<std::string> kMethods = {"DELETE", "GET",     "HEAD",   "POST",
                                           "PUT",    "CONNECT", "OPTIONS"};

bool WaitReadable(int fd, int ms) {
  pollfd watched{fd, POLLIN, 0};
  return poll(&watched, 1, ms) > 0;
}

}  // namespace

FakeJavaScript::FakeJavaScript() : FakeJavaScript(Options{}) {}

FakeJavaScript::FakeJavaScript(Options options) : lanes_(options.lanes) {
  BackendOptions backend;
  backend.methods = kMethods;
  backend.wake_consumer = [this] {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    woken_.notify_all();
  };
  for (size_t i = 0; i < options.lanes; ++i) {
    Lane& lane = lanes_[i];
    lane.control.resize(records::kControlWords / 2);
    LaneMemory memory;
    memory.control = Control(i);
    memory.queue_bytes_max = options.queue_bytes_max;
    for (size_t j = 0; j < options.segments; ++j) {
      lane.segments.emplace_back(options.segment_bytes / 8);
    }
    for (auto& segment : lane.segments) {
      memory.segments.emplace_back(reinterpret_cast<uint8_t*>(segment.data()),
                                   options.segment_bytes);
    }
    backend.lanes.push_back(std::move(memory));
  }
  int status = 0;
  backend_ = CreateEngine(std::move(backend), &status);
  EXPECT_EQ(status, 0);
}

FakeJavaScript::~FakeJavaScript() { backend_->Close(); }

int FakeJavaScript::Connect(ServerSettings settings) {
  EXPECT_EQ(backend_->Configure(1, std::move(settings)), 0);
  return ConnectAgain();
}

int FakeJavaScript::ConnectAgain() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  EXPECT_EQ(backend_->Adopt(1, Descriptor(ends[0])), 0);
  close(ends[0]);
  return ends[1];
}

// -- Requests.

std::optional<Event> FakeJavaScript::Next(int timeout_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (events_.empty()) {
    if (ReadRegions()) continue;
    std::unique_lock lock(mutex_);
    if (!woken_.wait_until(lock, deadline, [this] { return is_woken_; })) return std::nullopt;
    is_woken_ = false;
  }
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

Event FakeJavaScript::Expect(RequestType type) {
  std::optional<Event> event = Next();
  // A lane counts what it answers by itself, refusals too; few tests ask for that.
  if (event.has_value() && event->type == RequestType::kUnseen && type != RequestType::kUnseen) {
    event = Next();
  }
  EXPECT_TRUE(event.has_value()) << "no record came, expected " << static_cast<int>(type);
  if (!event.has_value()) return {};
  EXPECT_EQ(static_cast<int>(event->type), static_cast<int>(type));
  return std::move(*event);
}

RegistrationResult FakeJavaScript::ExpectResult() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatienceMs);
  RegistrationResult result;
  while (!backend_->TakeResult(&result)) {
    std::unique_lock lock(mutex_);
    const bool is_woken = woken_.wait_until(lock, deadline, [this] { return is_woken_; });
    EXPECT_TRUE(is_woken) << "no result came";
    if (!is_woken) break;
    is_woken_ = false;
  }
  return result;
}

bool FakeJavaScript::ReadRegions() {
  bool found = false;
  for (size_t lane = 0; lane < lanes_.size(); ++lane) {
    RequestQueue& queue = backend_->requests(lane);
    RequestQueue::Region region;
    while (events_.empty() && queue.Next(&region)) {
      found = true;
      const uint8_t* memory =
          reinterpret_cast<const uint8_t*>(lanes_[lane].segments[region.segment].data());
      uint32_t at = region.start;
      while (at < region.end) {
        Decode(lane, memory + at);
        at += LoadWord(memory + at, 0);
      }
      EXPECT_EQ(at, region.end);
      if (queue.Consume(region.end)) backend_->WakeLane(lane);
    }
  }
  return found;
}

size_t FakeJavaScript::ReadLines(Lane& lane, const uint8_t* words, size_t count, const char* text,
                                 Event* event) {
  size_t at = 0;
  const auto take = [&](size_t bytes) {
    std::string part(text + at, bytes);
    at += bytes;
    return part;
  };
  for (size_t i = 0; i < count; ++i) {
    const uint32_t first = LoadWord(words, i * 2);
    if ((first & records::kInternBit) != 0) {
      event->lines.push_back(lane.interned.at(first & ~records::kInternBit));
      continue;
    }
    std::string name = (first & records::kNameBit) != 0
                           ? lane.interned.at(first & ~records::kNameBit).first
                           : take(first);
    event->lines.emplace_back(std::move(name), take(LoadWord(words, i * 2 + 1)));
  }
  return at;
}

void FakeJavaScript::Decode(size_t lane_index, const uint8_t* record) {
  Lane& lane = lanes_[lane_index];
  const char* text = reinterpret_cast<const char*>(record);
  Event event;
  event.lane = lane_index;
  event.type = static_cast<RequestType>(LoadWord(record, 1) & 0xff);
  event.flags = LoadWord(record, 1) >> 8;
  event.slot = LoadWord(record, 2);
  if (LoadWord(record, 0) > 16) event.number = LoadWord(record, 4);
  switch (event.type) {
    case RequestType::kIntern: {
      const uint32_t name = LoadWord(record, 5);
      const uint32_t value =
          LoadWord(record, 6) == records::kInternNameOnly ? 0 : LoadWord(record, 6);
      lane.interned[event.number] = {std::string(text + records::kInternTextAt, name),
                                     std::string(text + records::kInternTextAt + name, value)};
      return;
    }
    case RequestType::kOversize: {
      const Block block = backend_->requests(lane_index).blocks().Take(LoadWord(record, 5));
      ASSERT_NE(block.memory, nullptr);
      Decode(lane_index, block.memory.get());
      return;
    }
    case RequestType::kRequest: {
      const uint32_t packed = LoadWord(record, 5);
      const uint32_t target = LoadWord(record, 6);
      const size_t count = packed >> 16;
      const char* at = text + records::kRequestFixedBytes + count * 8;
      const char* end = at + LoadWord(record, 7);
      event.method = kMethods.at(packed & 0xff);
      event.minor = static_cast<int>(packed >> 8 & 0xff);
      event.prefix_id = LoadWord(record, 9);
      if ((target & records::kInternBit) != 0) {
        event.target = lane.interned.at(target & ~records::kInternBit).second;
      } else {
        event.target.assign(at, target);
        at += target;
      }
      at += ReadLines(lane, record + records::kRequestFixedBytes, count, at, &event);
      EXPECT_EQ(at, end);
      event.body.assign(end, LoadWord(record, 8));
      break;
    }
    case RequestType::kBody:
      event.body.assign(text + records::kPayloadAt, event.number);
      break;
    case RequestType::kBodyBlock: {
      event.type = RequestType::kBody;  // The same to whoever looks at bytes.
      if ((event.flags & records::kFlagLent) != 0) {
        event.body.assign(loans_.at(LoadWord(record, 5)).data(), event.number);
        break;
      }
      const Block block = backend_->requests(lane_index).blocks().Take(LoadWord(record, 5));
      EXPECT_EQ(block.bytes, event.number);
      event.body.assign(reinterpret_cast<const char*>(block.memory.get()), block.bytes);
      break;
    }
    case RequestType::kMessage:
      event.body.assign(text + records::kPayloadAt, event.number);
      break;
    case RequestType::kMessageBlock: {
      event.type = RequestType::kMessage;
      const Block block = backend_->requests(lane_index).blocks().Take(LoadWord(record, 5));
      EXPECT_EQ(block.bytes, event.number);
      event.body.assign(reinterpret_cast<const char*>(block.memory.get()), block.bytes);
      break;
    }
    case RequestType::kControl:
      event.body.assign(text + records::kPayloadAt, event.number);
      event.number = LoadWord(record, 5);
      break;
    case RequestType::kCloseFrame:
      event.body.assign(text + records::kPayloadAt, LoadWord(record, 5));
      break;
    case RequestType::kBodyEnd:
      ReadLines(lane, record + records::kPayloadAt, event.number,
                text + records::kPayloadAt + event.number * 8, &event);
      break;
    case RequestType::kError:
      event.body.assign(text + records::kErrorTextAt, LoadWord(record, 5));
      break;
    default:
      break;
  }
  events_.push_back(std::move(event));
}

void FakeJavaScript::LendBlock(uint32_t id) {
  loans_[id].assign(limits::kBlockBytes, '-');
  backend_->requests(lane_).receive_blocks().Lend(id,
                                                  reinterpret_cast<uint8_t*>(loans_[id].data()));
}

// -- Replies.

uint8_t* FakeJavaScript::Reserve(size_t bytes) {
  Lane& lane = lanes_[lane_];
  const auto add = [&] {
    lane.replies.push_back(std::make_unique<std::vector<uint64_t>>(kReplySegmentBytes / 8));
    return backend_->AddReplySegment(
        lane_, {reinterpret_cast<const uint8_t*>(lane.replies.back()->data()), kReplySegmentBytes});
  };
  if (lane.replies.empty()) add();
  const auto memory = [&] {
    return reinterpret_cast<uint8_t*>(lane.replies[lane.reply_segment]->data());
  };
  if (lane.reply_offset + bytes + records::kHeaderBytes > kReplySegmentBytes) {
    uint8_t* jump = memory() + lane.reply_offset;
    const uint32_t next = add();
    StoreWord(jump, 0, records::kHeaderBytes);
    StoreWord(jump, 1, static_cast<uint32_t>(ReplyType::kJump));
    StoreWord(jump, 2, next);
    StoreWord(jump, 3, 0);
    lane.published += records::kHeaderBytes;
    lane.reply_segment = next;
    lane.reply_offset = 0;
  }
  return memory() + lane.reply_offset;
}

void FakeJavaScript::Publish(size_t bytes) {
  Lane& lane = lanes_[lane_];
  lane.reply_offset += bytes;
  lane.published += static_cast<uint32_t>(bytes);
  ControlBlock(Control(lane_))[records::kReplyPublished].store(lane.published,
                                                               std::memory_order_seq_cst);
  if (wakes_) backend_->Wake(lane_);
}

void FakeJavaScript::Command(ReplyType type, uint32_t slot, uint32_t flags, uint32_t a, uint32_t b,
                             uint32_t c) {
  uint8_t* record = Reserve(32);
  const uint32_t words[] = {32, static_cast<uint32_t>(type) | flags << 8, slot, 0, a, b, c, 0};
  std::memcpy(record, words, sizeof words);
  Publish(32);
}

void FakeJavaScript::Respond(uint32_t slot, uint32_t flags, std::string_view head,
                             std::string_view body, uint32_t idle_ms) {
  const size_t size = AlignRecord(records::kResponseFixedBytes + head.size() + body.size());
  uint8_t* record = Reserve(size);
  const uint32_t words[] = {static_cast<uint32_t>(size),
                            static_cast<uint32_t>(ReplyType::kResponse) | flags << 8,
                            slot,
                            0,
                            static_cast<uint32_t>(head.size()),
                            static_cast<uint32_t>(body.size()),
                            idle_ms};
  std::memcpy(record, words, sizeof words);
  std::memcpy(record + records::kResponseFixedBytes, head.data(), head.size());
  if (!body.empty()) {
    std::memcpy(record + records::kResponseFixedBytes + head.size(), body.data(), body.size());
  }
  Publish(size);
}

void FakeJavaScript::Data(ReplyType type, uint32_t slot, uint32_t flags, std::string_view bytes,
                          uint32_t idle_ms) {
  const size_t size = AlignRecord(records::kPayloadAt + bytes.size());
  uint8_t* record = Reserve(size);
  const uint32_t words[] = {static_cast<uint32_t>(size),
                            static_cast<uint32_t>(type) | flags << 8,
                            slot,
                            0,
                            static_cast<uint32_t>(bytes.size()),
                            idle_ms};
  std::memcpy(record, words, sizeof words);
  if (!bytes.empty()) std::memcpy(record + records::kPayloadAt, bytes.data(), bytes.size());
  Publish(size);
}

void FakeJavaScript::Record(ReplyType type, uint32_t slot, uint32_t flags,
                            const std::vector<uint32_t>& fields, std::string_view bytes) {
  const size_t payload_at = AlignRecord(records::kHeaderBytes + fields.size() * 4);
  const size_t size = AlignRecord(payload_at + bytes.size());
  uint8_t* record = Reserve(size);
  const uint32_t words[] = {static_cast<uint32_t>(size), static_cast<uint32_t>(type) | flags << 8,
                            slot, 0};
  std::memcpy(record, words, sizeof words);
  for (size_t i = 0; i < fields.size(); ++i) StoreWord(record, 4 + i, fields[i]);
  if (!bytes.empty()) std::memcpy(record + payload_at, bytes.data(), bytes.size());
  Publish(size);
}

void FakeJavaScript::Answer(uint32_t slot, std::string_view body, uint32_t flags,
                            uint32_t idle_ms) {
  const std::string head =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
  Respond(slot, flags | records::kReplyEnd, head, body, idle_ms);
}

// -- Peer.

void Peer::Send(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
}

size_t Peer::TrySend(std::string_view bytes) const {
  size_t total = 0;
  while (total < bytes.size()) {
    const ssize_t sent =
        send(fd_, bytes.data() + total, bytes.size() - total, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent <= 0) break;
    total += static_cast<size_t>(sent);
  }
  return total;
}

void Peer::Finish() const { shutdown(fd_, SHUT_WR); }

void Peer::Close() {
  if (fd_ != -1) close(fd_);
  fd_ = -1;
}

std::string Peer::Read(size_t bytes) const {
  std::string result;
  while (result.size() < bytes && WaitReadable(fd_, kPatienceMs)) {
    char buffer[65536];
    const ssize_t got = recv(fd_, buffer, std::min(sizeof buffer, bytes - result.size()), 0);
    if (got <= 0) break;
    result.append(buffer, static_cast<size_t>(got));
  }
  return result;
}

std::string Peer::ReadAll() const {
  std::string result;
  for (;;) {
    if (!WaitReadable(fd_, kPatienceMs)) return result + "[timeout]";
    char buffer[65536];
    const ssize_t got = recv(fd_, buffer, sizeof buffer, 0);
    if (got < 0) return result + "[" + std::strerror(errno) + "]";
    if (got == 0) return result;
    result.append(buffer, static_cast<size_t>(got));
  }
}

bool Peer::IsQuiet(int ms) const { return !WaitReadable(fd_, ms); }

}  // namespace httpsys::test
