'use strict'

// Reads our own options of createServer() and refuses wrong values. lib/options/option-names.js refuses wrong names.

const { OptionError } = require('../base/errors')
const { nearest } = require('../base/nearest')

/** Default values by option name. types/index.d.ts and docs/options.md explain units and reasons. */
const kDefaults = {
  maxRequestBodySize: 0,
  maxRequestBodySizeCeiling: 0,
  maxConnectionsPerAddress: 0,
  maxConnectionsPerPrefix: 0,
  pipelinedRequestsMax: 32,
  queueLimit: 0,
  queueTimeout: 120_000,
  http503Verbosity: 'full',
  minSendRate: 150,
  maxBandwidth: 0,
  stripPrefix: false,
  strictUrl: false,
  serverHeader: true
}

/** Upper bound of rates, in bytes/s: HTTP.SYS has 32 bits, and the largest value means no limit. */
const kRateMax = 2 ** 32 - 2
/** Lower bound of maxBandwidth, in bytes/s: Windows' HTTP_MIN_ALLOWED_BANDWIDTH_THROTTLING_RATE. */
const kBandwidthMin = 1024

/** Least and greatest value of number options; default: 0 and the largest safe integer. @type {Record<string, [number, number]>} */
const kBounds = {
  pipelinedRequestsMax: [1, Number.MAX_SAFE_INTEGER],
  minSendRate: [0, kRateMax],
  maxBandwidth: [kBandwidthMin, kRateMax]
}
/** Options that also accept 0, for no limit, although it is below their least value. */
const kOrNone = ['maxBandwidth']

/** Node's own options of http.createServer(), in any supported version. */
const kNodeServerOptions = [
  'IncomingMessage', 'ServerResponse', 'allowHalfOpen', 'connectionsCheckingInterval', 'headersTimeout', 'highWaterMark',
  'httpValidation', 'insecureHTTPParser', 'joinDuplicateHeaders', 'keepAlive', 'keepAliveInitialDelay', 'keepAliveTimeout',
  'keepAliveTimeoutBuffer', 'maxHeaderSize', 'noDelay', 'optimizeEmptyRequests', 'pauseOnConnect', 'rejectNonStandardBodyWrites',
  'requestTimeout', 'requireHostHeader', 'shouldUpgradeCallback', 'uniqueHeaders'
]

/** Our own options of createServer(). */
const kServerOptions = [...Object.keys(kDefaults), 'http2', 'httpSys', 'cache']

/** Number properties of the option `http2`: [default, least, greatest value]. */
const kHttp2Numbers = {
  maxConcurrentStreams: [100, 1, 2 ** 31 - 1],
  initialWindowSize: [128 * 1024, 65535, 2 ** 31 - 1],
  maxFrameSize: [16 * 1024, 16 * 1024, 2 ** 24 - 1],
  headerTableSize: [4096, 0, 2 ** 20],
  pingInterval: [0, 0, 2 ** 31 - 1],
  stallTimeout: [120_000, 0, 2 ** 31 - 1]
}

const kHttp2Names = [...Object.keys(kHttp2Numbers), 'allowHTTP1']

/** How much a client learns from a 503, in HTTP.SYS's words. */
const kVerbosities = ['basic', 'limited', 'full']

/**
 * Reads the option `http2`.
 *
 * @param {unknown} option true, false, an object, or undefined
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_HTTPSYS_OPTION
 * @returns {{ isWanted: boolean | undefined, settings: import('../../types/binding').Http2Settings }} undefined: HTTP/2 only if TLS negotiates it
 */
