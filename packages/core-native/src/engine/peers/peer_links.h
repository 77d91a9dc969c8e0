#pragma once
// The links of a lane to lanes of other members, over which client connections change hands.
//
// A hand-over is acknowledged before the request is handled: until then the sender keeps the
// descriptor and the bytes. If a peer breaks the link or stays silent, the sender takes back what
// was not acknowledged, and the peer cannot acknowledge it any more. The sender marks these
// connections first (MarkTakenBack()): a peer that was stopped sees the mark even if the sender has
// died meanwhile. A later hand-over of such a connection writes its number into the mark
// (MarkHandedOver()), and the receiver of that hand-over may handle the connection.

#include <uv.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/connection/connection.h"
#include "engine/peers/lane_patience.h"
#include "peer/frame_reader.h"
#include "peer/messages.h"
#include "sharing/channel.h"

namespace httpsys::engine {

// Remembers which members have reported that their JavaScript is blocked, and to which members this
// one has reported it.
// A blocked member passes its requests on. Without this knowledge the receiver, if it has no CPU
// for a moment, would pass them back. So a blocked member sends kBlocked before the requests, and
// kBegun over the same channel when its JavaScript has begun a request: the two cannot overtake
// each other. Thread: the lane.
class BlockedPeers {
 public:
  using Channel = sharing::Channel;

  // Must be called when the JavaScript of this member is blocked, and when it has begun a request
  // since: that sends kBegun to the members that got kBlocked.
  void SetBlocked(bool is_blocked) {
    is_blocked_ = is_blocked;
    if (is_blocked) return;
    for (Channel* channel : told_) channel->Send(peer::FrameType::kBegun, {});
    told_.clear();
  }
  // Must be called before requests are passed on over the channel. If this member is blocked, sends
  // kBlocked, once per channel.
  void Tell(Channel* channel) {
    if (is_blocked_ && told_.insert(channel).second) channel->Send(peer::FrameType::kBlocked, {});
  }
  void OnBlocked(const Channel* channel, uint64_t member) { blocked_[channel] = member; }
  // Handles kBegun. Returns false if the member has not said before that it was blocked.
  bool OnBegun(const Channel* channel) { return blocked_.erase(channel) != 0; }
  // Forgets a channel that has ended. Returns true if the member at its other end was blocked.
  bool OnGone(Channel* channel) {
    told_.erase(channel);
    return OnBegun(channel);
  }
  bool IsBlocked(uint64_t member) const {
    return std::any_of(blocked_.begin(), blocked_.end(),
                       [=](const auto& item) { return item.second == member; });
  }

 private:
  bool is_blocked_ = false;
  std::unordered_set<Channel*> told_;
  std::unordered_map<const Channel*, uint64_t> blocked_;
};

// Gives the cache of this process to members that ask for it. Thread: the lane.
class CacheAskers {
 public:
  virtual ~CacheAskers() = default;
  // Handles a frame of a member: kCacheHits, kCacheAsk or kCacheFollow. `link` is the number of its
  // link, which is never reused. The callee owns `fd`, which may be -1.
  virtual void OnCacheFrame(uint64_t link, const peer::Frame& frame, int fd) = 0;
  // Must be called when a link from a member has ended.
  virtual void OnLinkGone(uint64_t link) = 0;
};

// A client connection that moves to another member, with the bytes that were read and not handled.
// Also one end of a relay's socket pair.
struct HandedConnection {
  int fd = -1;
  uint16_t port = 0;
  uint8_t hops = 0;
  uint32_t idle_ms = 0;
  std::string bytes;
  std::unique_ptr<RelayOrigin> origin;  // Set for one end of a relay.
  uint64_t home = 0;    // The member that must get the connection back later; as in peer::HandOver.
  uint8_t returns = 0;  // How many hand-overs of the connection have failed. Not sent to the peer.
  // The sequence number of the hand-over. It is unique within its sender's lane.
  uint32_t sequence = 0;
};

// Thread: the lane.
class PeerLinks final : public sharing::Channel::Handler {
 public:
  // The functions of the router that the links call.
  class Owner {
   public:
    // True if a connection of this port can be taken.
    virtual bool CanTake(uint16_t port) const = 0;
    // Takes a connection that a peer has handed over; the acknowledgement was sent.
    virtual void OnHandedOver(HandedConnection connection) = 0;
    // Takes back a connection, with its descriptor, that a peer has not taken.
    virtual void OnTakenBack(HandedConnection connection) = 0;
    // Called when a member reports that the coordinator of a port does not answer (kDoubt).
    virtual void OnDoubt(uint16_t port) = 0;
    // Called when the JavaScript of a member is not blocked any more, or the member has gone.
    // `wants_back`: the member wants the connections back whose home it is.
    virtual void OnFree(uint64_t member, bool wants_back) = 0;
    // Called when a link may be ready again that was full, or whose member was silent.
    virtual void OnLinkFree() = 0;

