#include "engine/requests/static_requests.h"

#include <uv.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <optional>
#include <random>
#include <span>

#include "base/ascii.h"
#include "engine/connection/socket_watch.h"
#include "url/url_path.h"

namespace httpsys::engine {
namespace {

using files::MountPolicy;
using semantics::Boundary;
using semantics::ConditionalMethod;
using static_files::FoundFile;
using static_files::KnownPath;
using static_files::RequestPath;
using static_files::SearchStatus;
using static_files::StaticDecision;
using static_files::StaticRequest;
using static_files::StaticResponse;
using static_files::StaticSite;

uint64_t NowMs() { return uv_hrtime() / 1'000'000; }

int64_t NowSeconds() { return static_cast<int64_t>(std::time(nullptr)); }

bool IsError(int status) { return status >= 400; }

std::string_view StatusLine(int status) {
  switch (status) {
    case 200:
      return "HTTP/1.1 200 OK\r\n";
    case 206:
      return "HTTP/1.1 206 Partial Content\r\n";
    case 301:
      return "HTTP/1.1 301 Moved Permanently\r\n";
    case 304:
      return "HTTP/1.1 304 Not Modified\r\n";
    case 400:
      return "HTTP/1.1 400 Bad Request\r\n";
    case 403:
      return "HTTP/1.1 403 Forbidden\r\n";
    case 404:
      return "HTTP/1.1 404 Not Found\r\n";
    case 405:
      return "HTTP/1.1 405 Method Not Allowed\r\n";
    case 412:
      return "HTTP/1.1 412 Precondition Failed\r\n";
    case 416:
      return "HTTP/1.1 416 Range Not Satisfiable\r\n";
    default:
      return "HTTP/1.1 500 Internal Server Error\r\n";
  }
}

// Copies the header fields that affect the answer to `request`. `joined` stores the joined values
// of fields with several lines.
void CollectFields(const http1::RequestHead& head, StaticRequest* request,
                   std::deque<std::string>* joined) {
  const std::pair<std::string_view, std::optional<std::string_view>*> wanted[] = {
      {"range", &request->range},
      {"if-match", &request->conditions.if_match},
      {"if-range", &request->conditions.if_range},
      {"cache-control", &request->cache_control},
      {"if-none-match", &request->conditions.if_none_match},
      {"accept-encoding", &request->accept_encoding},
      {"if-modified-since", &request->conditions.if_modified_since},
      {"if-unmodified-since", &request->conditions.if_unmodified_since},
  };
  for (const http1::HeaderLine& line : head.lines) {
    const auto found = std::find_if(std::begin(wanted), std::end(wanted), [&](const auto& one) {
      return EqualsIgnoringCase(line.name, one.first);
    });
    if (found == std::end(wanted)) continue;
    std::optional<std::string_view>& value = *found->second;
    if (value.has_value()) {
      std::string& both = joined->emplace_back(*value);
      both.append(", ").append(line.value);
      value = both;
    } else {
      value = line.value;
    }
  }
}

// Returns true if the Upgrade field names only protocols that no application accepts: h2c, which
// some clients offer with every first request, and TLS.
bool OffersOnlyUntaken(const http1::RequestHead& head) {
  constexpr std::string_view kSpace = " \t";
  for (const http1::HeaderLine& line : head.lines) {
    if (!EqualsIgnoringCase(line.name, "upgrade")) continue;
    std::string_view rest = line.value;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      std::string_view name = rest.substr(0, comma);
      rest.remove_prefix(std::min(comma + 1, rest.size()));
      name.remove_prefix(std::min(name.find_first_not_of(kSpace), name.size()));
      name = name.substr(0, name.find_last_not_of(kSpace) + 1);
      const bool is_tls = EqualsIgnoringCase(name.substr(0, 4), "tls/");
      if (!name.empty() && !is_tls && !EqualsIgnoringCase(name, "h2c")) return false;
    }
  }
  return true;
}

// Returns true if JavaScript must handle the request even if its path is in a static folder.
bool IsForJavaScript(const Connection& connection, const http1::RequestHead& head) {
  const ServerSettings& settings = connection.server()->config->settings();
  if (head.is_connect || head.expect == http1::Expectation::kOther) return true;
  if (settings.requires_host && !head.has_host && head.version_minor != 0) return true;
  if (!head.upgrade) return false;
  // On a stream a response with 200 would accept the requested tunnel.
  const bool is_stream = connection.stream != nullptr ||
                         (connection.origin() != nullptr && connection.origin()->is_stream);
  return is_stream || (settings.hears_upgrades && !OffersOnlyUntaken(head));
}

// Returns the file that the response sends, or nullptr.
const files::OpenFile* SentFile(const StaticResponse& response, const KnownPath* known) {
  if (!response.sends_file || known == nullptr) return nullptr;
  if (response.coding == semantics::ContentCoding::kIdentity) return known->file.get();
  return known->siblings[static_cast<size_t>(response.coding)]->file.get();
}

Boundary RandomBoundary() {
  std::random_device device;
  const auto number = [&] { return uint64_t{device()} << 32 | device(); };
  const uint64_t first = number();
  return semantics::MakeBoundary(first, number());
}

}  // namespace

