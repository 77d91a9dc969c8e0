'use strict'

// Makes the errors that Node would make for TLS failures, from a lane's record.

const os = require('node:os')
const R = require('../records/records')
const { systemError } = require('../base/system-error')

const { ECONNRESET, EPROTO, ETIMEDOUT, ECANCELED } = os.constants.errno
const { Word } = R
/** Words of the record with the sizes of its texts, in the order of the texts. */
const kTexts = [Word.kTlsFailureTextBytes, Word.kTlsFailureLibraryBytes, Word.kTlsFailureFunctionBytes,
  Word.kTlsFailureReasonBytes]

/** Errors of application callbacks, by the text that represents them in a record. @type {Map<string, Error>} */
const callbackErrors = new Map()
let nextCallbackError = 1

/** @param {Error} error from an application's callback @returns {string} text for the lane, which returns it in a record */
function rememberError (error) {
  const name = `callback ${nextCallbackError++}`
  callbackErrors.set(name, error)
  return name
}

/** @param {string} name */
function takeError (name) {
  const error = callbackErrors.get(name)
  callbackErrors.delete(name)
  return error
}

/** @param {Int32Array} words of a kTlsFailure @param {Buffer} bytes @param {number} at @returns {Error} */
function failureOf (words, bytes, at) {
  const w = at >>> 2
  const errno = words[w + Word.kTlsFailureError]
  let from = at + R.kTlsFailureTextAt
  const [text, library, fn, reason] = kTexts.map((word) => {
    from += words[w + word]
    return bytes.toString('latin1', from - words[w + word], from)
  })
  if (errno === ECANCELED) {
    const error = takeError(text)
    if (error !== undefined) return error
  }
  if (errno === ETIMEDOUT) return Object.assign(new Error('TLS handshake timeout'), { code: 'ERR_TLS_HANDSHAKE_TIMEOUT' })
  if (errno === ECONNRESET) return Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  if (errno !== EPROTO) return systemError(-errno, 'read')
  const error = new Error(text === '' ? 'too many TLS records without data' : text)
  if (library !== '') Object.assign(error, { library })
  if (fn !== '') Object.assign(error, { function: fn })
  if (reason !== '') Object.assign(error, { reason })
  return Object.assign(error, { code: `ERR_SSL_${(reason || 'excessive records').toUpperCase().replaceAll(' ', '_')}` })
}

module.exports = { failureOf, rememberError, takeError }
