// What a client costs that asks and does not read: a transport and a session over a socket pair,
// on the test's own thread, with a router that says whose each request is.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/limits.h"
#include "engine/connection/transport.h"
#include "engine/http1/http1_session.h"
#include "engine/http2/http2_session.h"
#include "records/words.h"
#include "support/own_attachment.h"
#include "support/whole_prefixes.h"

namespace httpsys::engine {
namespace {

constexpr std::string_view kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";
// Longer than any answer of the lane.
constexpr size_t kAnswerBytesMax = 512;

class PlayedRouter final : public RequestRouter {
 public:
  Outcome outcome = Outcome::kHere;
  RouteStatus status = RouteStatus::kMatch;
  bool must_route = true;

  bool IsShared(uint16_t) const override { return true; }
  bool RouteHello(Connection*, std::string_view) override { return true; }
  void Leave(Connection*) override {}
  bool MoveAway(Connection*) override { return false; }
  bool MustRoute(const Connection*) const override { return must_route; }
  Outcome FindServer(ArrivedRequest* request) override {
    request->route = {status, 0};
    return outcome;
  }
  bool CanRelay(const Connection*) const override { return true; }
  bool RelayStream(Connection*, uint64_t, std::string_view) override { return false; }
  size_t UnsentBytes(const Connection*) const override { return 0; }
  void RelayMore(Connection*, std::string_view) override {}
  bool RelayEnd(Connection*) override { return false; }
  void OnRelayedAnswer(Connection*) override {}
  void OnRelayedUpgrade(Connection*, bool) override {}
  void OnOutputDone(Connection*) override {}
  void CountRequest(Connection*, uint32_t) override { ++requests; }

  int requests = 0;
};

class UnsentOutputTest : public testing::Test, public InputHandler {
 protected:
  UnsentOutputTest() {
    uv_loop_init(&loop_);
    uv_check_init(&loop_, &check_);
    check_.data = this;
    uv_check_start(&check_, [](uv_check_t* handle) {
      static_cast<UnsentOutputTest*>(handle->data)->FlushAll();
    });
    transport_ = std::make_unique<Transport>(&loop_, &load_, nullptr, nullptr);
    answers_ = std::make_unique<NativeAnswers>(&methods_, output());
    input_ = std::make_unique<Input>(&loop_, transport_.get(), &protocols_, answers_.get());
    gate_ = std::make_unique<RequestGate>(&methods_, &clock_);
    exchanges_ = std::make_unique<Exchanges>(transport_.get(), &router_);
    statics_ =
        std::make_unique<StaticRequests>(&methods_, answers_.get(), input_.get(), nullptr, nullptr);
    // No server here has a cache.
    cached_ = std::make_unique<CachedAnswers>(&cache_, &methods_, answers_.get(), nullptr, nullptr,
                                              nullptr, nullptr);
    pipeline_ =
        std::make_unique<RequestPipeline>(&router_, output()->throttle(), gate_.get(),
                                          answers_.get(), statics_.get(), cached_.get(), &clock_);
    http2_ = std::make_unique<Http2Session>(&loop_, &methods_, transport_.get(), input_.get(),
                                            &router_, answers_.get(), pipeline_.get());
    http1_ = std::make_unique<Http1Session>(&methods_, transport_.get(), input_.get(), &router_,
                                            http2_.get(), answers_.get(), exchanges_.get(),
                                            pipeline_.get(), &clock_);
    for (size_t phase = 0; phase < kInputPhases; ++phase) {
      protocols_.Set(static_cast<InputPhase>(phase), http1_.get());
    }
    protocols_.Set(InputPhase::kHttp2, http2_.get());
    transport_->set_stream_handler(http2_.get());
    transport_->set_input_handler(this);
    server_.attachment = own_attachment_.get();
    server_.queued = &queued_;
    server_.refused = &refusals_;
    server_.config = ServerConfig::Create({});
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    peer_ = ends[1];
    transport_->CountLoad();
    connection_ = transport_->Open(ends[0], &server_);
    transport_->Announce(connection_, records::kFlagShared);
    transport_->Watch(connection_);
  }

