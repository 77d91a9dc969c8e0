'use strict'

// All known environment variables whose names begin with HTTPSYS_. A warning names any other such variable, which is probably misspelt and
// would be ignored silently.

const { isMainThread } = require('node:worker_threads')
const { nearest } = require('../base/nearest')

const kBegin = 'HTTPSYS_'

/** Variables for users, documented in docs/options.md. */
const { variables: kForUsers } = require('./table')

/** Variables that tests and scripts of the repository read, documented in CONTRIBUTING.md. */
const kForDevelopers = [
  'HTTPSYS_CACHE_SEED', 'HTTPSYS_CACHE_STEPS', 'HTTPSYS_CACHE_TESTS', 'HTTPSYS_COMPAT_COUNT', 'HTTPSYS_COMPAT_OVER', 'HTTPSYS_COMPAT_OVER_REPORT',
  'HTTPSYS_COMPAT_RESULTS', 'HTTPSYS_CO_OWNERS_SECONDS', 'HTTPSYS_FUZZ_MS', 'HTTPSYS_FUZZ_SECONDS', 'HTTPSYS_FUZZ_SEED', 'HTTPSYS_HTTPAPI_DOUBLE',
  'HTTPSYS_JOBS', 'HTTPSYS_MODEL_SEED', 'HTTPSYS_MODEL_STEPS', 'HTTPSYS_MUTANT', 'HTTPSYS_SANITIZED', 'HTTPSYS_SANITIZER', 'HTTPSYS_SCREENSHOTS',
  'HTTPSYS_THOROUGH', 'HTTPSYS_WAYS_REQUESTS', 'HTTPSYS_WAYS_SEED'
]

/** Warns of each unknown variable, in the main thread only. @param {NodeJS.ProcessEnv} [env] */
function warnOfUnknownVariables (env = process.env) {
  if (!isMainThread) return
  for (const name of Object.keys(env)) {
    if (!name.startsWith(kBegin) || kForUsers.includes(name) || kForDevelopers.includes(name)) continue
    const meant = nearest(name.slice(kBegin.length), kForUsers.map((known) => known.slice(kBegin.length)))
    process.emitWarning(`${name} is no variable of httpsys${meant === undefined ? '' : `; did you mean ${kBegin}${meant}?`}`, { code: 'HTTPSYS_UNKNOWN_VARIABLE' })
  }
}

module.exports = { kForDevelopers, kForUsers, warnOfUnknownVariables }
