'use strict'

// Goal: requests that are delivered together run as if each had come alone: ticks and microtasks
// between them, and a throwing handler takes nobody with it. The reference is stock Node, run beside.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { backend } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get, request } = require('../helpers/client')
const { haveCome, signalFile } = require('./kit')

/**
 * A server that notes the order of what its handlers start, in a process of its own.
 *
 * @param {string} name of the backend
 * @param {string} sent a file that ends the gathering
 */
function startServer (name, sent) {
  return startChild(({ http, report, args: [sent] }) => {
    const fs = require('node:fs')
    const notes = /** @type {string[]} */ ([])
    let turn = 0
    const server = http.createServer((req, res) => {
      if (req.url === '/gather') {
        report({ gathering: true })
        // Blocks the thread, and leaves the core to those who are waited for.
        while (!fs.existsSync(sent)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
        res.end('gathered')
        turn = 0
        notes.length = 0
        return
      }
      if (req.url === '/notes') {
        res.end(JSON.stringify(notes))
        return
      }
      const n = ++turn
      notes.push(`handler ${n}`)
      process.nextTick(() => {
        notes.push(`tick ${n}`)
        Promise.resolve().then(() => notes.push(`promise of tick ${n}`))
      })
      Promise.resolve().then(() => {
        notes.push(`promise ${n}`)
        process.nextTick(() => notes.push(`tick of promise ${n}`))
      })
      queueMicrotask(() => notes.push(`microtask ${n}`))
      res.on('finish', () => notes.push(`finish ${n}`))
      res.on('close', () => notes.push(`close ${n}`))
      req.on('end', () => notes.push(`end ${n}`))
      req.resume()
      res.end('x')
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { args: [sent], env: { HTTPSYS_BACKEND: name === 'node' ? 'node' : '' } })
}

/**
 * @param {import('node:test').TestContext} t
 * @param {string} name of the backend
 * @param {number} connections
 * @param {number} pipelined requests of each
 * @returns {Promise<string[]>}
 */
async function notesOf (t, name, connections, pipelined) {
  const sent = signalFile(t)
  const child = startServer(name, sent)
  t.after(() => child.kill())
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: connections }, () => dial(t, port)))
  const gathered = request({ port, path: '/gather' })
  await child.message('gathering')
  for (const wire of wires) wire.write(get().repeat(pipelined))
  await haveCome(wires, name)
  fs.writeFileSync(sent, '')
  await gathered
  for (const wire of wires) await wire.until('\r\n\r\nx', pipelined)
  return JSON.parse((await request({ port, path: '/notes' })).body)
}

test('between requests of different connections ticks and microtasks run in Node\'s order', async (t) => {
  const notes = await notesOf(t, backend, 8, 1)
  assert.deepEqual(notes, await notesOf(t, 'node', 8, 1))
  // What that order is: everything of one request before the next.
  const first = notes.slice(0, notes.indexOf('handler 2'))
  assert.ok(first.includes('tick 1') && first.includes('promise 1') && first.includes('promise of tick 1'))
})

// Known difference `pipelined-ticks` (docs/compatibility.md): Node runs the handlers of all requests that
// one read brought before their ticks, so its order depends on how TCP cut the bytes. Ours does not.
test('pipelined requests run as if each had come in a segment of its own', {
  skip: backend === 'node' && 'the order of node:http depends on segments'
}, async (t) => {
  assert.deepEqual(await notesOf(t, backend, 1, 5), await notesOf(t, 'node', 5, 1))
})

test('when the fifth of 64 handlers throws, it is an uncaughtException and the others answer', async (t) => {
  const sent = signalFile(t)
  const child = startChild(({ http, report, args: [sent] }) => {
    const fs = require('node:fs')
    let turn = 0
    const thrown = /** @type {string[]} */ ([])
    process.on('uncaughtException', (error, origin) => thrown.push(`${origin}: ${error.message}`))
    process.on('message', () => report({ thrown, turn }))
    const server = http.createServer((req, res) => {
      if (req.url === '/gather') {
        report({ gathering: true })
        // Blocks the thread, and leaves the core to those who are waited for.
        while (!fs.existsSync(sent)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1)
        res.end('gathered')
        return
      }
      const n = ++turn
      process.nextTick(() => { if (n !== 5) res.end(`<${n}>`) })
      if (n === 5) throw new Error(`handler ${n}`)
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { args: [sent] })
  t.after(() => child.kill())
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: 64 }, () => dial(t, port)))
  const gathered = request({ port, path: '/gather' })
  await child.message('gathering')
  for (const wire of wires) wire.write(get())
  await haveCome(wires)
  fs.writeFileSync(sent, '')
  await gathered
  let open = wires.length
  await /** @type {Promise<void>} */ (new Promise((resolve) => {
    for (const wire of wires) wire.until('>').then(() => { if (--open === 1) resolve() }, () => {})
  }))
  const turns = wires.map(({ text }) => Number(text.match(/<(\d+)>/)?.[1])).filter((n) => n > 0)
  assert.deepEqual(turns.sort((a, b) => a - b), Array.from({ length: 64 }, (_, i) => i + 1).filter((n) => n !== 5))
  child.send('report')
  assert.deepEqual(await child.message('thrown'), ['uncaughtException: handler 5'])
})

test('an exception in a tick, a microtask or a "data" listener leaves the next requests alone', async (t) => {
  const child = startChild(({ http, report }) => {
    const thrown = /** @type {string[]} */ ([])
    process.on('uncaughtException', (error) => thrown.push(error.message))
    process.on('message', () => report({ thrown: thrown.sort() }))
    const server = http.createServer((req, res) => {
      res.end('x')
      if (req.url === '/tick') process.nextTick(() => { throw new Error('tick') })
      if (req.url === '/microtask') queueMicrotask(() => { throw new Error('microtask') })
      if (req.url === '/immediate') setImmediate(() => { throw new Error('immediate') })
      if (req.url === '/data') req.on('data', () => { throw new Error('data') })
      if (req.url === '/finish') res.on('finish', () => { throw new Error('finish') })
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const port = await child.message('port')
  const paths = ['/tick', '/microtask', '/immediate', '/data', '/finish']
  for (const path of paths) {
    const [answer, next] = await Promise.all([
      request({ port, path, method: 'POST' }, 'body'), request({ port, path: '/plain' })
    ])
    assert.deepEqual([answer.body, next.body], ['x', 'x'], path)
  }
  child.send('report')
  assert.deepEqual(await child.message('thrown'), ['data', 'finish', 'immediate', 'microtask', 'tick'])
})

test('without an uncaughtException listener the fifth throw ends the process with Node\'s report', async (t) => {
  const child = startChild(({ http, report }) => {
    let turn = 0
    const server = http.createServer((req, res) => {
      if (++turn === 5) throw new Error('the fifth')
      res.end('x')
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: 5 }, () => dial(t, port)))
  for (const wire of wires) wire.write(get())
  const { code, stderr } = await child.exit
  assert.equal(code, 1)
  assert.match(stderr, /throw new Error\('the fifth'\)/)
  assert.match(stderr, /Error: the fifth\n {4}at Server\./)
})