   protected:
    ~Owner() = default;
  };

  // Receives messages of members that answer relayed requests.
  class RelayOwner {
   public:
    virtual void OnAnswered(const peer::Answered& answer) = 0;
    virtual void OnDecided(const peer::Decided& decision) = 0;
    // `is_blocked`: the request comes back because the member's JavaScript is blocked (kUnbegun).
    virtual void OnReturned(const peer::Returned& returned, bool is_blocked) = 0;
    virtual void OnEnded(const peer::Ended& end) = 0;
    // Called when the link to a living member has ended, because the member is silent or broke the
    // link: no message will say any more where the member's answers end.
    virtual void OnLinkCut(uint64_t member) = 0;

   protected:
    ~RelayOwner() = default;
  };

  // kGone: the member has ended or does not answer.
  enum class State : uint8_t { kReady, kFull, kGone };

  PeerLinks(uv_loop_t* loop, uint64_t self, LanePatience* patience, Owner* owner,
            RelayOwner* relays);
  // Sets the receiver of requests for this process' cache; nullptr = they get no answer.
  void set_cache_askers(CacheAskers* askers) { askers_ = askers; }
  PeerLinks& operator=(PeerLinks&&) = delete;

  // Returns kReady if HandOver() may be called. Makes the link if there is none.
  State Prepare(uint64_t member);
  // True if there is a link to the member for which Prepare() returns kFull. OnLinkFree() is called
  // when that has changed.
  bool IsFull(uint64_t member) {
    const auto found = links_.find(member);
    return found != links_.end() && IsFull(&found->second);
  }
  // Hands a connection over. Takes the descriptor over. Prepare() must have returned kReady.
  void HandOver(uint64_t member, HandedConnection connection);
  // Sends the connections that were handed over. Must be called once per turn of the loop: each
  // peer is then woken once for all of them.
  void Flush();
  // Reads at once the answers that the member has sent.
  void ReadNow(uint64_t member);
  // Messages to the relaying member. An answer is complete (SendAnswered); an upgrade is accepted
  // or not; the request needs another owner, because this member has none (SendReturned) or is
  // blocked (SendUnbegun); this end is closing (SendEnded).
  void SendAnswered(const RelayOrigin& origin);
  void SendDecided(const RelayOrigin& origin, bool is_upgraded);
  void SendReturned(const RelayOrigin& origin);
  void SendUnbegun(const RelayOrigin& origin);
  void SendEnded(const RelayOrigin& origin, bool is_whole);
  // Sends a frame back over a link from a peer. The caller still owns `fd`. Sends nothing and
  // returns false if the link has ended, or the peer has not read all earlier frames.
  bool SendToReader(uint64_t link, peer::FrameType type, const std::string& payload, int fd);
  // Returns true if a link from a peer exists.
  bool HasLink(uint64_t link) const { return channels_.contains(link); }
  // True if the member was given up because it does not answer.
  bool IsSilent(uint64_t member) const {
    const auto found = silent_until_ms_.find(member);
    return found != silent_until_ms_.end() && uv_now(loop_) < found->second;
  }
  // Informs every member with a link that this member is free again.
  void TellFree();
  // Must be called when the JavaScript of this member is blocked, and when it has begun a request
  // again. See BlockedPeers.
  void SetBlocked(bool is_blocked) { blocked_.SetBlocked(is_blocked); }
  // Informs one member that this one is blocked, if data follows over another socket than the link.
  void TellBlocked(uint64_t member);
  // True if the member has said that its JavaScript is blocked.
  bool IsBlocked(uint64_t member) const { return blocked_.IsBlocked(member); }
  // True if hand-overs are not acknowledged: their connections would be lost if the process ended
  // now.
  bool HasUnacknowledged();
  // Accepts a link from a peer. Takes the descriptor over.
  void Accept(int fd);
  // Closes all links. Connections that were not acknowledged are closed, too.
  void Close();

