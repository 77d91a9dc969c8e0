'use strict'

// Reads the options of serveFiles(): the options of serve-static 2, and our own. docs/static-files.md explains them.

const { validateHeaderName, validateHeaderValue } = require('node:http')
const { OptionError } = require('../base/errors')
const { outOfRange, wrongChoice, wrongType, wrongValue } = require('../base/validate')
const { refuseUnknown } = require('./option-names')
const { takeOptions } = require('./read-options')
const table = require('./table')
const { readDuration } = require('./duration')

/**
 * Checked options, in the form that the engine reads.
 *
 * @typedef {Omit<import('../../types/binding').StaticMount, 'isBelowAll' | 'ownsPrefix' | 'prefixId' | 'path' | 'root' | 'types'>} StaticSettings
 *
 * @typedef {Record<string, unknown>} Given options as the user gave them, unchecked
 */

/** The options of serve-static, and ours. */
const kOptions = { ...table.files, ...table.ownFiles }
/** Bits of the content codings in `precompressed`. @type {Record<string, number>} */
const kCodings = { br: 1, zstd: 2, gzip: 4 }
/** Other words for these codings (file extensions, a library), for the suggestion in an error message. @type {Record<string, string>} */
const kOtherCodings = { brotli: 'br', zst: 'zstd', gz: 'gzip' }

/** Upper limit of maxAge: a year, as in serve-static. */
const kMaxAgeSecondsMax = 365 * 24 * 60 * 60
/** Maximum length of a pattern: kFilePathBytesMax of src/static_files/request_path.h. */
const kPatternBytesMax = 4095

/**
 * Fields refused in `headers`: the engine sets them (they describe a response's end, content or date), or they belong to the
 * connection.
 */
const kEnginesFields = [
  'connection', 'content-encoding', 'content-length', 'content-range', 'date', 'http2-settings', 'keep-alive', 'proxy-connection', 'te',
  'trailer', 'transfer-encoding', 'upgrade'
]

/**
 * @param {string} name
 * @param {unknown} value
 * @param {(text: string) => string | null} problemOf what a text must be instead; null: it is good
 * @returns {string[]} empty if the option is false
 */
function readList (name, value, problemOf) {
  if (value === false) return []
  const list = typeof value === 'string' ? [value] : value
  if (!Array.isArray(list)) throw wrongType(`options.${name}`, 'of type string, an instance of Array or false', value)
  for (const text of list) {
    if (typeof text !== 'string') throw wrongType(`options.${name}`, 'a list of strings', text)
    const problem = problemOf(text)
    if (problem !== null) throw wrongValue(`options.${name}`, problem, text)
  }
  return [...list]
}

/** Checks the name of a file; a path is refused, because it could lead out of the folder. @param {string} text */
function nameProblem (text) {
  return text === '' || text === '.' || text === '..' || /[/\\\0]/.test(text) ? 'a list of names of files, without any folder' : null
}

/** @param {string} text */
function extensionProblem (text) {
  if (text.startsWith('.')) return `a list of extensions without their dot, such as ${JSON.stringify(text.slice(1) || 'html')}`
  return text === '' || /[/\\\0]/.test(text) ? 'a list of extensions such as "html"' : null
}

/** @param {unknown} value @returns {number} seconds */
function readMaxAge (value = 0) {
  if (typeof value !== 'number' && typeof value !== 'string') throw wrongType('options.maxAge', 'of type number or string', value)
  const ms = typeof value === 'number' ? value : readDuration(value)
  if (ms === null) throw wrongValue('options.maxAge', 'milliseconds, or a time such as "90s", "15 minutes", "12h", "7d" or "1y"', value)
  if (!(ms >= 0)) throw outOfRange('options.maxAge', '>= 0', value)
  return Math.min(Math.floor(ms / 1000), kMaxAgeSecondsMax)
}

/** @param {unknown} value @returns {number} bits */
function readPrecompressed (value = false) {
  const known = Object.keys(kCodings)
  if (typeof value === 'boolean') return value ? known.reduce((bits, name) => bits | kCodings[name], 0) : 0
  if (!Array.isArray(value)) throw wrongType('options.precompressed', 'of type boolean or an instance of Array', value)
  let bits = 0
  for (const name of value) {
    if (typeof name !== 'string') throw wrongType('options.precompressed', 'a list of strings', name)
    if (!Object.hasOwn(kCodings, name)) {
      throw wrongChoice('options.precompressed', known, name, Object.hasOwn(kOtherCodings, name) ? kOtherCodings[name] : undefined)
    }
    bits |= kCodings[name]
  }
  return bits
}

