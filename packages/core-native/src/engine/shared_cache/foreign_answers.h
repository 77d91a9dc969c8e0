#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cache/freshness.h"
#include "cache/request_facts.h"
#include "engine/cache/cache_reader.h"
#include "engine/cache/entry_answer.h"
#include "engine/cache/send_entry.h"
#include "engine/peers/owner_caches.h"
#include "engine/requests/native_answer.h"
#include "engine/shared_cache/foreign_arenas.h"
#include "http1/method_table.h"

namespace httpsys::engine {

// Checks a response head that another process has stored, which may be any bytes. Returns true if
// it is well formed (stored_head.h), has this final status, and its Content-Length is `body_bytes`:
// then it cannot falsify where the connection's next response begins. Thread: any.
[[nodiscard]] bool IsSoundHead(std::string_view head, uint16_t status, uint64_t body_bytes);

// Answers requests for URLs of other members from these members' arenas, without their JavaScript
// and without handing over the connection. Requests that no entry answers go to their owners as
// usual. An arena answers only for URLs of its own member. Thread: the lane.
class ForeignAnswers final : public ForeignCache {
 public:
  ForeignAnswers(ForeignArenas* arenas, const http1::MethodTable* methods, NativeAnswers* answers)
      : arenas_(arenas), methods_(methods), answers_(answers), readers_(arenas) {}
  ForeignAnswers& operator=(ForeignAnswers&&) = delete;

  // -- ForeignCache.

  AnswerOutcome Answer(const ArrivedRequest& request,
                       const sharing::PortRoutes::Target& target) override {
    return target.owners.size() == 1 && target.owners[0].is_cached && target.owners[0].member != 0
               ? AnswerFor(request, target.owners[0])
               : AnswerOutcome::kNone;
  }
  AnswerOutcome AnswerOrphaned(const ArrivedRequest& request) override {
    return readers_.has_orphaned() ? LookAtOrphaned(request) : AnswerOutcome::kNone;
  }
  bool Has(const http1::RequestHead& head, const sharing::PortRoutes::Target& target) override;

 private:
  using Reader = ArenaReaders::Reader;

  // The facts of a request that are compared with scopes and entries.
  struct Asked {
    cache::RequestFacts facts;
    bool is_secure = false;
    const std::string* negotiation = nullptr;  // Digest of the server that made the handshake.
    uint16_t port = 0;
  };

  // Maximum number of scopes of orphaned arenas in which one request is looked up.
  static constexpr size_t kOrphansTriedMax = 64;

  AnswerOutcome AnswerFor(const ArrivedRequest& request, const sharing::PortRoutes::Owner& owner);
  AnswerOutcome LookAtOrphaned(const ArrivedRequest& request);
  // Reads the facts of a request. Returns false if no entry may answer it.
  bool Read(const ArrivedRequest& request, Asked* asked) const;
  static bool Fits(const Asked& asked, const ForeignScope& scope);
  // Looks for an entry that may answer. `is_orphaned`: the entry's owner cannot be reached.
  bool Find(const Asked& asked, const http1::RequestHead& head, const Reader& reader,
            const ForeignScope& scope, bool is_orphaned);
  // Looks for the compressed variant of the entry in found_, if the client wants one. kNone: it is
  // missing, and the owner must make it.
  FoundCoding FindVariant(const Asked& asked, const http1::RequestHead& head, const Reader& reader,
                          cache::FoundEntry* coded);
  // Returns true if the request must go to the owner, so that it makes a missing variant.
  bool IsForOwner(Reader* reader) const;
  AnswerOutcome Give(const ArrivedRequest& request, const Asked& asked, Reader* reader,
                     const ForeignScope& scope, bool is_orphaned);

  ForeignArenas* arenas_;
  const http1::MethodTable* methods_;
  NativeAnswers* answers_;
  ArenaReaders readers_;
  EntryAnswer answer_;
  SharedBodies bodies_;
  // The next four fields belong to the entry that was found last.
  FindMemory memory_;
  cache::FoundEntry found_;
  cache::Judgement judgement_;
  std::string key_;
  std::string status_text_;
};

}  // namespace httpsys::engine
