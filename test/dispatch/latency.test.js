'use strict'

// Goal: a reply leaves when it is written, whatever the JavaScript thread does next.
// Method: a handler answers and computes until the client, another process, has received the answer and says so by making
// a file. A reply that were held until the computing is over would be waited for by both; the handler gives up then.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { startChild } = require('../helpers/child')
const { dial, get, request } = require('../helpers/client')
const { haveCome } = require('./kit')

/**
 * A server process. The first segment of the path says what its handler answers with.
 *
 * @param {import('node:test').TestContext} t
 */
async function startServer (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-latency-'))
  const child = startChild(({ http, report, args: [folder] }) => {
    const fs = require('node:fs')
    // Ends what is stuck; an answer needs a thousandth of it on an idle machine.
    const kGiveUpMs = 10_000
    const compute = (/** @type {number} */ ms) => {
      const until = performance.now() + ms
      while (performance.now() < until);
    }
    const computeUntilReceived = () => {
      const until = performance.now() + kGiveUpMs
      while (!fs.existsSync(`${folder}/received`) && performance.now() < until) compute(1)
      report({ wasReceived: performance.now() < until })
    }
    let turn = 0
    let answersAt = 0
    let computesAt = 0
    /** @type {Record<string, (req: any, res: any) => void>} */
    const handlers = {
      end (req, res) {
        res.end('answer')
        computeUntilReceived()
      },
      endHead (req, res) {
        res.writeHead(200, { 'Content-Type': 'text/plain' })
        res.end(Buffer.from('answer'))
        computeUntilReceived()
      },
      flushed (req, res) {
        res.setHeader('X-Text', 'answer')
        res.flushHeaders()
        computeUntilReceived()
        res.end()
      },
      raw (req) {
        req.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nanswer')
        computeUntilReceived()
      },
      async later (req, res) {
        await null
        res.end('answer')
        computeUntilReceived()
      },
      // The lane is woken for the first piece, and looks for the others by itself until the turn ends.
      sameTurn (req, res) {
        setImmediate(() => {
          res.write('piece ')
          res.end('answer')
          computeUntilReceived()
        })
      },
      sameTurnLater (req, res) {
        setImmediate(() => {
          res.write('piece ')
          compute(30)
          res.write('piece ')
          compute(30)
          res.end('answer')
          computeUntilReceived()
        })
      },
      nextTurn (req, res) {
        setImmediate(() => {
          res.write('piece ')
          setImmediate(() => {
            res.end('answer')
            computeUntilReceived()
          })
        })
      },
      big (req, res) {
        res.end('x'.repeat(100_000) + 'answer')
        computeUntilReceived()
      },
      // Collects what follows into one batch; of it one turn answers the client's question, and one computes.
      gather (req, res) {
        turn = 0
        ;[answersAt, computesAt] = req.url.split('/').slice(2).map(Number)
        report({ gathering: true })
        while (!fs.existsSync(`${folder}/sent`)) compute(1)
        res.end('gathered')
      },
      turn (req, res) {
        turn++
        res.end(turn === answersAt ? 'answer' : 'other')
        if (turn === computesAt) computeUntilReceived()
      }
    }
    const server = http.createServer((req, res) => handlers[String(req.url).split('/')[1]](req, res))
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { args: [folder] })
  t.after(async () => {
    await child.kill()
    fs.rmSync(folder, { recursive: true })
  })
  return {
    child,
    folder,
    port: /** @type {number} */ (await child.message('port')),
    // To be called with the answer in hand.
    assertComputing: async () => {
      fs.writeFileSync(path.join(folder, 'received'), '')
      assert.equal(await child.message('wasReceived'), true, 'the answer came when the handler had given up')
    }
  }
}

describe('An answer arrives while its handler computes', () => {
  for (const [name, what] of Object.entries({
    end: 'res.end(text)',
    endHead: 'writeHead and end(buffer)',
    flushed: 'a head that flushHeaders() sends',
    raw: 'socket.write()',
    later: 'an end() after an await',
    sameTurn: 'an end() behind a write() in a later turn of the event loop',
    sameTurnLater: 'pieces of a later turn with computing between them',
    nextTurn: 'an end() in the turn behind that of a write()',
    big: 'an end() with 100 KB'
  })) {
    test(what, async (t) => {
      const { port, assertComputing } = await startServer(t)
      const wire = await dial(t, port)
      await wire.write(get(`/${name}`)).until('answer')
      await assertComputing()
    })
  }
})

describe('Of requests that lie ready together', () => {
  for (const [answersAt, computesAt, what] of /** @type {const} */ ([
    [1, 2, 'the first of 64 is answered while the second one computes'],
    [10, 10, 'the tenth of 64 is answered while it computes itself']
  ])) {
    test(what, async (t) => {
      const { port, assertComputing, child, folder } = await startServer(t)
      const wires = await Promise.all(Array.from({ length: 64 }, () => dial(t, port)))
      const gathered = request({ port, path: `/gather/${answersAt}/${computesAt}` })
      await child.message('gathering')
      for (const wire of wires) wire.write(get('/turn'))
      await haveCome(wires)
      fs.writeFileSync(path.join(folder, 'sent'), '')
      await Promise.any(wires.map((wire) => wire.until('answer')))
      await assertComputing()
      await Promise.all(wires.map((wire) => wire.until(/answer|other/)))
      assert.equal((await gathered).body, 'gathered')
    })
  }

  test('the first of 16 pipelined ones is answered while the second one computes', async (t) => {
    const { port, assertComputing, folder } = await startServer(t)
    const wire = await dial(t, port)
    fs.writeFileSync(path.join(folder, 'sent'), '')
    await wire.write(get('/gather/1/2')).until('gathered')
    await wire.write(get('/turn').repeat(16)).until('answer')
    await assertComputing()
    await wire.until('other', 15)
  })
})

test('timers and other handles get their turn while requests keep coming', async (t) => {
  const child = startChild(({ http, report }) => {
    let served = 0
    const server = http.createServer((req, res) => {
      served++
      // Slower than what brings the requests, so that there are always more.
      const until = performance.now() + 0.1
      while (performance.now() < until);
      res.end('x')
    })
    // In requests, not in time: that a busy machine keeps the process from running does not count.
    let longest = 0
    let last = 0
    setInterval(() => {
      longest = Math.max(longest, served - last)
      last = served
    }, 1)
    process.on('message', () => report({ longest }))
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: 16 }, () => dial(t, port)))
  // The next hundred requests of a connection are there before the last one is answered, so that no turn finds nothing to do.
  const rounds = 10
  await Promise.all(wires.map(async (wire) => {
    wire.write(get().repeat(100))
    for (let round = 1; round <= rounds; round++) {
      if (round < rounds) wire.write(get().repeat(100))
      await wire.until('\r\n\r\nx', 100 * round)
    }
  }))
  child.send('report')
  const longest = await child.message('longest')
  // A loop that never yields would serve all of them between two timers.
  const all = 16 * 100 * rounds
  assert.ok(longest < all / 2, `a timer of 1 ms waited for ${longest} of ${all} requests`)
})
