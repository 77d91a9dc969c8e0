'use strict'

// Reservations and running servers.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { createServer, backend } = require('@httpsys/core-native')
const { addReservation, deleteReservation } = require('@httpsys/core-native/reservations')
const { freePort } = require('../helpers/free-port')

const skip = backend === 'node' ? 'node:http has no prefixes to reserve' : false

/** @param {import('node:test').TestContext} t */
function ownFile (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-urlacl-'))
  const before = process.env.HTTPSYS_URLACL
  process.env.HTTPSYS_URLACL = path.join(folder, 'urlacl.json')
  t.after(() => {
    if (before === undefined) delete process.env.HTTPSYS_URLACL
    else process.env.HTTPSYS_URLACL = before
    fs.rmSync(folder, { recursive: true })
  })
}

/** @param {number} port @param {string} url @returns {Promise<number>} the status */
async function statusOf (port, url) {
  const [response] = await once(http.get({ port, path: url, agent: false }), 'response')
  response.resume()
  return response.statusCode
}

/** @param {() => Promise<boolean>} isSo */
async function eventually (isSo) {
  for (const end = Date.now() + 10_000; ;) {
    if (await isSo()) return
    assert.ok(Date.now() < end, 'not within 10 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('a prefix reserved for another application is EACCES, one reserved for this is not', { skip }, async (t) => {
  ownFile(t)
  const port = await freePort()
  addReservation(`http://*:${port}/theirs/`, { register: ['app:somebody else'] })
  addReservation(`http://*:${port}/ours/`, { register: ['app:ours'] })
  const server = createServer()
  t.after(() => server.close())
  assert.throws(() => server.listen(`http://*:${port}/theirs/`), { code: 'EACCES', message: /reserved for app:somebody else in .*urlacl\.json/ })
  assert.throws(() => server.listen(`http://*:${port}/ours/below/`), { code: 'EACCES' })
  server.listen({ prefix: `http://*:${port}/ours/below/`, queueName: 'ours' })
  await once(server, 'listening')
  await assert.rejects(server.addPrefix(`http://*:${port}/theirs/deeper/`), { code: 'EACCES' })
})

test('what a running server lost, or nobody has registered, is answered with 503 until the reservation goes', { skip }, async (t) => {
  ownFile(t)
  const port = await freePort()
  const server = createServer((req, res) => res.end(req.urlPrefix))
  t.after(() => server.close())
  server.listen([`http://*:${port}/`, `http://*:${port}/a/`])
  await once(server, 'listening')
  assert.equal(await statusOf(port, '/a/x'), 200)
  const warned = once(process, 'warning')
  addReservation(`http://*:${port}/a/`, { register: ['app:somebody else'] })
  addReservation(`http://*:${port}/b/`, { register: ['app:somebody else'] })
  await eventually(async () => await statusOf(port, '/a/x') === 503)
  await eventually(async () => await statusOf(port, '/b/x') === 503)
  assert.equal(await statusOf(port, '/c'), 200)
  const [warning] = await warned
  assert.match(warning.message, /\/a\/" cannot be registered: .*The running server has lost it/)
  assert.deepEqual(server.prefixes, [`http://*:${port}/`])
  deleteReservation(`http://*:${port}/b/`)
  await eventually(async () => await statusOf(port, '/b/x') === 200)
})
