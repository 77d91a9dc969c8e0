'use strict'

// A stored response as everybody shows it: `server.cache.entries()`, `readCacheState()` and `httpsys show cachestate --json`.

/** Names by number: what has said how long an entry is good. @type {import('../../types/index').CacheEntry['policy'][]} */
const kPolicies = ['rfc9111', 'userInvalidates', 'timeToLive']

/** @param {import('../../types/binding').StoredEntry} stored @returns {import('../../types/index').CacheEntry} */
function describeEntry (stored) {
  return { ...stored, policy: kPolicies[stored.policy], created: Math.round(stored.created * 1000) }
}

module.exports = { describeEntry }
