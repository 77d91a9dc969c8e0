#include "support/port_world.h"

#include <algorithm>

namespace httpsys::test::model {

// -- Names.

uint64_t Model::Holder() const {
  for (uint32_t rank = limits::kRanksMax; rank-- > 0;) {
    if (names_[rank] != 0) return names_[rank];
  }
  return 0;
}

int Model::RankOf(uint64_t id) const {
  for (uint32_t rank = 0; rank < limits::kRanksMax; ++rank) {
    if (names_[rank] == id) return static_cast<int>(rank);
  }
  return -1;
}

void Model::SetName(uint32_t rank, uint64_t id) {
  const uint64_t before = Holder();
  names_[rank] = id;
  if (Holder() != before) holder_since_ms_ = now_ms_;
  if (succeeded_ != 0 && RankOf(succeeded_) < 0) succeeded_ = 0;
}

void Model::LeaveName(uint64_t id) {
  const int rank = RankOf(id);
  if (rank < 0) return;
  for (size_t i = 0; i < links_.size(); ++i) {
    if (links_[i].id[1] == id && !links_[i].is_accepted) EndLink(i, 1);
  }
  are_doors_open_[rank] = false;
  SetName(static_cast<uint32_t>(rank), 0);
}

LinkId Model::Connect(const Process& process, uint32_t rank) {
  Link link;
  link.process[0] = process.index;
  link.id[0] = process.id;
  link.id[1] = names_[rank];
  for (const auto& other : processes_) {
    if (other->id == link.id[1]) link.process[1] = other->index;
  }
  link.rank = rank;
  link.since_ms = now_ms_;
  links_.push_back(link);
  return links_.size();
}

// -- Steps.

void Model::Start(int index) {
  auto process = std::make_unique<Process>(this, index, ++last_id_);
  alive_.insert(process->id);
  if (static_cast<size_t>(index) < processes_.size()) {
    buried_.push_back(std::exchange(processes_[index], std::move(process)));
  } else {
    processes_.push_back(std::move(process));
  }
}

void Model::EndLink(size_t index, int side) {
  Link& link = links_[index];
  if (!link.is_open[side]) return;
  link.is_open[side] = false;
  link.to[1 - side].is_ended = true;
  link.to[side].frames.clear();
}

// A process that lives ends one of its links.
void Model::Cut(size_t index, int side) {
  EndLink(index, side);
  for (const auto& process : processes_) {
    const bool is_its = links_[index].is_session && process->id == links_[index].id[0];
    if (side == 1 && is_its) process->is_cut = true;
  }
}

// The process takes its coordinator for gone.
void Model::NoteCut(Process& process, uint64_t coordinator) {
  if (!alive_.contains(coordinator)) return;
  process.is_cut = true;
  for (const auto& other : processes_) {
    if (other->id != coordinator) continue;
    for (Server& server : other->servers) {
      if (server.dropped_ms == 0) server.last_dropped_ms = now_ms_;
    }
  }
}

// The port is given back, or its process has ended.
void Model::LetGo(Process& process) {
  for (size_t i = 0; i < links_.size(); ++i) {
    for (const int side : {0, 1}) {
      if (links_[i].id[side] == process.id) EndLink(i, side);
    }
  }
  LeaveName(process.id);
  process.port.reset();
  process.is_doubted = false;
}

void Model::Kill(Process& process) {
  if (!process.is_alive) return;
  for (Server& server : process.servers) {
    if (!server.is_granted || server.is_gone) continue;
    const std::vector<uint64_t> knowers = KnowersOf(process, server);
    if (server.dropped_ms == 0) server.seen_by = knowers;
    server.is_shared_with_gone = IsSharedWithGone(server);
    for (const auto& other : processes_) {
      const bool is_knower = std::find(knowers.begin(), knowers.end(), other->id) != knowers.end();
      if (is_knower && IsInSession(process) && IsInSession(*other)) {
        server.witnesses.push_back(other->id);
      }
    }
  }
  process.is_alive = false;
  process.died_ms = now_ms_;
  alive_.erase(process.id);
  LetGo(process);
}

void Model::Exit(Process& process) {
  if (!process.IsRunning()) return;
  if (process.port != nullptr) process.port->SayGoodbye(now_ms_);
  for (Server& server : process.servers) server.SetGone(now_ms_);
  Kill(process);
}

void Model::Register(Process& process, uint32_t choice) {
  if (!process.IsRunning() || process.servers.size() >= 24) return;
  Server server;
  server.id = ++process.last_server;
  server.prefix = choice % kPrefixes;
  server.token = ++process.last_token;
  server.asked_ms = now_ms_;
  if (choice % 5 == 0) server.queue = "q";
  server.is_cached = choice % 2 == 0;
  peer::Register wanted;
  wanted.token = server.token;
  wanted.server_id = server.id;
  wanted.queue = server.queue;
  wanted.queue_mode = static_cast<uint8_t>(QueueMode::kCreateOrAttach);
  wanted.prefixes.push_back({server.id, PrefixText(server.prefix), {}});
  process.servers.push_back(server);
  if (process.port == nullptr) {
    peer::Member self{process.id, static_cast<uint32_t>(process.id), 0, peer::kProtocol, "model"};
    process.port = std::make_unique<PortParticipant>(kPort, self, &process);
    // Who finds the name free while others have the port's socket cannot listen, and joins them.
    const bool is_used = std::any_of(processes_.begin(), processes_.end(), [&](const auto& other) {
      return other->port != nullptr && other.get() != &process;
    });
    if (Holder() == 0 && !is_used) {
      SetName(0, process.id);
      process.port->Found(now_ms_);
      process.port->Contribute("[::]", server.id);
      process.OpenMeeting();
    }
  }
  if (server.is_cached) {
    wanted.flags |= peer::kEntryCached;
    const uint64_t units = 1 + (choice / 2) % 4;
    process.port->WishCache(units * sharing::CacheShares::kUnitBytes, kCacheLimit);
  }
  RegistrationResult result;
  if (process.port->Register(wanted, &result, now_ms_)) {
    result.token = server.token;
    process.results.push_back(result);
  } else {
    process.port->Tick(now_ms_);
  }
  After(process);
}

void Model::Unregister(Process& process, uint32_t choice) {
  std::vector<Server*> there;
  for (Server& server : process.servers) {
    if (!server.is_gone) there.push_back(&server);
  }
  if (!process.IsRunning() || there.empty() || process.port == nullptr) return;
  Server& server = *there[choice % there.size()];
  server.SetGone(now_ms_);
  server.token = 0;  // Nobody waits for its registration any more.
  server.removal = ++process.last_token;
  server.asked_ms = now_ms_;
  server.is_awaited = choice % 3 == 0;
  server.is_cut = !IsInSession(process);
  const peer::Unregister gone{server.id, server.is_awaited ? kWaitMs : 0, 1, {}, server.removal};
  if (!process.port->Unregister(gone, false, now_ms_)) server.removal = 0;
  After(process);
}

void Model::Apply(Process& process) {
  if (!process.IsRunning() || process.lanes.empty()) return;
  const auto [routes, applied, overdue] = std::move(process.lanes.front());
  process.lanes.pop_front();
  const auto before = std::exchange(process.routes, routes);
  if (process.late_lanes == 0) process.late_prefixes = 0;
  if (process.late_lanes != 0) --process.late_lanes;
  if (process.stale_lanes != 0) {
    --process.stale_lanes;
  } else if (process.port != nullptr) {
    process.are_routes_stale = false;
    CheckKnowledge(process, before.get(), overdue);
  }
  if (applied && process.port != nullptr) process.port->OnApplied(*applied, now_ms_);
  After(process);
}

void Model::Advance(uint64_t ms) {
  now_ms_ += ms;
  if (now_ms_ - last_tick_ms_ < kTickMs) return;
  last_tick_ms_ = now_ms_;
  for (const auto& process : processes_) {
    if (!process->IsRunning() || process->port == nullptr || !process->port->NeedsTicks()) continue;
    process->port->Tick(now_ms_);
    After(*process);
  }
}

// Somebody who is no member: asks for the state, says nothing, or speaks nonsense.
void Model::Visitor(uint32_t choice, bool is_query) {
  const uint64_t holder = Holder();
  if (holder == 0) return;
  Link link;
  link.id[1] = holder;
  link.rank = static_cast<uint32_t>(RankOf(holder));
  for (const auto& other : processes_) {
    if (other->id == holder) link.process[1] = other->index;
  }
  auto& frames = link.to[1].frames;
  if (is_query) {
    frames.emplace_back(FrameType::kStateQuery, "");
  } else if (choice % 4 != 0) {
    std::string bytes(choice % 23, static_cast<char>(choice));
    frames.emplace_back(static_cast<FrameType>(choice % 20), std::move(bytes));
  }
  links_.push_back(std::move(link));
  if (choice % 2 == 0 && is_query) EndLink(links_.size() - 1, 0);
}

bool Model::DeliverOn(size_t index, int side, bool is_twice) {
  Process* process = links_[index].process[side] < 0
                         ? nullptr
                         : processes_[static_cast<size_t>(links_[index].process[side])].get();
  const bool is_it = process != nullptr && process->id == links_[index].id[side];
  if (!links_[index].is_open[side]) return false;
  if (links_[index].process[side] < 0) {
    links_[index].to[side].frames.clear();
    return false;
  }
  if (!is_it || !process->IsRunning() || process->port == nullptr) return false;
  const LinkId id = index + 1;
  if (side == 1 && !links_[index].is_accepted) {
    const int rank = RankOf(process->id);
    if (rank < 0 || !are_doors_open_[rank]) return false;
    links_[index].is_accepted = true;
    const uint32_t pid = static_cast<uint32_t>(links_[index].id[0]);
    if (!process->port->OnVisitor(id, {0, pid}, now_ms_)) EndLink(index, 1);
    After(*process);
    return true;
  }
  Direction& direction = links_[index].to[side];
  if (direction.frames.empty()) {
    if (!direction.is_ended) return false;
    EndLink(index, side);
    if (id == process->hello_link) process->agains = 0;
    const bool is_session = side == 0 && links_[index].is_session;
    if (is_session) NoteCut(*process, links_[index].id[1]);
    for (Server& server : process->servers) server.is_cut = true;
    process->port->OnBroken(id, now_ms_);
    After(*process);
    return true;
  }
  const auto [type, payload] = direction.frames.front();
  direction.frames.pop_front();
  for (int i = 0; i < (is_twice ? 2 : 1); ++i) {
    if (process->port == nullptr || !links_[index].is_open[side]) break;
    peer::Registered answer;
    const bool is_again = side == 0 && type == FrameType::kRegistered &&
                          peer::Decode(payload, &answer) && answer.token == 0;
    if (is_again && process->agains > 0) --process->agains;
    const std::string address = type == FrameType::kSocket ? "[::]" : "";
    if (!process->port->OnFrame(id, {type, 0, payload}, address, now_ms_)) Cut(index, side);
    After(*process);
  }
  return true;
}

// False: there is nothing for anybody who runs.
bool Model::Deliver(uint32_t choice, bool is_twice) {
  for (const auto& process : processes_) {
    if (!process->is_doubted || !process->IsRunning() || choice % 3 != 0) continue;
    process->is_doubted = false;
    if (process->port == nullptr) continue;
    process->port->OnDoubt(now_ms_);
    After(*process);
    return true;
  }
  std::vector<std::pair<size_t, int>> ready;
  for (size_t i = 0; i < links_.size(); ++i) {
    for (const int side : {0, 1}) {
      const Direction& to = links_[i].to[side];
      const bool has_any =
          !to.frames.empty() || to.is_ended || (side == 1 && !links_[i].is_accepted);
      if (links_[i].is_open[side] && has_any) ready.emplace_back(i, side);
    }
  }
  // One link after the other until there is something for somebody who runs.
  for (size_t i = 0; i < ready.size(); ++i) {
    const auto [link, side] = ready[(choice + i) % ready.size()];
    if (DeliverOn(link, side, is_twice)) return true;
  }
  return false;
}

// -- One step of a schedule.

void Model::Play(const ModelStep& step) {
  ++steps_;
  Process& process = *processes_[step.a % processes_.size()];
  switch (step.kind) {
    case ModelStep::Kind::kDeliver:
      (void)Deliver(step.a, false);
      return;
    case ModelStep::Kind::kApply:
      return Apply(process);
    case ModelStep::Kind::kAdvance:
      return Advance(step.a % 40 == 0 ? 300 : step.a % 12);
    case ModelStep::Kind::kRegister:
      return Register(process, step.b);
    case ModelStep::Kind::kUnregister:
      return Unregister(process, step.b);
    case ModelStep::Kind::kKill:
      return Kill(process);
    case ModelStep::Kind::kExit:
      return Exit(process);
    case ModelStep::Kind::kStart:
      if (!process.is_alive) Start(process.index);
      return;
    case ModelStep::Kind::kPause:
      process.is_paused = true;
      return;
    case ModelStep::Kind::kContinue:
      process.is_paused = false;
      return;
    case ModelStep::Kind::kStop:
      return Stop(step.a, step.b);
    case ModelStep::Kind::kDuplicate:
      (void)Deliver(step.a, true);
      return;
    case ModelStep::Kind::kHostile:
      return Visitor(step.b, false);
    case ModelStep::Kind::kQuery:
      return Visitor(step.b, true);
  }
}

}  // namespace httpsys::test::model
