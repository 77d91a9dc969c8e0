#pragma once
// A lane's connections to the lanes of other members, over which client connections change hands.
//
// Ownership is acknowledged before the request is handled: until then the sender keeps descriptor
// and bytes. A peer that breaks or stays silent loses what it has not acknowledged, and cannot
// acknowledge it any more.

#include <uv.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/connection/connection.h"
#include "peer/messages.h"
#include "sharing/channel.h"

namespace httpsys::engine {

// A client connection on its way, and what was read of it and not handled.
struct HandedConnection {
  int fd = -1;
  uint16_t port = 0;
  uint8_t hops = 0;
  uint32_t idle_ms = 0;
  std::string bytes;
  std::unique_ptr<RelayOrigin> origin;  // Of one end of a relay.
  uint64_t home = 0;                    // As in peer::HandOver.
  uint8_t returns = 0;                  // How often it was declined. Not told to the peer.
};

// Thread: the lane.
class PeerLinks final : public sharing::Channel::Handler {
 public:
  class Owner {
   public:
    // Whether a connection of this port is welcome.
    virtual bool CanTake(uint16_t port) const = 0;
    // From a peer, acknowledged.
    virtual void OnHandedOver(HandedConnection connection) = 0;
    // The peer has not taken it. The descriptor is the owner's again.
    virtual void OnTakenBack(HandedConnection connection) = 0;
    virtual void OnAnswered(const peer::Answered& answer) = 0;
    virtual void OnDecided(const peer::Decided& decision) = 0;
    virtual void OnReturned(const peer::Returned& returned) = 0;
    virtual void OnEnded(const peer::Ended& end) = 0;
    // It would have the connections back whose home it is.
    virtual void OnFree(uint64_t member) = 0;
    // A link that was full is not any more.
    virtual void OnLinkFree() = 0;

   protected:
    ~Owner() = default;
  };

  // kGone: nobody is there, or nobody that answers.
  enum class State : uint8_t { kReady, kFull, kGone };

  PeerLinks(uv_loop_t* loop, uint64_t self, Owner* owner);
  PeerLinks(const PeerLinks&) = delete;
  PeerLinks& operator=(const PeerLinks&) = delete;

  // Whether HandOver() can be called; makes the link when there is none.
  State Prepare(uint64_t member);
  // Takes the descriptor over. After Prepare() said kReady.
  void HandOver(uint64_t member, HandedConnection connection);
  // Sends what was handed over: all that one turn of the loop has for a peer, so that it is woken
  // for all.
  void Flush();
  // Reads what the peer has answered by now.
  void ReadNow(uint64_t member);
  // Tells the other end of a relay of an answer, what becomes of an upgrade, or that it should look
  // for somebody else.
  void SendAnswered(const RelayOrigin& origin);
  void SendDecided(const RelayOrigin& origin, bool is_upgraded);
  void SendReturned(const RelayOrigin& origin);
  void SendEnded(const RelayOrigin& origin, bool is_whole);
  // To all who may have been handed something: this member is free again.
  void TellFree();
  // Connections are on their way: when the process ended now, they would be lost.
  bool HasUnacknowledged();
  // A link from a peer. Takes the descriptor over.
  void Accept(int fd);
  // Nothing is taken back.
  void Close();

  void OnFrame(sharing::Channel* channel, const peer::Frame& frame,
               std::span<const int> fds) override;
  void OnBatchEnd(sharing::Channel* channel) override;
  void OnBroken(sharing::Channel* channel) override;

 private:
  struct Sent {
    uint32_t sequence = 0;
    uint64_t since_ms = 0;
    HandedConnection connection;
  };

  struct Link {
    sharing::Channel* channel = nullptr;
    uint32_t next_sequence = 1;
    std::deque<Sent> sent;
    size_t unsent = 0;       // The last ones of them, until Flush().
    bool is_prompt = false;  // Answers of relays come over it.
    bool is_silent = false;  // Its peer has not answered the question that it began with.
  };

  struct Received {
    bool is_known = false;  // Has said who it is.
    uint64_t member = 0;
    // Of the current batch, not acknowledged yet.
    std::vector<HandedConnection> connections;
    uint32_t sequence = 0;  // Of the last one.
    uint64_t number = 0;    // Of the link, used once.
  };

  State Connect(uint64_t member);
  State Stalled(uint64_t member);
  Link* FindLink(sharing::Channel* channel, uint64_t* member);
  // From `first` on as many as fit into one frame; how many that were.
  size_t SendSome(Link* link, size_t first);
  static bool SendRelay(Link* link, const Sent& sent);
  void SendBack(const RelayOrigin& origin, peer::FrameType type, const std::string& payload);
  void OnAnswer(Link* link, const peer::Frame& frame);
  bool OnReceived(sharing::Channel* channel, Received* received, const peer::Frame& frame,
                  std::span<const int> fds);
  bool OnHandOver(sharing::Channel* channel, Received* received, const peer::Frame& frame,
                  std::span<const int> fds);
  bool OnRelay(sharing::Channel* channel, Received* received, const peer::Frame& frame, int fd);
  // False: the peer asks more than it may, or does not listen.
  static bool Decline(sharing::Channel* channel, uint32_t sequence);
  void TakeBatch(sharing::Channel* channel, Received* received);
  void GiveUp(uint64_t member, bool is_silent);
  void ReadAcknowledgements();
  void CheckAges();
  void ArmTimer();

  uv_loop_t* loop_;
  const uint64_t self_;
  Owner* owner_;
  uv_timer_t timer_;
  std::map<uint64_t, Link> links_;                            // To peers,
  std::unordered_map<sharing::Channel*, uint64_t> members_;   // and whose they are.
  std::unordered_map<sharing::Channel*, Received> received_;  // From peers,
  std::unordered_map<uint64_t, sharing::Channel*> channels_;  // by their numbers.
  std::vector<uint64_t> unflushed_;                           // Members.
  // Those that were given up because they were silent, until they answer: nobody waits for them any
  // more. Until when is said where not even a link can be made to ask them.
  std::unordered_map<uint64_t, uint64_t> silent_until_ms_;
  std::unordered_map<uint64_t, uint64_t> stalled_since_ms_;  // Those that accept no links.
  uint64_t next_number_ = 1;
};

}  // namespace httpsys::engine
