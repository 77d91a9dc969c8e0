'use strict'

// Goal: contexts begin and end where Node's do; nothing of one request is seen in another one's.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId, executionAsyncResource, triggerAsyncId } = require('node:async_hooks')
const nodeHttp = require('node:http')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')

/** @param {number} ms */
function wait (ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

test('a store entered with run() follows a request through awaits, timers, body and "finish"', async (t) => {
  const storage = new AsyncLocalStorage()
  const seen = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    storage.run(`of ${req.url}`, async () => {
      const note = (/** @type {string} */ where) => seen.push(`${where} ${storage.getStore()}`)
      res.on('finish', () => note('finish'))
      let length = 0
      for await (const piece of req) length += piece.length
      note(`body ${length}`)
      await wait(5)
      note('timer')
      process.nextTick(() => note('tick'))
      await null
      res.end('x')
    })
  })
  const port = await serve(t, server)
  await request({ port, path: '/a', method: 'POST' }, 'abc')
  assert.deepEqual(seen, ['body 3 of /a', 'timer of /a', 'tick of /a', 'finish of /a'])
})

test('concurrent requests on 50 connections never see each other\'s store', async (t) => {
  const storage = new AsyncLocalStorage()
  const port = await serve(t, http.createServer((req, res) => {
    storage.run(req.url, async () => {
      await wait(Math.random() * 10)
      assert.equal(storage.getStore(), req.url)
      res.write(String(storage.getStore()))
      await wait(Math.random() * 10)
      setImmediate(() => res.end(` ${storage.getStore()}`))
    })
  }))
  const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => request({ port, path: `/${i}` })))
  assert.deepEqual(answers.map(({ body }) => body), answers.map((_, i) => `/${i} /${i}`))
})

test('enterWith() in one request is not seen by requests of other connections', async (t) => {
  const storage = new AsyncLocalStorage()
  const port = await serve(t, http.createServer((req, res) => {
    const found = String(storage.getStore())
    storage.enterWith(req.url)
    setImmediate(() => res.end(`${found} then ${storage.getStore()}`))
  }))
  const wires = await Promise.all(Array.from({ length: 20 }, () => dial(t, port)))
  for (const [i, wire] of wires.entries()) wire.write(get(`/${i}`))
  for (const [i, wire] of wires.entries()) await wire.until(`undefined then /${i}`)
})

test('pipelined requests keep their own run() stores', async (t) => {
  const storage = new AsyncLocalStorage()
  const port = await serve(t, http.createServer((req, res) => {
    storage.run(req.url, () => setTimeout(() => res.end(`<${storage.getStore()}>`), 10 - Number(String(req.url).slice(1))))
  }))
  const wire = await dial(t, port)
  wire.write(Array.from({ length: 8 }, (_, i) => get(`/${i}`)).join(''))
  await wire.until('>', 8)
  assert.deepEqual(wire.text.match(/<[^>]+>/g), Array.from({ length: 8 }, (_, i) => `</${i}>`))
})

