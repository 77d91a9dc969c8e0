'use strict'

// Goal: a folder answers requests with an Upgrade field, which clients such as curl --http2 and Java's send with every first request, and an
// 'upgrade' listener gets what it could take. Method: raw requests to servers with and without listeners.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { backend, http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { dial, listen, stop } = require('../helpers/client')
const { makeSite, serveFolder } = require('./static-kit')

const options = { ...needs('servesFiles'), ...(backend === 'node' && { skip: 'node:http serves no folders' }) }

const kHttp2Offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n'
const kUpgrades = { h2c: kHttp2Offer, ...Object.fromEntries(['websocket', 'TLS/1.0', 'foo'].map((name) => [name, `Connection: Upgrade\r\nUpgrade: ${name}\r\n`])) }

/** @param {string} target @param {string} [fields] @param {string} [method] */
const ask = (target, fields = '', method = 'GET') => `${method} ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`

/** @param {string} text of several responses @returns {string[]} */
const statusesOf = (text) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)

/** @param {import('node:test').TestContext} t @param {number} port @param {string} requests @returns {Promise<string>} what came until the connection was closed */
async function exchange (t, port, requests) {
  const wire = await dial(t, port)
  return wire.write(requests).untilClosed()
}

for (const [name, fields] of Object.entries(kUpgrades)) {
  test(`a server of a folder alone ignores an upgrade to ${name}, and the connection goes on`, { ...options, timeout: 20_000 }, async (t) => {
    const server = /** @type {any} */ (http.createServer())
    t.after(() => stop(server))
    await server.serveFiles('/', makeSite(t))
    const port = await listen(server)
    const text = await exchange(t, port, ask('/a.txt', fields) + ask('/none', fields) + ask('/a.txt', `${fields}Content-Length: 5\r\n`, 'POST') + 'body!' +
      ask('/sub', fields) + ask('/a.txt', 'Connection: close\r\n'))
    assert.deepEqual(statusesOf(text), ['200', '404', '405', '301', '200'])
    assert.match(text, /\r\n\r\n0123456789HTTP.*\r\n\r\n0123456789$/s)
  })

  test(`a folder beside an application without 'upgrade' listener ignores an upgrade to ${name}`, options, async (t) => {
    const { port } = await serveFolder(t, makeSite(t), { fallthrough: true })
    const text = await exchange(t, port, ask('/a.txt', fields) + ask('/none', fields) + ask('/a.txt', 'Connection: close\r\n'))
    assert.deepEqual(statusesOf(text), ['200', '299', '200'])
    assert.match(text, /GET \/none/)
  })
}

for (const fallthrough of [false, true]) {
  test(`an 'upgrade' listener gets the upgrades that it could take, of files too (fallthrough: ${fallthrough})`, options, async (t) => {
    const { server, port } = await serveFolder(t, makeSite(t), { fallthrough })
    const onUpgrade = (/** @type {any} */ req, /** @type {any} */ socket) => socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${req.url}`)
    const both = (/** @type {string} */ target, /** @type {string} */ fields) => exchange(t, port, ask(target, fields) + ask(target, 'Connection: close\r\n'))
    for (const listens of ['once', 'on']) {
      server[listens]('upgrade', onUpgrade)
      for (const name of ['h2c', 'TLS/1.0']) assert.match(await both('/a.txt', kUpgrades[/** @type {'h2c'} */ (name)]), /0123456789HTTP.*0123456789$/s)
      assert.match(await both('/', kUpgrades.websocket), /^HTTP\/1\.1 101 .*\r\n\r\n\/$/)
      if (listens === 'once') assert.match(await both('/a.txt', kUpgrades.websocket), /0123456789HTTP.*0123456789$/s)
    }
    assert.match(await both('/a.txt', kUpgrades.foo), /\r\n\r\n\/a\.txt$/)
    assert.match(await both('/a.txt', 'Connection: Upgrade\r\nUpgrade: h2c, foo\r\n'), /\r\n\r\n\/a\.txt$/)
    assert.match(await both('/none', kUpgrades.h2c), /\r\n\r\n\/none$/)
    server.removeAllListeners('upgrade')
    assert.match(await both('/a.txt', kUpgrades.foo), /0123456789HTTP.*0123456789$/s)
  })
}

test('a server without \'request\' listener answers what is for none of its folders with 404', { ...options, timeout: 20_000 }, async (t) => {
  const server = /** @type {any} */ (http.createServer())
  t.after(() => stop(server))
  await server.serveFiles('/files/', makeSite(t))
  const port = await listen(server)
  const text = await exchange(t, port, ask('/other') + ask('*', '', 'OPTIONS') + ask('/other', kHttp2Offer) + ask('/other', 'Content-Length: 5\r\nExpect: 100-continue\r\n', 'POST') +
    'body!' + ask('/other', 'Connection: close\r\n', 'HEAD'))
  assert.deepEqual(statusesOf(text), ['404', '404', '404', '100', '404', '404'])
})
