'use strict'

// Goal: no client keeps others from what the cache could give them, or makes it take memory without bound, and no odd response of an
// application breaks the framing of the cache's answers. Method: clients that lead and do not read, ask with conditions or odd fields, or
// stand behind answers that never end; responses whose head contradicts itself.

const http2 = require('node:http2')
const { once } = require('node:events')
const { test } = require('node:test')
const assert = require('node:assert/strict')
const { dial, get, request } = require('../helpers/client')
const { setCachePolicy } = /** @type {any} */ (require('../helpers/backend').http)
const { connect: secureConnect } = require('../helpers/tls')
const { until, silence } = require('../helpers/waiting')
const { kProtocols, ofCache, serveCached, serveStoredBefore } = require('./protocols-kit')

const kStored = { 'Cache-Control': 'max-age=60' }
const limited = { ...ofCache, timeout: 20_000 }
/** More resident memory. The address sanitizer keeps what was freed. */
const kGrownMax = process.env.HTTPSYS_SANITIZER === undefined ? 64 * 1024 * 1024 : Infinity

/**
 * Asks for `/` on three connections: the first one leads, the second one is new, the third one has been used.
 *
 * @param {import('node:test').TestContext} t @param {number} port @param {() => void} onWait is called while two of them wait
 */
async function askInThreeWays (t, port, onWait) {
  const leader = await dial(t, port)
  leader.write(get())
  const used = await dial(t, port)
  used.write(get('/first'))
  await used.until('first')
  used.write(get())
  const fresh = await dial(t, port)
  fresh.write(get())
  await silence(200)
  onWait()
  for (const wire of [leader, used, fresh]) await wire.until('hot')
}

test('a request behind an answer that does not end keeps nobody waiting', limited, async (t) => {
  const { port, calls } = await serveStoredBefore(t, 'HTTP/1.1', { cache: true }, (req, res) => {
    if (req.url === '/never') res.write('begun')
    else res.writeHead(200, kStored).end('hot')
  }, { Host: 'a' }, '/hot')
  const attacker = await dial(t, port)
  attacker.write(get('/never') + get('/hot'))
  await until(() => calls() === 2, 'both have reached JavaScript')
  const victim = await dial(t, port)
  victim.write(get('/hot'))
  await victim.until('hot')
})

test('a client that does not read keeps nobody waiting', limited, async (t) => {
  const { port, ask, calls } = await serveStoredBefore(t, 'HTTP/2', { cache: true }, async (req, res) => {
    res.writeHead(200, kStored)
    for (let i = 0; i < 8; i++) {
      if (!res.write(Buffer.alloc(64 * 1024, 'x'))) await once(res, 'drain')
    }
    res.end('end')
  }, {}, '/hot')
  const attacker = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 100 } })
  t.after(() => attacker.destroy())
  attacker.request({ ':path': '/hot', ':authority': `127.0.0.1:${port}` })
  await until(() => calls() === 1, 'the attacker leads')
  const { body } = await ask('/hot')
  assert.ok(body.endsWith('end'))
})

