#pragma once
// Relays: another member answers a request while the connection stays here, because more requests
// have been read behind it or the connection cannot move. The answering member serves its end of a
// socket pair as it would serve the client's connection. Over the link it says at which byte each
// answer ends, and what becomes of an upgrade.

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/relay_input.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/request_router.h"

namespace httpsys::engine {

// The bytes of the relayed requests of one connection that have no answer yet, so that they can go
// to another member if the first one returns them. Long requests are not kept: few requests without
// an answer are long.
class KeptRequests {
 public:
  // Must be called when a request begins; Append() adds its bytes.
  void Begin() { begins_.push_back(bytes_.size()); }
  // Adds bytes of the last request, unless it is answered already.
  void Append(std::string_view bytes) {
    if (begins_.empty()) return;
    if (bytes_.size() + bytes.size() <= limits::kRelayKeptBytesMax) {
      bytes_.append(bytes);
      return;
    }
    missing_ += begins_.size();
    begins_.clear();
    bytes_ = {};
  }
  // Must be called when the first request has its answer.
  void OnAnswered() {
    if (missing_ != 0) {
      --missing_;
    } else if (begins_.size() > 1) {
      const size_t answered = begins_[1];
      begins_.erase(begins_.begin());
      for (size_t& begin : begins_) begin -= answered;
      bytes_.erase(0, answered);
    } else {
      begins_.clear();
      bytes_ = {};
    }
  }
  // True if every request that has no answer is kept.
  bool has_all() const { return missing_ == 0; }
  // Returns and forgets the bytes of all unanswered requests; empty if the first is not kept.
  std::string Take() { return missing_ == 0 ? std::exchange(bytes_, {}) : std::string(); }

 private:
  std::string bytes_;
  std::vector<size_t> begins_;  // Offsets of the kept requests in bytes_.
  size_t missing_ = 0;          // The number of earlier requests that are not kept.
};

// The relay of one connection or stream to one member.
struct Relay : RelayState {
  uv_poll_t poll;
  class Relays* owner = nullptr;
  // nullptr = the relay has ended, or only `unsent` is still to be sent.
  Connection* connection = nullptr;
  uint64_t member = 0;
  uint32_t id = 0;
  int fd = -1;
  std::string unsent;           // Bytes for the member.
  uint64_t received = 0;        // Bytes of answers that were received.
  uint64_t answered_bytes = 0;  // The position at which the last complete answer ended.
  uint32_t pending = 0;         // The number of requests without a complete answer.
  // The bytes of the requests without a complete answer; empty for a stream, whose session keeps
  // them.
  KeptRequests kept;
  bool is_opaque = false;  // The connection is upgraded: the relay is a tunnel.
  bool is_ending = false;  // The client has ended its direction.
  bool is_ended = false;   // The member has ended its direction.
  // The member returns all requests without an answer; handled when the bytes of its earlier
  // answers have come.
  bool is_returned = false;
  // Valid with is_returned: the reason is that the member's JavaScript is blocked.
  bool is_blocked = false;
  bool is_cut = false;    // The link has ended: only answers in `answers` will be complete.
  bool is_told = false;   // The member has said that it closes its end.
  bool is_whole = false;  // The member has said that all bytes of a stream's tunnel were sent.
  // Ends of answers whose bytes have not all come; at most limits::kRelayAnswersMax. A vector,
  // because every relayed stream has one and a deque of one item takes 4 KiB with libc++.
  std::vector<peer::Answered> answers;
};

// The relays of one lane, on the side of the client. Thread: the lane.
class Relays final : public PeerLinks::RelayOwner {
 public:
  // Receives requests that came back from a member.
  class Owner {
   public:
    // Makes the request look for its owner again, a little later.
    virtual void WaitReturned(Connection* connection) = 0;
    // Makes the request look for its owner again at once.
    virtual void WaitUnbegun(Connection* connection) = 0;

   protected:
    ~Owner() = default;
  };

  Relays(uv_loop_t* loop, PeerLinks* links, Owner* owner, Transport* transport, Input* input)
      : loop_(loop),
        links_(links),
        owner_(owner),
        transport_(transport),
        output_(transport->output()),
        input_(input) {}
  Relays& operator=(Relays&&) = delete;

  // Sets the readers of the requests of connections and of streams. Must be called before the first
  // request.
  void Start(Exchanges* exchanges, RelayInput* requests, RelayedStreams* streams);
  void Close();

  // Sends the head of a request to a member for which PeerLinks::Prepare() returned kReady. Returns
  // false if that is not possible now: the relay to another member has pending requests, or there
  // are too many relays or descriptors.
  bool Send(Connection* connection, uint64_t member, std::string_view head);
  // Sends bytes behind the head, or drops them if the relay has ended. Bytes of a connection's
  // request that were read together with its head are also sent together: see Flush().
  void SendMore(Connection* connection, std::string_view bytes);
  // True if the member has taken enough earlier bytes to be sent more.
  static bool CanSend(const Connection* connection);
  static size_t UnsentBytes(const Connection* connection);
  // Informs the member that no more input follows. Returns false if no request is unanswered.
  bool EndInput(Connection* connection);
  // True if all unanswered requests of the connection are at this member.
  static bool IsOnlyAt(const Connection* connection, uint64_t member);
  // True if some relayed request of the connection has no complete answer.
  static bool HasPending(const Connection* connection);
  // Must be called in each turn of the loop after input has been read. Writes the requests that
  // have begun since the last call, each in one piece: a member that got the head alone could not
  // return the request when its JavaScript is blocked.
  void Flush();
  // Must be called when the client has taken the output: reads from the member again.
  void Resume(Connection* connection);
  void OnDetached(Connection* connection);

  // -- Messages of members.

  void OnAnswered(const peer::Answered& answer) override;
  void OnDecided(const peer::Decided& decision) override;
  // Makes the unanswered requests look for their owner again; at once if the member is blocked.
  void OnReturned(const peer::Returned& returned, bool is_blocked) override {
    OnReturned(returned.id, is_blocked);
  }
  void OnEnded(const peer::Ended& end) override;
  void OnLinkCut(uint64_t member) override;
  // Must be called when the member has declined the relay.
  void OnRefused(uint32_t id) { OnReturned(id, false); }

 private:
  void OnReturned(uint32_t id, bool is_blocked);
  Relay* Open(Connection* connection, uint64_t member);
  void Wait(Connection* connection, bool is_blocked);
  static void OnPoll(uv_poll_t* poll, int status, int events);
  void Watch(Relay* relay);
  void Write(Relay* relay);
  void Read(Relay* relay);
  void CheckAnswers(Relay* relay);
  void End(Relay* relay);
  void EndOfStream(Relay* relay);
  void Fail(Relay* relay);
  void CloseBoth(Relay* relay);
  static Relay* Of(const Connection* connection) {
    return static_cast<Relay*>(connection->relay());
  }
  void SendRest(Relay* relay);
  void Free(Relay* relay);

  uv_loop_t* loop_;
  PeerLinks* links_;
  Owner* owner_;
  Transport* transport_;
  OutputPass* output_;
  Input* input_;
  Exchanges* exchanges_ = nullptr;
  RelayInput* requests_ = nullptr;
  RelayedStreams* streams_ = nullptr;
  std::map<uint32_t, Relay*> relays_;
  uint32_t next_id_ = 1;
  std::vector<uint32_t> unwritten_;  // Relays whose request waits for Flush().
  bool is_flushing_ = false;
  std::vector<char> buffer_;
};

}  // namespace httpsys::engine
