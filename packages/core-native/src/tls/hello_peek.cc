#include "tls/hello_peek.h"

#include <algorithm>

#include "base/limits.h"
#include "url/host_name.h"
#include "url/url_prefix.h"

namespace httpsys::tls {
namespace {

constexpr uint8_t kRecordHandshake = 22;
constexpr size_t kRecordHeaderBytes = 5;
constexpr size_t kRecordBytesMax = 16 * 1024;
constexpr uint8_t kMessageClientHello = 1;
constexpr size_t kMessageHeaderBytes = 4;
constexpr size_t kRandomBytes = 32;
constexpr size_t kExtensionServername = 0;
constexpr size_t kNameTypeHost = 0;
constexpr size_t kServernameBytesMax = 255;  // OpenSSL's TLSEXT_MAXLEN_host_name.

// Reads numbers and vectors. After a read beyond the end, all later reads return 0 or empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  size_t Number(size_t bytes) {
    size_t value = 0;
    for (const char byte : Take(bytes)) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  }
  std::string_view Take(size_t bytes) {
    if (bytes > rest_.size()) {
      is_good_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  // Returns a vector; its length precedes it in `length_bytes` bytes.
  std::string_view Vector(size_t length_bytes) { return Take(Number(length_bytes)); }
  bool is_empty() const { return rest_.empty(); }
  bool is_good() const { return is_good_; }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

// Concatenates the body of the handshake message from the records that contain it.
PeekStatus GatherHello(std::string_view bytes, std::string* hello) {
  std::string message;
  while (!bytes.empty()) {
    if (static_cast<uint8_t>(bytes[0]) != kRecordHandshake) return PeekStatus::kOther;
    if (bytes.size() > 1 && bytes[1] != 3) return PeekStatus::kOther;
    if (bytes.size() < kRecordHeaderBytes) return PeekStatus::kNeedMore;
    const size_t length = Reader(bytes.substr(3)).Number(2);
    if (length == 0 || length > kRecordBytesMax) return PeekStatus::kOther;
    message.append(bytes.substr(kRecordHeaderBytes, length));
    bytes.remove_prefix(std::min(bytes.size(), kRecordHeaderBytes + length));
    if (message.empty()) continue;
    if (static_cast<uint8_t>(message[0]) != kMessageClientHello) return PeekStatus::kOther;
    if (message.size() < kMessageHeaderBytes) continue;
    const size_t size = Reader(std::string_view(message).substr(1)).Number(3);
    if (size > limits::kHelloPeekBytesMax) return PeekStatus::kOther;
    if (message.size() - kMessageHeaderBytes < size) continue;
    hello->assign(message, kMessageHeaderBytes, size);
    return PeekStatus::kHello;
  }
  return PeekStatus::kNeedMore;
}

std::string_view FindExtension(std::string_view hello, size_t wanted) {
  Reader reader(hello);
  reader.Take(2 + kRandomBytes);  // Version, random.
  reader.Vector(1);               // Session id,
  reader.Vector(2);               // cipher suites,
  reader.Vector(1);               // compression methods.
  Reader extensions(reader.Vector(2));
  while (extensions.is_good() && !extensions.is_empty()) {
    const size_t type = extensions.Number(2);
    const std::string_view body = extensions.Vector(2);
    if (type == wanted && extensions.is_good()) return body;
  }
  return {};
}

}  // namespace

std::string_view ServernameOf(std::string_view extension) {
  Reader reader(extension);
  Reader names(reader.Vector(2));
  const size_t type = names.Number(1);
  const std::string_view name = names.Vector(2);
  const bool is_whole =
      reader.is_good() && reader.is_empty() && names.is_good() && names.is_empty();
  if (!is_whole || type != kNameTypeHost || name.size() > kServernameBytesMax) return {};
  return name.find('\0') == std::string_view::npos ? name : std::string_view();
}

PeekStatus PeekServername(std::string_view bytes, std::string* servername) {
  servername->clear();
  std::string hello;
  const PeekStatus status = GatherHello(bytes, &hello);
  if (status != PeekStatus::kHello) return status;
  const std::string_view name =
      WithoutFinalDot(ServernameOf(FindExtension(hello, kExtensionServername)));
  if (name.size() <= kHostNameBytesMax) servername->assign(name);
  for (char& byte : *servername) {
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + ('a' - 'A'));
  }
  return PeekStatus::kHello;
}

}  // namespace httpsys::tls