  ~UnsentOutputTest() override {
    transport_->Shutdown();
    uv_close(reinterpret_cast<uv_handle_t*>(&check_), nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    EXPECT_EQ(uv_loop_close(&loop_), 0);
    if (peer_ >= 0) close(peer_);
  }

  void OnReadable(Connection* connection) override { input_->OnReadable(connection); }
  void OnDisconnect(Connection* connection) override { input_->OnDisconnect(connection); }
  void OnTimeout(Connection* connection) override { transport_->Close(connection, 0); }
  void OnTooSlow(Connection*) override {}
  void OnOutputEnding(Connection*) override {}
  void OnAnnounced(Connection*) override {}
  void OnDetached(Connection*) override { is_closed_ = true; }

  OutputPass* output() { return transport_->output(); }

  // A lane flushes before the loop frees connections that were closed in this turn.
  void FlushAll() {
    most_pieces_ = std::max(most_pieces_, output()->pass_pieces());
    while (output()->has_touched()) {
      output()->FlushTouched(&touched_);
      exchanges_->ResumeWanted(touched_, [this](Connection* connection, PauseReason reason) {
        input_->Resume(connection, reason);
      });
      touched_.clear();
    }
  }

  // What a lane does with its sockets until nothing more happens.
  void Turn() {
    for (int quiet = 0; quiet < 3; ++quiet) {
      clock_.BeginPass();
      own_attachment_.get()->SettleUnread();
      uv_run(&loop_, UV_RUN_NOWAIT);
      FlushAll();
      if (!is_closed_) most_ = std::max(most_, OutputPass::UnsentBytes(*connection_));
    }
    transport_->FreeClosed();
  }

  // Requests until the lane takes no more of them; returns how many.
  int Flood(std::string_view request) {
    std::string rest;
    int whole = 0;
    for (int blocked = 0; blocked < 3 && whole < 1'000'000;) {
      if (rest.empty()) {
        for (int i = 0; i < 100; ++i) rest.append(request);
        whole += 100;
      }
      const ssize_t sent = send(peer_, rest.data(), rest.size(), MSG_NOSIGNAL);
      blocked = sent > 0 ? 0 : blocked + 1;
      if (sent > 0) rest.erase(0, static_cast<size_t>(sent));
      Turn();
      if (is_closed_) break;
    }
    unfinished_ = rest;
    return whole;
  }

  // Everything that comes, until nothing does.
  std::string ReadAll() {
    std::string all;
    std::vector<char> buffer(64 * 1024);
    for (int quiet = 0; quiet < 3;) {
      const ssize_t got = recv(peer_, buffer.data(), buffer.size(), 0);
      if (got > 0) all.append(buffer.data(), static_cast<size_t>(got));
      quiet = got > 0 ? 0 : quiet + 1;
      if (!unfinished_.empty()) {
        const ssize_t sent = send(peer_, unfinished_.data(), unfinished_.size(), MSG_NOSIGNAL);
        if (sent > 0) unfinished_.erase(0, static_cast<size_t>(sent));
      }
      Turn();
    }
    return all;
  }

  // What JavaScript does with the records of bodies; returns how many bytes there were.
  size_t ReadBodies() {
    size_t bytes = 0;
    queue_.Publish();
    for (RequestQueue::Region region; queue_.Next(&region);) {
      const uint8_t* segment = own_attachment_.At(region.segment);
      for (uint32_t at = region.start; at < region.end;
           at += LoadField<records::kRecordBytes>(segment + at)) {
        const auto type =
            static_cast<records::RequestType>(LoadField<records::kRecordType>(segment + at));
        if (type == records::RequestType::kBodyBlock) {
          (void)queue_.blocks().Take(LoadField<records::kBodyBlockId>(segment + at));
        } else if (type != records::RequestType::kBody) {
          continue;
        }
        bytes += LoadField<records::kBodyBytes>(segment + at);
      }
      (void)queue_.Consume(region.end);
    }
    input_->OnWindow(connection_, static_cast<uint32_t>(bytes));
    return bytes;
  }

  static int Count(const std::string& text, std::string_view what) {
    int found = 0;
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++found;
    return found;
  }

  uv_loop_t loop_;
  uv_check_t check_;
  test::OwnAttachment own_attachment_;
  RequestQueue& queue_ = own_attachment_.get()->requests();
  std::atomic<uint32_t> load_{0};
  std::atomic<uint64_t> queued_{0};
  std::atomic<uint64_t> refusals_{0};
  http1::MethodTable methods_{{"GET", "HEAD", "POST", "OPTIONS"}};
  PlayedRouter router_;
  LaneServer server_;
  std::unique_ptr<Transport> transport_;
  PassClock clock_;
  std::unique_ptr<NativeAnswers> answers_;
  std::unique_ptr<RequestGate> gate_;
  Protocols protocols_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<Exchanges> exchanges_;
  std::unique_ptr<Http1Session> http1_;
  std::unique_ptr<StaticRequests> statics_;
  ProcessCache cache_;
  std::unique_ptr<CachedAnswers> cached_;
  std::unique_ptr<RequestPipeline> pipeline_;
  std::unique_ptr<Http2Session> http2_;
  std::vector<Connection*> touched_;
  std::string unfinished_;
  Connection* connection_ = nullptr;
  int peer_ = -1;
  bool is_closed_ = false;
  size_t most_ = 0;
  size_t most_pieces_ = 0;
};

struct Refusal {
  const char* name;
  RouteStatus status;
  std::string_view line;
};

class UnreadRefusalTest : public UnsentOutputTest, public testing::WithParamInterface<Refusal> {};

TEST_P(UnreadRefusalTest, RequestsWaitWhileTheirClientDoesNotReadAndAreAllAnsweredWhenItDoes) {
  router_.outcome = RequestRouter::Outcome::kUnrouted;
  router_.status = GetParam().status;
  const int requests = Flood(kGet);
  EXPECT_LT(requests, 1'000'000);
  EXPECT_FALSE(is_closed_);
  EXPECT_GT(most_, limits::kUnsentBytesMax);
  EXPECT_LE(most_, limits::kUnsentBytesMax + kAnswerBytesMax);
  EXPECT_EQ(Count(ReadAll(), GetParam().line), requests);
  EXPECT_EQ(OutputPass::UnsentBytes(*connection_), 0u);
  EXPECT_LE(most_, limits::kUnsentBytesMax + kAnswerBytesMax);
}

INSTANTIATE_TEST_SUITE_P(
    , UnreadRefusalTest,
    testing::Values(Refusal{"NotFound", RouteStatus::kNotFound, "HTTP/1.1 404 "},
                    Refusal{"UnknownHost", RouteStatus::kUnknownHost, "HTTP/1.1 400 "},
                    Refusal{"Reserved", RouteStatus::kReserved, "HTTP/1.1 503 "},
                    Refusal{"Offline", RouteStatus::kOffline, "HTTP/1.1 503 "},
                    Refusal{"QueueFull", RouteStatus::kQueueFull, "HTTP/1.1 503 "},
                    Refusal{"Misdirected", RouteStatus::kMisdirected, "HTTP/1.1 421 "}),
    [](const testing::TestParamInfo<Refusal>& info) { return std::string(info.param.name); });

TEST_F(UnsentOutputTest, AnswersOfOneTurnKeepNoMemoryForEachOther) {
  router_.outcome = RequestRouter::Outcome::kUnrouted;
  router_.status = RouteStatus::kNotFound;
  EXPECT_GT(Flood(kGet), 1000);
  EXPECT_EQ(most_pieces_, 0u);
}

// On a port that one server has for itself answers of the lane are gathered.
class UnsharedPortTest : public UnsentOutputTest {
 protected:
  UnsharedPortTest() {
    router_.must_route = false;
    ServerSettings settings;
    settings.prefixes = test::WholePrefixes({"http://a:80/served/"});
    server_.config = ServerConfig::Create(std::move(settings));
  }
};

TEST_F(UnsharedPortTest, GatheredAnswersWaitWhileTheirClientDoesNotReadAndAllLeaveWhenItDoes) {
  const int requests = Flood(kGet);
  EXPECT_LT(requests, 1'000'000);
  EXPECT_FALSE(is_closed_);
  EXPECT_GT(most_, limits::kUnsentBytesMax);
  EXPECT_LE(most_, limits::kUnsentBytesMax + kAnswerBytesMax);
  EXPECT_EQ(most_pieces_, 0u);
  EXPECT_EQ(Count(ReadAll(), "HTTP/1.1 404 "), requests);
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kUnrouted), static_cast<uint64_t>(requests));
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kRefused), 0u);
}

