'use strict'

// A server under measurement. Tells its parent the port, answers 'count', and collects garbage when it is told 'collect'.
//
//   server.js <node | httpsys> <application> <JSON of Setup>
//
// With `--require @httpsys/core-native/register`, `node` is the unmodified program on ours.

const fs = require('node:fs')
const http = require('node:http')
const { kApplications } = require('./applications')

/**
 * @typedef {object} Setup
 * @property {string} [folder] of files
 * @property {{ key: string, cert: string }} [tls] files
 * @property {boolean} [http2] without TLS
 */

/** Longer than any part takes. */
const kKeepAliveMs = 3_600_000
/** nginx is given the same. */
const kTls = /** @type {const} */ ({ minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' })

const [, , side, application, json] = process.argv
/** @type {Setup} */
const { folder = '', tls, http2 = false } = JSON.parse(json)
const counter = { bytes: 0 }
const app = kApplications[application]({ folder, counter })
const isExpress = app.request !== undefined

function createServer () {
  const options = {
    keepAliveTimeout: kKeepAliveMs,
    ...tls && { ...kTls, key: fs.readFileSync(tls.key), cert: fs.readFileSync(tls.cert) },
    ...side === 'httpsys' && http2 && { http2 },
  }
  if (side === 'httpsys') {
    if (isExpress) return require('@httpsys/express-adapter').createAdapter(app, /** @type {any} */ (options))
    const ours = /** @type {any} */ (require('@httpsys/core-native'))
    return (tls === undefined ? ours : ours.https).createServer(options, app)
  }
  if (http2) return require('node:http2').createServer(/** @type {any} */ (app))
  return tls === undefined ? http.createServer(options, app) : require('node:https').createServer(options, app)
}

const created = createServer()
if (application === 'folder') created.serveFiles('/', folder)
const server = created.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }))

async function collect () {
  // Finalizers and weak callbacks of one collection make garbage for the next.
  for (let round = 0; round < 4; round++) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  // The parent looks at the memory: a process without a free descriptor cannot.
  process.send?.('collected')
}

process.on('message', (message) => {
  if (message === 'count') process.send?.(counter)
  if (message === 'collect') collect()
})
process.on('disconnect', () => process.exit())
