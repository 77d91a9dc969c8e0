'use strict'

// Goal: several I/O threads serve one server as one does.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { startChild } = require('../helpers/child')
const { dial, get, request } = require('../helpers/client')

const kThreads = 4

/**
 * A server that says which I/O thread a connection is on; `/big` streams, `/echo` sends back,
 * `/work` takes
 * 2 ms of JavaScript, `/threads` names the threads of the process, `/exit` ends it.
 */
function startServer () {
  return startChild(({ http, report }) => {
    const { readdirSync, readFileSync } = require('node:fs')
    const server = http.createServer((req, res) => {
      if (req.url === '/echo') {
        req.pipe(res)
      } else if (req.url === '/big') {
        for (let i = 0; i < 64; i++) res.write(Buffer.alloc(64 * 1024, i))
        res.end()
      } else if (req.url === '/work') {
        const end = performance.now() + 2
        while (performance.now() < end);
        res.end('worked')
      } else if (req.url === '/threads') {
        res.end(readdirSync('/proc/self/task').map((id) => readFileSync(`/proc/self/task/${id}/comm`, 'utf8')).join(''))
      } else if (req.url === '/exit') {
        res.end('last')
        process.exit(0)
      } else {
        // Where an application cannot look: the thread is the engine's affair.
        const lane = Object.getOwnPropertySymbols(req.socket).find((s) => s.description === 'httpsys.lane')
        res.end(String(lane && /** @type {any} */ (req.socket)[lane].index))
      }
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
    process.on('message', () => server.close(() => {
      report({ closed: true })
      process.disconnect()
    }))
  }, { env: { HTTPSYS_IO_THREADS: String(kThreads) } })
}

test('HTTPSYS_IO_THREADS says how many there are, and connections are spread over all of them', async (t) => {
  const child = startServer()
  t.after(() => child.kill())
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: 40 }, () => dial(t, port)))
  const counts = new Array(kThreads).fill(0)
  for (const wire of wires) {
    wire.write(get('/'))
    const [, lane] = /\r\n\r\n(\d+)$/.exec(await wire.until(/\r\n\r\n\d+$/)) ?? []
    counts[Number(lane)]++
  }
  assert.deepEqual(counts, new Array(kThreads).fill(10))
  if (process.platform !== 'linux') return
  // Each thread has served, so that each has given itself its name. Linux gives a new thread the name of that which has made it.
  const { body } = await request({ port, path: '/threads' })
  const names = new Set(body.split('\n').filter((name) => name.startsWith('httpsys-io-')))
  assert.deepEqual([...names].sort(), Array.from({ length: kThreads }, (_, index) => `httpsys-io-${index}`))
})

test('requests, pipelines, uploads and streams on all threads at once come out whole', async (t) => {
  const child = startServer()
  t.after(() => child.kill())
  const port = await child.message('port')
  const body = Buffer.alloc(300_000, 'upload').toString('latin1')
  const work = Array.from({ length: 48 }, async (_, i) => {
    if (i % 3 === 0) {
      const answer = await request({ port, path: '/echo', method: 'POST' }, body)
      assert.equal(answer.body, body)
    } else if (i % 3 === 1) {
      const { body: big } = await request({ port, path: '/big' })
      assert.equal(big.length, 64 * 64 * 1024)
      for (let piece = 0; piece < 64; piece++) assert.equal(big.charCodeAt(piece * 64 * 1024), piece)
    } else {
      const wire = await dial(t, port)
      wire.write(get('/').repeat(50))
      await wire.until('HTTP/1.1 200 OK', 50)
    }
  })
  await Promise.all(work)
})

// The requests of one thread alone are always more than JavaScript handles before its event loop has a turn.
test('the connections of every thread have their turn while JavaScript is busy', async (t) => {
  const kAnswers = 5
  const child = startServer()
  t.after(() => child.kill())
  const port = await child.message('port')
  const counts = new Array(12 * kThreads).fill(0)
  const wires = []
  for (let i = 0; i < counts.length; i++) wires.push(await dial(t, port))
  let left = counts.length * kAnswers
  await Promise.all(wires.map(async (wire, i) => {
    while (left > 0) {
      wire.write(get('/work'))
      await wire.until('worked', counts[i] + 1)
      counts[i]++
      left--
    }
  }))
  assert.ok(Math.min(...counts) >= kAnswers - 2, `answers of each connection: ${counts.join(' ')}`)
})

test('server.close() ends when the connections of every thread have', async (t) => {
  const child = startServer()
  t.after(() => child.kill())
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: 16 }, () => dial(t, port)))
  for (const wire of wires) await wire.write(get('/')).until(/\r\n\r\n\d+$/)
  child.send({})
  assert.equal(await child.message('closed'), true)
  const { code } = await child.exit
  assert.equal(code, 0)
  await Promise.all(wires.map((wire) => wire.untilClosed()))
})

test('process.exit() right after end() delivers on each thread', async (t) => {
  const child = startServer()
  t.after(() => child.kill())
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: kThreads }, () => dial(t, port)))
  for (const wire of wires) await wire.write(get('/')).until(/\r\n\r\n\d+$/)
  wires[2].write(get('/exit'))
  assert.match(await wires[2].untilClosed(), /last$/)
  assert.equal((await child.exit).code, 0)
})

for (const value of ['0', '65', '1.5', 'many', '-1']) {
  test(`HTTPSYS_IO_THREADS=${value} is refused when a server starts to listen`, async () => {
    const child = startChild(({ http, report }) => {
      try {
        http.createServer().listen(0)
      } catch (error) {
        const { code, variable, message } = /** @type {any} */ (error)
        report({ error: { code, variable, message } })
      }
      process.disconnect()
    }, { env: { HTTPSYS_IO_THREADS: value } })
    const { code, variable, message } = await child.message('error')
    assert.equal(code, 'ERR_HTTPSYS_ENVIRONMENT')
    assert.equal(variable, 'HTTPSYS_IO_THREADS')
    assert.match(message, /a whole number from 1 to 64/)
    assert.equal((await child.exit).code, 0)
  })
}

test('HTTPSYS_BACKEND with an unknown name is refused when the package loads', async () => {
  const child = startChild(() => {}, { env: { HTTPSYS_BACKEND: 'nodejs' } })
  const { code, stderr } = await child.exit
  assert.notEqual(code, 0)
  assert.match(stderr, /ERR_HTTPSYS_ENVIRONMENT/)
  assert.match(stderr, /must be "engine" or "node". Received "nodejs"/)
})