TEST_F(UnsharedPortTest, AnswersToTheRequestsOfOneReadLeaveInOneWriteAndInOrder) {
  // Packets show where one write ends.
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends), 0);
  transport_->CountLoad();
  Connection* connection = transport_->Open(ends[0], &server_);
  transport_->Announce(connection, 0);
  transport_->Watch(connection);
  const std::string requests = std::string(kGet) + "HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n" +
                               std::string(kGet) + "malformed\r\n\r\n";
  ASSERT_EQ(send(ends[1], requests.data(), requests.size(), 0),
            static_cast<ssize_t>(requests.size()));
  Turn();
  std::vector<char> buffer(64 * 1024);
  const ssize_t got = recv(ends[1], buffer.data(), buffer.size(), 0);
  ASSERT_GT(got, 0);
  const std::string answers(buffer.data(), static_cast<size_t>(got));
  EXPECT_EQ(Count(answers, "HTTP/1.1 404 "), 3);
  EXPECT_EQ(Count(answers, "</h1>"), 2);
  EXPECT_EQ(Count(answers, "HTTP/1.1 400 "), 1);
  EXPECT_GT(answers.find("HTTP/1.1 400 "), answers.rfind("HTTP/1.1 404 "));
  EXPECT_EQ(recv(ends[1], buffer.data(), buffer.size(), 0), 0);
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kUnrouted), 3u);
  EXPECT_EQ(answers_->counters().Read(LaneCounter::kRefused), 1u);
  close(ends[1]);
}