  void OnFrame(sharing::Channel* channel, const peer::Frame& frame,
               std::span<const int> fds) override;
  void OnBatchEnd(sharing::Channel* channel) override;
  void OnBroken(sharing::Channel* channel) override;

 private:
  struct Sent {
    uint64_t since_ms = 0;
    HandedConnection connection;
  };

  struct Link {
    sharing::Channel* channel = nullptr;
    std::deque<Sent> sent;
    size_t unsent = 0;           // How many of the last entries of `sent` wait for Flush().
    uint64_t told_haste_ms = 0;  // When kHaste was sent to the peer last; 0 = never.
    bool is_prompt = false;      // Relays use the link, so it is read whenever bytes come.
    // The peer was silent before, and has not answered the first question on this link.
    bool is_silent = false;
  };

  struct Received {
    bool is_known = false;  // The peer has sent a valid kLink.
    uint64_t member = 0;
    // Connections of the current batch, which are not acknowledged yet.
    std::vector<HandedConnection> connections;
    uint64_t number = 0;  // Identifies the link; never reused.
  };

  static bool IsFull(Link* link);
  State Connect(uint64_t member);
  void TellHaste(Link* link);
  State Stalled(uint64_t member);
  Link* FindLink(sharing::Channel* channel, uint64_t* member);
  // Sends entries from `first` on, as many as fit into one frame. Returns how many it has sent.
  size_t SendSome(Link* link, size_t first);
  static bool SendRelay(Link* link, const Sent& sent);
  void SendBack(const RelayOrigin& origin, peer::FrameType type, const std::string& payload);
  void OnAnswer(Link* link, uint64_t member, const peer::Frame& frame);
  // Handles kBlocked and kBegun of a member. Returns false for other types.
  bool OnBlockedFrame(sharing::Channel* channel, uint64_t member, peer::FrameType type);
  bool OnReceived(sharing::Channel* channel, Received* received, const peer::Frame& frame,
                  std::span<const int> fds);
  bool OnHandOver(sharing::Channel* channel, Received* received, const peer::Frame& frame,
                  std::span<const int> fds);
  bool OnRelay(sharing::Channel* channel, Received* received, const peer::Frame& frame, int fd);
  // Declines a hand-over. Returns false if the peer does not read its answers.
  static bool Decline(sharing::Channel* channel, uint32_t sequence);
  void TakeBatch(sharing::Channel* channel, Received* received);
  static bool IsOrphaned(uint64_t sender, const HandedConnection& connection);
  void Forget(std::unordered_map<sharing::Channel*, Received>::iterator received);
  void GiveUp(uint64_t member, bool is_silent);
  void ReadAcknowledgements();
  void CheckAges();
  void ArmTimer();

  uv_loop_t* loop_;
  const uint64_t self_;
  LanePatience* patience_;
  Owner* owner_;
  RelayOwner* relays_;
  CacheAskers* askers_ = nullptr;
  uv_timer_t timer_;
  std::map<uint64_t, Link> links_;  // Links to peers, by member.
  // The member of each channel in links_.
  std::unordered_map<sharing::Channel*, uint64_t> members_;
  std::unordered_map<sharing::Channel*, Received> received_;  // Links from peers.
  std::unordered_map<uint64_t, sharing::Channel*> channels_;  // Links from peers, by number.
  BlockedPeers blocked_;
  std::vector<uint64_t> unflushed_;  // Members with entries that wait for Flush().
  // Members that were given up because they were silent, until they answer: no request waits for
  // them. If not even a link can be made, no new attempt is made until this time (ms, uv_now()).
  std::unordered_map<uint64_t, uint64_t> silent_until_ms_;
  // Since when members have not accepted a link (ms, uv_now()).
  std::unordered_map<uint64_t, uint64_t> stalled_since_ms_;
  uint64_t next_number_ = 1;
  uint32_t next_sequence_ = 1;
};

}  // namespace httpsys::engine
