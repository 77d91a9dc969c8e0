'use strict'

// Goal: a reply leaves when it is written, whatever the JavaScript thread does next.
// Method: handlers answer with the monotonic clock of the moment and then compute; the client, another
// process, compares that with its own clock when the answer arrives. Of a few attempts the fastest
// counts: a reply held until the computing is over is late in all of them.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { startChild } = require('../helpers/child')
const { dial, get, request } = require('../helpers/client')

const kAttempts = 4
const kLateMs = 20

/**
 * A server process. The first segment of the path says what its handler does after the answer.
 *
 * @param {import('node:test').TestContext} t
 * @returns {Promise<number>} its port
 */
async function startServer (t) {
  const child = startChild(({ http, report }) => {
    const busy = (/** @type {number} */ ms) => {
      const until = performance.now() + ms
      while (performance.now() < until);
    }
    let turn = 0
    let blockAt = 0
    const now = () => `<${process.hrtime.bigint()}>`
    /** @type {Record<string, (req: any, res: any) => void>} */
    const handlers = {
      end (req, res) {
        res.end(now())
        busy(300)
      },
      endHead (req, res) {
        res.writeHead(200, { 'Content-Type': 'text/plain' })
        res.end(Buffer.from(now()))
        busy(300)
      },
      flushed (req, res) {
        res.setHeader('X-Now', now())
        res.flushHeaders()
        busy(300)
        res.end()
      },
      raw (req, res) {
        const body = now()
        req.socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
        busy(300)
      },
      async later (req, res) {
        await null
        res.end(now())
        busy(300)
      },
      big (req, res) {
        res.end('x'.repeat(100_000) + now())
        busy(300)
      },
      // Collects what follows into one batch; the handler of turn `blockAt` then blocks.
      gather (req, res) {
        turn = 0
        blockAt = Number(req.url.split('/')[2])
        busy(200)
        res.end('gathered')
      },
      turn (req, res) {
        turn++
        res.setHeader('X-Turn', turn)
        res.end(now())
        if (turn === blockAt) busy(200)
      }
    }
    const server = http.createServer((req, res) => handlers[String(req.url).split('/')[1]](req, res))
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  return child.message('port')
}

/** @param {string} text of an answer with a moment in it @returns {number} ms since that moment */
function ageOf (text) {
  const [, moment] = text.match(/<(\d+)>/) ?? []
  return Number(process.hrtime.bigint() - BigInt(moment)) / 1e6
}

for (const [path, what] of Object.entries({
  end: 'res.end(text)',
  endHead: 'writeHead and end(buffer)',
  flushed: 'a head that flushHeaders() sends',
  raw: 'socket.write()',
  later: 'an end() after an await',
  big: 'an end() with 100 KB'
})) {
  test(`${what} arrives while its handler computes for 300 ms`, async (t) => {
    const port = await startServer(t)
    let best = Infinity
    for (let i = 0; i < kAttempts && best >= kLateMs; i++) {
      const wire = await dial(t, port)
      wire.write(get(`/${path}`))
      await wire.until('>')
      best = Math.min(best, ageOf(wire.text))
      wire.destroy()
    }
    assert.ok(best < kLateMs, `it took ${best} ms`)
  })
}

/**
 * Has `count` connections ask while the server is busy, so that their requests lie ready together.
 *
 * @param {import('node:test').TestContext} t
 * @param {number} port
 * @param {number} count
 * @param {number} blockAt the turn whose handler blocks
 * @returns {Promise<Map<number, number>>} how long each turn's answer took
 */
async function askTogether (t, port, count, blockAt) {
  const wires = await Promise.all(Array.from({ length: count }, () => dial(t, port)))
  const gathered = request({ port, path: `/gather/${blockAt}` })
  await new Promise((resolve) => setTimeout(resolve, 50))
  const ages = new Map()
  await Promise.all(wires.map(async (wire) => {
    wire.write(get('/turn'))
    await wire.until('>')
    ages.set(Number(wire.text.match(/X-Turn: (\d+)/)?.[1]), ageOf(wire.text))
    wire.destroy()
  }))
  assert.equal((await gathered).body, 'gathered')
  return ages
}

test('of 64 requests that lie ready together the first is answered while the second blocks for 200 ms', async (t) => {
  const port = await startServer(t)
  let best = Infinity
  for (let i = 0; i < kAttempts && best >= kLateMs; i++) {
    const ages = await askTogether(t, port, 64, 2)
    assert.equal(ages.size, 64)
    best = Math.min(best, ages.get(1) ?? Infinity)
  }
  assert.ok(best < kLateMs, `it took ${best} ms`)
})

test('of 64 requests that lie ready together the tenth is answered while it blocks itself', async (t) => {
  const port = await startServer(t)
  let best = Infinity
  for (let i = 0; i < kAttempts && best >= kLateMs; i++) {
    const ages = await askTogether(t, port, 64, 10)
    best = Math.min(best, ages.get(10) ?? Infinity)
  }
  assert.ok(best < kLateMs, `it took ${best} ms`)
})

test('of 16 pipelined requests the first is answered while the second blocks', async (t) => {
  const port = await startServer(t)
  let best = Infinity
  for (let i = 0; i < kAttempts && best >= kLateMs; i++) {
    const wire = await dial(t, port)
    wire.write(get('/gather/2'))
    await wire.until('gathered')
    wire.write(get('/turn').repeat(16))
    await wire.until('>')
    best = Math.min(best, ageOf(wire.text))
    await wire.until('>', 16)
    wire.destroy()
  }
  assert.ok(best < kLateMs, `it took ${best} ms`)
})

test('timers and other handles get their turn while requests keep coming', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => res.end('x'))
    let longest = 0
    let last = performance.now()
    setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    process.on('message', () => report({ longest }))
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: 16 }, () => dial(t, port)))
  for (let round = 1; round <= 20; round++) {
    for (const wire of wires) wire.write(get().repeat(100))
    await Promise.all(wires.map((wire) => wire.until('\r\n\r\nx', 100 * round)))
  }
  child.send('report')
  const longest = await child.message('longest')
  // 32,000 requests take most of a second; a loop that never yields would show that.
  assert.ok(longest < 250, `a timer of 5 ms waited ${longest} ms`)
})
