'use strict'

// Goal: a browser speaks HTTP/2 and WebSockets over it with servers that know neither.
// Method: Debian's Chromium opens a page over TLS; Chromium uses RFC 8441 on a connection that offers it.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const playwright = require('playwright-core')
const { findChromium } = require('../../tools/lib/packages')
const https = require('../helpers/tls')
const { backend } = require('../helpers/backend')

const chromium = findChromium()
const skip = backend === 'node' ? 'a server of node:https speaks no HTTP/2' : chromium === null && 'Chromium is not installed'

test('Chromium loads a page and opens a WebSocket over one HTTP/2 connection', { skip }, async (t) => {
  let connections = 0
  const upgrades = /** @type {string[]} */ ([])
  const { port, server } = await https.serve(t, {}, (req, res) => {
    res.setHeader('Content-Type', 'text/html')
    res.end(`<!DOCTYPE html><title>${req.httpVersion}</title>`)
  })
  server.on('secureConnection', () => { connections++ })
  const { WebSocketServer } = require('ws')
  const wss = new WebSocketServer({ server })
  wss.on('connection', (/** @type {any} */ ws, /** @type {any} */ req) => {
    upgrades.push(req.httpVersion)
    ws.on('message', (/** @type {Buffer} */ data) => ws.send(`echo ${data}`))
  })
  const browser = await playwright.chromium.launch({ executablePath: /** @type {string} */ (chromium), args: ['--no-sandbox'] })
  t.after(() => browser.close())
  const page = await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage()
  await page.goto(`https://localhost:${port}/`)
  assert.equal(await page.title(), '2.0')
  const echo = await page.evaluate(() => new Promise((resolve, reject) => {
    // @ts-expect-error: the browser's
    const socket = new WebSocket(`wss://${/** @type {any} */ (globalThis).location.host}/`)
    socket.onopen = () => socket.send('hello')
    socket.onmessage = (/** @type {any} */ event) => resolve(event.data)
    socket.onerror = () => reject(new Error('the WebSocket failed'))
  }))
  assert.equal(echo, 'echo hello')
  assert.deepEqual(upgrades, ['2.0'])
  assert.equal(connections, 1)
})
