#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/cache/entry_answer.h"
#include "engine/connection/connection.h"
#include "engine/connection/pass_pieces.h"
#include "engine/requests/native_answer.h"
#include "records/record_writer.h"

namespace httpsys::engine {

// Copies of entries' bodies that wait for slow clients. All connections and streams with the same
// body share one copy, because clients decide how many responses wait, and for how long. A body
// that a socket takes at once is not copied. Thread: the lane.
class SharedBodies final : public Lender {
 public:
  // Minimum size of a shared body; shorter ones are copied for each client.
  static constexpr size_t kBytesMin = 16 * 1024;

  SharedBodies& operator=(SharedBodies&&) = delete;

  // Sets the body of the next answer. The body must not move until the answer was given. `stamp` is
  // the entry's EntryTerms::stamp; several bodies may have the same stamp.
  void Begin(uint32_t stamp, std::string_view body) {
    stamp_ = stamp;
    body_ = body;
    shared_ = nullptr;
  }
  // Returns a piece of the answer, lent by this object if it is part of a long body.
  NativeAnswer::Piece PieceOf(std::string_view bytes) {
    const std::less_equal<const char*> is_ordered;
    const bool is_part = body_.size() >= kBytesMin && is_ordered(body_.data(), bytes.data()) &&
                         is_ordered(bytes.data() + bytes.size(), body_.data() + body_.size());
    NativeAnswer::Piece piece;
    piece.bytes = bytes;
    if (is_part) piece.lender = this;
    return piece;
  }
  // Must be called after the answer was given.
  void End() {
    body_ = {};
    shared_ = nullptr;
  }

  // -- Lender.

  Kept Keep(std::string_view bytes) override {
    if (shared_ == nullptr) shared_ = Share();
    const auto at = static_cast<size_t>(bytes.data() - body_.data());
    return {shared_, std::string_view(*shared_).substr(at, bytes.size())};
  }

 private:
  std::shared_ptr<const std::string> Share() {
    // Add the size to the stamp: an entry and its compressed variants have the same stamp.
    const uint64_t name = uint64_t{stamp_} << 32 | static_cast<uint32_t>(body_.size());
    std::weak_ptr<const std::string>& kept = bodies_[name];
    std::shared_ptr<const std::string> shared = kept.lock();
    if (shared != nullptr && *shared == body_) return shared;
    shared = std::make_shared<const std::string>(body_);
    kept = shared;
    if (bodies_.size() >= limit_) Forget();
    return shared;
  }
  // Removes bodies that no connection uses any more. Called rarely: its cost does not matter.
  void Forget() {
    std::erase_if(bodies_, [](const auto& entry) { return entry.second.expired(); });
    limit_ = 2 * bodies_.size() + kLimitMin;
  }

  static constexpr size_t kLimitMin = 64;

  uint32_t stamp_ = 0;
  std::string_view body_;
  // The copy of `body_`; nullptr until a client needs it.
  std::shared_ptr<const std::string> shared_;
  size_t limit_ = kLimitMin;
  std::unordered_map<uint64_t, std::weak_ptr<const std::string>> bodies_;
};

// -- Facts about the connection of a request that decide which entries may answer the request.

// True if IsSecure() or WasAskedForCertificate() may be true: a cheap test that saves both calls.
inline bool MayBeSecure(const Connection* connection) {
  const Connection* real = connection->real();
  return real->tls != nullptr || real->origin() != nullptr;
}

// True if the client speaks TLS, to this member or to the one that relays the request.
inline bool IsSecure(const Connection* connection) {
  const Connection* real = connection->real();
  return real->tls != nullptr || (real->origin() != nullptr && !real->origin()->facts.empty());
}

// True if the server has requested a certificate from the client, whether the client has shown one
// or not: answers may depend on it.
inline bool WasAskedForCertificate(const Connection* connection) {
  const Connection* real = connection->real();
  if (real->tls != nullptr) return real->tls->requests_certificate();
  return real->origin() != nullptr && TermsOf(real->origin()->facts).is_asked;
}

// Sends an answer that was made from a stored response of this process or of another one. `bodies`
// keeps the part of the body that the client does not take at once. Thread: the lane.
inline AnswerOutcome SendEntry(NativeAnswers* answers, AnswerWriter* writer, Connection* connection,
                               const AskedEntry& asked, const EntryAnswer& made,
                               SharedBodies* bodies) {
  NativeAnswer answer;
  answer.counter = LaneCounter::kCached;
  answer.status = made.status();
  answer.head = made.head();
  answer.is_own_error = made.is_own_error();
  answer.closes = asked.closes;
  const std::span<const std::string_view> parts = made.pieces();
  if (parts.size() <= 1) {
    const NativeAnswer::Piece body =
        parts.empty() ? NativeAnswer::Piece() : bodies->PieceOf(parts.front());
    answer.pieces = {&body, parts.size()};
    return answers->Answer(writer, connection, asked.request, answer);
  }
  std::vector<NativeAnswer::Piece> pieces;
  pieces.reserve(parts.size());
  for (const std::string_view bytes : parts) {
    pieces.push_back(bodies->PieceOf(bytes));
  }
  answer.pieces = pieces;
  return answers->Answer(writer, connection, asked.request, answer);
}

}  // namespace httpsys::engine
