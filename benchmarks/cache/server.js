'use strict'

// A server under measurement. Tells its parent the port, and answers 'count' with what its handler has done.
//
//   server.js <node | httpsys> <JSON of Setup>

const fs = require('node:fs')
const http = require('node:http')
const { setTimeout } = require('node:timers')
const { bodyOf, kSlowMs } = require('./content')

/**
 * @typedef {object} Setup
 * @property {number} bytes of the body
 * @property {boolean} [cache] whether the server has one
 * @property {boolean} [silent] answers say nothing of caches
 * @property {{ key: string, cert: string }} [tls] files
 * @property {boolean} [http2] without TLS
 * @property {string} [prefix] of a shared port; none: a port of the system's choice
 */

/** Longer than any part takes. */
const kKeepAliveMs = 3_600_000
const kTls = /** @type {const} */ ({ minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' })

const [, , side, json] = process.argv
/** @type {Setup} */
const { bytes, cache = false, silent = false, tls, http2 = false, prefix } = JSON.parse(json)
const body = bodyOf(bytes)
/** `calls`: of the handler, for answers that a cache may have; `ended`: when the last slow answer was ready, in ns of the machine's monotonic clock, as text. */
const counter = { calls: 0, ended: '0' }

/** @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res */
function handler ({ url = '' }, res) {
  res.setHeader('Content-Type', 'text/plain')
  if (url.endsWith('/uncached')) return res.end(body)
  counter.calls++
  if (url.startsWith('/slow')) {
    res.setHeader('Cache-Control', url.startsWith('/slow/stored') ? 'public, max-age=3600' : 'no-store')
    setTimeout(() => {
      counter.ended = String(process.hrtime.bigint())
      res.end(body)
    }, kSlowMs)
    return
  }
  if (!silent) res.setHeader('Cache-Control', 'public, max-age=3600')
  res.end(body)
}

function createServer () {
  const options = { keepAliveTimeout: kKeepAliveMs, ...tls && { ...kTls, key: fs.readFileSync(tls.key), cert: fs.readFileSync(tls.cert) } }
  if (side === 'node') return http.createServer(options, handler)
  const ours = /** @type {any} */ (require('@httpsys/core-native'))
  return (tls === undefined ? ours : ours.https).createServer({ ...options, ...cache && { cache: true }, ...http2 && { http2 } }, handler)
}

const server = createServer()
const listening = () => process.send?.({ port: server.address().port })
if (prefix === undefined) server.listen(0, '127.0.0.1', listening)
else server.listen(prefix, listening)

process.on('message', (message) => {
  if (message === 'count') process.send?.(counter)
})
process.on('disconnect', () => process.exit())
