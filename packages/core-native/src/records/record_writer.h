#pragma once
// Writes the request records of one lane. records.h and docs/internals/records.md say what each
// record contains.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/block_store.h"
#include "http1/request_parser.h"
#include "records/addresses.h"
#include "records/intern_table.h"
#include "records/request_queue.h"
#include "tls/facts.h"

namespace httpsys::engine {

// Encodes the facts about TLS for a kOpen record.
std::string EncodeFacts(const tls::Facts& facts);
// Returns true if bytes from another process have the format of EncodeFacts().
bool AreFacts(std::string_view bytes);
// Reads the terms of the handshake, except its trust, from encoded facts. Malformed bytes give the
// terms of a connection without TLS.
tls::HandshakeTerms TermsOf(std::string_view facts);

// How soon JavaScript is woken for a record: at once (kNow), or together with a later record but
// within limits::kOpenToldLateMs (kSoon) or limits::kToldLateMs (kLate).
enum class Urgency : uint8_t { kLate, kSoon, kNow };

// Each method writes one type of record. None fails: the queue always has room. Thread: the lane.
class RecordWriter {
 public:
  struct Request {
    uint32_t slot = 0;
    uint32_t parent_slot = 0;  // The connection of a stream. Valid with kFlagStream.
    uint32_t server_id = 0;
    uint32_t prefix_id = 0;
    uint32_t flags = 0;  // records::RequestFlags
    uint64_t arrival_ns = 0;
    size_t head_bytes = 0;  // The length of the head on the wire.
    std::string_view body;
  };

  RecordWriter(RequestQueue* queue, uint64_t intern_seed) : queue_(queue), intern_(intern_seed) {}

  void BeginPass() { intern_.BeginPass(); }

  // `facts` is empty for a connection without TLS.
  void Open(uint32_t slot, uint32_t server_id, const Addresses& addresses, uint32_t flags,
            std::string_view facts);
  void Hello(uint32_t id, uint32_t server_id, const tls::ClientHello& hello);
  void NewSession(uint32_t id, uint32_t server_id, const tls::NewSession& session);
  // Writes a kKeyLog record; nothing if `lines` is empty.
  void KeyLog(uint32_t slot, std::string_view lines);
  void TlsFailure(uint32_t slot, const tls::Failure& failure);
  void RequestHead(const http1::RequestHead& head, const Request& request);
  // Writes the bytes inline, or copies them into a block if they are large.
  void Body(uint32_t slot, std::string_view bytes);
  // Reports the certificates that a client has shown on request. `error` is the system's error
  // code; the certificates are encoded as for Open().
  void PeerCertificate(uint32_t slot, uint32_t error, long verify_result,
                       std::string_view certificates);
  void BodyBlock(uint32_t slot, Block block);
  // `loan_id` identifies a block that JavaScript has lent (ReceiveBlocks); its first `bytes` are
  // filled.
  void BodyLent(uint32_t slot, uint32_t loan_id, size_t bytes);
  void BodyEnd(uint32_t slot, const std::vector<http1::HeaderLine>& trailers);
  // `flags` is 0 or kFlagUndecided.
  void Eof(uint32_t slot, uint32_t flags = 0);
  // With `is_patient`, the record may wait for a wake by later records, because JavaScript does not
  // need it soon.
  void Closed(uint32_t slot, int error, bool is_patient);
  void Credit(uint32_t slot, uint32_t bytes, uint32_t flags = 0);
  void Silence(uint32_t slot, uint32_t ms, uint32_t since_ms, uint32_t flags);
  // Does not wake JavaScript: the record is read together with later ones.
  void Unseen(uint32_t slot, uint32_t read, uint64_t written);
  // The place of the error in a malformed message, as a kError record describes it.
  struct Fault {
    std::string_view segment;
    std::string_view prefix;
    size_t from = 0;
  };
  void Error(uint32_t slot, records::ErrorKind kind, const Fault& fault);
  void BlockDone(uint32_t block_id, int error, uint64_t sent = 0);
  // Returns the highest urgency of the records since the last call, and resets it.
  Urgency TakeUrgency() { return std::exchange(urgency_, Urgency::kLate); }

  // -- Records of a WebSocket.

  void Message(uint32_t slot, uint32_t flags, std::string_view bytes);
  void MessageBlock(uint32_t slot, uint32_t flags, Block block);
  void Control(uint32_t slot, uint32_t opcode, std::string_view payload);
  void CloseFrame(uint32_t slot, uint32_t code, std::string_view reason);
  void FrameError(uint32_t slot, uint32_t error, uint32_t detail, int zlib_code,
                  std::string_view text);

 private:
  uint8_t* Append(size_t bytes, records::RequestType type, uint32_t flags, uint32_t slot,
                  Urgency urgency = Urgency::kNow);
  // Appends a record whose payload is `bytes`. The caller writes the other fields.
  uint8_t* Piece(records::RequestType type, uint32_t flags, uint32_t slot, std::string_view bytes);
  void Intern(uint32_t id, std::string_view name, std::string_view value, bool is_name_only);
  // Fills line_words_. Returns the size of the texts that have no id, in bytes.
  size_t EncodeLines(const std::vector<http1::HeaderLine>& lines);
  uint32_t EncodeTarget(std::string_view target);
  uint8_t* CopyLineWords(uint8_t* to) const;
  uint8_t* CopyLineText(const std::vector<http1::HeaderLine>& lines, uint8_t* to) const;

  RequestQueue* queue_;
  InternTable intern_;
  std::vector<uint32_t> line_words_;  // Two words per line.
  Urgency urgency_ = Urgency::kLate;
};

}  // namespace httpsys::engine
