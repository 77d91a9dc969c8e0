'use strict'

// Goal: a server that limits its clients limits them for the files of its folders, too. Method: servers whose limit is one connection, or
// that take strict URLs only.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { http } = require('../helpers/backend')
const { dial, listen, stop } = require('../helpers/client')
const { needs } = require('../helpers/capabilities')

const options = needs('servesFiles')

/** @param {import('node:test').TestContext} t @param {any} settings @returns {Promise<number>} the port */
async function serve (t, settings) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  fs.writeFileSync(path.join(folder, 'a.txt'), 'a file')
  const server = /** @type {any} */ (http.createServer(settings, (_req, res) => res.end('script')))
  t.after(() => stop(server))
  await server.serveFiles('/files/', folder)
  return listen(server)
}

/** @param {import('node:test').TestContext} t @param {number} port @returns {(target: string) => Promise<string>} the status of a response on one connection */
function connectTo (t, port) {
  const client = net.connect(port, '127.0.0.1')
  client.on('error', () => {})
  t.after(() => client.destroy())
  return (target) => new Promise((resolve) => {
    client.once('data', (head) => resolve(head.toString('latin1').split(' ')[1]))
    client.once('close', () => resolve('closed'))
    client.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`)
  })
}

test('connections that only get files count for the prefix', options, async (t) => {
  const port = await serve(t, { maxConnectionsPerPrefix: 1 })
  const get = connectTo(t, port)
  assert.equal(await get('/files/a.txt'), '200')
  assert.equal(await get('/files/a.txt'), '200')
  assert.equal(await connectTo(t, port)('/files/a.txt'), '503')
  assert.equal(await connectTo(t, port)('/'), '503')
  assert.equal(await get('/files/a.txt'), '200')
})

test('a prefix that is full of requests of the application serves no files to others', options, async (t) => {
  const port = await serve(t, { maxConnectionsPerPrefix: 1 })
  const get = connectTo(t, port)
  assert.equal(await get('/'), '200')
  assert.equal(await connectTo(t, port)('/files/a.txt'), '503')
  assert.equal(await get('/files/a.txt'), '200')
})

/** @param {import('node:test').TestContext} t @param {any} settings @param {string} fields @returns {Promise<string>} the status of a request for a file */
async function statusOf (t, settings, fields, version = '1.1') {
  const wire = await dial(t, await serve(t, settings))
  const text = await wire.write(`GET /files/a.txt HTTP/${version}\r\n${fields}Connection: close\r\n\r\n`).untilClosed()
  return text.split(' ')[1]
}

test('a request without Host is refused for files as for the application, unless it need not have one', options, async (t) => {
  assert.equal(await statusOf(t, {}, ''), '400')
  assert.equal(await statusOf(t, {}, '', '1.0'), '200')
  assert.equal(await statusOf(t, { requireHostHeader: false }, ''), '200')
})

test('an expectation that nobody knows is 417 for files, too', options, async (t) => {
  assert.equal(await statusOf(t, {}, 'Host: a\r\nExpect: foo\r\n'), '417')
  assert.equal(await statusOf(t, {}, 'Host: a\r\nExpect: 100-continue\r\n'), '200')
})

test('a server of a folder alone refuses a request without Host, and an expectation that nobody knows', options, async (t) => {
  const server = /** @type {any} */ (http.createServer())
  t.after(() => stop(server))
  await server.serveFiles('/', os.tmpdir())
  const port = await listen(server)
  for (const [fields, status] of [['', '400'], ['Host: a\r\nExpect: foo\r\n', '417']]) {
    const wire = await dial(t, port)
    assert.equal((await wire.write(`GET /a.txt HTTP/1.1\r\n${fields}Connection: close\r\n\r\n`).untilClosed()).split(' ')[1], status)
  }
})
