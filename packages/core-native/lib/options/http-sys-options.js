'use strict'

// Reads the option `httpSys`: settings that only HTTP.SYS has. docs/windows.md explains the names.

const path = require('node:path')
const { nearest } = require('../base/nearest')
const { OptionError } = require('../base/errors')

/** Bits of authentication schemes: Windows' HTTP_AUTH_ENABLE_… @type {Record<string, number>} */
const kSchemes = { basic: 1, digest: 2, ntlm: 4, negotiate: 8, kerberos: 16 }
const kFormats = ['w3c', 'ncsa']
/** Names of the values of Windows' HTTP_LOGGING_ROLLOVER_TYPE, by number. */
const kRollovers = ['size', 'daily', 'weekly', 'monthly', 'hourly']
const kMost32 = 2 ** 32 - 1
// Least value of maxBandwidth (bytes/s) that HTTP.SYS accepts.
const kBandwidthMin = 1024
// Longest timeout that HTTP.SYS can store, in seconds (16 bits). 0 means its own default.
const kSecondsMax = 2 ** 16 - 1

/** @param {string} name @param {string} type @param {unknown} value */
function wrongType (name, type, value) {
  return Object.assign(
    new TypeError(`The "options.httpSys${name}" property must be ${type}. Received ${value === null ? 'null' : `type ${typeof value}`}`),
    { code: 'ERR_INVALID_ARG_TYPE' })
}

/** @param {string} name @param {string[]} known @param {unknown} value */
function wrongValue (name, known, value) {
  return Object.assign(
    new TypeError(`The property 'options.httpSys${name}' must be one of: '${known.join("', '")}'. Received ${JSON.stringify(value)}`),
    { code: 'ERR_INVALID_ARG_VALUE' })
}

/** @param {unknown} value @param {string} name @param {string[]} known @returns {Record<string, unknown>} */
function group (value, name, known) {
  if (value === undefined) return {}
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(name, 'an instance of Object', value)
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) throw new OptionError(`httpSys${name}`, key, nearest(key, known))
  }
  return /** @type {Record<string, unknown>} */ (value)
}

/** @param {unknown} value @param {string} name @param {number} least @returns {number} 0 = not given */
function whole (value, name, least) {
  if (value === undefined) return 0
  if (typeof value !== 'number') throw wrongType(name, 'of type number', value)
  if (!Number.isInteger(value) || value < least || value > kMost32) {
    throw Object.assign(
      new RangeError(`The value of "options.httpSys${name}" is out of range. It must be an integer >= ${least} && <= ${kMost32}. Received ${value}`),
      { code: 'ERR_OUT_OF_RANGE' })
  }
  return value
}

/** @param {unknown} value @param {string} name @param {boolean} byDefault */
function yesOrNo (value, name, byDefault) {
  if (value === undefined) return byDefault
  if (typeof value !== 'boolean') throw wrongType(name, 'of type boolean', value)
  return value
}

/** @param {unknown} value @param {string} name @param {string[]} known @returns {number} index in `known`; 0 if not given */
function choice (value, name, known) {
  if (value === undefined) return 0
  const index = known.indexOf(/** @type {string} */ (value))
  if (index === -1) throw wrongValue(name, known, value)
  return index
}

/** @param {number} ms @returns {number} whole seconds, rounded up; kSecondsMax for no limit (0, Infinity, not a number) */
function seconds (ms) {
  if (!(ms > 0) || ms === Infinity) return kSecondsMax
  return Math.min(kSecondsMax, Math.ceil(ms / 1000))
}

/** @param {number} value of an option in ms; 0 = not given @returns {number} seconds; 0 = not given */
function givenSeconds (value) {
  return value === 0 ? 0 : seconds(value)
}

/** @param {unknown} given */
function readLogging (given) {
  const { directory, format, rollover, maxFileSize } = group(given, '.logging', ['directory', 'format', 'rollover', 'maxFileSize'])
  if (given === undefined) return { logDirectory: '', logIsNcsa: false, logRollover: 0, logBytesMax: 0 }
  if (typeof directory !== 'string') throw wrongType('.logging.directory', 'of type string', directory)
  if (!path.isAbsolute(directory)) throw wrongValue('.logging.directory', ['an absolute path'], directory)
  return {
    logDirectory: directory,
    logIsNcsa: choice(format, '.logging.format', kFormats) === 1,
    logRollover: rollover === undefined ? kRollovers.indexOf('daily') : choice(rollover, '.logging.rollover', kRollovers),
    logBytesMax: whole(maxFileSize, '.logging.maxFileSize', 1024 * 1024)
  }
}

/** @param {unknown} given */
function readAuthentication (given) {
  const { schemes, allowAnonymous } = group(given, '.authentication', ['schemes', 'allowAnonymous'])
  if (given === undefined) return { authSchemes: 0, allowAnonymous: true }
  if (!Array.isArray(schemes)) throw wrongType('.authentication.schemes', 'an instance of Array', schemes)
  let authSchemes = 0
  for (const scheme of schemes) {
    if (!Object.hasOwn(kSchemes, scheme)) throw wrongValue('.authentication.schemes', Object.keys(kSchemes), scheme)
    authSchemes |= kSchemes[scheme]
  }
  return { authSchemes, allowAnonymous: yesOrNo(allowAnonymous, '.authentication.allowAnonymous', true) }
}

/**
 * @param {unknown} option of createServer
 * @returns {Omit<import('../../types/binding').KernelConfig, 'idle' | 'header' | 'body'>}
 */
function takeHttpSys (option) {
  const { maxBandwidth, maxConnections, bufferResponses, timeouts, logging, authentication } =
    group(option, '', ['maxBandwidth', 'maxConnections', 'bufferResponses', 'timeouts', 'logging', 'authentication'])
  const { drainEntityBody, requestQueue, minSendRate } = group(timeouts, '.timeouts', ['drainEntityBody', 'requestQueue', 'minSendRate'])
  return {
    maxBandwidth: whole(maxBandwidth, '.maxBandwidth', kBandwidthMin),
    maxConnections: whole(maxConnections, '.maxConnections', 1),
    bufferResponses: yesOrNo(bufferResponses, '.bufferResponses', false),
    drain: givenSeconds(whole(drainEntityBody, '.timeouts.drainEntityBody', 1)),
    queue: givenSeconds(whole(requestQueue, '.timeouts.requestQueue', 1)),
    sendRateMin: whole(minSendRate, '.timeouts.minSendRate', 1),
    ...readLogging(logging),
    ...readAuthentication(authentication)
  }
}

module.exports = { seconds, takeHttpSys }
