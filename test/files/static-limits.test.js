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
const { listen, stop } = require('../helpers/client')
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