StaticRequests::StaticRequests(const http1::MethodTable* methods, NativeAnswers* answers,
                               Input* input, files::ReadAhead* ahead, FileOutput::Post post)
    : get_method_(methods->Find("GET")),
      head_method_(methods->Find("HEAD")),
      answers_(answers),
      input_(input),
      ahead_(ahead),
      post_(std::move(post)) {}

AnswerOutcome StaticRequests::ServeFile(const ArrivedRequest& arrived) {
  Connection* connection = arrived.connection;
  const http1::RequestHead& head = arrived.head;
  if (IsForJavaScript(*connection, head)) return AnswerOutcome::kNone;
  const std::string_view path = SplitTarget(head.target).path;
  const auto [mount, path_bytes] = connection->server()->config->FindStatic(arrived.route.id, path);
  if (mount == nullptr) return AnswerOutcome::kNone;
  // A request with a body goes to JavaScript if the folder passes requests on (fallthrough).
  const static_files::StaticOptions& options = mount->site->options();
  if (options.fallthrough && head.has_body()) return AnswerOutcome::kNone;
  if (!arrived.writer->IsTurn(*connection)) return AnswerOutcome::kLater;

  StaticRequest request;
  request.method = head.method == get_method_    ? ConditionalMethod::kGet
                   : head.method == head_method_ ? ConditionalMethod::kHead
                                                 : ConditionalMethod::kOther;
  request.target = head.target;
  std::deque<std::string> joined;
  CollectFields(head, &request, &joined);
  const RequestPath relative = static_files::ReadRequestPath(path, path_bytes);
  const StaticDecision decision(&options);
  std::optional<StaticResponse> response = decision.BeforeSearch(request, relative);
  Known known;
  bool is_awaited = false;
  Boundary boundary;
  if (!response.has_value()) {
    known = Look(connection, mount->site, relative, &is_awaited);
    if (known == nullptr) return AnswerOutcome::kLater;
    if (known->status == SearchStatus::kFound) {
      if (request.range.has_value()) boundary = RandomBoundary();
      FoundFile found{known->path, known->facts};
      for (size_t i = 0; i < known->siblings.size(); ++i) {
        if (known->siblings[i].has_value()) found.siblings[i] = known->siblings[i]->facts;
      }
      response = decision.WithFile(request, found, NowSeconds(), boundary);
    } else {
      response = decision.WithoutFile(request, known->status);
    }
  }
  // A server may ignore Upgrade (RFC 9110, section 7.8). But if the application listens for
  // 'upgrade' and there is no such file, JavaScript gets the request.
  const bool is_heard = head.upgrade && connection->server()->config->settings().hears_upgrades;
  const bool is_file = known != nullptr && known->status == SearchStatus::kFound;
  if (response->passes_on || (is_heard && !is_file)) return AnswerOutcome::kNone;
  // The descriptor was opened earlier: if the file has changed since, search again, but only once
  // per request.
  if (const auto* file = SentFile(*response, known.get());
      file != nullptr && request.method == ConditionalMethod::kGet && !file->IsUnchanged() &&
      !is_awaited) {
    mount->site->Forget(relative, known);
    Await(connection, mount->site, relative);
    return AnswerOutcome::kLater;
  }
  return Give(arrived, *response, known.get(), boundary);
}

StaticRequests::Known StaticRequests::Look(Connection* connection,
                                           const std::shared_ptr<StaticSite>& site,
                                           const RequestPath& path, bool* is_awaited) {
  const SearchKey key{site.get(), StaticSite::KeyOf(path)};
  // Use the result of the search for which the request has waited, even if it is old by now.
  if (const auto found = waiting_.find(connection); found != waiting_.end()) {
    if (found->second.key == key) {
      if (!found->second.is_done) return nullptr;
      Known known = std::move(found->second.known);
      waiting_.erase(found);
      *is_awaited = true;
      return known;
    }
    OnDetached(connection);
  }
  bool is_due = false;
  if (Known known = site->Find(path, NowMs(), &is_due); known != nullptr) {
    if (is_due && !searches_.contains(key)) {
      searches_[key].renews = true;
      Search(site, path, MountPolicy::kRefuse);
    }
    return known;
  }
  Await(connection, site, path);
  return nullptr;
}

void StaticRequests::Await(Connection* connection, const std::shared_ptr<StaticSite>& site,
                           const RequestPath& path) {
  const SearchKey key{site.get(), StaticSite::KeyOf(path)};
  const auto [search, is_new] = searches_.try_emplace(key);
  search->second.connections.push_back(connection);
  waiting_.emplace(connection, Waiting{key, false, nullptr});
  SocketWatch::SetWaitsForDisk(connection, true);
  if (is_new) Search(site, path, MountPolicy::kRefuse);
}

