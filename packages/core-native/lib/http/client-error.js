'use strict'

// Makes the error object of 'clientError'. The lane alone decides whether a message is refused. Node's own parser, run over the bytes that
// the lane read last, gives the details (HPE_* code, reason, bytesParsed, rawPacket), so that they agree with Node's. The object is made
// only when it is needed.

const http = require('node:http')
const { Buffer } = require('node:buffer')
const { Duplex } = require('node:stream')
const { BodyTooLargeError } = require('../base/errors')
const { hideRequests } = require('../node-private/parser')
const { headerSizeOf } = require('../node-private/server')
const { ErrorKind } = require('../records/records')

const { Server: StockServer } = http

/** @import { EngineServer, EngineSocket } from '../../types/internal' */

// Stands for a message whose body ended early, if the lane has none of its bytes. Node's error does not depend on these bytes.
const kUnfinishedBody = Buffer.from('POST / HTTP/1.1\r\nContent-Length: 1\r\n\r\n')
// Node's parser gets this before bytes that follow a request with `Connection: close`: without it, the parser would accept them.
const kClosingRequest = Buffer.from('GET / HTTP/1.1\r\nConnection: close\r\n\r\n')

const kFallback = new Map([
  [ErrorKind.kMalformed, ['HPE_INVALID_HEADER_TOKEN', 'Invalid message']],
  [ErrorKind.kHeaderOverflow, ['HPE_HEADER_OVERFLOW', 'Header overflow']],
  [ErrorKind.kChunkExtensions, ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'Chunk extensions overflow']],
  [ErrorKind.kIncomplete, ['HPE_INVALID_EOF_STATE', 'Invalid EOF state']],
  [ErrorKind.kDataAfterClose, ['HPE_CLOSED_CONNECTION', 'Data after `Connection: close`']]
])

/**
 * The place of a fault in a message.
 *
 * @typedef {object} Fault
 * @property {Buffer} segment the bytes that the lane read last
 * @property {Buffer} prefix valid bytes that bring a parser to its state at `from`
 * @property {number} from offset in the segment
 */
/** @typedef {Error & { code: string, reason?: string, bytesParsed?: number, rawPacket?: Buffer }} ParseError as Node's parser makes it */

/** @param {number} kind ErrorKind @param {Fault} fault @param {EngineSocket} socket @returns {ParseError} */
function describeError (kind, { segment, prefix, from }, socket) {
  if (kind === ErrorKind.kTimeout) return coded(new Error('Request timeout'), 'ERR_HTTP_REQUEST_TIMEOUT')
  if (kind === ErrorKind.kBodyTooLarge) {
    return new BodyTooLargeError()
  }
  const isEnd = kind === ErrorKind.kIncomplete
  const before = kind === ErrorKind.kDataAfterClose
    ? kClosingRequest
    : isEnd && prefix.length + segment.length === 0 ? kUnfinishedBody : prefix
  const told = askNode(before, segment.subarray(from), isEnd, socket.server)
  if (told !== null) {
    // Node counts bytesParsed within the segment that it read last.
    if (told.rawPacket !== undefined) {
      Object.assign(told, { bytesParsed: from + /** @type {number} */ (told.bytesParsed), rawPacket: segment })
    }
    return told
  }
  // Node's parser found no fault: the engine is stricter (docs/compatibility.md).
  const [code, reason] = /** @type {string[]} */ (kFallback.get(kind) ?? kFallback.get(ErrorKind.kMalformed))
  const error = coded(new Error(`Parse Error: ${reason}`), code)
  return Object.assign(error, { reason, bytesParsed: segment.length, rawPacket: segment })
}

/**
 * Makes the error for bytes that follow a refused message: they are refused for the same reason, whatever they are.
 *
 * @param {ParseError} first the error of describeError()
 * @param {Buffer} raw
 * @returns {ParseError}
 */
function describeAgain (first, raw) {
  const error = coded(new Error(first.message), first.code)
  return Object.assign(error, { reason: first.reason, bytesParsed: 0, rawPacket: raw })
}

/**
 * @param {Buffer} prefix without a fault
 * @param {Buffer} raw
 * @param {boolean} ended
 * @param {EngineServer} limited the server whose limits apply
 * @returns {ParseError | null} null: Node's parser accepts the bytes
 */
function askNode (prefix, raw, ended, limited) {
  /** @type {ParseError | null} */
  let told = null
  const server = new StockServer({ maxHeaderSize: headerSizeOf(limited), requireHostHeader: false }, () => {})
  server.maxHeadersCount = limited.maxHeadersCount
  server.on('clientError', (error) => { told = /** @type {ParseError} */ (error) })
  for (const event of ['upgrade', 'connect', 'checkContinue', 'checkExpectation']) server.on(event, () => {})
  const socket = new Duplex({ read () {}, write (_chunk, _encoding, callback) { callback() } })
  socket.on('error', () => {})
  server.emit('connection', socket)
  // A malformed message is no request: subscribers of diagnostics channels must not see one here.
  hideRequests(socket)
  // Node's listeners parse synchronously; no stream machinery is needed to reach them.
  for (const bytes of [prefix, raw]) {
    if (told === null && bytes.length !== 0) socket.emit('data', bytes)
  }
  if (told === null && ended) socket.emit('end')
  socket.destroy()
  return told
}

function connectionReset () {
  return coded(new Error('aborted'), 'ECONNRESET')
}

/** @param {Error} error @param {string} code */
function coded (error, code) {
  return Object.assign(error, { code })
}

module.exports = { describeError, describeAgain, connectionReset }
