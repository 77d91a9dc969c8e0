'use strict'

// Sends files as responses: by the backend if it can read files (Engine.sendFile), otherwise through a stream, with the
// same result for the client and for the application.

const fs = require('node:fs')
const { Buffer } = require('node:buffer')
const { errno: { ENODATA: kNoData } } = require('node:os').constants
const { finished, pipeline } = require('node:stream')
const { fileURLToPath } = require('node:url')
const { nodeProcess } = require('../node-private/node-process')
const { hasBody, isHeadSent } = require('../node-private/response')
const { refuseUnknown } = require('../options/option-names')
const { announcedBy } = require('./file-refusals')
const { endWithFile } = require('./outgoing')
const { closeFile, engineOf, kOwn, kUnknown, openFile, pinFile } = require('./open-file')
const { errnoOf, systemError } = require('../base/system-error')
const { outOfRange, readInteger, wrongType } = require('../base/validate')

const kAnyMode = 0o666
/**
 * The functions of a stream that must not close its descriptor. `autoClose: false` is not enough: destroy() closes the descriptor all the same, and
 * pipeline() destroys the stream if the client leaves.
 */
const kBorrowed = {
  open: fs.open,
  read: fs.read,
  /** @param {number} _fd @param {(error: null) => void} callback */
  close: (_fd, callback) => nodeProcess.nextTick(callback, null)
}

/** @import { EngineResponse } from '../../types/internal' */

/**
 * @typedef {object} Sending
 * @property {EngineResponse} res
 * @property {import('../../types/binding').Engine | null} engine that may keep the file open
 * @property {number} fd
 * @property {number} id of the file in the engine's table; 0: the file is not in the table
 * @property {unknown} file the application's argument, kept because Node closes a FileHandle without references
 * @property {boolean} isOurs true: sendFile() has opened the file, and closes it
 * @property {number | undefined} start
 * @property {number | undefined} end the last byte
 * @property {(error: Error | null) => void} callback
 */

/** @param {string} code @param {ErrorConstructor} Base @param {string} message */
function coded (code, Base, message) {
  return Object.assign(new Base(message), { code })
}

/** @param {unknown} options @returns {{ start?: number, end?: number }} */
function readRange (options) {
  if (typeof options !== 'object' || options === null) throw wrongType('options', 'of type object', options)
  refuseUnknown('sendFile()', options, ['start', 'end'])
  const { start, end } = /** @type {{ start?: number, end?: number }} */ (options) // Values that are no numbers are refused below.
  for (const [name, value] of Object.entries({ start, end })) {
    if (value !== undefined) readInteger(`options.${name}`, value, 0)
  }
  if (start !== undefined && end !== undefined && start > end) throw outOfRange('options.start', `<= "end" (here: ${end})`, start)
  return { start, end }
}

/**
 * Ends a response with a file. Calls back once: with null when all bytes were handed to the system, or with an error. If
 * the head was not sent before the error, the application can still answer.
 *
 * @param {EngineResponse} res
 * @param {unknown} file a path, a FileHandle or a descriptor; the latter two remain the application's
 * @param {unknown} options start and end (the last byte), as with fs.createReadStream()
 * @param {unknown} [callback]
 */
function sendFile (res, file, options, callback) {
  if (typeof options === 'function') [options, callback] = [{}, options]
  if (typeof callback !== 'function') throw wrongType('callback', 'of type function', callback)
  const { start, end } = readRange(options ?? {})
  const settled = /** @type {Sending['callback']} */ (callback)
  /** @type {Sending} */
  const sending = { res, engine: engineOf(res), fd: -1, id: kOwn, file, isOurs: false, start, end, callback: settled }
  if (typeof file === 'string' || Buffer.isBuffer(file) || file instanceof URL) {
    const refused = refusal(res)
    if (refused !== null) return nodeProcess.nextTick(settled, refused)
    const path = file instanceof URL ? fileURLToPath(file) : file
    return openFile(path, 'r', kAnyMode, sending.engine, (error, fd = -1, { id, size } = kUnknown) => {
      if (error !== null) return settled(error)
      Object.assign(sending, { fd, id, isOurs: true })
      if (id === kOwn) look(sending)
      // Only regular files are in the engine's table.
      else begin(sending, /** @type {number} */ (size))
    })
  }
  sending.fd = /** @type {number} */ (typeof file === 'object' && file !== null ? /** @type {{ fd: unknown }} */ (file).fd : file)
  if (typeof sending.fd !== 'number') throw wrongType('file', 'a path, a FileHandle or a file descriptor', file)
  // A closed FileHandle has the descriptor -1.
  if (sending.fd === -1) return nodeProcess.nextTick(settled, systemError(errnoOf('EBADF'), 'fstat'))
  look(sending)
}