test('copies of entries that JavaScript is asked about are bounded', limited, async (t) => {
  const kPages = { ETag: '"a"', 'Cache-Control': 'public, max-age=60' }
  /** @type {(() => void)[]} */
  const answers = []
  const { port, calls } = await serveCached(t, (req, res, n) => {
    if (n === 1) return res.writeHead(200, kPages).end(Buffer.alloc(1000 * 1024, 'x'))
    answers.push(() => res.writeHead(304, kPages).end())
  })
  assert.equal((await request(port)).body.length, 1000 * 1024)
  const before = process.memoryUsage().rss
  const wires = await Promise.all(Array.from({ length: 200 }, () => dial(t, port)))
  for (const wire of wires) wire.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: a=b\r\nCache-Control: no-cache\r\n\r\n`)
  await until(() => calls() === 201, 'all have reached JavaScript')
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < kGrownMax, `${grown} bytes for 200 requests`)
})

test('streams that do not read share one copy of an entry', limited, async (t) => {
  const { port, server, ask } = await kProtocols['HTTP/2'](t, { cache: true }, (req, res) => {
    res.writeHead(200, kStored).end(Buffer.alloc(1000 * 1024, 'x'))
  })
  assert.equal((await ask('/', { ':authority': 'a' })).body.length, 1000 * 1024)
  const before = process.memoryUsage().rss
  for (let i = 0; i < 3; i++) {
    const client = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 0 } })
    client.on('error', () => {})
    t.after(() => client.destroy())
    await once(client, 'remoteSettings')
    for (let k = 0; k < 60; k++) client.request({ ':path': '/', ':authority': 'a' }).on('error', () => {})
  }
  await until(() => server.cache.stats().hits === 180, 'all have got their answer')
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < kGrownMax, `${grown} bytes for 180 streams`)
})

for (const protocol of ['HTTP/1.1', 'TLS']) {
  test(`${protocol}: connections that do not read share one copy of an entry`, limited, async (t) => {
    const kClients = 150
    const kAnswers = 10
    // How much of the last answer the kernel takes is its own affair: of several sizes, much is left of some.
    const sizes = [800, 900, 1000].map((size) => size * 1024)
    const { port, server, ask } = await kProtocols[protocol](t, { cache: true }, (req, res) => {
      res.writeHead(200, kStored).end(Buffer.alloc(Number(req.url.slice(1)), 'x'))
    })
    for (const size of sizes) assert.equal((await ask(`/${size}`, { Host: 'a' })).body.length, size)
    const before = process.memoryUsage().rss
    const sockets = []
    for (let i = 0; i < kClients; i++) {
      const socket = protocol === 'TLS' ? await secureConnect(port) : (await dial(t, port)).socket
      t.after(() => socket.destroy())
      socket.pause().write(get(`/${sizes[i % sizes.length]}`).repeat(kAnswers))
      sockets.push(socket)
    }
    let hits = 0
    await until(async () => {
      const last = hits
      hits = server.cache.stats().hits
      await silence(100)
      return hits >= kClients && hits === last
    }, 'no client gets more')
    const grown = process.memoryUsage().rss - before
    // With TLS most of it is what the clients have, which are in this process.
    assert.ok(grown < kGrownMax / 2 || protocol === 'TLS', `${grown} bytes for ${kClients} connections`)
    // One that reads at last gets all of its answers.
    let bytes = 0
    sockets[0].on('data', (/** @type {Buffer} */ piece) => { bytes += piece.length }).resume()
    await until(() => bytes > kAnswers * sizes[0], 'all answers')
  })
}

test('a response with two lines about its length is not kept', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    res.writeHead(200, { ...kStored, 'Content-Length': '3', 'Transfer-Encoding': 'chunked' })
    res.write('abc')
    res.end('defgh')
  })
  for (let i = 0; i < 2; i++) {
    const wire = await dial(t, port)
    wire.write(get())
    await wire.until('0\r\n\r\n')
    assert.equal(wire.text.match(/content-length/gi)?.length, 1)
  }
  assert.equal(calls(), 2)
})

test('the answer to a request of which JavaScript does not see all lines is not kept', ofCache, async (t) => {
  for (const setPolicy of [false, true]) {
    const { server, port, calls } = await serveCached(t, (req, res) => {
      res.writeHead(200, { ...kStored, 'Content-Length': 4 })
      if (setPolicy) setCachePolicy(res, { policy: 'userInvalidates' })
      res.end(req.headers.host === 'shop' ? 'good' : 'evil')
    })
    server.maxHeadersCount = 100
    const attacker = await dial(t, port)
    attacker.write(`GET / HTTP/1.1\r\n${'a:b\r\n'.repeat(100)}Host: shop\r\nConnection: close\r\n\r\n`)
    await attacker.untilClosed()
    const victim = await dial(t, port)
    victim.write('GET / HTTP/1.1\r\nHost: shop\r\n\r\n')
    await victim.until('good')
    // Node that refuses so many lines has not called the handler.
    assert.equal(calls(), attacker.text.startsWith('HTTP/1.1 200') ? 2 : 1)
  }
})

test('a response that the end of its connection cuts off is not kept', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    res.writeHead(200, kStored)
    res.write('half')
    setTimeout(() => res.socket.destroySoon(), 20)
  })
  for (let i = 0; i < 2; i++) {
    const wire = await dial(t, port)
    wire.write(get())
    assert.ok((await wire.untilClosed()).endsWith('half\r\n'), wire.text)
  }
  assert.equal(calls(), 2)
})

test('the body of a 205 is kept as its head says', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    res.writeHead(205, { ...kStored, 'Content-Length': '3' }).end('abc')
  })
  for (let i = 0; i < 2; i++) {
    const wire = await dial(t, port)
    wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    assert.ok((await wire.untilClosed()).endsWith('\r\n\r\nabc'), wire.text)
  }
  assert.equal(calls(), 1)
})

test('a client that has the answer does not make others ask JavaScript', limited, async (t) => {
  const { port, calls } = await serveStoredBefore(t, 'HTTP/1.1', { cache: true }, (req, res) => {
    setTimeout(() => {
      if (req.headers['if-none-match'] !== undefined) return res.writeHead(304, { ...kStored, ETag: '"a"' }).end()
      res.writeHead(200, { ...kStored, ETag: '"a"' }).end('hot')
    }, 200)
  }, { Host: 'a' })
  const attacker = await dial(t, port)
  attacker.write('GET / HTTP/1.1\r\nHost: a\r\nIf-None-Match: *\r\n\r\n')
  await until(() => calls() === 1, 'JavaScript is asked')
  const wires = await Promise.all(Array.from({ length: 50 }, () => dial(t, port)))
  for (const wire of wires) wire.write(get())
  for (const wire of wires) await wire.until('hot')
  // The second one is that of the lane, without the condition.
  assert.equal(calls(), 2)
})

test('a request with an odd field does not make others ask JavaScript (HTTP.SYS rules)', limited, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    setTimeout(() => res.writeHead(200, { 'Content-Type': 'text/plain' }).end('hot'), 200)
  }, { rules: 'httpsys', duration: 60 })
  const attacker = await dial(t, port)
  attacker.write('GET / HTTP/1.1\r\nHost: a\r\nX-Odd: 1\r\n\r\n')
  await attacker.until('hot')
  const wires = await Promise.all(Array.from({ length: 50 }, () => dial(t, port)))
  for (const wire of wires) wire.write(get())
  for (const wire of wires) await wire.until('hot')
  assert.equal(calls(), 2)
})

test('requests that wait outlast the time-outs of idle connections and of heads', limited, async (t) => {
  const timeouts = { keepAliveTimeout: 500, headersTimeout: 1000, requestTimeout: 1500, connectionsCheckingInterval: 200 }
  const { port, server } = await serveStoredBefore(t, 'HTTP/1.1', { cache: true, ...timeouts }, (req, res) => {
    if (req.url === '/first') return res.end('first')
    setTimeout(() => res.writeHead(200, kStored).end('hot'), 3000)
  }, { Host: 'a' })
  await askInThreeWays(t, port, () => {})
  assert.equal(server.cache.stats().coalesced, 2)
})

test('close() lets requests that wait have their answer', limited, async (t) => {
  const { port, server } = await serveStoredBefore(t, 'HTTP/1.1', { cache: true }, (req, res) => {
    if (req.url === '/first') return res.end('first')
    setTimeout(() => res.writeHead(200, kStored).end('hot'), 1000)
  }, { Host: 'a' })
  await askInThreeWays(t, port, () => server.close())
})