TEST_F(UnsentOutputTest, BodiesOfRefusedRequestsDoNotLetFurtherOnesThrough) {
  router_.outcome = RequestRouter::Outcome::kUnrouted;
  router_.status = RouteStatus::kNotFound;
  const int requests = Flood(
      "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
      "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
  EXPECT_LE(most_, limits::kUnsentBytesMax + kAnswerBytesMax);
  EXPECT_EQ(Count(ReadAll(), "HTTP/1.1 404 "), 2 * requests);
}

TEST_F(UnsentOutputTest, ANewRequestWaitsForAnAnswerOfTheApplicationToo) {
  const std::string big(1024 * 1024, 'x');
  ASSERT_EQ(send(peer_, kGet.data(), kGet.size(), 0), static_cast<ssize_t>(kGet.size()));
  Turn();
  ASSERT_EQ(router_.requests, 1);
  output()->Send(connection_, big, big.size());
  exchanges_->OnAnswered(connection_);
  Turn();
  ASSERT_TRUE(OutputPass::IsBehind(*connection_));
  ASSERT_EQ(send(peer_, kGet.data(), kGet.size(), 0), static_cast<ssize_t>(kGet.size()));
  Turn();
  EXPECT_EQ(router_.requests, 1);
  EXPECT_EQ(ReadAll().size(), big.size());
  EXPECT_EQ(router_.requests, 2);
}

TEST_F(UnsentOutputTest, AnAnswerThatTheSocketTakesInThisPassHoldsNothingBack) {
  const std::string big(limits::kUnsentBytesMax + 1, 'x');
  const std::string two = std::string(kGet).append(kGet);
  server_.config = [] {
    ServerSettings settings;
    settings.pipelined_requests_max = 1;
    return ServerConfig::Create(std::move(settings));
  }();
  ASSERT_EQ(send(peer_, two.data(), two.size(), 0), static_cast<ssize_t>(two.size()));
  Turn();
  ASSERT_EQ(router_.requests, 1);
  output()->Send(connection_, big, big.size());
  exchanges_->OnAnswered(connection_);
  // As a record does that is handled in the same pass, before anything was sent.
  input_->Resume(connection_, kPausePipeline);
  EXPECT_EQ(router_.requests, 1);
  Turn();
  EXPECT_EQ(router_.requests, 2);
}

TEST_F(UnsentOutputTest, ABodyOfTenMegabytesIsReadToItsEndThoughItsAnswerIsNot) {
  constexpr size_t kBodyBytes = 10 * 1024 * 1024;
  const std::string big(1024 * 1024, 'x');
  const std::string head =
      "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(kBodyBytes) + "\r\n\r\n";
  ASSERT_EQ(send(peer_, head.data(), head.size(), 0), static_cast<ssize_t>(head.size()));
  Turn();
  output()->Send(connection_, big, big.size());
  Turn();
  ASSERT_TRUE(OutputPass::IsBehind(*connection_));
  const std::string piece(64 * 1024, 'y');
  size_t read = 0;
  for (size_t sent = 0; sent < kBodyBytes;) {
    const size_t more = std::min(piece.size(), kBodyBytes - sent);
    const ssize_t count = send(peer_, piece.data(), more, MSG_NOSIGNAL);
    ASSERT_GT(count, 0) << "after " << sent << " bytes";
    sent += static_cast<size_t>(count);
    Turn();
    read += ReadBodies();
  }
  EXPECT_EQ(read, kBodyBytes);
  EXPECT_EQ(static_cast<int>(connection_->phase()), static_cast<int>(InputPhase::kHead));
  EXPECT_TRUE(OutputPass::IsBehind(*connection_));
  EXPECT_EQ(ReadAll().size(), big.size());
}

TEST_F(UnsentOutputTest, AHeadThatHasBegunIsReadToItsEnd) {
  const std::string big(1024 * 1024, 'x');
  const std::string first = std::string(kGet) + "GET /later HTTP/1.1\r\n";
  ASSERT_EQ(send(peer_, first.data(), first.size(), 0), static_cast<ssize_t>(first.size()));
  Turn();
  output()->Send(connection_, big, big.size());
  exchanges_->OnAnswered(connection_);
  Turn();
  ASSERT_TRUE(OutputPass::IsBehind(*connection_));
  ASSERT_EQ(send(peer_, "Host: a\r\n\r\n", 11, 0), 11);
  Turn();
  EXPECT_EQ(router_.requests, 2);
}

TEST_F(UnsentOutputTest, AClientThatGoesWhileItsRequestsWaitEndsTheConnection) {
  router_.outcome = RequestRouter::Outcome::kUnrouted;
  router_.status = RouteStatus::kNotFound;
  Flood(kGet);
  ASSERT_FALSE(is_closed_);
  close(std::exchange(peer_, -1));
  Turn();
  EXPECT_TRUE(is_closed_);
}

TEST_F(UnsentOutputTest, AClientThatSendsNothingMoreGetsTheAnswersToWhatItHasSent) {
  router_.outcome = RequestRouter::Outcome::kUnrouted;
  router_.status = RouteStatus::kNotFound;
  const int requests = Flood(kGet);
  // What the flood could not send ends within a request.
  const int left = Count(unfinished_, "GET");
  const bool is_whole = unfinished_.starts_with("GET") || unfinished_.empty();
  unfinished_.clear();
  shutdown(peer_, SHUT_WR);
  Turn();
  EXPECT_FALSE(is_closed_);
  const std::string all = ReadAll();
  EXPECT_EQ(Count(all, "HTTP/1.1 404 "), requests - left - (is_whole ? 0 : 1));
  EXPECT_TRUE(is_closed_);
}

}  // namespace
}  // namespace httpsys::engine
