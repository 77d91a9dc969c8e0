'use strict'

// Describes a stored response in the form that `server.cache.entries()`, `readCacheState()` and `httpsys show cachestate --json` share.

/** Names of the native policy numbers: the rule that limits an entry's lifetime. @type {import('../../types/index').CacheEntry['policy'][]} */
const kPolicies = ['rfc9111', 'userInvalidates', 'timeToLive']

/** @param {import('../../types/binding').StoredEntry} stored @returns {import('../../types/index').CacheEntry} */
function describeEntry (stored) {
  return { ...stored, policy: kPolicies[stored.policy], created: Math.round(stored.created * 1000) }
}

module.exports = { describeEntry }
