'use strict'

// Makes the errors that ws' receiver would make for frames that the I/O thread refuses (src/websocket/message_reader.h has the numbers).

const { constants } = require('node:zlib')

/** @typedef {{ code: string, status: number, type: ErrorConstructor | RangeErrorConstructor, text: (detail: number) => string }} Kind */

/** @param {string} code @param {number} status @param {(detail: number) => string} text @param {Kind['type']} [type] @returns {Kind} */
function kind (code, status, text, type = RangeError) {
  return { code: `WS_ERR_${code}`, status, type, text }
}

/** @param {string} text @returns {(detail: number) => string} */
const frame = (text) => (detail) => `Invalid WebSocket frame: ${text.replace('%', String(detail))}`
/** @param {string} text @returns {(detail: number) => string} */
const plain = (text) => () => text

/** Kinds of errors by their number. @type {Kind[]} */
const kKinds = [
  kind('UNKNOWN', 1002, plain('Unknown')),
  kind('UNEXPECTED_RSV_2_3', 1002, frame('RSV2 and RSV3 must be clear')),
  kind('UNEXPECTED_RSV_1', 1002, frame('RSV1 must be clear')),
  kind('INVALID_OPCODE', 1002, frame('invalid opcode %')),
  kind('EXPECTED_FIN', 1002, frame('FIN must be set')),
  kind('INVALID_CONTROL_PAYLOAD_LENGTH', 1002, frame('invalid payload length %')),
  kind('EXPECTED_MASK', 1002, frame('MASK must be set')),
  kind('UNSUPPORTED_DATA_PAYLOAD_LENGTH', 1009, plain('Unsupported WebSocket frame: payload length > 2^53 - 1')),
  kind('UNSUPPORTED_MESSAGE_LENGTH', 1009, plain('Max payload size exceeded')),
  kind('TOO_MANY_BUFFERED_PARTS', 1008, plain('Too many message fragments')),
  kind('TOO_MANY_BUFFERED_PARTS', 1008, plain('Too many buffered chunks')),
  kind('INVALID_UTF8', 1007, frame('invalid UTF-8 sequence'), Error),
  kind('INVALID_CLOSE_CODE', 1002, frame('invalid status code %'))
]
const kInflate = 13
const kInflateStatus = 1007

/** @type {Map<number, string>} */
const kZlibCodes = new Map(Object.entries(constants)
  .filter(([name, value]) => /^Z_[A-Z]+_ERROR$|^Z_ERRNO$/.test(name) && value < 0)
  .map(([name, value]) => [value, name]))

/** @param {number} number @param {number} detail @param {number} zlibCode @param {string} zlibText @returns {Error & { code: string }} */
function createReadError (number, detail, zlibCode, zlibText) {
  if (number === kInflate) {
    return Object.assign(new Error(zlibText), { errno: zlibCode, code: kZlibCodes.get(zlibCode) ?? 'Z_DATA_ERROR' })
  }
  const { code, type: Type, text } = kKinds[number]
  return Object.assign(new Type(text(detail)), { code })
}

/** @param {number} number @returns {number} the status code for the close frame */
function closeCodeOf (number) {
  return number === kInflate ? kInflateStatus : kKinds[number].status
}

module.exports = { createReadError, closeCodeOf }