/** @param {string} pattern @returns {string | null} what a pattern must be instead, if this one would never match a file; null: it is good */
function patternProblem (pattern) {
  if (pattern === '' || pattern === '.' || Buffer.byteLength(pattern) > kPatternBytesMax || pattern.includes('\0')) {
    return 'an extension such as ".css", a name, or a glob such as "assets/**/*.js"'
  }
  if (pattern.startsWith('/') || pattern.includes('\\')) return 'a path below the folder that is served, with "/" between its parts and none at its beginning'
  if (pattern.startsWith('.') && pattern.includes('/')) return `${JSON.stringify(`**/${pattern}`)}, because what begins with a dot is an extension`
  return /\{[^{}]*,[^{}]*\}/.test(pattern) ? 'a glob without braces; name each alternative by itself' : null
}

/** @param {string} pattern @param {unknown} fields @returns {string[]} pattern, name and value, for each field */
function readFields (pattern, fields) {
  const where = `options.headers[${JSON.stringify(pattern)}]`
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) throw wrongType(where, 'an instance of Object, because fields stand below a pattern: { \'*\': { … } }', fields)
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return []
    validateHeaderName(name)
    if (kEnginesFields.includes(name.toLowerCase())) throw wrongValue(where, 'fields that the server does not set by itself', name)
    if (typeof value !== 'string' && typeof value !== 'number') throw wrongType(`${where}[${JSON.stringify(name)}]`, 'of type string or number', value)
    const text = String(value)
    validateHeaderValue(name, text)
    // Bytes above ASCII have no encoding that clients agree on.
    if (/[^\t\x20-\x7e]/.test(text)) throw wrongValue(`${where}[${JSON.stringify(name)}]`, 'in ASCII', text)
    return [pattern, name, text.trim()]
  })
}

/** @param {unknown} value @returns {string[]} */
function readHeaders (value = {}) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType('options.headers', 'an instance of Object', value)
  return Object.entries(value).flatMap(([pattern, fields]) => {
    if (fields === undefined) return []
    const problem = patternProblem(pattern)
    if (problem !== null) throw wrongValue('options.headers', `a table by ${problem}`, pattern)
    return readFields(pattern, fields)
  })
}

/** Refuses options that would have no effect. @param {string} where @param {Given} given */
function refuseUseless (where, given) {
  if (given.setHeaders !== undefined) throw new OptionError(where, 'setHeaders', undefined, 'a function cannot run on an I/O thread; "headers" takes fixed values')
  refuseUnknown(where, given, Object.keys(kOptions))
  if (given.cacheControl !== false) return
  const useless = given.maxAge !== undefined ? 'maxAge' : given.immutable === true ? 'immutable' : null
  if (useless !== null) throw new OptionError(`${where} with "cacheControl: false"`, useless)
}

/**
 * Reads the options of a folder.
 *
 * @param {string} where the function that was called, for messages
 * @param {unknown} options undefined properties count as absent
 * @returns {StaticSettings}
 * @throws ERR_HTTPSYS_OPTION, ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_INVALID_HTTP_TOKEN, ERR_INVALID_CHAR
 */
function takeStaticOptions (where, options = {}) {
  if (typeof options !== 'object' || options === null) throw wrongType('options', 'of type object', options)
  const given = /** @type {Given} */ (options)
  refuseUseless(where, given)
  const { dotfiles, index = ['index.html'], extensions = [], maxAge, precompressed, headers, ...booleans } = takeOptions(kOptions, given)
  return {
    ...booleans,
    dotfiles: kOptions.dotfiles.choices.indexOf(dotfiles),
    index: readList('index', index, nameProblem),
    extensions: readList('extensions', extensions, extensionProblem),
    maxAge: readMaxAge(maxAge),
    precompressed: readPrecompressed(precompressed),
    headers: readHeaders(headers)
  }
}

module.exports = { takeStaticOptions }
