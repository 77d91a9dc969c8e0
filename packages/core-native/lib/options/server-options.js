'use strict'

// Reads our own options of createServer() and refuses wrong values. lib/options/option-names.js refuses wrong names.

const { OptionError } = require('../base/errors')
const { outOfRange, wrongType } = require('../base/validate')
const { takeGroup, takeOptions } = require('./read-options')
const table = require('./table')

/** @typedef {import('./read-options').Taken<typeof table.server>} ServerOptions checked */

/** @type {import('./read-options').Table} */
const kEntries = table.server

/**
 * Reads the option `http2`.
 *
 * @param {unknown} option true, false, an object, or undefined
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE, ERR_HTTPSYS_OPTION
 * @returns {{ isWanted: boolean | undefined, settings: import('../../types/binding').Http2Settings }} isWanted undefined: HTTP/2 only if TLS negotiates it
 */
function takeHttp2 (option) {
  const isObject = typeof option === 'object' && option !== null
  if (option !== undefined && typeof option !== 'boolean' && !isObject) throw wrongType('options.http2', 'of type boolean or an instance of Object', option)
  const { allowHTTP1, ...settings } = takeGroup(table.http2, isObject ? option : {}, 'http2')
  return {
    isWanted: isObject ? true : option,
    settings: { isPlain: isObject || option === true, isAlone: !allowHTTP1, ...settings }
  }
}

/** @param {ServerOptions} own @throws ERR_HTTPSYS_OPTION, ERR_OUT_OF_RANGE if the ceiling would have no effect */
function checkCeiling ({ maxRequestBodySize, maxRequestBodySizeCeiling }) {
  if (maxRequestBodySizeCeiling === 0) return
  if (maxRequestBodySize === 0) throw new OptionError('createServer() without "maxRequestBodySize"', 'maxRequestBodySizeCeiling')
  if (maxRequestBodySizeCeiling >= maxRequestBodySize) return
  throw outOfRange('options.maxRequestBodySizeCeiling', `0, or >= "options.maxRequestBodySize", which is ${maxRequestBodySize}`, maxRequestBodySizeCeiling)
}

/**
 * @param {object} options
 * @returns {ServerOptions}
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_HTTPSYS_OPTION
 */
function takeEngineOptions (options) {
  const own = takeOptions(table.server, options)
  checkCeiling(own)
  return own
}

/**
 * Returns the options that the lanes get, by their names.
 *
 * @param {ServerOptions} own
 * @param {(name: string) => boolean} isMeant whether a default that is only for servers of URL prefixes applies, too
 * @returns {import('../../types/binding').PassedOptions}
 */
function passedOptions (own, isMeant) {
  const passed = /** @type {unknown} */ (Object.fromEntries(Object.entries(own).flatMap(([name, value]) => {
    const { passed, forPrefixes, choices } = kEntries[name]
    if (!passed) return []
    if (forPrefixes && !isMeant(name)) return [[name, 0]]
    return [[name, choices === undefined ? value : choices.indexOf(/** @type {string} */ (value))]]
  })))
  return /** @type {import('../../types/binding').PassedOptions} */ (passed)
}

module.exports = { passedOptions, takeEngineOptions, takeHttp2 }
