#include "http2/request_text.h"

#include <algorithm>
#include <charconv>

namespace httpsys::http2 {
namespace {

using http1::BodyKind;
using http1::HeaderLine;

bool HasLine(const http1::RequestHead& head, std::string_view lower_name) {
  return std::any_of(head.lines.begin(), head.lines.end(),
                     [=](const HeaderLine& line) { return line.name == lower_name; });
}

void AppendLine(const HeaderLine& line, std::string* text) {
  text->append(line.name).append(": ").append(line.value).append("\r\n");
}

}  // namespace

BodyKind AppendRequestHead(const http1::MethodTable& methods, const http1::RequestHead& head,
                           std::string* text) {
  const bool is_rechunked = head.body == BodyKind::kLength && HasLine(head, "trailer");
  // The bytes of a tunnel are no body, even if the client sends a content-length.
  const bool has_no_length = is_rechunked || head.upgrade;
  text->append(methods.Name(head.method)).append(" ").append(head.target).append(" HTTP/1.1\r\n");
  for (const HeaderLine& line : head.lines) {
    if (!has_no_length || line.name != "content-length") AppendLine(line, text);
  }
  if (is_rechunked) AppendLine({"transfer-encoding", "chunked"}, text);
  text->append("\r\n");
  return is_rechunked ? BodyKind::kChunked : head.body;
}

void AppendChunk(std::string_view piece, std::string* text) {
  if (piece.empty()) return;
  char size[16];
  const auto digits = std::to_chars(size, size + sizeof size, piece.size(), 16).ptr - size;
  text->append(size, static_cast<size_t>(digits)).append("\r\n").append(piece).append("\r\n");
}

void AppendLastChunk(std::string_view trailers, std::string* text) {
  text->append("0\r\n").append(trailers).append("\r\n");
}

void AppendLines(const std::vector<HeaderLine>& lines, std::string* text) {
  for (const HeaderLine& line : lines) AppendLine(line, text);
}

}  // namespace httpsys::http2
