#include "engine/requests/canned_replies.h"

#include "base/limits.h"

namespace httpsys::engine {
namespace {

using records::ErrorKind;

struct Page {
  std::string_view status;
  std::string_view text;
};

Page PageFor(RouteStatus status) {
  switch (status) {
    case RouteStatus::kUnknownHost:
    case RouteStatus::kBadHost:
      return {"400 Bad Request", "Bad Request - Invalid Hostname"};
    case RouteStatus::kReserved:
    case RouteStatus::kOffline:
    case RouteStatus::kQueueFull:
    case RouteStatus::kQueueTimeout:
    case RouteStatus::kNoRelay:
    case RouteStatus::kTooManyConnections:
      return {"503 Service Unavailable", "Service Unavailable"};
    case RouteStatus::kMisdirected:
      return {"421 Misdirected Request", "Misdirected Request"};
    case RouteStatus::kBadUrl:
      return {"400 Bad Request", "Bad Request - Invalid URL"};
    case RouteStatus::kLongUrl:
      return {"414 URI Too Long", "URI Too Long"};
    default:
      return {"404 Not Found", "Not Found"};
  }
}

}  // namespace

std::string_view RefusalReply(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kHeaderOverflow:
      return "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n";
    case ErrorKind::kChunkExtensions:
    case ErrorKind::kBodyTooLarge:
      return "HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n\r\n";
    case ErrorKind::kTimeout:
      return "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";
    default:
      return "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
  }
}

std::string_view PlainHttpReply() {
  return "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: text/plain\r\n"
         "Content-Length: 39\r\n\r\nThis port speaks HTTPS, not plain HTTP\n";
}

std::string_view OfflineReply() {
  static_assert(limits::kRetryAfterSeconds == 1);
  return "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n"
         "Content-Length: 0\r\n\r\n";
}

size_t AppendRouteReply(RouteStatus status, std::string_view reason, bool is_head_request,
                        std::string* output) {
  const size_t begin = output->size();
  const Page page = PageFor(status);
  std::string body = "<!DOCTYPE html><title>";
  body.append(page.text).append("</title><h1>").append(page.text).append("</h1>\n");
  if (!reason.empty()) body.append("<p>").append(reason).append("</p>\n");
  output->append("HTTP/1.1 ").append(page.status);
  output->append("\r\nContent-Type: text/html; charset=us-ascii\r\nContent-Length: ");
  output->append(std::to_string(body.size()));
  if (page.status.starts_with("503")) {
    output->append("\r\nRetry-After: ").append(std::to_string(limits::kRetryAfterSeconds));
  }
  output->append("\r\n\r\n");
  const size_t head_bytes = output->size() - begin;
  if (!is_head_request) output->append(body);
  return head_bytes;
}

}  // namespace httpsys::engine
