// Compressed variants of what a process has stored: whose they are, and until when.

#include "engine/cache/compressor.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <thread>
#include <vector>

#include "cache/cache_key.h"
#include "cache/coding_policy.h"
#include "engine/cache/cache_reader.h"
#include "engine/cache/stored_head.h"
#include "support/cache_messages.h"

namespace httpsys::engine {
namespace {

using semantics::ContentCoding;

class CompressorTest : public testing::Test {
 protected:
  void SetUp() override { scope_ = cache_.Claim("scope"); }

  std::string KeyOf(std::string_view target) const {
    return "h" + std::to_string(scope_) + "\na.example\n" + std::string(target);
  }
  static std::string Body(size_t bytes, char first = 'a') {
    std::string body(1, first);
    while (body.size() < bytes) body.append("the same words again and again, ");
    return body;
  }
  void Store(const std::string& key, const std::string& body, const cache::VaryNames& vary = {},
             std::span<const http1::HeaderLine> lines = {}) {
    ProcessCache::Response response;
    const std::string head =
        "HTTP/1.1 200 OK\r\nETag: \"e\"\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
    response.parts.key = key;
    response.parts.head = head;
    response.parts.body = body;
    response.parts.status = 200;
    response.parts.terms.stored_ms = 1000;
    response.parts.terms.lifetime_s = 60;
    response.vary = &vary;
    response.lines = lines;
    response.mark = cache_.MarkOf(key);
    ASSERT_EQ(cache_.Store(response), cache::Refusal::kNone);
  }
  // Looks for the plain entry.
  bool Find(std::string* key, const http1::RequestHead& head = {}) {
    cache_.Map(&mapping_);
    return FindResponse(*mapping_.reader, head, key, &memory_, &plain_) == cache::FindResult::kHit;
  }
  FoundCoding FindGzip(const std::string& key) {
    return FindCoded(*mapping_.reader, key, plain_.entry.terms, ContentCoding::kGzip, &memory_,
                     &coded_);
  }
  // Makes the variant of an entry.
  void Make(std::string key) {
    ASSERT_TRUE(Find(&key));
    compressor_.Add(key, plain_.entry.terms, ContentCoding::kGzip);
    compressor_.WaitUntilIdle();
  }
  static std::string Inflate(std::string_view coded) {
    std::string text(1024 * 1024, '\0');
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
    stream.avail_in = static_cast<uInt>(coded.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data());
    stream.avail_out = static_cast<uInt>(text.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    text.resize(text.size() - stream.avail_out);
    EXPECT_EQ(inflateEnd(&stream), Z_OK);
    return text;
  }

  ProcessCache cache_;
  Compressor compressor_{&cache_};
  uint32_t scope_ = 0;
  ProcessCache::Mapping mapping_;
  FindMemory memory_;
  cache::FoundEntry plain_;
  cache::FoundEntry coded_;
};

TEST_F(CompressorTest, AVariantHasTheBodyAndAHeadOfItsOwn) {
  std::string key = KeyOf("/a");
  Store(key, Body(5000));
  ASSERT_TRUE(Find(&key));
  EXPECT_EQ(FindGzip(key), FoundCoding::kNone);
  Make(key);
  ASSERT_TRUE(Find(&key));
  ASSERT_EQ(FindGzip(key), FoundCoding::kVariant);
  EXPECT_EQ(Inflate(coded_.body), Body(5000));
  EXPECT_EQ(plain_.body, Body(5000));
  EXPECT_LT(coded_.body.size(), 500u);
  EXPECT_EQ(coded_.entry.status, 200);
  EXPECT_EQ(coded_.head,
            "HTTP/1.1 200 OK\r\nETag: W/\"e\"\r\nContent-Encoding: gzip\r\n"
            "Content-Length: " +
                std::to_string(coded_.body.size()) + "\r\n");
}

TEST_F(CompressorTest, WhatReplacesAnEntryHasNoVariantUntilItGetsItsOwn) {
  std::string key = KeyOf("/a");
  Store(key, Body(5000, 'a'));
  Make(key);
  // In the same millisecond, even the same response.
  Store(key, Body(5000, 'b'));
  ASSERT_TRUE(Find(&key));
  EXPECT_EQ(FindGzip(key), FoundCoding::kNone);
  Make(key);
  ASSERT_TRUE(Find(&key));
  ASSERT_EQ(FindGzip(key), FoundCoding::kVariant);
  EXPECT_EQ(Inflate(coded_.body), Body(5000, 'b'));
}

TEST_F(CompressorTest, AnEntryThatIsGoneGetsNoVariant) {
  std::string key = KeyOf("/a");
  Store(key, Body(5000, 'a'));
  ASSERT_TRUE(Find(&key));
  const cache::EntryTerms terms = plain_.entry.terms;
  ASSERT_TRUE(cache_.Drop(key));
  compressor_.Add(key, terms, ContentCoding::kGzip);
  compressor_.WaitUntilIdle();
  EXPECT_EQ(cache_.counts().entries, 0u);
  // Another one has its key now.
  Store(key, Body(5000, 'b'));
  compressor_.Add(key, terms, ContentCoding::kGzip);
  compressor_.WaitUntilIdle();
  EXPECT_EQ(cache_.counts().entries, 1u);
  cache::EntryHead plain;
  plain.terms = terms;
  cache_.StoreCoded({key, ContentCoding::kGzip, &plain, "head", "body"});
  EXPECT_EQ(cache_.counts().entries, 1u);
  ASSERT_TRUE(Find(&key));
  EXPECT_EQ(FindGzip(key), FoundCoding::kNone);
}

TEST_F(CompressorTest, EachVariantByVaryHasItsOwn) {
  cache::VaryNames vary;
  vary.Add("Accept-Language");
  const cache::TestRequest german("Accept-Language: de");
  const cache::TestRequest english("Accept-Language: en");
  const std::string key = KeyOf("/a");
  Store(key, Body(5000, 'd'), vary, german.head().lines);
  Store(key, Body(5000, 'e'), vary, english.head().lines);
  std::string german_key = key;
  ASSERT_TRUE(Find(&german_key, german.head()));
  compressor_.Add(german_key, plain_.entry.terms, ContentCoding::kGzip);
  compressor_.WaitUntilIdle();
  std::string english_key = key;
  ASSERT_TRUE(Find(&english_key, english.head()));
  EXPECT_EQ(FindGzip(english_key), FoundCoding::kNone);
  german_key = key;
  ASSERT_TRUE(Find(&german_key, german.head()));
  ASSERT_EQ(FindGzip(german_key), FoundCoding::kVariant);
  EXPECT_EQ(Inflate(coded_.body), Body(5000, 'd'));
}

TEST_F(CompressorTest, WhatDoesNotBecomeSmallerIsNotTriedAgain) {
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) {
    state = state * 1664525 + 1013904223;
    noise.push_back(static_cast<char>(state >> 24));
  }
  std::string key = KeyOf("/noise");
  Store(key, noise);
  Make(key);
  ASSERT_TRUE(Find(&key));
  EXPECT_EQ(FindGzip(key), FoundCoding::kNoGain);
}

TEST_F(CompressorTest, VariantsAreDroppedWithWhatTheirKeysName) {
  const std::string key = KeyOf("/a");
  Store(key, Body(5000));
  Make(key);
  size_t responses = 0;
  const size_t dropped =
      cache_.DropIf([&](std::string_view found, const cache::EntryHead& entry, uint32_t) {
        cache::KeyParts parts;
        EXPECT_TRUE(cache::SplitKey(found, &parts));
        EXPECT_EQ(parts.target, "/a");
        if (entry.kind == cache::EntryKind::kResponse) ++responses;
        return parts.target == "/a";
      });
  EXPECT_EQ(dropped, 2u);
  EXPECT_EQ(responses, 1u);
  EXPECT_EQ(cache_.counts().entries, 0u);
}

TEST_F(CompressorTest, WithoutScopesNothingIsKept) {
  std::string key = KeyOf("/a");
  Store(key, Body(5000));
  ASSERT_TRUE(Find(&key));
  const cache::EntryTerms terms = plain_.entry.terms;
  cache_.Release("scope");
  compressor_.Add(key, terms, ContentCoding::kGzip);
  compressor_.WaitUntilIdle();
  EXPECT_EQ(cache_.memory_bytes(), 0u);
}

TEST_F(CompressorTest, ManyThreadsMayAskWhileEntriesAreReplaced) {
  std::vector<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.push_back(KeyOf("/" + std::to_string(i)));
  for (const std::string& key : keys) Store(key, Body(3000));
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      ProcessCache::Mapping mapping;
      FindMemory memory;
      cache::FoundEntry plain;
      cache::FoundEntry coded;
      for (int round = 0; round < 20; ++round) {
        for (const std::string& asked : keys) {
          if (mapping.version != cache_.version() || mapping.reader == nullptr) {
            cache_.Map(&mapping);
          }
          std::string key = asked;
          if (FindResponse(*mapping.reader, {}, &key, &memory, &plain) != cache::FindResult::kHit) {
            continue;
          }
          switch (FindCoded(*mapping.reader, key, plain.entry.terms, ContentCoding::kGzip, &memory,
                            &coded)) {
            case FoundCoding::kVariant:
              EXPECT_EQ(Inflate(coded.body), plain.body);
              break;
            case FoundCoding::kNone:
              compressor_.Add(key, plain.entry.terms, ContentCoding::kGzip);
              break;
            case FoundCoding::kNoGain:
              ADD_FAILURE();
              break;
          }
        }
      }
    });
  }
  for (int round = 0; round < 20; ++round) {
    for (const std::string& key : keys) {
      Store(key, Body(3000, static_cast<char>('a' + round)));
    }
  }
  for (std::thread& thread : threads) thread.join();
  compressor_.WaitUntilIdle();
}

}  // namespace
}  // namespace httpsys::engine
