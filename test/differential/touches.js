'use strict'

// What applications do with a request, its response or its socket beside answering: each of these makes the socket
// of the engine a real stream. Generated programs run all of them.

const { PassThrough, pipeline } = require('node:stream')
const { setImmediate } = require('node:timers')
const { message } = require('./kit')

function noop () {}

/**
 * By name: what is done with the socket, in 'connection' or in a request.
 *
 * @type {Record<string, (socket: any) => void>}
 */
const kSocketTouches = {
  'on close': (socket) => socket.on('close', noop),
  'on end': (socket) => socket.on('end', noop),
  'on error': (socket) => socket.on('error', noop),
  'on data': (socket) => socket.on('data', noop),
  'once data': (socket) => socket.once('data', noop),
  'on and off data': (socket) => socket.on('data', noop).off('data', noop),
  'once drain': (socket) => socket.once('drain', noop),
  setTimeout: (socket) => socket.setTimeout(60_000),
  'setTimeout with a callback': (socket) => socket.setTimeout(60_000, noop),
  'setTimeout on and off': (socket) => socket.setTimeout(60_000).setTimeout(0),
  'cork and uncork': (socket) => {
    socket.cork()
    process.nextTick(() => socket.uncork())
  },
  listenerCount: (socket) => socket.listenerCount('close'),
  readableFlowing: (socket) => socket.readableFlowing,
  resume: (socket) => socket.resume(),
  'pause and resume': (socket) => socket.pause().resume(),
  'pause, resume later': (socket) => {
    socket.pause()
    setImmediate(() => socket.resume())
  },
  read: (socket) => socket.read(),
  'read nothing': (socket) => socket.read(0),
  'ref and unref': (socket) => socket.unref().ref(),
  options: (socket) => socket.setNoDelay(true).setKeepAlive(true, 60_000),
}

/**
 * By name: what is done with a request and its response before it is answered.
 *
 * @type {Record<string, (req: any, res: any) => void>}
 */
const kRequestTouches = {
  nothing: noop,
  ...Object.fromEntries(Object.entries(kSocketTouches).map(([name, touch]) => [`socket ${name}`, (/** @type {any} */ req) => touch(req.socket)])),
  'req.setTimeout': (req) => req.setTimeout(60_000),
  'res.setTimeout': (req, res) => res.setTimeout(60_000, noop),
  'req on close': (req) => req.on('close', noop),
  'res on close': (req, res) => res.on('close', noop),
  writeEarlyHints: (req, res) => res.writeEarlyHints({ link: '</a.css>; rel=preload; as=style' }),
  writeProcessing: (req, res) => res.writeProcessing(),
  'res cork': (req, res) => res.cork(),
  'res write': (req, res) => res.write('first '),
  flushHeaders: (req, res) => res.flushHeaders(),
  'req pause': (req) => {
    req.pause()
    setImmediate(() => req.resume())
  },
  'req piped': (req, res) => {
    res.setHeader('Echo', 'no')
    pipeline(req, new PassThrough().resume(), noop)
  },
}

/**
 * By name: what comes before an upgrade, as steps of a conversation.
 *
 * @type {Record<string, (path: string) => any[]>}
 */
const kEarlierRequests = {
  GET: (path) => [message(`GET ${path}`, [])],
  POST: (path) => [message(`POST ${path}`, ['Content-Length: 5'], 'hello')],
  'POST in pieces': (path) => [message(`POST ${path}`, ['Content-Length: 10'], 'hello'), 'world'],
  chunked: (path) => [message(`POST ${path}`, ['Transfer-Encoding: chunked'], '5\r\nhello\r\n'), '0\r\n\r\n'],
  'chunked with trailers': (path) => [message(`POST ${path}`, ['Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\nA: b\r\n\r\n')],
  '100-continue': (path) => [message(`POST ${path}`, ['Content-Length: 5', 'Expect: 100-continue']), /100 Continue/, 'hello'],
}

module.exports = { kEarlierRequests, kRequestTouches, kSocketTouches }
