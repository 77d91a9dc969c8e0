// What one look-up of a request's prefix costs with 10, 1,000 and 100,000 prefixes. Prints JSON.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "url/url_prefix.h"
#include "url/url_prefix_table.h"

namespace {

constexpr size_t kLookups = 2'000'000;
constexpr size_t kTargets = 1024;
constexpr int kPasses = 5;

// A third with a host of their own, as on a machine with many sites.
std::string PrefixText(size_t number) {
  const std::string path =
      ":80/area" + std::to_string(number % 97) + "/n" + std::to_string(number) + "/";
  if (number % 3 == 0) return "http://site" + std::to_string(number % 1009) + ".test" + path;
  return "http://*" + path;
}

struct Request {
  std::string host;
  std::string target;
};

Request RequestFor(size_t number) {
  Request request;
  request.host =
      number % 3 == 0 ? "site" + std::to_string(number % 1009) + ".test" : "example.test";
  request.target =
      "/area" + std::to_string(number % 97) + "/n" + std::to_string(number) + "/page?x=1";
  return request;
}

double NanosecondsPerLookup(const httpsys::UrlPrefixTable& table,
                            const std::vector<Request>& requests) {
  const httpsys::LocalAddress local{{}, true};
  double best = 1e9;
  for (int pass = 0; pass < kPasses; ++pass) {
    uint64_t found = 0;
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < kLookups / kPasses; ++i) {
      const Request& request = requests[i % requests.size()];
      const httpsys::Route route = table.Match(request.host, request.target, local);
      if (route.status == httpsys::RouteStatus::kMatch) ++found;
    }
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - start;
    if (found != kLookups / kPasses) return -1;
    best = std::min(best, taken.count() / static_cast<double>(kLookups / kPasses));
  }
  return best;
}

}  // namespace

int main() {
  const char* separator = "[";
  for (const size_t count : {10, 1'000, 100'000}) {
    httpsys::UrlPrefixTable table;
    for (size_t i = 0; i < count; ++i) {
      httpsys::UrlPrefix prefix;
      if (httpsys::ParseUrlPrefix(PrefixText(i), &prefix) != httpsys::PrefixError::kNone) return 1;
      if (!table.Add(prefix, static_cast<uint32_t>(i))) return 1;
    }
    std::vector<Request> requests;
    // Spread over the whole table, so that the large one does not stay in the caches.
    for (size_t i = 0; i < kTargets; ++i) requests.push_back(RequestFor(i * 7919 % count));
    const double nanoseconds = NanosecondsPerLookup(table, requests);
    if (nanoseconds < 0) return 1;
    std::printf("%s{\"prefixes\":%zu,\"nanoseconds\":%.1f}", separator, count, nanoseconds);
    separator = ",";
  }
  std::puts("]");
}
