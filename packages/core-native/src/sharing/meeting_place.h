#pragma once
// The names under which the members of a shared port find each other.
//
// On Linux, the names are abstract Unix sockets, which belong to the network namespace as the port
// does and vanish with their process. Elsewhere, and if HTTPSYS_RUNTIME_DIRECTORY is set, they are
// sockets in a directory of the user (named_files.h), which nobody else can write to.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sharing/port_effects.h"
#include "sharing/runtime_directory.h"

namespace httpsys::sharing {

// Remembers which ranks of meeting places belong to other users, for names whose backlog is full.
// Remembers the kernel's answers, because each one lists all Unix sockets of the network namespace.
// A coordinator looks at the ranks above its own before each input, so another user who fills the
// backlog of such a name would slow down all inputs. Thread: any.
class RankOwners {
 public:
  // Asks the kernel whether another user has the name.
  using Ask = std::function<bool(const std::string& name)>;

  explicit RankOwners(Ask ask) : ask_(std::move(ask)) {}
  RankOwners& operator=(RankOwners&&) = delete;

  // Returns true if another user has the name. Keeps answers for limits::kRankOwnerMs.
  bool IsStrangers(const std::string& name, uint64_t now_ms);

 private:
  struct Answer {
    uint64_t asked_ms = 0;
    bool is_strangers = false;
  };

  const Ask ask_;
  std::mutex mutex_;
  std::map<std::string, Answer> answers_;  // By name; old answers are dropped.
};

// A socket that listens under a name.
struct NamedSocket {
  int fd = -1;
  int lock_fd = -1;  // The lock file of the name; -1 where names are not files.
  std::string name;
};

// Thread: any. Statuses are 0 or a negative errno; descriptors are non-blocking and close-on-exec.

// Returns the name of a member's data socket, under which its lanes are reached.
std::string MemberName(uint64_t id);
// Returns at most `most` names of this user that begin with `start`. Where the system does not
// report owners, names of other users or without an owner may be among them.
std::vector<std::string> NamesOfUser(const std::string& start, size_t most);
// Listens under a name. Returns 0; -EADDRINUSE if another process has the name; -EACCES if its
// directory is another user's. The caller owns the descriptors and must call CloseNamed().
int ListenUnder(const std::string& name, NamedSocket* socket);
// Closes the descriptors and removes the files of the name.
void CloseNamed(NamedSocket* socket);
// Connects to a name. Returns a descriptor or a negative errno; -ECONNREFUSED = no process listens.
int ConnectTo(const std::string& name);
// Connects to the coordinator of a port: to the highest rank of its meeting place at which a
// process of this user listens, or else to rank 0. Sets the rank. Returns as ConnectTo() does.
int ConnectToCoordinator(uint16_t port, uint32_t* rank);
// Connects to one rank of a meeting place. Returns as ConnectTo() does; -EAGAIN if its backlog is
// full; -EACCES if another user listens at a rank above 0: that process is not the coordinator.
int ConnectToRank(uint16_t port, uint32_t rank);
// Returns true if a process of this user listens at a higher rank of the meeting place than `rank`.
bool IsRankPassed(uint16_t port, uint32_t rank);
// If another user has the name or its directory, sets `stranger` as far as known (pid 0 if no
// process listens) and returns true. Returns false if the name is free or its user unknown.
bool IsStrangers(const std::string& name, Credentials* stranger);
// Returns true if no process of this user listens under a member's name: its process has ended.
bool IsGone(uint64_t id);
// Reads the user and process at the other end of a connected Unix socket. Returns false if the
// kernel does not report them.
bool ReadCredentials(int fd, Credentials* credentials);
// Returns true if a process of this user is at the other end of a connected Unix socket.
bool IsOwnUser(int fd);
// Makes a random, unguessable id for a member.
uint64_t RandomId();

}  // namespace httpsys::sharing
