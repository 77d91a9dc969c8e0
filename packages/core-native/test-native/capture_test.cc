#include "engine/cache/capture.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "cache/cache_key.h"
#include "engine/cache/cache_reader.h"
#include "support/cache_messages.h"

namespace httpsys::engine {
namespace {

using cache::kNowS;
using cache::Refusal;
using cache::TestRequest;
using State = Capture::State;

constexpr cache::Received kNow{kNowS, 1'000'000};
constexpr std::string_view kFresh = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n";

class CaptureTest : public testing::Test {
 protected:
  CaptureTest() : scope_(cache_.Claim("http://a.example:80/")), reader_(&cache_) {
    terms_->counters = std::make_shared<CacheCounters>();
    EXPECT_TRUE(cache::MakeKey({false, scope_}, request_.head(), &key_));
  }

  std::unique_ptr<Capture> Begin() {
    return std::make_unique<Capture>(
        std::make_unique<CapturedRequest>(request_.head(), request_.facts(), key_), terms_,
        &cache_);
  }
  static std::string Head(std::string_view lines) {
    return std::string(kFresh).append(lines).append("\r\n");
  }
  // The entry as text; empty: none.
  std::string Entry() {
    std::string key = key_;
    cache::FoundEntry found;
    if (reader_.Find(request_.head(), scope_, &key, &found) != cache::FindResult::kHit) return {};
    return std::string(found.head).append("\r\n").append(found.body);
  }