// Starts the search for an entry of searches_.
void StaticRequests::Search(const std::shared_ptr<StaticSite>& site, const RequestPath& path,
                            MountPolicy mounts) {
  // If no thread can be started, the result is a failure (status 500).
  auto failed = std::make_shared<KnownPath>();
  failed->status = SearchStatus::kFailed;
  const auto known = std::make_shared<Known>(std::move(failed));
  Searching& searching = searches_.at({site.get(), StaticSite::KeyOf(path)});
  searching.place = site->PlaceOf(mounts);
  searching.ticket = ahead_->Run(
      searching.place,
      [site, path, mounts, known] { *known = site->Search(path, NowMs(), mounts); },
      [this, site, path, known] {
        post_([this, site, path, known] { OnSearched(site, path, *known); });
      });
}

void StaticRequests::OnSearched(const std::shared_ptr<StaticSite>& site, const RequestPath& path,
                                const Known& known) {
  const auto search = searches_.find({site.get(), StaticSite::KeyOf(path)});
  // The search may have been cancelled because all its connections have ended.
  if (search == searches_.end()) return;
  if (known == nullptr) return Search(site, path, MountPolicy::kCross);
  const std::vector<Connection*> connections = std::move(search->second.connections);
  searches_.erase(search);
  for (Connection* connection : connections) {
    SocketWatch::SetWaitsForDisk(connection, false);
    Waiting& waiting = waiting_.at(connection);
    waiting.is_done = true;
    waiting.known = known;
  }
  // Resuming one connection may close others.
  for (Connection* connection : connections) {
    const auto found = waiting_.find(connection);
    if (found == waiting_.end() || !found->second.is_done) continue;
    input_->Resume(connection, kPauseOrder);
    // Resume() has not used the result of the search if the request went to another server or
    // member.
    if (const auto rest = waiting_.find(connection);
        rest != waiting_.end() && rest->second.is_done) {
      waiting_.erase(rest);
    }
  }
}

void StaticRequests::OnDetached(Connection* connection) {
  const auto found = waiting_.find(connection);
  if (found == waiting_.end()) return;
  SocketWatch::SetWaitsForDisk(connection, false);
  const auto search = searches_.find(found->second.key);
  if (search != searches_.end()) {
    Searching& searching = search->second;
    std::erase(searching.connections, connection);
    if (searching.connections.empty() && !searching.renews) {
      ahead_->Cancel(searching.place, searching.ticket);
      searches_.erase(search);
    }
  }
  waiting_.erase(found);
}

void StaticRequests::AppendHead(int status, std::string_view fields) {
  head_.assign(StatusLine(status));
  head_.append(fields);
  if (!IsError(status)) head_.append("Date: ").append(date_.At(NowSeconds())).append("\r\n");
  head_.append("\r\n");
}

AnswerOutcome StaticRequests::Give(const ArrivedRequest& arrived, const StaticResponse& response,
                                   const KnownPath* known, const Boundary& boundary) {
  AppendHead(response.status, response.fields);
  NativeAnswer answer;
  answer.counter = LaneCounter::kFiles;
  answer.status = response.status;
  answer.is_own_error = IsError(response.status);
  answer.head = head_;
  answer.closes = arrived.closes;
  constexpr size_t kPiecesMax = 2 * semantics::kRangesCapacity + 1;
  std::array<NativeAnswer::Piece, kPiecesMax> pieces;
  size_t count = 0;
  std::string texts;
  std::vector<size_t> text_ends;
  if (!response.body.empty()) pieces[count++].bytes = response.body;
  if (response.sends_file && known != nullptr && arrived.head.method != head_method_) {
    const auto index = static_cast<size_t>(response.coding);
    const bool is_plain = response.coding == semantics::ContentCoding::kIdentity;
    const auto& file = is_plain ? known->file : known->siblings[index]->file;
    const uint64_t size = (is_plain ? known->facts : known->siblings[index]->facts).size;
    const auto add_file = [&](uint64_t start, uint64_t bytes) {
      if (bytes == 0) return;
      pieces[count++].file =
          std::make_shared<const files::FilePart>(files::FilePart{file, start, bytes});
    };
    const std::span<const semantics::ByteRange> ranges = response.ranges.view();
    if (ranges.empty()) {
      add_file(0, size);
    } else if (ranges.size() == 1) {
      add_file(ranges[0].first, ranges[0].bytes());
    } else {
      const semantics::MultipartByteranges parts(boundary, response.part_type, size, ranges);
      for (size_t i = 0; i < ranges.size(); ++i) {
        parts.AppendPartHead(i, &texts);
        text_ends.push_back(texts.size());
        ++count;
        add_file(ranges[i].first, ranges[i].bytes());
      }
      parts.AppendEnd(&texts);
      text_ends.push_back(texts.size());
      ++count;
      // `texts` is complete and no longer reallocates: make the views into it.
      size_t begin = 0;
      size_t text = 0;
      for (size_t i = 0; i < count; ++i) {
        if (pieces[i].file != nullptr) continue;
        pieces[i].bytes = std::string_view(texts).substr(begin, text_ends[text] - begin);
        begin = text_ends[text++];
      }
    }
  }
  answer.pieces = std::span(pieces).first(count);
  return answers_->Answer(arrived.writer, arrived.connection, &arrived.head, answer);
}

}  // namespace httpsys::engine
