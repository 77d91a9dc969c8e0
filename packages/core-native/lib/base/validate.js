'use strict'

// Errors for values of the application, with Node's codes and in Node's words. A name with a dot is that of a property, such as
// "options.queueLimit"; any other name is that of an argument.

const { nearest } = require('./nearest')

/** @param {Error} error @param {string} code */
const coded = (error, code) => Object.assign(error, { code })

/** @param {string} name */
const kindOf = (name) => name.includes('.') ? 'property' : 'argument'

/** @param {string} name @param {string} type such as "of type string" @param {unknown} value */
function wrongType (name, type, value) {
  const received = value === null || value === undefined ? value : `type ${typeof value}`
  return coded(new TypeError(`The "${name}" ${kindOf(name)} must be ${type}. Received ${received}`), 'ERR_INVALID_ARG_TYPE')
}

/** @param {string} name @param {string} wanted what the value must be @param {unknown} value */
function wrongValue (name, wanted, value) {
  return coded(new TypeError(`The ${kindOf(name)} '${name}' must be ${wanted}. Received ${JSON.stringify(value)}`), 'ERR_INVALID_ARG_VALUE')
}

/** @param {string} name @param {string[]} known values @param {unknown} value @param {string} [meant] the known value that the given one resembles */
function wrongChoice (name, known, value, meant = typeof value === 'string' ? nearest(value, known) : undefined) {
  const error = wrongValue(name, `one of: '${known.join("', '")}'`, value)
  if (meant !== undefined) error.message += `; did you mean '${meant}'?`
  return error
}

/** @param {string} name @param {string} wanted such as "an integer >= 1" @param {unknown} value */
function outOfRange (name, wanted, value) {
  return coded(new RangeError(`The value of "${name}" is out of range. It must be ${wanted}. Received ${String(value)}`), 'ERR_OUT_OF_RANGE')
}

/** @param {string} name @param {unknown} value @returns {boolean} @throws ERR_INVALID_ARG_TYPE */
function readBoolean (name, value) {
  if (typeof value !== 'boolean') throw wrongType(name, 'of type boolean', value)
  return value
}

/** @param {string} name @param {unknown} value @returns {string} @throws ERR_INVALID_ARG_TYPE */
function readString (name, value) {
  if (typeof value !== 'string') throw wrongType(name, 'of type string', value)
  return value
}

/**
 * @param {string} name
 * @param {unknown} value
 * @param {number} least
 * @param {number} [most]
 * @param {boolean} [isOrZero] 0 is allowed, too, although it is below `least`
 * @returns {number}
 * @throws ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE
 */
function readInteger (name, value, least, most = Number.MAX_SAFE_INTEGER, isOrZero = false) {
  if (typeof value !== 'number') throw wrongType(name, 'of type number', value)
  if ((value === 0 && isOrZero) || (Number.isSafeInteger(value) && value >= least && value <= most)) return value
  const bound = most === Number.MAX_SAFE_INTEGER ? '' : ` && <= ${most}`
  throw outOfRange(name, `${isOrZero ? '0 or ' : ''}an integer >= ${least}${bound}`, value)
}

module.exports = { outOfRange, readBoolean, readInteger, readString, wrongChoice, wrongType, wrongValue }
