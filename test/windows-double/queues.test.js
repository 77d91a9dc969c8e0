'use strict'

// Goal: named request queues: who makes one and who takes part, and that all of them get requests. Other processes are
// worker threads here: the double is the kernel of one process.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { http } = require('../helpers/backend')
const { request, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { forget, notesOf, report } = require('../helpers/httpapi-double')

// HTTP_CREATE_REQUEST_QUEUE_FLAG_OPEN_EXISTING
const kOpenExisting = 1

const timed = { timeout: 30_000 }

/** Listens in a thread of its own, and answers with its name. @param {import('node:test').TestContext} t @param {string} name @param {any} options */
async function workerServer (t, name, options) {
  const worker = new Worker(`
    const { parentPort, workerData: { name, options } } = require('node:worker_threads')
    const http = require('@httpsys/core-native')
    const server = http.createServer((req, res) => res.end(name))
    server.on('error', ({ code, message }) => parentPort.postMessage({ code, message }))
    server.listen(options, () => parentPort.postMessage({ listening: true }))
  `, { eval: true, workerData: { name, options } })
  t.after(() => worker.terminate())
  const [message] = await once(worker, 'message')
  return { worker, message }
}

/** @param {any} server @param {any} options */
async function refused (server, options) {
  server.listen(options)
  return (await once(server, 'error'))[0]
}

test('a queue is created by name, and opened by others', timed, async (t) => {
  const port = await freePort()
  await serve(t, http.createServer())
  await forget()
  const prefixes = [`http://localhost:${port}/`]
  await serve(t, http.createServer((req, res) => res.end('main')), { prefixes, queueName: 'one' })
  const { message } = await workerServer(t, 'worker', { prefixes, queueName: 'one', queueMode: 'attach' })
  assert.deepEqual(message, { listening: true })
  const opened = (await notesOf('queue')).filter(({ queue }) => queue === 'one')
  assert.deepEqual(opened.map(({ flags }) => flags), [0, kOpenExisting])
  const names = new Set()
  for (let i = 0; i < 200 && names.size < 2; i++) {
    names.add((await request({ port, headers: { Host: `localhost:${port}` } })).body)
  }
  assert.deepEqual([...names].sort(), ['main', 'worker'])
})

test('a queue is shut down before its handle is closed, and an answer that is on its way leaves before that', timed, async (t) => {
  const port = await freePort()
  const prefixes = [`http://localhost:${port}/`]
  await serve(t, http.createServer())
  /** @type {(res: any) => void} */
  let received = () => {}
  const waiting = new Promise((resolve) => { received = resolve })
  const server = http.createServer((req, res) => received(res))
  server.listen(/** @type {any} */ ({ prefixes, queueName: 'ended' }))
  await once(server, 'listening')
  await forget()
  const answer = request({ port, headers: { Host: `localhost:${port}` } })
  const res = await waiting
  server.close()
  assert.deepEqual([...await notesOf('shutDown'), ...await notesOf('closed')], [])
  res.end('in time')
  assert.equal((await answer).body, 'in time')
  const notes = async () => (await report()).notes.filter((note) => note.shutDown === 'ended' || note.closed === 'ended')
  while ((await notes()).length < 2) await new Promise(setImmediate)
  assert.deepEqual(await notes(), [{ shutDown: 'ended' }, { closed: 'ended' }])
})

test('who takes part in a queue shuts down its own part of it', timed, async (t) => {
  const port = await freePort()
  const prefixes = [`http://localhost:${port}/`]
  const held = /** @type {any[]} */ ([])
  await serve(t, http.createServer((req, res) => held.push(res)), { prefixes, queueName: 'shared' })
  const { worker } = await workerServer(t, 'worker', { prefixes, queueName: 'shared', queueMode: 'attach' })
  // One that is ours when the other one goes. Requests go to either by turns; one that is held has no answer, so the next one is sent after a while.
  const answers = /** @type {Promise<any>[]} */ ([])
  while (held.length === 0) {
    answers.push(request({ port, headers: { Host: `localhost:${port}` } }))
    await Promise.race([answers[answers.length - 1], new Promise((resolve) => setTimeout(resolve, 50))])
  }
  await forget()
  await worker.terminate()
  const notes = (await report()).notes.filter((note) => note.shutDown === 'shared' || note.closed === 'shared')
  assert.deepEqual(notes, [{ shutDown: 'shared' }, { closed: 'shared' }])
  for (const res of held) res.end('main')
  assert.equal((await answers[answers.length - 1]).body, 'main')
})

test('requests go on to those that are left', timed, async (t) => {
  const port = await freePort()
  const prefixes = [`http://localhost:${port}/`]
  await serve(t, http.createServer((req, res) => res.end('main')), { prefixes, queueName: 'two' })
  const { worker } = await workerServer(t, 'worker', { prefixes, queueName: 'two', queueMode: 'createOrAttach' })
  await worker.terminate()
  for (let i = 0; i < 20; i++) {
    assert.equal((await request({ port, headers: { Host: `localhost:${port}` } })).body, 'main')
  }
})

test('attaching to a queue that nobody made is ENOENT', timed, async () => {
  const error = await refused(http.createServer(), { prefixes: [`http://localhost:${await freePort()}/`], queueName: 'none', queueMode: 'attach' })
  assert.equal(error.code, 'ENOENT')
  assert.match(error.message, /no process has a request queue "none"/)
})

test('creating a queue that there is is EADDRINUSE', timed, async (t) => {
  await serve(t, http.createServer(), { prefixes: [`http://localhost:${await freePort()}/`], queueName: 'three' })
  const { message } = await workerServer(t, 'worker', { prefixes: [`http://localhost:${await freePort()}/`], queueName: 'three' })
  assert.equal(message.code, 'EADDRINUSE')
  assert.match(message.message, /createOrAttach/)
})

test('a queue is closed with its server', timed, async (t) => {
  await serve(t, http.createServer())
  const { open } = await report()
  const server = http.createServer()
  const port = await freePort()
  server.listen(/** @type {any} */ ({ prefixes: [`http://localhost:${port}/`], queueName: 'four' }))
  await once(server, 'listening')
  assert.equal((await report()).open.queues, open.queues + 1)
  server.close()
  await once(server, 'close')
  while (JSON.stringify((await report()).open) !== JSON.stringify(open)) await new Promise(setImmediate)
})
