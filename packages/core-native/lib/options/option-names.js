'use strict'

// Checks option names. Node silently ignores unknown options, so an option of ours in a place where it has no effect, or a misspelt one,
// is an error. In calls that Node also has, other names are left to Node: its own options, and unknown names.

const { OptionError } = require('../base/errors')
const { namesGiven } = require('./given-options')
const { lenientOption } = require('./lenient')
const { misspelt, nearest } = require('../base/nearest')
const { kTlsOptions } = require('./tls-options')
const { standIn } = require('./stand-in')
const table = require('./table')

/** Node's own options of http.createServer(), in any supported version. */
const kNodeServerOptions = [
  'IncomingMessage', 'ServerResponse', 'allowHalfOpen', 'connectionsCheckingInterval', 'headersTimeout', 'highWaterMark',
  'httpValidation', 'insecureHTTPParser', 'joinDuplicateHeaders', 'keepAlive', 'keepAliveInitialDelay', 'keepAliveTimeout',
  'keepAliveTimeoutBuffer', 'maxHeaderSize', 'noDelay', 'optimizeEmptyRequests', 'pauseOnConnect', 'rejectNonStandardBodyWrites',
  'requestTimeout', 'requireHostHeader', 'shouldUpgradeCallback', 'uniqueHeaders'
]

/** Our own options of createServer(). */
const kServerOptions = Object.keys(table.server)
/** Options of listen() with prefixes only. (`stripPrefix` is an option of createServer(), too.) */
const kPrefixListenOptions = Object.keys(table.forward)
const kQueueOptions = Object.keys(table.queue)
const kCloseOptions = Object.keys(table.close)

/** Names of our options, each with the hint of an error message about where it belongs. */
const kHintOf = new Map(Object.entries(table.hints).flatMap(([group, hint]) =>
  Object.keys(table[/** @type {keyof typeof table.hints} */ (group)]).map((name) => [name, hint])))
const kOurs = [...kHintOf.keys()]

/** Names that are never taken for misspelt options of ours, because programs may use them for something else. */
const kOthersWords = ['certificate', 'certificated', 'prefixed', 'refix', 'restarts', 'waits']

/**
 * Refuses our options that have no effect in this place, and misspelt names of our options. Inherited properties count;
 * undefined ones do not.
 *
 * @param {string} where
 * @param {unknown} options ignored unless an object
 * @param {readonly string[]} accepted our options that have an effect in this place
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseMisplaced (where, options, accepted) {
  if (typeof options !== 'object' || options === null) return
  for (const name of namesGiven(options)) {
    if (accepted.includes(name)) continue
    const hint = kHintOf.get(name)
    const meant = hint !== undefined || kOthersWords.includes(name.toLowerCase()) ? undefined : misspelt(name, kOurs)
    if ((hint === undefined && meant === undefined) ||
    /** @type {Record<string, unknown>} */ (options)[name] === undefined) {
      continue
    }
    throw new OptionError(where, name, meant, hint)
  }
}

/**
 * Refuses our options in a call that Node also has. Accepts them below `register`: a program written for node:http may use the names otherwise.
 *
 * @param {string} where
 * @param {unknown} options
 * @param {readonly string[]} accepted
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseIgnored (where, options, accepted) {
  if (!standIn.isRegistered) refuseMisplaced(where, options, accepted)
}

/** Names for which warnOfMisspelt() has already warned. @type {Set<string>} */
const warned = new Set()

/** Warns of misspelt options of Node's, which Node silently ignores. @param {unknown} options of createServer() */
function warnOfMisspelt (options) {
  if (typeof options !== 'object' || options === null) return
  for (const name of Object.keys(options)) {
    if (warned.has(name) || kNodeServerOptions.includes(name) || kTlsOptions.includes(name)) continue
    const meant = misspelt(name, kNodeServerOptions)
    if (meant === undefined) continue
    warned.add(name)
    process.emitWarning(`createServer() ignores "${name}"; did you mean "${meant}"?`, { code: 'HTTPSYS_OPTION_IGNORED' })
  }
}

/**
 * Refuses options of ours that a server would ignore.
 *
 * @param {unknown} options of createServer()
 * @param {readonly string[]} [sources] accepted options for certificates
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseIgnoredByServer (options, sources = []) {
  const lenient = lenientOption(options)
  if (!standIn.isRegistered) warnOfMisspelt(options)
  if (lenient === null) refuseIgnored('createServer()', options, [...kServerOptions, ...sources])
  else refuseIgnored(`createServer() with "${lenient}"`, options, sources.filter((name) => name === 'devCert'))
}

/**
 * Refuses our options in arguments where Node expects none, such as after a callback.
 *
 * @param {string} where
 * @param {readonly unknown[]} args
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseBehind (where, args) {
  for (const options of args) refuseIgnored(where, options, [])
}

/**
 * Refuses misspelt names of known options. Accepts other unknown names, like Node's own functions: a newer Node may know them.
 *
 * @param {string} where
 * @param {object} options
 * @param {readonly string[]} known
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseMisspelt (where, options, known) {
  for (const name of namesGiven(options)) {
    const meant = known.includes(name) ? undefined : misspelt(name, known)
    if (meant !== undefined && /** @type {Record<string, unknown>} */ (options)[name] !== undefined) {
      throw new OptionError(where, name, meant)
    }
  }
}

/**
 * Refuses all unknown names whose value is not undefined. For option objects that only httpsys reads.
 *
 * @param {string} where
 * @param {object} options
 * @param {readonly string[]} known
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseUnknown (where, options, known) {
  for (const name of namesGiven(options)) {
    if (!known.includes(name) && /** @type {Record<string, unknown>} */ (options)[name] !== undefined) {
      throw new OptionError(where, name, nearest(name, known), kHintOf.get(name))
    }
  }
}

const names = { kCloseOptions, kHintOf, kNodeServerOptions, kOurs, kPrefixListenOptions, kQueueOptions, kServerOptions }

module.exports = { ...names, refuseBehind, refuseIgnored, refuseIgnoredByServer, refuseMisplaced, refuseMisspelt, refuseUnknown }
