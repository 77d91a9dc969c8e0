'use strict'

// Lets an unmodified program serve on the engine:
//
//   node --import @httpsys/core-native/register app.js
//   node --require @httpsys/core-native/register app.js
//
// Replaces what node:http and node:https export for servers, `Server` and `createServer`. Everything else stays
// Node's: requests and responses are Node's classes anyway, and http2 has servers of its own.

const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const { syncBuiltinESMExports } = require('node:module')
const { threadId } = require('node:worker_threads')
const core = require('./index.js')
const { served } = require('./lib/http/served')
const { standIn } = require('./lib/http/stand-in')

const kNames = /** @type {const} */ (['Server', 'createServer'])
const kFaces = [
  { of: http, ours: core, StockServer: http.Server },
  { of: https, ours: core.https, StockServer: https.Server }
]

/** What was there before; null when it still is. @type {{ face: any, name: string, original: PropertyDescriptor }[] | null} */
let originals = null

/**
 * Puts our servers in the place of Node's, for `require`, `import` and what has already been imported.
 * Idempotent. Servers that exist already stay what they are.
 */
function register () {
  if (originals !== null) return
  originals = []
  standIn.isRegistered = true
  for (const face of kFaces) {
    for (const name of kNames) {
      const original = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(face.of, name))
      originals.push({ face, name, original })
      Object.defineProperty(face.of, name, { ...original, value: face.ours[name] })
    }
    // Servers of the time before are still servers; so are those of libraries that kept Node's class.
    Object.defineProperty(face.ours.Server, Symbol.hasInstance, { configurable: true, value: isServer })
  }
  syncBuiltinESMExports()
}

/**
 * Undoes register(); idempotent. What another program has put over ours meanwhile, such as
 * instrumentation, is left alone.
 *
 * @returns {boolean} whether nothing of ours is left
 */
function unregister () {
  if (originals === null) return true
  let isClean = true
  for (const { face, name, original } of originals) {
    if (face.of[name] === face.ours[name]) Object.defineProperty(face.of, name, original)
    else isClean = false
  }
  for (const { ours } of kFaces) Reflect.deleteProperty(ours.Server, Symbol.hasInstance)
  originals = null
  standIn.isRegistered = false
  syncBuiltinESMExports()
  return isClean
}

/** @this {Function} @param {unknown} value */
function isServer (value) {
  const face = kFaces.find(({ ours }) => this === ours.Server)
  if (face !== undefined) return value instanceof face.StockServer
  return Function.prototype[Symbol.hasInstance].call(this, value)
}

// A run that never reached the engine must not pass for one that did.
const { HTTPSYS_REGISTER_REPORT: report } = process.env
if (report) {
  process.on('exit', () => {
    fs.appendFileSync(report, `${JSON.stringify({ pid: process.pid, threadId, backend: core.backend, ...served })}\n`)
  })
}

register()

module.exports = { register, unregister, served }