test('"data", "end" and "close" listeners run in the context of their request', async (t) => {
  const storage = new AsyncLocalStorage()
  const seen = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    storage.run(req.url, () => {
      const bound = AsyncResource.bind((/** @type {string} */ name) => seen.push(`${name} ${storage.getStore()}`))
      req.on('data', () => bound('data'))
      req.on('end', () => {
        bound('end')
        res.end('x')
      })
      res.on('close', () => bound('close'))
    })
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  for (const path of ['/1', '/2']) {
    wire.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nb`)
    await wire.until('\r\n\r\nx', Number(path.slice(1)))
  }
  assert.deepEqual(seen, ['data /1', 'end /1', 'close /1', 'data /2', 'end /2', 'close /2'])
})

test('a handler runs inside an async resource of its own connection', async (t) => {
  const ids = /** @type {number[]} */ ([])
  const port = await serve(t, http.createServer((req, res) => {
    assert.notEqual(executionAsyncId(), 0)
    assert.equal(typeof executionAsyncResource(), 'object')
    assert.ok(triggerAsyncId() >= 0)
    ids.push(executionAsyncId())
    res.end('x')
  }))
  await Promise.all(Array.from({ length: 5 }, () => request(port)))
  assert.equal(new Set(ids).size, 5)
})

test('before and after hooks are balanced around 100 requests, also those that throw', async (t) => {
  /** @type {number[]} */
  const stack = []
  const problems = /** @type {string[]} */ ([])
  let begunEarlier = 0
  const hook = createHook({
    before (id) { stack.push(id) },
    after (id) {
      const top = stack.pop()
      if (top === undefined) begunEarlier++
      else if (top !== id) problems.push(`after ${id}, expected ${top}`)
    }
  })
  const port = await serve(t, http.createServer((req, res) => {
    res.end('x')
    if (req.url === '/throws') throw new Error('in a handler')
  }))
  const thrown = /** @type {string[]} */ ([])
  const runner = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (error) => thrown.push(error.message))
  hook.enable()
  try {
    await Promise.all(Array.from({ length: 100 }, (_, i) => request({ port, path: i % 10 === 5 ? '/throws' : '/' })))
  } finally {
    hook.disable()
    process.removeAllListeners('uncaughtException')
    for (const listener of runner) process.on('uncaughtException', listener)
  }
  assert.equal(thrown.length, 10)
  assert.ok(stack.length <= 1, `still open: ${stack}`)
  assert.deepEqual(problems, [])
  // The scope that enabled the hook.
  assert.ok(begunEarlier <= 1)
})

test('an init hook sees a resource of type HTTPINCOMINGMESSAGE for a connection\'s request', async (t) => {
  const types = new Set()
  const hook = createHook({ init (id, type) { types.add(type) } }).enable()
  t.after(() => hook.disable())
  const port = await serve(t, http.createServer((req, res) => res.end('x')))
  await request(port)
  assert.ok(types.has('HTTPINCOMINGMESSAGE'))
})

test('a store that emit() is wrapped in reaches the handler and its callbacks', async (t) => {
  const storage = new AsyncLocalStorage()
  const server = http.createServer((req, res) => {
    setImmediate(() => res.end(String(storage.getStore())))
  })
  const { emit } = server
  server.emit = /** @type {any} */ function (/** @type {any} */ ...args) {
    return storage.run('from emit', () => Reflect.apply(emit, server, args))
  }
  const port = await serve(t, server)
  assert.equal((await request(port)).body, 'from emit')
})

test('the store that listen() was called with is what requests see, as far as on node:http', async (t) => {
  const storage = new AsyncLocalStorage()
  const answers = await Promise.all([http, nodeHttp].map(async ({ createServer }) => {
    const server = createServer((req, res) => res.end(String(storage.getStore())))
    const port = await storage.run('listen', () => serve(t, server))
    const { body } = await storage.exit(() => request(port))
    return body
  }))
  assert.equal(answers[0], answers[1])
})

test('the resource of a request ends once: with its answer, its connection or its upgrade', async (t) => {
  const ends = /** @type {Map<number, number>} */ (new Map())
  const hook = createHook({
    init (id, type) { if (type === 'HTTPINCOMINGMESSAGE') ends.set(id, 0) },
    destroy (id) {
      const before = ends.get(id)
      if (before !== undefined) ends.set(id, before + 1)
    }
  }).enable()
  t.after(() => hook.disable())
  const server = http.createServer((req, res) => { if (req.url === '/answered') res.end('x') })
  server.on('upgrade', (req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  const port = await serve(t, server)
  for (const path of ['/answered', '/unanswered', '/upgrade']) {
    const sockets = once(server, 'connection')
    const wire = await dial(t, port)
    const [socket] = await sockets
    const closed = new Promise((resolve) => socket.on('close', resolve))
    wire.write(path === '/upgrade' ? 'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n' : get(path))
    if (path === '/unanswered') await once(server, 'request')
    else await wire.until('\r\n\r\n')
    wire.destroy()
    await closed
    await wait(20) // Destroy hooks run some ticks later; there is no event for it.
    assert.deepEqual([...ends.values()], [1], path)
    ends.clear()
  }
})

for (const method of ['GET', 'POST']) {
  test(`what a tick of a ${method} request throws is reported in the innermost store`, () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', `
      const http = require('@httpsys/core-native')
      const { AsyncLocalStorage } = require('node:async_hooks')
      const storage = new AsyncLocalStorage()
      process.on('uncaughtException', ({ message }) => console.log(message, storage.getStore()))
      const server = http.createServer((req, res) => {
        storage.run('inner', () => process.nextTick(() => { throw new Error('tick') }))
        req.resume()
        setTimeout(() => res.end(), 20)
      }).listen(0, '127.0.0.1', () => {
        require('node:http').request({ port: server.address().port, method: '${method}', agent: false, headers: ${method === 'POST' ? "{ 'content-length': 4 }" : '{}'} }, (res) => {
          res.resume().on('end', () => server.close())
        }).end(${method === 'POST' ? "'body'" : ''})
      })`], { encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined } })
    assert.equal(stdout, 'tick inner\n', stderr)
  })
}