/** @param {EngineResponse} res @returns {Error | null} why nothing can be written to it */
function refusal (res) {
  if (res.writableEnded) return coded('ERR_STREAM_WRITE_AFTER_END', Error, 'write after end')
  if (res.destroyed) return coded('ERR_STREAM_PREMATURE_CLOSE', Error, 'Premature close')
  return null
}

/** @param {Sending} sending @param {Error | null} [error] */
function settle ({ engine, fd, id, isOurs, callback }, error = null) {
  if (!isOurs) return nodeProcess.nextTick(callback, error)
  closeFile(fd, engine, id, () => callback(error))
}

/** @param {Sending} sending */
function look (sending) {
  fs.fstat(sending.fd, (error, stats) => {
    const why = error ?? (stats.isDirectory() ? systemError(errnoOf('EISDIR'), 'read') : null)
    if (why !== null) settle(sending, why)
    // The length of pipes and devices is known only at their end.
    else if (!stats.isFile()) stream(sending, undefined)
    else begin(sending, stats.size)
  })
}

/** @param {Sending} sending of a regular file @param {number} size */
function begin (sending, size) {
  const { res, fd, id, start = 0, end = Infinity } = sending
  const refused = refusal(res)
  if (refused !== null) return settle(sending, refused)
  const length = Math.max(0, Math.min(end, size - 1) - start + 1)
  const hasNoBody = res.statusCode === 204 || res.statusCode === 304
  const announced = hasNoBody || res.req.method === 'HEAD' ? null : announcedBy(res)
  // An application that has sent the head may have written a part of the body, so that a longer Content-Length is no error.
  if (announced !== null && (isHeadSent(res) ? announced < length : announced !== length)) {
    return settle(sending, lengthError(length, announced))
  }
  if (!res.headersSent && !hasNoBody && !res.hasHeader('content-length') && !res.hasHeader('transfer-encoding')) {
    res.setHeader('Content-Length', length)
  }
  /** @type {Error | null} */
  let cause = null
  const onFailed = (/** @type {number} */ errno, /** @type {number} */ sent) => {
    cause = errno === kNoData ? cutError(length - sent) : systemError(-errno, 'read')
  }
  if (length === 0 || hasNoBody || !hasBody(res)) res.end()
  else if (!endWithFile(res, fd, id, start, length, onFailed)) return stream(sending, length)
  // The lane has a descriptor of its own. settle() closes ours when the response has ended.
  finished(res, (error) => settle(sending, cause ?? error ?? null))
}

/** @param {number} length of the file @param {number} announced */
function lengthError (length, announced) {
  return coded('ERR_HTTP_CONTENT_LENGTH_MISMATCH', Error, `Response body's content-length of ${length} byte(s) does not match the content-length of ${announced} byte(s) set in header`)
}

/** @param {number} missing bytes */
function cutError (missing) {
  return coded('ERR_HTTP_CONTENT_LENGTH_MISMATCH', Error, `The file has become ${missing} bytes shorter while it was sent`)
}

/** @param {Sending} sending @param {number | undefined} length bytes to send; undefined: up to the end */
function stream (sending, length) {
  const { res, start, end } = sending
  const fd = pinFile(sending.fd, sending.engine, sending.id)
  if (fd < 0) return settle(sending, systemError(fd, 'open'))
  const last = length === undefined ? end : (start ?? 0) + length - 1
  const source = fs.createReadStream('', { fd, start: length === undefined ? start : start ?? 0, end: last, fs: kBorrowed })
  const done = (/** @type {Error | null | undefined} */ error) => {
    // If the client has left, a pending read may still use the descriptor.
    if (source.closed) settle(sending, error ?? null)
    else source.once('close', () => settle(sending, error ?? null))
  }
  if (length === undefined) pipeline(source, res, done)
  else pipeline(source, (pieces) => exactly(pieces, length), res, done)
}

// Yields the pieces, and throws if they have fewer than `length` bytes: the client, which got a Content-Length, would take the next response
// for the rest.
/** @param {AsyncIterable<Buffer>} pieces @param {number} length */
async function * exactly (pieces, length) {
  let left = length
  for await (const piece of pieces) {
    left -= piece.length
    yield piece
  }
  if (left > 0) throw cutError(left)
}

module.exports = { sendFile }
