// Compressed texts: decoders of the same formats read them back.

#include "encoders/encode.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace httpsys::encoders {
namespace {

using semantics::CodingName;
using semantics::ContentCoding;

constexpr ContentCoding kAll[] = {ContentCoding::kBr, ContentCoding::kZstd, ContentCoding::kGzip};

// This program is not node: the functions come from libraries, if the machine has them, which must
// be there before anybody looks for the functions.
class EncodeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    (void)dlopen("libbrotlienc.so.1", RTLD_NOW | RTLD_GLOBAL);
    (void)dlopen("libbrotlidec.so.1", RTLD_NOW | RTLD_GLOBAL);
    (void)dlopen("libzstd.so.1", RTLD_NOW | RTLD_GLOBAL);
  }

  static std::string Decode(ContentCoding coding, const std::string& coded, size_t bytes) {
    std::string text(bytes, '\0');
    if (coding == ContentCoding::kGzip) {
      z_stream stream{};
      EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
      stream.avail_in = static_cast<uInt>(coded.size());
      stream.next_out = reinterpret_cast<Bytef*>(text.data());
      stream.avail_out = static_cast<uInt>(text.size());
      EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
      EXPECT_EQ(stream.avail_out, 0u);
      EXPECT_EQ(inflateEnd(&stream), Z_OK);
    } else if (coding == ContentCoding::kBr) {
      using Function = int (*)(size_t, const uint8_t*, size_t*, uint8_t*);
      const auto decode =
          reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "BrotliDecoderDecompress"));
      EXPECT_EQ(decode(coded.size(), reinterpret_cast<const uint8_t*>(coded.data()), &bytes,
                       reinterpret_cast<uint8_t*>(text.data())),
                1);
      text.resize(bytes);
    } else {
      using Function = size_t (*)(void*, size_t, const void*, size_t);
      const auto decode = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "ZSTD_decompress"));
      text.resize(decode(text.data(), text.size(), coded.data(), coded.size()));
    }
    return text;
  }

  static std::string Text(size_t bytes) {
    std::string text;
    for (int i = 0; text.size() < bytes; ++i) {
      text.append("<li class=\"item\">number ").append(std::to_string(i * i)).append("</li>\n");
    }
    text.resize(bytes);
    return text;
  }
};

TEST_F(EncodeTest, EveryCodingGivesTheTextBack) {
  for (const ContentCoding coding : kAll) {
    if (!AvailableCodings().Has(coding)) continue;
    for (const size_t bytes : {size_t{1}, size_t{1000}, size_t{100'000}, size_t{1024} * 1024}) {
      const std::string text = Text(bytes);
      const std::string coded = Encode(coding, text, bytes + 1000);
      ASSERT_FALSE(coded.empty()) << CodingName(coding) << bytes;
      EXPECT_EQ(Decode(coding, coded, bytes), text) << CodingName(coding) << bytes;
      if (bytes >= 100'000) {
        EXPECT_LT(coded.size(), bytes / 5) << CodingName(coding);
      }
    }
  }
}

TEST_F(EncodeTest, GzipIsAlwaysThereAndIdentityIsNoEncoder) {
  EXPECT_TRUE(AvailableCodings().Has(ContentCoding::kGzip));
  EXPECT_FALSE(AvailableCodings().Has(ContentCoding::kIdentity));
  EXPECT_EQ(Encode(ContentCoding::kIdentity, "text", 100), "");
}

TEST_F(EncodeTest, AResultThatIsTooLongIsNone) {
  std::string noise;
  uint32_t state = 1;
  for (int i = 0; i < 4000; ++i) {
    state = state * 1664525 + 1013904223;
    noise.push_back(static_cast<char>(state >> 24));
  }
  for (const ContentCoding coding : kAll) {
    if (!AvailableCodings().Has(coding)) continue;
    EXPECT_EQ(Encode(coding, noise, noise.size() - 64), "") << CodingName(coding);
    EXPECT_EQ(Encode(coding, noise, 0), "") << CodingName(coding);
    EXPECT_EQ(Encode(coding, noise, 1), "") << CodingName(coding);
    const std::string text = Text(5000);
    const size_t bytes = Encode(coding, text, text.size()).size();
    EXPECT_EQ(Encode(coding, text, bytes - 1), "") << CodingName(coding);
  }
}

TEST_F(EncodeTest, ALackingFunctionIsALackingCoding) {
  EncoderApi api;
  api.BrotliEncoderCompress = nullptr;
  api.ZSTD_compress2 = nullptr;
  EXPECT_FALSE(api.has_brotli());
  EXPECT_FALSE(api.has_zstd());
}

}  // namespace
}  // namespace httpsys::encoders
