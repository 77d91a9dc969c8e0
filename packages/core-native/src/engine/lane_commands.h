#pragma once
// Commands that other threads give a lane: settings, accepted connections, routes and questions.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/command_queue.h"
#include "engine/config/server_config.h"
#include "engine/connection/attachment.h"
#include "engine/lane_parts.h"
#include "engine/new_connections.h"
#include "engine/peers/port_statistics.h"
#include "sharing/port_routes.h"
#include "tls/session.h"

namespace httpsys::engine {

// The commands of one lane. A command runs on the lane's thread, in the order of the calls. Thread:
// any for the commands, the lane for everything else.
class LaneCommands {
 public:
  // `wake` wakes the lane, which then calls RunAll().
  LaneCommands(CommandQueue* queue, const Attachments* attachments, LaneParts* parts,
               PortStatistics* statistics, std::atomic<uint32_t>* load, std::function<void()> wake);
  LaneCommands& operator=(LaneCommands&&) = delete;

  // -- Commands.

  // Adds a server of this attachment or changes its settings. After the call, the settings apply to
  // every request that a client sends, unless other commands wait. Server ids are unique among all
  // attachments. `bandwidths` must outlive the lane; nullptr = no prefix has a limit.
  void SetConfig(Attachment* attachment, uint32_t server_id,
                 std::shared_ptr<const ServerConfig> config, Bandwidths* bandwidths = nullptr);
  // Must be called when the server has stopped listening; ends its idle connections or gives them
  // to another member.
  void Unlisten(uint32_t server_id);
  // Gives the lane accepted connections. Takes the descriptors over.
  void Adopt(uint32_t server_id, const std::vector<int>& fds);
  // Does the same as Adopt(), but does not wake the lane.
  void AdoptLater(uint32_t server_id, const std::vector<int>& fds);
  // Refuses requests and closes connections that have exceeded a timeout; 0 = no limit.
  void CheckConnections(uint32_t server_id, uint64_t headers_timeout_ms,
                        uint64_t request_timeout_ms);
  // Makes the lane arrive at the barrier once the replies published so far are handled, and also
  // sent if the barrier's goal is DrainGoal::kSent.
  void Drain(std::shared_ptr<DrainBarrier> barrier);
  // Answers the requests that the attachment's JavaScript will not begin because its thread is
  // ending.
  void RefuseAbandoned(Attachment* attachment);
  // Replaces the routes of a port. `done` is called on the lane's thread, also if the lane is
  // stopping.
  void SetRoutes(std::shared_ptr<const sharing::PortRoutes> routes, std::function<void()> done);
  // Continues a handshake that waits for this attachment's JavaScript.
  void AnswerHello(const Attachment* attachment, uint32_t id, tls::HelloAnswer answer);
  // Asks the TLS session of a connection, and waits for the answer up to limits::kTlsAskMs. Returns
  // an empty string if there is none.
  std::string AskTls(Attachment* attachment, uint32_t slot, tls::Question question,
                     std::string argument);
  // Accepts a link from a lane of another member. Takes the descriptor over.
  void AcceptLink(int fd);
  // Asks another member for its cache (ArenaLinks::Ask).
  void AskCache(uint64_t member, uint32_t server_id, uint32_t prefix_id);
  // Gives ArenaLinks the routes of a port.
  void SetCacheRoutes(std::shared_ptr<const sharing::PortRoutes> routes);
  // Calls a function on the lane's thread before the lane handles anything else.
  void RunFirst(std::function<void()> command);
  // Makes the lane's thread call Close(), then `close`.
  void Stop(std::function<void()> close);

  // -- Running the commands.

  void RunAll();
  // Runs the commands that must precede later replies. For example, if a server was closed and
  // listens again, a connection whose answer it completes afterwards stays with this server. The
  // remaining commands run at the wake that came with them.
  void RunOrders();
  // Runs commands with settings and routes that no other command precedes. Needed before a
  // connection is read: a poll may find its request before the wake for settings that were made
  // earlier. Other commands do not run here, because they could change that connection.
  void RunConfigs();
  // Opens the accepted connections that were set aside because their clients had sent nothing yet.
  // Returns false if there were none.
  bool OpenEarly();
  // True if a barrier waits for the lane.
  bool has_drains() const { return !drains_.empty(); }
  // Arrives at the barriers whose goal is reached.
  void AnswerDrains();

 private:
  using Kind = CommandQueue::Kind;

  void Post(std::function<void()> command, Kind kind = Kind::kOther);
  void Run(const std::vector<CommandQueue::Command>& commands);
  void OpenAccepted(bool may_wait);
  void SweepServers();
  void EndOrMove(LaneServer* server);
  void Close();

  CommandQueue* queue_;
  const Attachments* attachments_;
  LaneParts* parts_;
  PortStatistics* statistics_;
  std::atomic<uint32_t>* load_;
  const std::function<void()> wake_;
  NewConnections connections_;
  std::vector<std::shared_ptr<DrainBarrier>> drains_;
  bool is_stopping_ = false;
};

}  // namespace httpsys::engine