function takeHttp2 (option) {
  const isObject = typeof option === 'object' && option !== null
  if (option !== undefined && typeof option !== 'boolean' && !isObject) {
    throw Object.assign(
      new TypeError(`The "options.http2" property must be of type boolean or an instance of Object. Received ${option === null ? 'null' : `type ${typeof option}`}`),
      { code: 'ERR_INVALID_ARG_TYPE' })
  }
  const given = /** @type {Record<string, unknown>} */ (isObject ? option : {})
  for (const name of Object.keys(given)) {
    if (!kHttp2Names.includes(name) && given[name] !== undefined) throw new OptionError('http2', name, nearest(name, kHttp2Names))
  }
  const { allowHTTP1 = true } = given
  if (typeof allowHTTP1 !== 'boolean') {
    throw Object.assign(new TypeError(`The "options.http2.allowHTTP1" property must be of type boolean. Received ${allowHTTP1 === null ? 'null' : `type ${typeof allowHTTP1}`}`), { code: 'ERR_INVALID_ARG_TYPE' })
  }
  /** @type {Record<string, boolean | number>} */
  const settings = { plain: isObject || option === true, alone: !allowHTTP1 }
  for (const [name, [byDefault, least, most]] of Object.entries(kHttp2Numbers)) {
    const { [name]: value = byDefault } = given
    if (typeof value !== 'number') {
      throw Object.assign(new TypeError(`The "options.http2.${name}" property must be of type number. Received type ${typeof value}`), { code: 'ERR_INVALID_ARG_TYPE' })
    }
    if (!Number.isInteger(value) || value < least || value > most) {
      throw Object.assign(
        new RangeError(`The value of "options.http2.${name}" is out of range. It must be an integer >= ${least} && <= ${most}. Received ${value}`),
        { code: 'ERR_OUT_OF_RANGE' })
    }
    settings[name] = value
  }
  return { isWanted: isObject ? true : option, settings: /** @type {import('../../types/binding').Http2Settings & Record<string, boolean | number>} */ (settings) }
}

/** @param {typeof kDefaults} own @throws ERR_HTTPSYS_OPTION, ERR_OUT_OF_RANGE if the ceiling would have no effect */
function checkCeiling ({ maxRequestBodySize, maxRequestBodySizeCeiling }) {
  if (maxRequestBodySizeCeiling === 0) return
  if (maxRequestBodySize === 0) throw new OptionError('createServer() without "maxRequestBodySize"', 'maxRequestBodySizeCeiling')
  if (maxRequestBodySizeCeiling < maxRequestBodySize) {
    throw Object.assign(
      new RangeError('The value of "options.maxRequestBodySizeCeiling" is out of range. It must be 0, or >= "options.maxRequestBodySize", ' +
        `which is ${maxRequestBodySize}. Received ${maxRequestBodySizeCeiling}`),
      { code: 'ERR_OUT_OF_RANGE' })
  }
}

/**
 * @param {object} options
 * @returns {typeof kDefaults}
 */
function takeEngineOptions (options) {
  const own = /** @type {Record<string, unknown>} */ ({ ...kDefaults })
  for (const [name, byDefault] of Object.entries(kDefaults)) {
    const { [name]: value } = /** @type {Record<string, unknown>} */ (options)
    if (value === undefined) continue
    if (typeof value !== typeof byDefault) {
      throw Object.assign(
        new TypeError(`The "options.${name}" property must be of type ${typeof byDefault}. Received ${value === null ? 'null' : `type ${typeof value}`}`),
        { code: 'ERR_INVALID_ARG_TYPE' })
    }
    const [least, most] = kBounds[name] ?? [0, Number.MAX_SAFE_INTEGER]
    const isNone = value === 0 && kOrNone.includes(name)
    if (typeof value === 'number' && !isNone && (!Number.isSafeInteger(value) || value < least || value > most)) {
      const bound = most === Number.MAX_SAFE_INTEGER ? '' : ` && <= ${most}`
      const none = kOrNone.includes(name) ? '0 or ' : ''
      throw Object.assign(
        new RangeError(`The value of "options.${name}" is out of range. It must be ${none}an integer >= ${least}${bound}. Received ${value}`),
        { code: 'ERR_OUT_OF_RANGE' })
    }
    if (name === 'http503Verbosity' && !kVerbosities.includes(/** @type {string} */ (value))) {
      throw Object.assign(
        new TypeError(`The property 'options.${name}' must be one of: '${kVerbosities.join("', '")}'. Received ${JSON.stringify(value)}`),
        { code: 'ERR_INVALID_ARG_VALUE' })
    }
    own[name] = value
  }
  checkCeiling(/** @type {typeof kDefaults} */ (own))
  return /** @type {typeof kDefaults} */ (own)
}

module.exports = { kNodeServerOptions, kServerOptions, kVerbosities, takeEngineOptions, takeHttp2 }
