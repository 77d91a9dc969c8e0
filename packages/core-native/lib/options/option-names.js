'use strict'

// Checks of option names: each option of ours has an effect in some places. Given anywhere else, or nearly spelt like that, it would be
// ignored in silence, as Node ignores what it does not know: that is an error. Names of Node's, and those that nobody knows, are left to Node in Node's own forms.

const { OptionError } = require('../base/errors')
const { namesGiven } = require('./given-options')
const { lenientOption } = require('./lenient')
const { misspelt, nearest } = require('../base/nearest')
const { kNodeServerOptions, kServerOptions } = require('./server-options')
const { kSourceOptions, kTlsOptions } = require('./tls-options')
const { standIn } = require('./stand-in')

const kPrefixOptions = ['prefix', 'prefixes']
/** Of listen() with prefixes, beside `stripPrefix`, which createServer() takes, too. */
const kPrefixListenOptions = ['forwardedPrefix']
const kQueueOptions = ['queueName', 'queueMode']
const kCloseOptions = ['restart', 'waitMs']

/** Names of ours, and what an error says of each. @type {Map<string, string>} */
const kHintOf = new Map([
  ...kServerOptions.map((name) => /** @type {[string, string]} */ ([name, 'it belongs to createServer() and createAdapter()'])),
  ...kSourceOptions.map((name) => /** @type {[string, string]} */ ([name, 'it belongs to https.createServer(), createAdapter(), and listen() with an https:// prefix'])),
  ...kPrefixOptions.map((name) => /** @type {[string, string]} */ ([name, 'it belongs to listen({ … })'])),
  ...kPrefixListenOptions.map((name) => /** @type {[string, string]} */ ([name, 'it belongs to listen() with a prefix'])),
  ...kQueueOptions.map((name) => /** @type {[string, string]} */ ([name, 'it belongs to listen({ … })'])),
  ...kCloseOptions.map((name) => /** @type {[string, string]} */ ([name, 'it belongs to close()']))
])
const kOurs = [...kHintOf.keys()]

/** Words that programs may well use for something else, however near to a name of ours they are. */
const kOthersWords = ['certificate', 'certificated', 'prefixed', 'refix', 'restarts', 'waits']

/**
 * Refuses what is ours and has no effect here, and what is nearly spelt like a name of ours. Inherited properties count, too;
 * undefined ones do not.
 *
 * @param {string} where
 * @param {unknown} options null and what is no object has no options
 * @param {readonly string[]} accepted those of ours that have an effect here
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseMisplaced (where, options, accepted) {
  if (typeof options !== 'object' || options === null) return
  for (const name of namesGiven(options)) {
    if (accepted.includes(name)) continue
    const hint = kHintOf.get(name)
    const meant = hint !== undefined || kOthersWords.includes(name.toLowerCase()) ? undefined : misspelt(name, kOurs)
    if ((hint === undefined && meant === undefined) || /** @type {Record<string, unknown>} */ (options)[name] === undefined) continue
    throw new OptionError(where, name, meant, hint)
  }
}

/**
 * Refuses options of ours in a form of Node's own. Below `register` the caller may know node:http alone, to which these names are unknown.
 *
 * @param {string} where
 * @param {unknown} options
 * @param {readonly string[]} accepted
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseIgnored (where, options, accepted) {
  if (!standIn.isRegistered) refuseMisplaced(where, options, accepted)
}

/** Names that were warned of. @type {Set<string>} */
const warned = new Set()

/** Warns of what is nearly an option of Node's, which Node ignores, as it ignores everything that it does not know. @param {unknown} options of createServer() */
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
 * @param {readonly string[]} [sources] of certificates
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseIgnoredByServer (options, sources = []) {
  const lenient = lenientOption(options)
  if (!standIn.isRegistered) warnOfMisspelt(options)
  if (lenient === null) refuseIgnored('createServer()', options, [...kServerOptions, ...sources])
  else refuseIgnored(`createServer() with "${lenient}"`, options, sources.filter((name) => name === 'devCert'))
}

/**
 * Refuses options that stand where Node looks for none, such as behind a callback.
 *
 * @param {string} where
 * @param {readonly unknown[]} args
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseBehind (where, args) {
  for (const options of args) refuseIgnored(where, options, [])
}

/**
 * Refuses names that are nearly known ones. Others pass, as with Node's own functions: a newer Node may know them.
 *
 * @param {string} where
 * @param {object} options
 * @param {readonly string[]} known
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseMisspelt (where, options, known) {
  for (const name of namesGiven(options)) {
    const meant = known.includes(name) ? undefined : misspelt(name, known)
    if (meant !== undefined && /** @type {Record<string, unknown>} */ (options)[name] !== undefined) throw new OptionError(where, name, meant)
  }
}

/**
 * Refuses every name that is not known, unless its value is undefined: for objects that only we read.
 *
 * @param {string} where
 * @param {object} options
 * @param {readonly string[]} known
 * @throws ERR_HTTPSYS_OPTION
 */
function refuseUnknown (where, options, known) {
  for (const name of namesGiven(options)) {
    if (!known.includes(name) && /** @type {Record<string, unknown>} */ (options)[name] !== undefined) throw new OptionError(where, name, nearest(name, known), kHintOf.get(name))
  }
}

module.exports = { kCloseOptions, kOurs, kHintOf, kPrefixListenOptions, kQueueOptions, refuseBehind, refuseIgnored, refuseIgnoredByServer, refuseMisplaced, refuseMisspelt, refuseUnknown }
