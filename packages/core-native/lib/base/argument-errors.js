'use strict'

// Makes the errors about values that callers give, with Node's codes and messages.

/** @param {string} code @param {ErrorConstructor} Base @param {string} message */
const coded = (code, Base, message) => Object.assign(new Base(message), { code })

/** @param {string} what such as '"prefix" argument' @param {string} wanted @param {unknown} value */
const wrongType = (what, wanted, value) => coded('ERR_INVALID_ARG_TYPE', TypeError,
  `The ${what} must be ${wanted}. Received ${value === null || value === undefined ? value : `type ${typeof value}`}`)

/** @param {string} what such as "argument 'root'" @param {string} wanted @param {unknown} value */
const wrongValue = (what, wanted, value) => coded('ERR_INVALID_ARG_VALUE', TypeError, `The ${what} must be ${wanted}. Received ${JSON.stringify(value)}`)

/** @param {string} name @param {string} wanted @param {unknown} value */
const outOfRange = (name, wanted, value) => coded('ERR_OUT_OF_RANGE', RangeError,
  `The value of "${name}" is out of range. It must be ${wanted}. Received ${String(value)}`)

module.exports = { outOfRange, wrongType, wrongValue }
