// Answers that a lane gives without JavaScript: their order, their bytes and how they leave.

#include "engine/requests/native_answer.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/transport.h"
#include "support/own_attachment.h"

namespace httpsys::engine {
namespace {

constexpr std::string_view kHead = "HTTP/1.1 200 OK\r\n\r\n";
// What the lane makes of it for a connection that stays.
constexpr std::string_view kSentHead = "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n";

// A protocol whose output is text.
class TextWriter final : public AnswerWriter {
 public:
  explicit TextWriter(NativeAnswers* answers) : answers_(answers) {}

  bool IsTurn(const Connection& connection) const override {
    return connection.message.unanswered() == 0;
  }
  void WriteAnswer(Connection* connection, const NativeAnswer& answer) override {
    answers_->Append(connection, answer);
    answers_->EndAnswer(connection, answer.closes);
  }
  void ResetRequest(Connection*, bool) override { ++resets; }

  int resets = 0;

 private:
  NativeAnswers* answers_;
};

class NativeAnswerTest : public testing::Test, public InputHandler {
 protected:
  NativeAnswerTest() {
    uv_loop_init(&loop_);
    transport_ = std::make_unique<Transport>(&loop_, &load_, nullptr, nullptr);
    transport_->set_input_handler(this);
    answers_ = std::make_unique<NativeAnswers>(&methods_, transport_->output());
    writer_ = std::make_unique<TextWriter>(answers_.get());
    server_.attachment = own_attachment_.get();
    server_.queued = &queued_;
    server_.refused = &refusals_;
    ServerSettings settings;
    settings.http_503_verbosity = Http503Verbosity::kBasic;
    server_.config = ServerConfig::Create(settings);
    // Each packet is what one write sent.
    std::array<int, 2> ends;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends.data()), 0);
    peer_ = ends[1];
    transport_->CountLoad();
    connection_ = transport_->Open(ends[0], &server_);
    transport_->Announce(connection_, records::kFlagShared);
  }

  ~NativeAnswerTest() override {
    transport_->Shutdown();
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    close(peer_);
  }

  void OnReadable(Connection*) override {}
  void OnDisconnect(Connection*) override {}
  void OnTimeout(Connection*) override {}
  void OnTooSlow(Connection*) override {}
  void OnOutputEnding(Connection*) override {}
  void OnAnnounced(Connection*) override {}
  void OnDetached(Connection*) override {}

  AnswerOutcome Answer(std::span<const NativeAnswer::Piece> pieces) {
    NativeAnswer answer;
    answer.status = 200;
    answer.head = kHead;
    answer.pieces = pieces;
    return answers_->Answer(writer_.get(), connection_, nullptr, answer);
  }

  // Returns the bytes that one write of the lane sent; empty = the lane has sent nothing more.
  std::string ReadWrite() {
    std::string bytes(size_t{1} << 20, '\0');
    const ssize_t got = recv(peer_, bytes.data(), bytes.size(), 0);
    bytes.resize(got > 0 ? static_cast<size_t>(got) : 0);
    return bytes;
  }

  uv_loop_t loop_;
  test::OwnAttachment own_attachment_;
  std::atomic<uint32_t> load_{0};
  std::atomic<uint64_t> queued_{0};
  std::atomic<uint64_t> refusals_{0};
  http1::MethodTable methods_{{"GET", "HEAD"}};
  LaneServer server_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<NativeAnswers> answers_;
  std::unique_ptr<TextWriter> writer_;
  Connection* connection_ = nullptr;
  int peer_ = -1;
};

TEST_F(NativeAnswerTest, TheAnswersOfOneReadLeaveInOneWriteAndInOrder) {
  const auto owner = std::make_shared<std::string>("owned");
  const std::array<NativeAnswer::Piece, 3> pieces{
      {{nullptr, "<"}, {owner, std::string_view(*owner)}, {nullptr, ">"}}};
  EXPECT_EQ(Answer(pieces), AnswerOutcome::kGiven);
  EXPECT_EQ(Answer({}), AnswerOutcome::kGiven);
  EXPECT_EQ(Answer(pieces), AnswerOutcome::kGiven);
  EXPECT_EQ(ReadWrite(), "");
  answers_->OnRead(connection_);
  const std::string head(kSentHead);
  EXPECT_EQ(ReadWrite(), head + "<owned>" + head + head + "<owned>");
  EXPECT_EQ(ReadWrite(), "");
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kUnrouted), 3u);
}

TEST_F(NativeAnswerTest, AnEmptyPieceIsNotSentAndItsOwnerIsLetGo) {
  auto owner = std::make_shared<std::string>();
  const std::weak_ptr<std::string> seen = owner;
  {
    const std::array<NativeAnswer::Piece, 2> pieces{
        {{owner, std::string_view(*owner)}, {nullptr, "end"}}};
    EXPECT_EQ(Answer(pieces), AnswerOutcome::kGiven);
  }
  owner.reset();
  EXPECT_TRUE(seen.expired());
  answers_->OnRead(connection_);
  EXPECT_EQ(ReadWrite(), std::string(kSentHead) + "end");
}