  ProcessCache cache_;
  uint32_t scope_;
  CacheReader reader_;
  TestRequest request_;
  std::string key_;
  std::shared_ptr<CacheTerms> terms_ = std::make_shared<CacheTerms>();
};

TEST_F(CaptureTest, StoresAResponseOfOnePiece) {
  const auto capture = Begin();
  capture->OnText(Head("Content-Length: 3\r\n") + "abc", true, kNow);
  EXPECT_EQ(capture->state(), State::kCapturing);
  EXPECT_EQ(Entry(), "");
  capture->OnEnd(kNow, true);
  EXPECT_EQ(capture->state(), State::kStored);
  EXPECT_EQ(capture->status(), 200);
  EXPECT_EQ(Entry(), Head("Content-Length: 3\r\n") + "abc");
}

TEST_F(CaptureTest, GivesTheLengthToAResponseThatTheLaneFramesItself) {
  const auto capture = Begin();
  capture->OnText(Head("Transfer-Encoding: chunked\r\n"), false, kNow);
  capture->OnBody("abc");
  capture->OnBody("de");
  capture->OnEnd(kNow, true);
  EXPECT_EQ(Entry(), Head("Content-Length: 5\r\n") + "abcde");
}

TEST_F(CaptureTest, ReadsChunksThatTheApplicationHasFramedInPiecesOfAnySize) {
  const std::string text =
      Head("Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n";
  for (size_t bytes = 1; bytes <= text.size(); bytes += 7) {
    const auto capture = Begin();
    for (size_t at = 0; at < text.size(); at += bytes) {
      capture->OnText(std::string_view(text).substr(at, bytes), false, kNow);
    }
    capture->OnEnd(kNow, true);
    EXPECT_EQ(Entry(), Head("Content-Length: 5\r\n") + "abcde") << bytes;
    (void)cache_.Drop(key_);
  }
}

TEST_F(CaptureTest, SkipsInterimResponses) {
  const auto capture = Begin();
  capture->OnText("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", false, kNow);
  EXPECT_EQ(capture->state(), State::kBeforeHead);
  capture->OnText(Head("Content-Length: 0\r\n"), true, kNow);
  capture->OnEnd(kNow, true);
  EXPECT_EQ(Entry(), Head("Content-Length: 0\r\n"));
}

TEST_F(CaptureTest, RefusesAResponseWhoseBodyIsNotWhatItsHeadSays) {
  const auto shorter = Begin();
  shorter->OnText(Head("Content-Length: 4\r\n") + "abc", true, kNow);
  shorter->OnEnd(kNow, true);
  EXPECT_EQ(shorter->refusal(), Refusal::kIncomplete);
  const auto without_end = Begin();
  without_end->OnText(Head("Transfer-Encoding: chunked\r\n") + "3\r\nab", false, kNow);
  without_end->OnText("x", false, kNow);
  without_end->OnText("y", false, kNow);
  without_end->OnEnd(kNow, true);
  EXPECT_EQ(without_end->refusal(), Refusal::kIncomplete);
  const auto without_head = Begin();
  without_head->OnEnd(kNow, true);
  EXPECT_EQ(without_head->refusal(), Refusal::kIncomplete);
  EXPECT_EQ(Entry(), "");
}

TEST_F(CaptureTest, RefusesAResponseThatTheEndOfItsConnectionMayHaveCutOff) {
  const auto chunks = Begin();
  chunks->OnText(Head("Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n", false, kNow);
  chunks->OnEnd(kNow, false);
  EXPECT_EQ(chunks->refusal(), Refusal::kIncomplete);
  const auto until_end = Begin();
  until_end->OnText(Head("") + "abc", false, kNow);
  until_end->OnEnd(kNow, false);
  EXPECT_EQ(until_end->refusal(), Refusal::kIncomplete);
  EXPECT_EQ(Entry(), "");
  const auto whole = Begin();
  whole->OnText(Head("Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n0\r\n\r\n", false, kNow);
  whole->OnEnd(kNow, false);
  EXPECT_EQ(Entry(), Head("Content-Length: 3\r\n") + "abc");
}

TEST_F(CaptureTest, RefusesAtTheHeadWhatMayNotBeStored) {
  const auto capture = Begin();
  capture->OnText(Head("Set-Cookie: a=b\r\nContent-Length: 3\r\n"), false, kNow);
  EXPECT_EQ(capture->state(), State::kRefused);
  EXPECT_EQ(capture->refusal(), Refusal::kSetCookie);
  EXPECT_EQ(terms_->counters->ReadRefusal(static_cast<size_t>(Refusal::kSetCookie)), 1u);
  capture->OnText("abc", true, kNow);
  capture->OnEnd(kNow, true);
  EXPECT_EQ(Entry(), "");
}

TEST_F(CaptureTest, RefusesTrailersAndMoreThanAnEntryMayHave) {
  const auto trailers = Begin();
  trailers->OnText(Head("Transfer-Encoding: chunked\r\n") + "1\r\na\r\n0\r\nX: y\r\n\r\n", false,
                   kNow);
  trailers->OnEnd(kNow, true);
  EXPECT_EQ(trailers->refusal(), Refusal::kTrailers);
  terms_->options.entry_bytes_max = 1000;
  const auto large = Begin();
  large->OnText(Head("Transfer-Encoding: chunked\r\n"), false, kNow);
  large->OnBody(std::string(900, 'x'));
  EXPECT_EQ(large->state(), State::kCapturing);
  large->OnBody(std::string(100, 'x'));
  EXPECT_EQ(large->refusal(), Refusal::kTooLarge);
}

TEST_F(CaptureTest, ReturnsTheMemoryOfWhatItGivesUp) {
  constexpr uint64_t kMost = ProcessCache::kDefaultBytes / 8;
  auto capture = Begin();
  capture->OnText(Head("Transfer-Encoding: chunked\r\n"), false, kNow);
  capture->OnBody(std::string(500'000, 'x'));
  EXPECT_FALSE(cache_.TakeCaptureBytes(kMost));
  capture->Refuse(Refusal::kIncomplete);
  EXPECT_TRUE(cache_.TakeCaptureBytes(kMost));
  cache_.ReturnCaptureBytes(kMost);
  capture = Begin();
  capture->OnText(Head("Transfer-Encoding: chunked\r\n"), false, kNow);
  capture->OnBody(std::string(500'000, 'x'));
  capture.reset();
  EXPECT_TRUE(cache_.TakeCaptureBytes(kMost));
}

TEST_F(CaptureTest, StoresNothingFromBeforeAnInvalidation) {
  const auto capture = Begin();
  (void)cache_.Drop(key_);
  capture->OnText(Head("Content-Length: 3\r\n") + "abc", true, kNow);
  capture->OnEnd(kNow, true);
  EXPECT_EQ(capture->refusal(), Refusal::kObsolete);
  EXPECT_EQ(Entry(), "");
}

TEST_F(CaptureTest, TakesTheTermsOfAPolicyBeforeThoseOfTheHead) {
  const auto capture = Begin();
  capture->SetPolicy({cache::ResponsePolicy::Kind::kTimeToLive, 0});
  capture->OnText(Head("Content-Length: 0\r\n"), true, kNow);
  EXPECT_EQ(capture->refusal(), Refusal::kStale);
}

TEST_F(CaptureTest, StoresAConfirmedResponseAgainOrForgetsIt) {
  const auto first = Begin();
  first->OnConfirmed(200, std::string(kFresh).append("Content-Length: 3\r\n"), "abc", 0, kNow);
  EXPECT_EQ(first->state(), State::kStored);
  EXPECT_EQ(Entry(), Head("Content-Length: 3\r\n") + "abc");
  const auto second = Begin();
  second->OnConfirmed(200, "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n", "abc", 0, kNow);
  EXPECT_EQ(second->refusal(), Refusal::kNoStore);
  EXPECT_EQ(Entry(), "");
}

// What the text of a head tells at a glance, and what it does not.
TEST_F(CaptureTest, ReadsHeadsThatSayNothingOfCaches) {
  struct Case {
    std::string_view head;
    Refusal refusal;  // kNone: stored.
  };
  for (const auto& [head, refusal] : std::initializer_list<Case>{
           {"HTTP/1.1 200 OK\r\nContent-Type: a\r\nETag: \"a\"\r\n", Refusal::kNoFreshness},
           {"HTTP/1.1 200\r\n", Refusal::kNoFreshness},
           {"HTTP/1.1 404 No\r\n", Refusal::kNoFreshness},
           {"HTTP/1.1 206 Part\r\n", Refusal::kPartial},
           {"HTTP/1.1 304 Same\r\n", Refusal::kNotModified},
           {"HTTP/1.1 200 OK\r\nA: b\r\nSET-COOKIE: a=b\r\n", Refusal::kSetCookie},
           {"HTTP/1.1 200 OK\r\nvary: *\r\n", Refusal::kVaryStar},
           {"HTTP/1.1 200 OK\r\nX: y\r\ncache-control: max-age=60\r\n", Refusal::kNone},
           {"HTTP/1.1 200 OK\r\nCDN-Cache-Control: max-age=60\r\n", Refusal::kNone},
           {"HTTP/1.1 200 OK\r\nExpires: Sat, 28 Nov 2026 12:00:00 GMT\r\n", Refusal::kNone}}) {
    const std::unique_ptr<Capture> capture = Begin();
    capture->OnText(std::string(head).append("Content-Length: 2\r\n\r\nab"), true, kNow);
    capture->OnEnd(kNow, true);
    EXPECT_EQ(capture->refusal(), refusal) << head;
    EXPECT_EQ(capture->state() == Capture::State::kStored, refusal == Refusal::kNone) << head;
  }
}

TEST_F(CaptureTest, StoresWhatSaysNothingOfCachesByAPolicyOrAGuess) {
  constexpr std::string_view kSilent =
      "HTTP/1.1 200 OK\r\nLast-Modified: Thu, 26 Nov 2026 12:00:00 GMT\r\nContent-Length: "
      "0\r\n\r\n";
  std::unique_ptr<Capture> capture = Begin();
  capture->SetPolicy({cache::ResponsePolicy::Kind::kTimeToLive, 60});
  capture->OnText(kSilent, true, kNow);
  capture->OnEnd(kNow, true);
  EXPECT_EQ(capture->state(), Capture::State::kStored);
  terms_->options.freshness.allows_heuristics = true;
  capture = Begin();
  capture->OnText(kSilent, true, kNow);
  capture->OnEnd(kNow, true);
  EXPECT_EQ(capture->state(), Capture::State::kStored);
}

}  // namespace
}  // namespace httpsys::engine
