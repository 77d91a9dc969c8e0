'use strict'

// Defects of the state machines of a shared port, each of which test-native/port_model_test.cc has to find
// (tools/port-mutations.js).

/**
 * @typedef {object} PortMutation
 * @property {string} name
 * @property {string} file in src/sharing
 * @property {string} find occurs once in the file
 * @property {string} replace MUTANT(name) is true while the mutation is switched on
 */

/** @type {PortMutation[]} */
const kPortMutations = [
  // As before "a prefix taken back at an election stays taken back": removals were not told to the next coordinator,
  {
    name: 'removals-forgotten-at-election',
    file: 'port_membership.cc',
    find: 'removal.is_told = false;',
    replace: 'removal.is_told = MUTANT("removals-forgotten-at-election");'
  },
  // were confirmed by those who had come back,
  {
    name: 'removal-confirmed-while-awaiting',
    file: 'port_coordinator.cc',
    find: 'const bool is_over = is_confirmed && !(confirmation.is_removal && IsAwaiting());',
    replace: 'const bool is_over = is_confirmed && !(confirmation.is_removal && IsAwaiting() && !MUTANT("removal-confirmed-while-awaiting"));'
  },
  // and what the next coordinator took for somebody's was not looked at.
  {
    name: 'stale-entries-untold',
    file: 'port_record.cc',
    find: 'if (is_wanted || there.is_absent()) continue;',
    replace: 'if (is_wanted || there.is_absent() || MUTANT("stale-entries-untold")) continue;'
  },
  // As before "a relayed request whose owner is killed is answered with 503": the end of a process is taken for its own wish.
  {
    name: 'death-taken-for-a-wish',
    file: 'port_state.cc',
    find: 'if (IsServed(key, id) || !kept.insert(key).second) {',
    replace: 'if (IsServed(key, id) || !kept.insert(key).second || MUTANT("death-taken-for-a-wish")) {'
  },
  {
    name: 'sync-dropped',
    file: 'port_coordinator.cc',
    find: '  Broadcast(FrameType::kSync, peer::Encode(peer::Sync{serial}));',
    replace: '  if (!MUTANT("sync-dropped")) Broadcast(FrameType::kSync, peer::Encode(peer::Sync{serial}));'
  },
  {
    name: 'confirmed-before-all-have-it',
    file: 'port_coordinator.cc',
    find: 'return item.second.id == 0 || item.second.synced >= confirmation.serial;',
    replace: 'return MUTANT("confirmed-before-all-have-it") || item.second.id == 0 || item.second.synced >= confirmation.serial;'
  },
  {
    name: 'stale-serial-taken',
    file: 'port_coordinator.cc',
    find: 'session.synced = sync.serial;',
    replace: 'session.synced = MUTANT("stale-serial-taken") ? serial_ : sync.serial;'
  },
  {
    name: 'own-lanes-not-waited-for',
    file: 'port_coordinator.cc',
    find: '        confirmation.is_applied &&',
    replace: '        (confirmation.is_applied || MUTANT("own-lanes-not-waited-for")) &&'
  },
  {
    name: 'removal-untold',
    file: 'port_coordinator.cc',
    find: '  TellChanges(record_->RemoveEntries(sessions_[link].id, gone, now_ms));',
    replace: '  const auto changes = record_->RemoveEntries(sessions_[link].id, gone, now_ms);\n  if (!MUTANT("removal-untold")) TellChanges(changes);'
  },
  {
    name: 'member-gone-untold',
    file: 'port_coordinator.cc',
    find: '  Broadcast(FrameType::kMemberGone, peer::Encode(peer::MemberGone{id}));',
    replace: '  if (!MUTANT("member-gone-untold")) Broadcast(FrameType::kMemberGone, peer::Encode(peer::MemberGone{id}));'
  },
  {
    name: 'asked-forgotten-at-election',
    file: 'port_membership.cc',
    find: 'for (auto& [token, wanted] : record_->asked) record_->queued.push_back(std::move(wanted));',
    replace: 'for (auto& [token, wanted] : record_->asked) if (!MUTANT("asked-forgotten-at-election")) record_->queued.push_back(std::move(wanted));'
  },
  {
    name: 'granted-again-unlooked',
    file: 'port_coordinator.cc',
    find: '  if (conflict) {',
    replace: '  if (conflict && !(MUTANT("granted-again-unlooked") && wanted.again != peer::kFirstTime)) {'
  },
  {
    name: 'told-beside-the-old-state',
    file: 'port_membership.cc',
    find: '  told_ = std::make_unique<PortState>(record_->number);',
    replace: '  if (!MUTANT("told-beside-the-old-state")) told_ = std::make_unique<PortState>(record_->number);'
  },
  {
    name: 'silent-visitors-kept',
    file: 'port_coordinator.cc',
    find: 'if (session.id == 0 && now_ms - session.since_ms >= limits::kStateMs) silent.push_back(link);',
    replace: 'if (!MUTANT("silent-visitors-kept") && session.id == 0 && now_ms - session.since_ms >= limits::kStateMs) silent.push_back(link);'
  },
  // Found by the model when it was new.
  {
    name: 'earlier-removals-cleared',
    file: 'port_participant.cc',
    find: '    if (!has_others) record_.removals.erase(gone.token);',
    replace: '    if (!has_others && MUTANT("earlier-removals-cleared")) record_.removals.clear();\n    if (!has_others) record_.removals.erase(gone.token);'
  },
  {
    name: 'stale-entry-leaves-absent-one',
    file: 'port_membership.cc',
    find: '  if (!state->AddEntry(entry, now_ms)) return false;\n  if (is_stale)',
    replace: '  if (is_stale && MUTANT("stale-entry-leaves-absent-one")) return true;\n  if (!state->AddEntry(entry, now_ms)) return false;\n  if (is_stale)'
  },
  // The memory for caches.
  {
    name: 'grant-of-the-dead-kept',
    file: 'cache_shares.cc',
    find: '  shares_.Remove(link);',
    replace: '  if (!MUTANT("grant-of-the-dead-kept")) shares_.Remove(link);'
  },
  {
    name: 'wish-untold-at-election',
    file: 'port_membership.cc',
    find: '  if (record_->cache.bytes != 0) TellCacheWish();',
    replace: '  if (record_->cache.bytes != 0 && !MUTANT("wish-untold-at-election")) TellCacheWish();'
  },
  {
    name: 'grant-unconfirmed',
    file: 'port_membership.cc',
    find: '      TellCacheWish();\n      return true;',
    replace: '      if (!MUTANT("grant-unconfirmed")) TellCacheWish();\n      return true;'
  },
  {
    name: 'stale-confirmation-counts',
    file: 'cache_shares.cc',
    find: '  const bool is_newest = wish.serial == member.serial;',
    replace: '  const bool is_newest = wish.serial == member.serial || MUTANT("stale-confirmation-counts");'
  },
  {
    name: 'grants-kept-small-after-reunion',
    file: 'cache_shares.cc',
    find: '  is_reunion_ = false;',
    replace: '  is_reunion_ = MUTANT("grants-kept-small-after-reunion");'
  },
  {
    name: 'grants-given-before-all-are-back',
    file: 'cache_shares.cc',
    find: '  is_reunion_ = may_come;',
    replace: '  is_reunion_ = may_come && !MUTANT("grants-given-before-all-are-back");'
  },
  {
    name: 'wish-outlives-its-servers',
    file: 'port_participant.cc',
    find: '  if (record_.cache.bytes != 0 && !HasCached()) WishCache(0, 0);',
    replace: '  if (record_.cache.bytes != 0 && !HasCached() && !MUTANT("wish-outlives-its-servers")) WishCache(0, 0);'
  },
  // What survivors know of killed processes was forgotten when a newcomer became the coordinator.
  {
    name: 'known-untold',
    file: 'port_membership.cc',
    find: '  TellKnown(before, now_ms);',
    replace: '  if (!MUTANT("known-untold")) TellKnown(before, now_ms);'
  },
  {
    name: 'known-unheard',
    file: 'port_coordinator.cc',
    find: '      return OnKnown(link, frame.payload, now_ms);',
    replace: '      return MUTANT("known-unheard") || OnKnown(link, frame.payload, now_ms);'
  },
  // Removals that a member had asked for were confirmed without those who had not come back.
  {
    name: 'removal-of-others-unawaited',
    file: 'port_coordinator.cc',
    find: '.token = gone.token, .is_removal = true}',
    replace: '.token = gone.token, .is_removal = !MUTANT("removal-of-others-unawaited")}'
  },
  // A coordinator that is stopped: it goes on as if nobody had succeeded it,
  {
    name: 'succession-unlooked',
    file: 'port_participant.cc',
    find: '  if (!is_coordinator_ || !record_.effects->IsSucceeded(coordinator_.rank())) return;',
    replace: '  if (MUTANT("succession-unlooked") || !is_coordinator_ || !record_.effects->IsSucceeded(coordinator_.rank())) return;'
  },
  // is succeeded at once,
  {
    name: 'succeeded-unasked',
    file: 'port_succession.cc',
    find: '    return now_ms - pinged_ms_ < silent_ms ? Finding::kNothing : Succeed(member);',
    replace: '    return now_ms - pinged_ms_ < silent_ms && !MUTANT("succeeded-unasked") ? Finding::kNothing : Succeed(member);'
  },
  // or although its answer is there,
  {
    name: 'unread-unlooked',
    file: 'port_succession.cc',
    find: '  if (effects_->HasUnread(ping_) || effects_->HasUnread(member.link)) return Finding::kNothing;',
    replace: '  if (!MUTANT("unread-unlooked") && (effects_->HasUnread(ping_) || effects_->HasUnread(member.link))) return Finding::kNothing;'
  },
  // loses its prefixes while it is stopped,
  {
    name: 'stopped-taken-for-dead',
    file: 'port_coordinator.cc',
    find: '    if (rank() == 0 || effects_->IsGone(id)) RemoveMember(id, now_ms);',
    replace: '    if (rank() == 0 || effects_->IsGone(id) || MUTANT("stopped-taken-for-dead")) RemoveMember(id, now_ms);'
  },
  // or is succeeded by somebody who does not know the port.
  {
    name: 'newcomer-succeeds',
    file: 'port_membership.cc',
    find: '  if (!record_->has_joined || record_->WantsNothing()) return false;\n  if (is_joined_ &&',
    replace: '  if (MUTANT("newcomer-succeeds") && !record_->has_joined) return true;\n  if (!record_->has_joined || record_->WantsNothing()) return false;\n  if (is_joined_ &&'
  },
  // A coordinator that goes on when its successor has ended already: it granted what members had asked before they moved.
  {
    name: 'asked-before-moving-granted',
    file: 'port_coordinator.cc',
    find: '  if (is_question && effects_->HasEnded(link)) return true;',
    replace: '  if (!MUTANT("asked-before-moving-granted") && is_question && effects_->HasEnded(link)) return true;'
  },
  {
    name: 'doubt-untold',
    file: 'port_membership.cc',
    find: '      effects_->TellDoubt(members);',
    replace: '      if (!MUTANT("doubt-untold")) effects_->TellDoubt(members);'
  },
  // Answers that stay with what was asked.
  {
    name: 'answers-kept',
    file: 'port_membership.cc',
    find: '    record_->asked.erase(found);',
    replace: '    if (!MUTANT("answers-kept")) record_->asked.erase(found);'
  },
  {
    name: 'rank-kept',
    file: 'port_succession.cc',
    find: '    if (effects_->TakeMeeting(rank) == 0) rank_ = rank;',
    replace: '    if (!MUTANT("rank-kept") && effects_->TakeMeeting(rank) == 0) rank_ = rank;'
  },
]

module.exports = { kPortMutations }