TEST_F(NativeAnswerTest, AnOwnerKeepsItsBytesUntilTheyHaveLeft) {
  auto owner = std::make_shared<std::string>(1000, 'x');
  const std::weak_ptr<std::string> seen = owner;
  std::array<NativeAnswer::Piece, 1> pieces{{{owner, std::string_view(*owner)}}};
  EXPECT_EQ(Answer(pieces), AnswerOutcome::kGiven);
  // Changed bytes leave changed: they were not copied.
  owner->back() = 'y';
  pieces[0].owner.reset();
  owner.reset();
  EXPECT_FALSE(seen.expired());
  answers_->OnRead(connection_);
  std::vector<Connection*> touched;
  transport_->output()->FlushTouched(&touched);
  EXPECT_TRUE(seen.expired());
  EXPECT_EQ(ReadWrite(), std::string(kSentHead) + std::string(999, 'x') + 'y');
}

TEST_F(NativeAnswerTest, OwnedBytesOfAConnectionThatClosesAreLetGo) {
  auto owner = std::make_shared<std::string>(1000, 'x');
  const std::weak_ptr<std::string> seen = owner;
  {
    const std::array<NativeAnswer::Piece, 1> pieces{{{owner, std::string_view(*owner)}}};
    EXPECT_EQ(Answer(pieces), AnswerOutcome::kGiven);
  }
  owner.reset();
  transport_->Close(connection_, 0);
  answers_->OnRead(connection_);
  EXPECT_TRUE(seen.expired());
}

TEST_F(NativeAnswerTest, AnswersThatAreMuchTogetherDoNotWaitForTheEndOfTheRead) {
  const auto owner = std::make_shared<std::string>(limits::kUnsentBytesMax / 2, 'x');
  const std::array<NativeAnswer::Piece, 1> pieces{{{owner, std::string_view(*owner)}}};
  EXPECT_EQ(Answer(pieces), AnswerOutcome::kGiven);
  EXPECT_EQ(ReadWrite(), "");
  EXPECT_EQ(Answer(pieces), AnswerOutcome::kGiven);
  EXPECT_EQ(ReadWrite().size(), 2 * (kSentHead.size() + owner->size()));
}

TEST_F(NativeAnswerTest, AnswersThatTheSocketTakesAtOnceLeaveNothingToDo) {
  std::vector<Connection*> touched;
  transport_->output()->FlushTouched(&touched);
  EXPECT_EQ(Answer({}), AnswerOutcome::kGiven);
  answers_->OnRead(connection_);
  EXPECT_EQ(ReadWrite(), kSentHead);
  EXPECT_FALSE(transport_->output()->has_touched());
  EXPECT_EQ(transport_->output()->pass_pieces(), 0u);
}

TEST_F(NativeAnswerTest, AnswersLeaveBehindOutputOfTheSamePass) {
  transport_->output()->Send(connection_, "before ", 0);
  EXPECT_EQ(Answer({}), AnswerOutcome::kGiven);
  answers_->OnRead(connection_);
  EXPECT_EQ(ReadWrite(), "before " + std::string(kSentHead));
  EXPECT_EQ(ReadWrite(), "");
}

TEST_F(NativeAnswerTest, AnAnswerToAClientThatHasGoneEndsTheConnection) {
  close(std::exchange(peer_, -1));
  EXPECT_EQ(Answer({}), AnswerOutcome::kGiven);
  EXPECT_TRUE(connection_->is_open());
  answers_->OnRead(connection_);
  EXPECT_FALSE(connection_->is_open());
}

TEST_F(NativeAnswerTest, ARequestBehindOthersWithoutAnswerIsNotAnsweredYet) {
  connection_->message.OnHead(false);
  EXPECT_EQ(Answer({}), AnswerOutcome::kLater);
  const NativeAnswers::Unserved request{RouteStatus::kQueueFull};
  EXPECT_EQ(answers_->AnswerUnserved(writer_.get(), connection_, request), AnswerOutcome::kLater);
  answers_->OnRead(connection_);
  EXPECT_EQ(ReadWrite(), "");
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kUnrouted), 0u);
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kUnavailable), 0u);
  EXPECT_EQ(refusals_, 0u);
}

TEST_F(NativeAnswerTest, TheOldestRequestOfAQueueIsAnsweredAndCounted) {
  connection_->message.OnHead(false);
  NativeAnswers::Unserved request{RouteStatus::kQueueTimeout};
  request.was_queued = request.closes = true;
  EXPECT_EQ(answers_->AnswerUnserved(writer_.get(), connection_, request), AnswerOutcome::kReset);
  EXPECT_EQ(writer_->resets, 1);
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kUnavailable), 1u);
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kReset), 1u);
  EXPECT_EQ(refusals_, 1u);
}

}  // namespace
}  // namespace httpsys::engine
