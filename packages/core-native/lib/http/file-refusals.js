'use strict'

// Conditions under which a lane may read a file in place of the stream that is piped into a response, without a visible difference.
// Each function returns the condition that is not met, or an empty string.

const { ServerResponse } = require('node:http')
const { end: stockEnd, write: stockWrite } = require('../node-private/node-internals')
const { contentLengthOf, hasBody, headOf, isChunked } = require('../node-private/response')
const { closesItself, destinationsOf, hasBegun, patchOf } = require('../node-private/file-stream')
const { isShort } = require('./short-way')

/** @import { PrivateFileStream } from '../../types/node-internals' */
/** @import { EngineResponse } from '../../types/internal' */

// A file of this size (bytes) or more that has no blocks is taken for one that the kernel generates (sysfs), with a false size. Windows
// keeps smaller files without blocks, too.
const kPageBytes = 4096

/** Why a stream that has just been piped is left to Node. @param {PrivateFileStream} stream @returns {string} */
function sourceRefusal (stream) {
  const patch = patchOf(stream)
  if (patch !== '') return patch
  if (stream.flags !== undefined && stream.flags !== 'r') return 'flags'
  // The application may have read from the descriptor, whose position cannot be found out.
  if (typeof stream.fd === 'number' && stream.pos === undefined && stream.path === undefined) return 'position of a descriptor'
  if (stream.destroyed || stream.errored || hasBegun(stream)) return 'begun'
  if (!closesItself(stream)) return 'left open'
  return flowRefusal(stream)
}

/** Why a stream of which nothing was read is left to Node. @param {PrivateFileStream} stream @returns {string} */
function flowRefusal (stream) {
  if (stream.bytesRead !== 0 || stream.readableLength !== 0) return 'begun'
  if (destinationsOf(stream).length !== 1) return 'destinations'
  if (stream.readableObjectMode) return 'objects'
  return ''
}

/**
 * Why a stream is left to Node when its next read is due, or while a lane reads for it.
 *
 * @param {PrivateFileStream} stream
 * @param {EngineResponse} res
 * @returns {string}
 */
function listenersRefusal (stream, res) {
  const destinations = destinationsOf(stream)
  if (stream.readableFlowing !== true || destinations.length !== 1 || destinations[0] !== res) return 'not flowing'
  if (stream.readableEncoding !== null) return 'encoding'
  // pipe() itself adds one 'data' listener.
  if (stream.listenerCount('data') !== 1) return 'data listener'
  if (stream.listenerCount('readable') !== 0 || stream.listenerCount('pause') !== 0 || stream.listenerCount('resume') !== 0) return 'flow listener'
  return ''
}

/**
 * Finds what about a response makes Node, not the lane, send the file that is piped into it; '' = nothing.
 *
 * @param {EngineResponse} res
 * @param {object} methods the prototype that has the engine's own methods of a response
 * @returns {string}
 */
function responseRefusal (res, methods) {
  if (res.write !== stockWrite || res.end !== Reflect.get(methods, 'end') || res.emit !== Reflect.get(methods, 'emit') ||
      ServerResponse.prototype.end !== stockEnd) return 'a method of the response'
  if (res.finished || res.destroyed) return 'response has ended'
  if (res.strictContentLength) return 'strict length'
  return res.listenerCount('drain') === 0 ? '' : 'drain listener'
}

/**
 * Why a response that is about to be written is left to Node. A listener of the application for the head may change the result.
 *
 * @param {EngineResponse} res
 * @returns {string}
 */
function outputRefusal (res) {
  // Without a body, Node reads the file and sends nothing of it.
  if (!hasBody(res) || res.statusCode === 204 || res.statusCode === 304) return 'no body'
  // The response is not short while it waits for its turn, or for bytes that were written before.
  return isShort(res) ? '' : 'output waits'
}

/**
 * Why an open file is left to Node. A directory fails when it is read; pipes, devices and generated files have no size, or a false one.
 *
 * @param {import('node:fs').Stats | null} stats
 * @param {number} start
 * @returns {string}
 */
function fileRefusal (stats, start) {
  if (stats === null) return 'unknown file'
  if (!stats.isFile()) return 'not a regular file'
  if (stats.blocks === 0 && stats.size >= kPageBytes) return 'file without blocks'
  return stats.size > start ? '' : 'nothing to read'
}

/** @param {EngineResponse} res @returns {number | null} its Content-Length; null: none */
function announcedBy (res) {
  if (headOf(res) !== null) return isChunked(res) ? null : contentLengthOf(res)
  const length = res.getHeader('content-length')
  return length === undefined ? null : Number(length)
}

module.exports = { announcedBy, fileRefusal, flowRefusal, listenersRefusal, outputRefusal, responseRefusal, sourceRefusal }
