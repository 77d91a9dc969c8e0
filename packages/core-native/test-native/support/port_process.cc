// What a process in the model of a shared port asks of its world (PortEffects).

#include <algorithm>
#include <cerrno>

#include "support/port_world.h"

namespace httpsys::test::model {

Visit Process::VisitMeeting() {
  for (uint32_t rank = limits::kRanksMax; rank-- > 1;) {
    if (model->names_[rank] != 0) return VisitRank(rank);
  }
  return VisitRank(0);
}

Visit Process::VisitRank(uint32_t rank) {
  const uint64_t there = model->names_[rank];
  if (there == 0) return {Visit::Result::kNobody, 0, 0, {}, rank};
  const LinkId link = model->Connect(*this, rank);
  return {Visit::Result::kLinked, link, 0, {0, static_cast<uint32_t>(there)}, rank};
}

int Process::TakeMeeting(uint32_t rank) {
  const int own = model->RankOf(id);
  if (model->names_[rank] != 0 || (own < 0 && IsSucceeded(rank))) return -EADDRINUSE;
  if (own >= 0) {
    // Who waits at the old name is accepted before that is given back.
    for (Link& link : model->links_) {
      if (link.id[1] == id && link.rank == static_cast<uint32_t>(own)) link.rank = rank;
    }
    model->are_doors_open_[rank] = std::exchange(model->are_doors_open_[own], false);
    model->SetName(rank, id);
    model->SetName(static_cast<uint32_t>(own), 0);
  } else {
    model->SetName(rank, id);
  }
  return 0;
}

int Process::TakeRankAbove(uint32_t rank) {
  if (model->names_[rank] == 0) return -ENOENT;
  if (IsSucceeded(rank)) return -EADDRINUSE;
  if (rank + 1 >= limits::kRanksMax) return -EADDRINUSE;
  model->CheckTakeover(*this, rank);
  model->SetName(rank + 1, id);
  return static_cast<int>(rank + 1);
}

void Process::TellDoubt(const std::vector<uint64_t>& members) {
  for (const auto& other : model->processes_) {
    const bool is_meant =
        members.empty() || std::find(members.begin(), members.end(), other->id) != members.end();
    if (is_meant && other->id != id && other->is_alive) other->is_doubted = true;
  }
}

void Process::LeaveMeeting() { model->LeaveName(id); }

bool Process::IsSucceeded(uint32_t rank) {
  for (uint32_t higher = rank + 1; higher < limits::kRanksMax; ++higher) {
    if (model->names_[higher] != 0 && model->names_[higher] != id) return true;
  }
  return false;
}

bool Process::HasUnread(LinkId link) {
  if (link == 0) return false;
  const Link& read = model->links_[link - 1];
  const int side = read.id[0] == id ? 0 : 1;
  return !read.is_open[side] || read.to[side].is_ended || !read.to[side].frames.empty();
}

bool Process::HasEnded(LinkId link) {
  const Link& read = model->links_[link - 1];
  const int side = read.id[0] == id ? 0 : 1;
  return !read.is_open[side] || read.to[side].is_ended;
}

void Process::OpenMeeting() {
  if (const int rank = model->RankOf(id); rank >= 0) model->are_doors_open_[rank] = true;
}

bool Process::IsGone(uint64_t member) { return !model->alive_.contains(member); }

void Process::Send(LinkId link, FrameType type, std::string payload) {
  Link& sent = model->links_[link - 1];
  const int side = sent.id[0] == id ? 0 : 1;
  if (!sent.is_open[side]) return;
  peer::Register wanted;
  const bool is_again =
      type == FrameType::kRegister && peer::Decode(payload, &wanted) && wanted.token == 0;
  if (is_again) ++agains;
  if (type == FrameType::kHello) {
    hello_link = link;
    sent.is_session = true;
  }
  if (type == FrameType::kSynced) synced_link = link;
  if (type == FrameType::kSynced && sent.is_open[1 - side]) is_cut = false;
  if (sent.is_open[1 - side]) sent.to[1 - side].frames.emplace_back(type, std::move(payload));
}

void Process::CloseLink(LinkId link) {
  if (link == hello_link) agains = 0;
  model->Cut(link - 1, model->links_[link - 1].id[0] == id ? 0 : 1);
}

void Process::Publish(std::shared_ptr<const PortRoutes> next, std::optional<Applied> applied) {
  const uint32_t overdue = Overdue(*next);
  lanes.push_back({std::move(next), applied, overdue});
  if (port->is_coordinator()) {
    NoteDropped();
  } else {
    known_members.clear();
  }
}

uint32_t Process::Overdue(const PortRoutes& next) {
  uint32_t overdue = 0;
  for (uint32_t prefix = 0; prefix < kPrefixes; ++prefix) {
    uint64_t& since_ms = offline_since_ms[prefix];
    const RouteStatus status = next.Find("a", "/" + std::to_string(prefix) + "/", {}).status;
    if (status == RouteStatus::kMatch) since_ms = 0;
    if (status == RouteStatus::kOffline && since_ms == 0) since_ms = model->now_ms_;
    const bool is_overdue = since_ms != 0 && model->now_ms_ - since_ms >= limits::kOfflineMs;
    if (is_overdue) overdue |= 1U << prefix;
  }
  return overdue;
}

void Process::NoteDropped() {
  std::set<uint64_t> members;
  for (const auto& [member, there] : port->record().state.members()) members.insert(member);
  for (const auto& other : model->processes_) {
    if (members.contains(other->id)) other->is_dropped = false;
    if (known_members.contains(other->id) && !members.contains(other->id)) {
      other->is_dropped = true;
    }
  }
  known_members = std::move(members);
  const sharing::PortEntries& entries = port->record().state.entries();
  for (const auto& other : model->processes_) {
    if (!other->is_alive) continue;
    for (Server& server : other->servers) {
      const sharing::StateEntry* there = entries.Find(other->id, server.id, server.id);
      if (there != nullptr && !there->is_absent()) {
        if (server.dropped_ms != 0) {
          if (model->MayForget(other->id, server.id)) server.regained_ms = model->now_ms_;
          server.last_dropped_ms = model->GoneSince(*other, server);
        }
        server.dropped_ms = 0;
      } else if (server.dropped_ms == 0) {
        server.dropped_ms = model->now_ms_;
        server.seen_by = model->KnowersOf(*other, server);
      }
    }
  }
}

void Process::Complete(RegistrationResult result, bool) { results.push_back(std::move(result)); }

}  // namespace httpsys::test::model
