#include "engine/cache/cached_answers.h"

#include <ctime>

#include "base/ascii.h"
#include "base/limits.h"
#include "cache/cache_key.h"
#include "cache/own_request.h"
#include "engine/cache/stored_head.h"

namespace httpsys::engine {
namespace {

using cache::FindResult;
using cache::MethodKind;
using cache::Refusal;
using cache::Verdict;

int64_t WallSeconds() { return static_cast<int64_t>(std::time(nullptr)); }

}  // namespace

CachedAnswers::CachedAnswers(ProcessCache* cache, const http1::MethodTable* methods,
                             NativeAnswers* answers, Captures* captures, WaitingMisses* waiting,
                             Refreshes* refreshes, Compressor* compressor)
    : cache_(cache),
      methods_(methods),
      get_method_(static_cast<uint16_t>(methods->Find("GET"))),
      answers_(answers),
      captures_(captures),
      waiting_(waiting),
      refreshes_(refreshes),
      compressor_(compressor),
      reader_(cache) {}

// Not inlined: calls are rare, and the inlined code would save registers for every refused request.
[[gnu::noinline]] void CachedAnswers::DropPending() { pending_ = nullptr; }

inline uint64_t CachedAnswers::HashIfPlain(const ArrivedRequest& request,
                                           const CacheTerms& terms) const {
  const Connection* connection = request.connection;
  const http1::RequestHead& head = request.head;
  const bool is_plain = !terms.tells_status && head.method == get_method_ &&
                        !waiting_->has_waiting() && !refreshes_->Has(connection);
  if (!is_plain) return 0;
  bool is_secure = false;
  if (MayBeSecure(connection)) {
    if (WasAskedForCertificate(connection)) return 0;
    is_secure = IsSecure(connection);
  }
  const uint64_t place = uint64_t{connection->server()->id} << 32 | request.route.id;
  return captures_->refused().HashOf(head, place, is_secure);
}

bool CachedAnswers::IsRefused(const ArrivedRequest& request) {
  const CacheTerms& terms = *request.connection->server()->config->cache();
  const uint64_t hash = HashIfPlain(request, terms);
  if (hash == 0) return false;
  const Refusal refusal = captures_->refused().Find(hash, waiting_->now_ms());
  if (refusal == Refusal::kNone) return false;
  if (pending_ != nullptr) [[unlikely]] {
    DropPending();
  }
  asks_about_entry_ = false;
  terms.counters->AddRefusedMiss(refusal);
  return true;
}

AnswerOutcome CachedAnswers::LookUp(const ArrivedRequest& request) {
  pending_ = nullptr;
  asks_about_entry_ = false;
  may_repeat_ = false;
  const http1::RequestHead& head = request.head;
  const CacheTerms& terms = *request.connection->server()->config->cache();
  const uint32_t scope = terms.ScopeOf(request.route.id);
  if (scope == 0 || head.is_connect) return AnswerOutcome::kNone;
  Asked asked{request, terms,
              cache::ReadRequest(head, methods_->Name(head.method),
                                 WasAskedForCertificate(request.connection), terms.harmless_fields),
              IsSecure(request.connection), scope};
  const bool is_unsafe =
      asked.facts.method == MethodKind::kOther && terms.options.rules == cache::RuleSet::kRfc9111;
  const Refusal refusal = cache::MayLookUp(asked.facts);
  const std::string_view forward = refusal == Refusal::kMethod ? "method" : "bypass";
  if (refusal != Refusal::kNone && !is_unsafe) return Bypass(asked, refusal, forward);
  if (!cache::MakeKey({asked.is_secure, scope}, head, &key_)) {
    return Bypass(asked, Refusal::kLongKey, "bypass");
  }
  if (!is_unsafe) return LookUpKey(asked);
  (void)Bypass(asked, refusal, forward);
  if (pending_ == nullptr) pending_ = NewExchange(asked, forward);
  pending_->is_unsafe = true;
  pending_->key = key_;
  return AnswerOutcome::kNone;
}

// Counts why the cache has no part in a request, and notes that for Cache-Status. Returns kNone.
AnswerOutcome CachedAnswers::Bypass(const Asked& asked, Refusal refusal, std::string_view forward) {
  asked.terms.counters->AddRefusal(refusal);
  if (!asked.terms.tells_status) return AnswerOutcome::kNone;
  pending_ = NewExchange(asked, forward);
  if (asked.terms.tells_reason) {
    pending_->status.append("; detail=").append(cache::RefusalName(refusal));
  }
  return AnswerOutcome::kNone;
}

AnswerOutcome CachedAnswers::LookUpKey(const Asked& asked) {
  CacheCounters& counters = *asked.terms.counters;
  url_key_bytes_ = key_.size();
  mark_ = cache_->StoresOf(key_);
  cache::FoundEntry found;
  const FindResult result = reader_.Find(asked.request.head, asked.scope, &key_, &found);
  if (result == FindResult::kChanged) counters.Add(CacheCounter::kChangedWhileRead);
  if (result != FindResult::kHit) {
    // If only the variant is missing, other requests for the target may still find another variant.
    const bool is_of_target = result == FindResult::kMiss && !is_variant();
    target_hash_ = is_of_target ? HashIfPlain(asked.request, asked.terms) : 0;
    return Miss(asked, nullptr, {});
  }
  target_hash_ = 0;
  const Refusal refusal = cache::MayServe(found.entry.terms, asked.facts);
  if (refusal != Refusal::kNone) {
    counters.AddRefusal(refusal);
    return Miss(asked, nullptr, {});
  }
  const cache::Judgement judgement = cache::Judge(
      found.entry.terms, asked.facts.control, asked.terms.options.freshness, waiting_->now_ms());
  if (refreshes_->Has(asked.request.connection)) {
    return Miss(asked, &found, judgement);
  }
  switch (judgement.verdict) {
    case Verdict::kStale:
      if (asked.request.writer->IsTurn(*asked.request.connection)) Refresh(asked);
      return Give(asked, found, judgement);
    case Verdict::kFresh:
    case Verdict::kStaleAccepted:
      return Give(asked, found, judgement);
    case Verdict::kUnsatisfiable:
      return GiveUnsatisfied(asked);
    case Verdict::kRevalidate:
      break;
  }
  return Miss(asked, &found, judgement);
}

void CachedAnswers::Refresh(const Asked& asked) {
  const cache::VaryNames none;
  std::optional<http1::RequestHead> head = cache::MakeRefreshHead(
      asked.request.head, is_variant() ? reader_.names() : none, get_method_);
  if (head.has_value()) {
    refreshes_->BeginStale(asked.request.connection, *std::move(head), key_, mark_);
  }
}

std::unique_ptr<CacheExchange> CachedAnswers::NewExchange(const Asked& asked,
                                                          std::string_view forward) const {
  auto exchange = std::make_unique<CacheExchange>();
  exchange->terms = asked.request.connection->server()->config->shared_cache();
  exchange->scope = asked.scope;
  exchange->is_secure = asked.is_secure;
  exchange->is_background = refreshes_->Has(asked.request.connection);
  if (asked.terms.tells_status) exchange->status.assign("httpsys; fwd=").append(forward);
  return exchange;
}

// Returns true if an entry is no failure (5xx) and may answer requests without directives, fresh or
// stale. A failure of the application must not replace such an entry, even if the failure has a
// lifetime: middleware may have set the lifetime before the handler failed.
bool CachedAnswers::IsGood(const Asked& asked, const cache::FoundEntry& found) const {
  if (found.entry.status >= 500) return false;
  const cache::Judgement judgement =
      cache::Judge(found.entry.terms, {}, asked.terms.options.freshness, waiting_->now_ms());
  return judgement.verdict != Verdict::kRevalidate || judgement.may_answer_errors;
}

AnswerOutcome CachedAnswers::Miss(const Asked& asked, const cache::FoundEntry* found,
                                  const cache::Judgement& judgement) {
  CacheCounters& counters = *asked.terms.counters;
  const bool is_rfc = asked.terms.options.rules == cache::RuleSet::kRfc9111;
  if (asked.facts.control.only_if_cached && is_rfc) return GiveUnsatisfied(asked);
  std::string_view forward = is_variant() ? "vary-miss" : "uri-miss";
  if (found != nullptr) {
    forward = judgement.age_s < found->entry.terms.lifetime_s ? "request" : "stale";
  }
  const Refusal refusal = cache::MayFill(asked.facts);
  if (refusal != Refusal::kNone) {
    counters.Add(CacheCounter::kMisses);
    return Bypass(asked, refusal, forward);
  }
  std::unique_ptr<CacheExchange> exchange = NewExchange(asked, forward);
  exchange->key = key_;
  // Under HTTP.SYS rules, answers to requests that are not harmless are stored on other terms: with
  // a separate key, harmless requests do not wait for them.
  if (!is_rfc && !asked.facts.is_harmless) exchange->key.append("\n!");
  exchange->hash = reader_.Hash(exchange->key);
  // A request waits only if it may get the awaited entry. Answers to requests with cookies are
  // usually for one user, and without may_find() no entry is found: such requests would wait and
  // then go to JavaScript one by one.
  if (!asked.facts.has_cookie && !exchange->is_background && reader_.may_find()) {
    // A request leads only if it is the oldest unanswered one of its client: otherwise its answer
    // would stand behind others, which may never end.
    const bool may_lead = asked.request.writer->IsTurn(*asked.request.connection);
    // True if earlier answers of the URL were stored, or a default lifetime stores answers that say
    // nothing about caches.
    const bool has_default = asked.terms.options.default_seconds != 0 && asked.facts.is_harmless;
    const bool is_storable = found != nullptr || is_variant() || has_default;
    const WaitingMisses::Turn turn = waiting_->Join(
        asked.request.connection, {exchange->key, exchange->hash, may_lead, is_storable});
    if (turn == WaitingMisses::Turn::kWaits) return AnswerOutcome::kLater;
    // Another lane has stored the response since this look-up began: look again instead of leading.
    if (waiting_->has_claim() && !cache_->IsCurrent(mark_)) {
      key_.resize(url_key_bytes_);
      return LookUpKey(asked);
    }
    if (turn == WaitingMisses::Turn::kFailed && found != nullptr && judgement.may_answer_errors) {
      return Give(asked, *found, judgement);
    }
    // The leading request was lost with its client. Now the cache makes the request itself: such a
    // request has no client that could leave.
    if (turn == WaitingMisses::Turn::kLeadsAnew &&
        refreshes_->BeginAwaited(asked.request.connection,
                                 cache::MakeSubstituteHead(asked.request.head, get_method_),
                                 exchange->key)) {
      waiting_->WaitFirst(asked.request.connection, exchange->key);
      return AnswerOutcome::kLater;
    }
    exchange->leads = may_lead && (turn == WaitingMisses::Turn::kLeads ||
                                   turn == WaitingMisses::Turn::kLeadsAnew);
    exchange->may_lead_late = !exchange->leads && asked.terms.coalesce_ms != 0;
  }
  if (exchange->is_background &&
      refreshes_->TakeAwaited(asked.request.connection, &exchange->key)) {
    exchange->leads = true;
    exchange->hash = reader_.Hash(exchange->key);
  }
  counters.Add(CacheCounter::kMisses);
  exchange->capture =
      std::make_unique<Capture>(std::make_unique<CapturedRequest>(asked.request.head, asked.facts,
                                                                  key_.substr(0, url_key_bytes_)),
                                exchange->terms, cache_);
  if (found != nullptr && IsGood(asked, *found)) exchange->capture->KeepEntry();
  exchange->target_hash = target_hash_;
  exchange->mark = mark_;
  if (found != nullptr && is_rfc) AskAbout(asked, *found, judgement, exchange.get());
  pending_ = std::move(exchange);
  return AnswerOutcome::kNone;
}

// Keeps a copy of the entry until JavaScript has answered, and gives JavaScript the entry's
// validators instead of the client's. Clients decide how many such requests there are (no-cache):
// if a copy would take too much memory, the request is handled as if nothing were stored.
void CachedAnswers::AskAbout(const Asked& asked, const cache::FoundEntry& found,
                             const cache::Judgement& judgement, CacheExchange* exchange) {
  const std::string_view etag = HeadValue(found.head, "etag");
  const std::string_view modified = HeadValue(found.head, "last-modified");
  const bool has_validator = !etag.empty() || !modified.empty();
  const bool keeps_entry = has_validator || judgement.may_answer_errors;
  const uint64_t bytes = keeps_entry ? found.head.size() + found.body.size() : 0;
  if (!cache_->TakeCaptureBytes(bytes)) return;
  auto stored = std::make_unique<StoredCopy>(cache_, bytes);
  stored->status = found.entry.status;
  if (keeps_entry) {
    stored->head = found.head;
    stored->body = found.body;
  }
  stored->terms = found.entry.terms;
  stored->is_stale = judgement.age_s >= found.entry.terms.lifetime_s;
  stored->may_answer_errors = judgement.may_answer_errors;
  stored->is_asked_about = has_validator;
  exchange->stored = std::move(stored);
  if (!has_validator) return;
  const std::string_view head = exchange->stored->head;
  question_ = asked.request.head;
  std::erase_if(question_.lines, [](const http1::HeaderLine& line) {
    return EqualsIgnoringCase(line.name, "if-none-match") ||
           EqualsIgnoringCase(line.name, "if-modified-since");
  });
  if (!etag.empty()) question_.lines.push_back({"If-None-Match", HeadValue(head, "etag")});
  if (!modified.empty()) {
    question_.lines.push_back({"If-Modified-Since", HeadValue(head, "last-modified")});
  }
  asks_about_entry_ = true;
}

bool CachedAnswers::FindVariant(const Asked& asked, const cache::FoundEntry& found, bool is_fresh,
                                std::optional<cache::FoundEntry>* coded) {
  if (asked.terms.options.codings == semantics::CodingSet()) return false;
  const cache::EntryTerms& terms = found.entry.terms;
  const semantics::ContentCoding coding =
      cache::CodingFor(terms, asked.terms.options.codings, asked.facts, asked.request.head);
  if (coding == semantics::ContentCoding::kIdentity) return false;
  switch (reader_.FindCoding(key_, terms, coding, &coded->emplace())) {
    case FoundCoding::kVariant:
      reader_.NoteHit((*coded)->slot_at, (*coded)->slot);
      asked.terms.counters->Add(CacheCounter::kCompressed);
      return true;
    case FoundCoding::kNone:
      if (is_fresh && reader_.WasUsed(found)) compressor_->Add(key_, terms, coding);
      return false;
    case FoundCoding::kNoGain:
      // A hit keeps this note in the cache (an empty body: the coding does not help), so that
      // compression is not tried again.
      reader_.NoteHit((*coded)->slot_at, (*coded)->slot);
      return false;
  }
  return false;
}

AnswerOutcome CachedAnswers::Give(const Asked& asked, const cache::FoundEntry& found,
                                  const cache::Judgement& judgement) {
  if (!asked.request.writer->IsTurn(*asked.request.connection)) return AnswerOutcome::kLater;
  const bool is_fresh = judgement.verdict == Verdict::kFresh;
  asked.terms.counters->Add(is_fresh ? CacheCounter::kHits : CacheCounter::kStale);
  std::optional<cache::FoundEntry> coded;
  const bool is_coded = FindVariant(asked, found, is_fresh, &coded);
  reader_.NoteHit(found.slot_at, found.slot);
  UsedEntry entry;
  entry.status = found.entry.status;
  entry.head = is_coded ? coded->head : found.head;
  entry.body = is_coded ? coded->body : found.body;
  entry.varies_by_coding = found.entry.terms.Has(cache::EntryTerms::kVariesByCoding);
  if (!found.entry.terms.Has(cache::EntryTerms::kHttpSysRules)) entry.age_s = judgement.age_s;
  if (asked.terms.tells_status) {
    const int64_t ttl = int64_t{found.entry.terms.lifetime_s} - judgement.age_s;
    status_text_.assign("httpsys; hit");
    if (!found.entry.terms.Has(cache::EntryTerms::kNeverExpires)) {
      status_text_.append("; ttl=").append(std::to_string(ttl));
    }
    entry.cache_status = status_text_;
  }
  bodies_.Begin(found.entry.terms.stamp, entry.body);
  answer_.Make(entry, asked.entry(), WallSeconds());
  may_repeat_ = is_fresh && !is_coded && found.body.size() <= limits::kGatherBytesMax;
  given_slot_at_ = found.slot_at;
  given_slot_ = found.slot;
  return Send(asked);
}

AnswerOutcome CachedAnswers::GiveAgain(const ArrivedRequest& request) {
  if (!request.writer->IsTurn(*request.connection)) return AnswerOutcome::kLater;
  pending_ = nullptr;
  asks_about_entry_ = false;
  given_.terms->counters->Add(CacheCounter::kHits);
  reader_.NoteHit(given_slot_at_, given_slot_);
  const bool is_head = request.head.method != get_method_;
  return SendEntry(answers_, request.writer, request.connection,
                   {&request.head, is_head, given_.closes}, answer_, &bodies_);
}

AnswerOutcome CachedAnswers::GiveUnsatisfied(const Asked& asked) {
  if (!asked.request.writer->IsTurn(*asked.request.connection)) return AnswerOutcome::kLater;
  const std::string_view status = asked.terms.tells_status ? "httpsys" : std::string_view();
  answer_.MakeUnsatisfied(asked.entry(), status, WallSeconds());
  bodies_.End();
  return Send(asked);
}

AnswerOutcome CachedAnswers::Send(const Asked& asked) {
  const ArrivedRequest& request = asked.request;
  const AnswerOutcome outcome =
      SendEntry(answers_, request.writer, request.connection, asked.entry(), answer_, &bodies_);
  bodies_.End();
  // Trim() has freed the memory that answer_ views: it must not be used again.
  if (reader_.Trim()) may_repeat_ = false;
  return outcome;
}

}  // namespace httpsys::engine
