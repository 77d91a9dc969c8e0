#include "engine/shared_cache/foreign_answers.h"

#include <uv.h>

#include <charconv>
#include <ctime>
#include <optional>

#include "base/ascii.h"
#include "cache/cache_key.h"
#include "cache/store_policy.h"
#include "engine/cache/stored_head.h"
#include "http1/byte_scan.h"
#include "peer/messages.h"
#include "tls/server_context.h"
#include "url/url_path.h"

namespace httpsys::engine {
namespace {

constexpr std::string_view kHeadVersion = "HTTP/1.1 ";
constexpr size_t kHeadStatusDigits = 3;

bool IsFieldText(std::string_view text) {
  const char* const end = text.data() + text.size();
  return http1::SkipFieldValue(text.data(), end) == end;
}

bool IsFieldToken(std::string_view text) {
  const char* const end = text.data() + text.size();
  return !text.empty() && http1::SkipToken(text.data(), end) == end;
}

std::optional<uint64_t> ReadDecimal(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

bool IsSoundHead(std::string_view head, uint16_t status, uint64_t body_bytes) {
  if (status < 200 || status > 599 || !head.ends_with("\r\n")) return false;
  std::string_view line;
  (void)TakeHeadLine(&head, &line);
  const bool is_status_line =
      line.starts_with(kHeadVersion) && IsFieldText(line) &&
      ReadDecimal(line.substr(kHeadVersion.size(), kHeadStatusDigits)) == status &&
      (line.size() == kHeadVersion.size() + kHeadStatusDigits ||
       line[kHeadVersion.size() + kHeadStatusDigits] == ' ');
  if (!is_status_line) return false;
  bool has_length = false;
  while (TakeHeadLine(&head, &line)) {
    const std::string_view name = line.substr(0, line.find(':'));
    if (name.size() == line.size() || !IsFieldToken(name) || !IsFieldText(line)) return false;
    if (EqualsIgnoringCase(name, "transfer-encoding") || EqualsIgnoringCase(name, "connection")) {
      return false;
    }
    if (!EqualsIgnoringCase(name, "content-length")) continue;
    if (has_length || ReadDecimal(SplitHeadLine(line).value) != body_bytes) return false;
    has_length = true;
  }
  const bool has_no_body = status == 204 || status == 304;
  return has_no_body ? body_bytes == 0 : has_length;
}

namespace {

using cache::FindResult;
using cache::MethodKind;
using cache::Refusal;
using cache::Verdict;

constexpr size_t kForeignBytesKept = 256 * 1024;

// All codings: an entry's terms list only codings that its server allows.
constexpr semantics::CodingSet kEveryCoding = {semantics::ContentCoding::kBr,
                                               semantics::ContentCoding::kZstd,
                                               semantics::ContentCoding::kGzip};

uint64_t ForeignClockMs() { return uv_hrtime() / 1'000'000; }

int64_t ForeignWallSeconds() { return static_cast<int64_t>(std::time(nullptr)); }

}  // namespace

bool ForeignAnswers::Read(const ArrivedRequest& request, Asked* asked) const {
  const Connection* real = request.connection->real();
  // Ignore relayed requests: the relaying member has looked in the caches of the owners.
  if (real->origin() != nullptr || request.head.is_connect) return false;
  asked->is_secure = IsSecure(request.connection);
  if (real->tls != nullptr) asked->negotiation = &real->tls->context().negotiation();
  asked->port = request.connection->local_port;
  asked->facts = cache::ReadRequest(request.head, methods_->Name(request.head.method),
                                    WasAskedForCertificate(request.connection));
  return cache::MayLookUp(asked->facts) == Refusal::kNone;
}

// Returns true if the scope may answer the request. With TLS, the handshake must have been made by
// a server with the owner's TLS versions and ciphers: then the owner would admit the client,
// because owners that request certificates give no scope (ArenaGifts).
bool ForeignAnswers::Fits(const Asked& asked, const ForeignScope& scope) {
  if (scope.scope == 0 || asked.is_secure == scope.terms.empty()) return false;
  return !asked.is_secure || (asked.negotiation != nullptr && *asked.negotiation == scope.terms);
}

AnswerOutcome ForeignAnswers::AnswerFor(const ArrivedRequest& request,
                                        const sharing::PortRoutes::Owner& owner) {
  Reader* const reader = readers_.Find(owner.member);
  const ForeignScope* scope = nullptr;
  if (reader != nullptr) {
    scope = reader->arena->scopes.Find(ForeignScope::Key(owner.server_id, owner.prefix_id));
  }
  if (scope == nullptr) {
    arenas_->Ask(owner.member, owner.server_id, owner.prefix_id);
    return AnswerOutcome::kNone;
  }
  Asked asked;
  if (scope->scope == 0 || reader->reader == nullptr || reader->arena->orphaned_ms != 0 ||
      !Read(request, &asked) || !Fits(asked, *scope) ||
      !Find(asked, request.head, *reader, *scope, false)) {
    return AnswerOutcome::kNone;
  }
  return Give(request, asked, reader, *scope, false);
}

AnswerOutcome ForeignAnswers::LookAtOrphaned(const ArrivedRequest& request) {
  Asked asked;
  if (!Read(request, &asked)) return AnswerOutcome::kNone;
  size_t tried = 0;
  for (Reader* reader : readers_.Orphaned()) {
    if (reader->reader == nullptr) continue;
    const ForeignScope* found = nullptr;
    reader->arena->scopes.ForEach([&](const ForeignScope& scope) {
      const bool is_here = scope.has_prefix && scope.prefix.port == asked.port;
      if (found != nullptr || !is_here || !Fits(asked, scope) || ++tried > kOrphansTriedMax) return;
      if (Find(asked, request.head, *reader, scope, true)) found = &scope;
    });
    if (found != nullptr) return Give(request, asked, reader, *found, true);
  }
  return AnswerOutcome::kNone;
}

bool ForeignAnswers::Find(const Asked& asked, const http1::RequestHead& head, const Reader& reader,
                          const ForeignScope& scope, bool is_orphaned) {
  if ((scope.flags & peer::kScopeStrictUrl) != 0 && !IsStrictTarget(head.target)) return false;
  if (!cache::MakeKey({asked.is_secure, scope.scope}, head, &key_)) return false;
  if (FindResponse(*reader.reader, head, &key_, &memory_, &found_) != FindResult::kHit ||
      cache::MayServe(found_.entry.terms, asked.facts) != Refusal::kNone ||
      !IsSoundHead(found_.head, found_.entry.status, found_.body.size())) {
    return false;
  }
  cache::FreshnessOptions options;
  options.ignores_reload = (scope.flags & peer::kScopeIgnoresReload) != 0;
  judgement_ = cache::Judge(found_.entry.terms, asked.facts.control, options, ForeignClockMs());
  switch (judgement_.verdict) {
    case Verdict::kFresh:
    case Verdict::kStaleAccepted:
      return true;
    case Verdict::kStale:
      // The owner gets the request, so that it refreshes the stale entry.
      return is_orphaned;
    case Verdict::kRevalidate:
      return is_orphaned && judgement_.may_answer_errors;
    case Verdict::kUnsatisfiable:
      break;
  }
  return false;
}

bool ForeignAnswers::Has(const http1::RequestHead& head,
                         const sharing::PortRoutes::Target& target) {
  const bool has_one_owner = target.owners.size() == 1 && target.owners[0].is_cached;
  if (!has_one_owner || head.is_connect) return false;
  const sharing::PortRoutes::Owner& owner = target.owners[0];
  const Reader* const reader = readers_.Find(owner.member);
  if (reader == nullptr || reader->reader == nullptr || reader->arena->orphaned_ms != 0) {
    return false;
  }
  const ForeignScope* const scope =
      reader->arena->scopes.Find(ForeignScope::Key(owner.server_id, owner.prefix_id));
  if (scope == nullptr) return false;
  Asked asked;
  asked.facts = cache::ReadRequest(head, methods_->Name(head.method), false);
  return cache::MayLookUp(asked.facts) == Refusal::kNone && Fits(asked, *scope) &&
         Find(asked, head, *reader, *scope, false);
}

FoundCoding ForeignAnswers::FindVariant(const Asked& asked, const http1::RequestHead& head,
                                        const Reader& reader, cache::FoundEntry* coded) {
  const cache::EntryTerms& terms = found_.entry.terms;
  const semantics::ContentCoding coding = cache::CodingFor(terms, kEveryCoding, asked.facts, head);
  if (coding == semantics::ContentCoding::kIdentity) return FoundCoding::kNoGain;
  const FoundCoding found = FindCoded(*reader.reader, key_, terms, coding, &memory_, coded);
  const bool is_sound = found != FoundCoding::kVariant ||
                        IsSoundHead(coded->head, found_.entry.status, coded->body.size());
  return is_sound ? found : FoundCoding::kNoGain;
}

// Returns true for the second and third request for an entry: the owner makes a missing compressed
// variant when it is asked again, and otherwise clients of this member would never get one.
bool ForeignAnswers::IsForOwner(Reader* reader) const {
  if (!reader->hits.has_value()) return false;
  const uint32_t count = reader->hits->Count(found_.slot_at, found_.slot);
  if (count == 0 || count == cache::HitTable::kCountMax) return false;
  reader->hits->Note(found_.slot_at, found_.slot);
  return true;
}

AnswerOutcome ForeignAnswers::Give(const ArrivedRequest& request, const Asked& asked,
                                   Reader* reader, const ForeignScope& scope, bool is_orphaned) {
  if (!request.writer->IsTurn(*request.connection)) return AnswerOutcome::kLater;
  const cache::EntryTerms& terms = found_.entry.terms;
  cache::FoundEntry coded;
  const FoundCoding coding = FindVariant(asked, request.head, *reader, &coded);
  if (coding == FoundCoding::kNone && !is_orphaned && IsForOwner(reader))
    return AnswerOutcome::kNone;
  if (reader->hits.has_value()) reader->hits->Note(found_.slot_at, found_.slot);
  UsedEntry entry;
  entry.status = found_.entry.status;
  entry.head = coding == FoundCoding::kVariant ? coded.head : found_.head;
  entry.body = coding == FoundCoding::kVariant ? coded.body : found_.body;
  entry.varies_by_coding = terms.Has(cache::EntryTerms::kVariesByCoding);
  if (!terms.Has(cache::EntryTerms::kHttpSysRules)) entry.age_s = judgement_.age_s;
  if ((scope.flags & peer::kScopeTellsStatus) != 0) {
    status_text_.assign("httpsys; hit");
    if (!terms.Has(cache::EntryTerms::kNeverExpires)) {
      const int64_t ttl = int64_t{terms.lifetime_s} - judgement_.age_s;
      status_text_.append("; ttl=").append(std::to_string(ttl));
    }
    entry.cache_status = status_text_;
  }
  const bool is_head = asked.facts.method == MethodKind::kHead;
  bodies_.Begin(terms.stamp, entry.body);
  const AskedEntry asking{&request.head, is_head, request.closes};
  answer_.Make(entry, asking, ForeignWallSeconds());
  const AnswerOutcome outcome =
      SendEntry(answers_, request.writer, request.connection, asking, answer_, &bodies_);
  bodies_.End();
  memory_.buffer.Trim(kForeignBytesKept);
  memory_.coded.Trim(kForeignBytesKept);
  return outcome;
}

}  // namespace httpsys::engine
