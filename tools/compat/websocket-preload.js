'use strict'

// Loaded before the suite of ws: its tests get the WebSocketServer of @httpsys/websocket in place of ws' own,
// built on the same copy of ws that they test.

const Module = require('node:module')
const path = require('node:path')

const kSuite = process.cwd()

const { name } = require(path.join(kSuite, 'package.json'))
if (name === 'ws') replaceServer()

function replaceServer () {
  const internals = /** @type {any} */ (Module)
  const resolve = internals._resolveFilename
  internals._resolveFilename = (/** @type {string} */ request, /** @type {any[]} */ ...rest) =>
    resolve.call(Module, /^ws(\/|$)/.test(request) ? request.replace('ws', kSuite) : request, ...rest)
  const { WebSocketServer } = /** @type {any} */ (require('@httpsys/websocket'))
  const ws = require(kSuite)
  Object.assign(ws, { Server: WebSocketServer, WebSocketServer })
  Object.assign(/** @type {any} */ (require.cache[path.join(kSuite, 'lib', 'websocket-server.js')]), { exports: WebSocketServer })
}
