'use strict'

// Reads the option `httpSys`: settings that only HTTP.SYS has. docs/windows.md explains the names.

const path = require('node:path')
const { readString, wrongChoice, wrongType, wrongValue } = require('../base/validate')
const { takeGroup } = require('./read-options')
const table = require('./table')

/** Bits of authentication schemes: Windows' HTTP_AUTH_ENABLE_… @type {Record<string, number>} */
const kSchemes = { basic: 1, digest: 2, ntlm: 4, negotiate: 8, kerberos: 16 }
/** Values of the option `rollover`; the index of each is its number in Windows' HTTP_LOGGING_ROLLOVER_TYPE. */
const kRollovers = table.httpSys.logging.options.rollover.choices
// Longest timeout that HTTP.SYS can store, in seconds (16 bits). 0 means its own default.
const kSecondsMax = 2 ** 16 - 1

/** @param {number} ms @returns {number} whole seconds, rounded up; kSecondsMax for no limit (0, Infinity, not a number) */
function seconds (ms) {
  if (!(ms > 0) || ms === Infinity) return kSecondsMax
  return Math.min(kSecondsMax, Math.ceil(ms / 1000))
}

/** @param {number} value of an option in ms; 0 = not given @returns {number} seconds; 0 = not given */
function givenSeconds (value) {
  return value === 0 ? 0 : seconds(value)
}

/** @param {unknown} schemes @returns {number} bits */
function readSchemes (schemes) {
  if (!Array.isArray(schemes)) throw wrongType('options.httpSys.authentication.schemes', 'an instance of Array', schemes)
  return schemes.reduce((bits, scheme) => {
    if (!Object.hasOwn(kSchemes, scheme)) throw wrongChoice('options.httpSys.authentication.schemes', Object.keys(kSchemes), scheme)
    return bits | kSchemes[scheme]
  }, 0)
}

/** @param {unknown} directory */
function readDirectory (directory) {
  const given = readString('options.httpSys.logging.directory', directory)
  if (!path.isAbsolute(given)) throw wrongValue('options.httpSys.logging.directory', 'an absolute path', given)
  return given
}

/**
 * @param {unknown} option of createServer
 * @returns {Omit<import('../../types/binding').KernelConfig, 'keepAliveTimeout' | 'headersTimeout' | 'requestTimeout'>}
 */
function takeHttpSys (option) {
  const { timeouts, logging, authentication, ...own } = takeGroup(table.httpSys, option, 'httpSys')
  const given = /** @type {{ logging?: object, authentication?: object }} */ (option ?? {})
  const hasLog = given.logging !== undefined
  return {
    ...own,
    drainEntityBody: givenSeconds(timeouts.drainEntityBody),
    requestQueue: givenSeconds(timeouts.requestQueue),
    minSendRate: timeouts.minSendRate,
    logDirectory: hasLog ? readDirectory(logging.directory) : '',
    logIsNcsa: logging.format === 'ncsa',
    logRollover: hasLog ? kRollovers.indexOf(logging.rollover) : 0,
    logBytesMax: logging.maxFileSize,
    authSchemes: given.authentication === undefined ? 0 : readSchemes(authentication.schemes),
    allowAnonymous: authentication.allowAnonymous
  }
}

module.exports = { seconds, takeHttpSys }
