#pragma once
// Answers requests for static files without JavaScript.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/file_output.h"
#include "engine/connection/input.h"
#include "engine/requests/arrived_request.h"
#include "engine/requests/native_answer.h"
#include "files/read_ahead.h"
#include "http1/method_table.h"
#include "http1/request_parser.h"
#include "semantics/byte_ranges.h"
#include "semantics/http_date.h"
#include "static_files/static_decision.h"
#include "static_files/static_site.h"

namespace httpsys::engine {

// Thread: the lane. A request whose file is not known yet waits until a thread that may wait for a
// disk has searched for the file. Then the lane handles the request again.
class StaticRequests {
 public:
  // `ahead` and `post` are as in FileOutput.
  StaticRequests(const http1::MethodTable* methods, NativeAnswers* answers, Input* input,
                 files::ReadAhead* ahead, FileOutput::Post post);
  StaticRequests(const StaticRequests&) = delete;
  StaticRequests& operator=(const StaticRequests&) = delete;

  // Answers a request for a prefix of the connection's server if the path is in one of its static
  // folders. Returns kLater also if the request waits for a search, whose end resumes the input.
  AnswerOutcome Serve(const ArrivedRequest& request) {
    if (!request.connection->server()->config->has_statics()) return AnswerOutcome::kNone;
    return ServeFile(request);
  }
  void OnDetached(Connection* connection);

 private:
  using Known = std::shared_ptr<const static_files::KnownPath>;
  using SearchKey = std::pair<static_files::StaticSite*, std::string>;
  struct Searching {
    std::vector<Connection*> connections;  // The connections that wait for the result.
    // Do not cancel the search if no connection waits: it renews an old result.
    bool renews = false;
    files::WaitPlace place;
    files::ReadAhead::Ticket ticket = 0;
  };
  using Searches = std::map<SearchKey, Searching>;

  struct Waiting {
    SearchKey key;
    bool is_done = false;
    Known known;  // Valid with is_done.
  };

  AnswerOutcome ServeFile(const ArrivedRequest& arrived);
  // Returns the known result for the path; nullptr = the connection waits for a search. Sets
  // *is_awaited if the request has waited for this result.
  Known Look(Connection* connection, const std::shared_ptr<static_files::StaticSite>& site,
             const static_files::RequestPath& path, bool* is_awaited);
  // Makes the request wait for a search.
  void Await(Connection* connection, const std::shared_ptr<static_files::StaticSite>& site,
             const static_files::RequestPath& path);
  void Search(const std::shared_ptr<static_files::StaticSite>& site,
              const static_files::RequestPath& path, files::MountPolicy mounts);
  void OnSearched(const std::shared_ptr<static_files::StaticSite>& site,
                  const static_files::RequestPath& path, const Known& known);
  AnswerOutcome Give(const ArrivedRequest& arrived, const static_files::StaticResponse& response,
                     const static_files::KnownPath* known, const semantics::Boundary& boundary);
  void AppendHead(int status, std::string_view fields);

  const int get_method_;
  const int head_method_;
  NativeAnswers* answers_;
  Input* input_;
  files::ReadAhead* ahead_;
  const FileOutput::Post post_;
  Searches searches_;
  std::unordered_map<const Connection*, Waiting> waiting_;
  std::string head_;  // Scratch memory: the head of the answer that is being made.
  semantics::ResponseDate date_;
};

}  // namespace httpsys::engine
