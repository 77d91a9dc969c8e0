#pragma once
// Requests that another member answers while their connection stays with this one: more requests
// have been read behind them, or the connection cannot move. The owner serves its end of a socket
// pair as it would the client's connection, and tells over the link how many bytes each answer ends
// at and what becomes of an upgrade.

#include <uv.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/connection/input.h"
#include "engine/connection/transport.h"
#include "engine/peers/peer_links.h"
#include "engine/peers/relay_input.h"
#include "engine/requests/exchanges.h"
#include "engine/requests/request_router.h"

namespace httpsys::engine {

// Of one connection or one stream, to one member.
struct Relay : RelayState {
  uv_poll_t poll;
  class Relays* owner = nullptr;
  Connection* connection = nullptr;  // nullptr = over, or only `unsent` is to be sent.
  uint64_t member = 0;
  uint32_t id = 0;
  int fd = -1;
  std::string unsent;           // To the member.
  uint64_t received = 0;        // Bytes of answers.
  uint64_t answered_bytes = 0;  // Where the last whole answer ended.
  uint32_t pending = 0;         // Requests without a whole answer.
  std::string kept;             // All bytes of these requests, while is_kept.
  bool is_kept = false;
  bool is_opaque = false;    // Upgraded.
  bool is_ending = false;    // The client has ended its direction.
  bool is_ended = false;     // The member has.
  bool is_returned = false;  // Behind the answers that are still to come.
  bool is_told = false;      // The member has said that it ends it,
  bool is_whole = false;     // and that what it has sent of a stream's tunnel is all.
  // At most kRelayAnswersMax. Each stream has its own, and a deque of one item takes 4 KiB with
  // libc++: it is a vector.
  std::vector<peer::Answered> answers;
};

// Thread: the lane.
class Relays {
 public:
  // Hears of requests that came back from a member.
  class Owner {
   public:
    // The request looks for its owner a little later.
    virtual void WaitReturned(Connection* connection) = 0;

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
  Relays(const Relays&) = delete;
  Relays& operator=(const Relays&) = delete;

  // Before the first request: where the requests of connections and those of streams are read.
  void Start(Exchanges* exchanges, RelayInput* requests, RelayedStreams* streams);
  void Close();

  // The head of a request for a member that Prepare() found ready. False: not now.
  bool Send(Connection* connection, uint64_t member, std::string_view head);
  // What follows it. Thrown away when the relay has ended meanwhile.
  void SendMore(Connection* connection, std::string_view bytes);
  static bool CanSend(const Connection* connection);
  static size_t UnsentBytes(const Connection* connection);
  // Nothing more follows. False: no request is unanswered.
  bool EndInput(Connection* connection);
  // All unanswered requests of the connection are this member's.
  static bool IsOnlyAt(const Connection* connection, uint64_t member);
  static bool HasPending(const Connection* connection);
  // The client has taken what it was sent.
  void Resume(Connection* connection);
  void OnDetached(Connection* connection);

  // -- What the member says.

  void OnAnswered(const peer::Answered& answer);
  void OnDecided(const peer::Decided& decision);
  // It has not taken the relay.
  void OnRefused(uint32_t id) { OnReturned(id); }
  // Unanswered requests look for their owner again.
  void OnReturned(uint32_t id);
  void OnEnded(const peer::Ended& end);

 private:
  Relay* Open(Connection* connection, uint64_t member);
  static void OnPoll(uv_poll_t* poll, int status, int events);
  void Watch(Relay* relay);
  void Write(Relay* relay);
  void Read(Relay* relay);
  void CheckAnswers(Relay* relay);
  void End(Relay* relay);
  void EndOfStream(Relay* relay);
  void Fail(Relay* relay);
  void CloseBoth(Relay* relay);
  static void Keep(Relay* relay, std::string_view bytes);
  static void Forget(Relay* relay);
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
  std::vector<char> buffer_;
};

}  // namespace httpsys::engine
