'use strict'

// Goal: every limit of http.Server, at its default, as an option, and changed while serving.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const nodeHttp = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { http, backend } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')
const { compare } = require('../helpers/differential')
const { withoutOwnFields } = require('../helpers/engine-errors')
const { drained, silence } = require('../helpers/waiting')

const kOursOnly = backend === 'node' && 'an option of ours'

/** @param {number} bytes @returns {string} a GET whose header lines are longer than that */
function headOf (bytes) {
  return `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(bytes)}\r\n\r\n`
}

/** @param {string} text @returns {number[]} */
function statuses (text) {
  return [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))
}

/** @param {import('node:test').TestContext} t @param {number} port @param {string} bytes @returns {Promise<number>} the status of the first answer */
async function statusOf (t, port, bytes) {
  const wire = await dial(t, port)
  wire.write(bytes)
  const [status] = statuses(await wire.until(/HTTP\/1\.1 \d{3}/))
  wire.destroy()
  return status
}

// -- Sizes.

test('a head of up to 16 KiB is taken, a longer one is answered 431', async (t) => {
  const port = await serve(t, http.createServer((req, res) => res.end()))
  assert.equal(await statusOf(t, port, headOf(http.maxHeaderSize - 200)), 200)
  assert.equal(await statusOf(t, port, headOf(http.maxHeaderSize + 200)), 431)
})

test('maxHeaderSize of the options is the limit, smaller or larger', async (t) => {
  const small = await serve(t, http.createServer({ maxHeaderSize: 1000 }, (req, res) => res.end()))
  const large = await serve(t, http.createServer({ maxHeaderSize: 100_000 }, (req, res) => res.end()))
  assert.equal(await statusOf(t, small, headOf(800)), 200)
  assert.equal(await statusOf(t, small, headOf(1200)), 431)
  assert.equal(await statusOf(t, large, headOf(90_000)), 200)
  assert.equal(await statusOf(t, large, headOf(110_000)), 431)
})

test('server.maxHeaderSize, changed while serving, holds for new connections', async (t) => {
  const server = http.createServer((req, res) => res.end())
  const port = await serve(t, server)
  assert.equal(await statusOf(t, port, headOf(2000)), 200)
  Object.assign(server, { maxHeaderSize: 1000 })
  assert.equal(await statusOf(t, port, headOf(2000)), 431)
  Object.assign(server, { maxHeaderSize: 50_000 })
  assert.equal(await statusOf(t, port, headOf(40_000)), 200)
})

test('an oversize head gives clientError HPE_HEADER_OVERFLOW to who listens', async (t) => {
  const server = http.createServer()
  const seen = once(server, 'clientError')
  const wire = await dial(t, await serve(t, server))
  wire.write(headOf(20_000))
  const [error, socket] = await seen
  assert.equal(error.code, 'HPE_HEADER_OVERFLOW')
  assert.equal(error.message, 'Parse Error: Header overflow')
  socket.end('mine')
  await wire.until('mine')
})

/** @param {number} lines */
function headOfLines (lines) {
  return 'GET / HTTP/1.1\r\nHost: a\r\n' + Array.from({ length: lines - 2 }, (_, i) => `x${i}: y\r\n`).join('') + 'Connection: close\r\n\r\n'
}

/** @param {import('node:test').TestContext} t @param {typeof nodeHttp} from */
async function countingServer (t, from) {
  const server = from.createServer((req, res) => res.end(String(Object.keys(req.headers).length)))
  const port = await serve(t, server)
  /** @param {number} lines @returns {Promise<number>} headers that were left, or a status other than 200 */
  const count = async (lines) => {
    const wire = await dial(t, port)
    wire.write(headOfLines(lines))
    const [head, body] = (await wire.untilClosed()).split('\r\n\r\n')
    return head.startsWith('HTTP/1.1 200 ') ? Number(body) : Number(head.split(' ')[1])
  }
  return { server, count }
}

test('maxHeadersCount bounds req.headers; 0 is no bound; new connections follow a change', async (t) => {
  const { server, count } = await countingServer(t, http)
  const stock = await countingServer(t, nodeHttp)
  // The last releases of Node 22, 24 and 26 refuse what others leave out.
  const refuses = await stock.count(1300) === 431
  assert.equal(await count(20), 20)
  assert.equal(await count(1000), 1000)
  // Node's default is 2000 entries of rawHeaders, which are names and values.
  assert.equal(await count(1300), refuses ? 431 : 1000)
  server.maxHeadersCount = 3
  assert.equal(await count(3), 3)
  assert.equal(await count(4), refuses ? 431 : 3)
  server.maxHeadersCount = 0
  assert.equal(await count(1300), 1300)
  server.maxHeadersCount = null
  assert.equal(await count(1300), refuses ? 431 : 1000)
})

test('a line above maxHeadersCount is answered, and told to clientError, as by node:http', async (t) => {
  const inPieces = ['GET / HTTP/1.1\r\nHost: a\r\nA: b\r\nB: c\r\n', 'C', ': d\r\nConnection: close\r\n\r\n']
  for (const steps of [[headOfLines(3)], [headOfLines(4)], inPieces]) {
    /** @type {import('../helpers/differential').Options['prepare']} */
    const prepare = (server, log) => {
      server.maxHeadersCount = 3
      server.on('clientError', (/** @type {any} */ { code, message, reason, rawPacket }, /** @type {net.Socket} */ socket) => {
        // Stock shows the segment that it stopped in, ours the message.
        log(code, message, reason, steps.length === 1 ? rawPacket.toString() : '')
        socket.end('refused')
      })
    }
    const serve = (/** @type {any} */ req, /** @type {any} */ res) => res.end('served')
    await compare(t, serve, steps, { prepare })
    await compare(t, serve, steps, { prepare: (server) => { server.maxHeadersCount = 3 } })
  }
})

test('maxRequestBodySize answers a longer body with 413, announced or not, and closes', { skip: kOursOnly }, async (t) => {
  let requests = 0
  const server = http.createServer(/** @type {any} */ ({ maxRequestBodySize: 1000 }), (req, res) => {
    requests++
    req.on('error', () => {})
    req.resume().on('end', () => res.end('taken'))
  })
  const port = await serve(t, server)
  assert.equal((await request({ port, method: 'POST' }, Buffer.alloc(1000))).body, 'taken')
  assert.equal((await request({ port, method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } }, Buffer.alloc(1000))).body, 'taken')
  const taken = requests
  const announced = await dial(t, port)
  announced.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n')
  assert.equal(withoutOwnFields(await announced.untilClosed()), 'HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n\r\n')
  assert.equal(requests, taken)
  const chunked = await dial(t, port)
  chunked.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  chunked.write(`3e8\r\n${'x'.repeat(1000)}\r\n`)
  await once(server, 'request')
  chunked.write('1\r\ny\r\n')
  assert.equal(withoutOwnFields(await chunked.untilClosed()), 'HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n\r\n')
})

test('a body above maxRequestBodySize is ERR_HTTPSYS_BODY_TOO_LARGE for clientError', { skip: kOursOnly }, async (t) => {
  const server = http.createServer(/** @type {any} */ ({ maxRequestBodySize: 10 }), () => {})
  const seen = once(server, 'clientError')
  const wire = await dial(t, await serve(t, server))
  wire.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n${'x'.repeat(11)}`)
  const [error, socket] = await seen
  assert.equal(error.code, 'ERR_HTTPSYS_BODY_TOO_LARGE')
  socket.end('mine')
  await wire.until('mine')
})

// -- Times of a message.

test('headersTimeout answers 408 to a head that does not end', async (t) => {
  const server = http.createServer({ headersTimeout: 200, requestTimeout: 0, connectionsCheckingInterval: 30 }, () => {})
  const port = await serve(t, server)
  const begun = performance.now()
  const wire = await dial(t, port)
  wire.write('GET / HTTP/1.1\r\nHost:')
  await wire.untilClosed()
  const ms = performance.now() - begun
  assert.equal(wire.text, 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
  assert.ok(ms > 150, `closed after ${ms} ms`)
})

test('headersTimeout counts from a connection\'s begin and does not touch idle or served ones', async (t) => {
  // Enough for a request to come and be answered, also on a busy machine.
  const server = http.createServer({ headersTimeout: 2000, requestTimeout: 0, connectionsCheckingInterval: 30 }, (req, res) => res.end('x'))
  const port = await serve(t, server)
  const silent = await dial(t, port)
  const served = await dial(t, port)
  served.write(get())
  await served.until('\r\n\r\nx')
  await silent.untilClosed()
  assert.equal(silent.text, 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
  assert.equal(served.closed, false)
  served.write(get())
  await served.until('\r\n\r\nx', 2)
})

test('requestTimeout answers 408 to a body that does not end', async (t) => {
  const server = http.createServer({ headersTimeout: 0, requestTimeout: 200, connectionsCheckingInterval: 30 }, (req) => req.on('error', () => {}))
  const port = await serve(t, server)
  const begun = performance.now()
  const wire = await dial(t, port)
  wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc')
  await wire.untilClosed()
  const ms = performance.now() - begun
  assert.equal(wire.text, 'HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n')
  assert.ok(ms > 150, `closed after ${ms} ms`)
})

test('requestTimeout does not touch a whole request whose answer takes longer', async (t) => {
  const server = http.createServer({ headersTimeout: 500, requestTimeout: 500, connectionsCheckingInterval: 20 }, (req, res) => {
    // Longer than the timeouts, which leave the request itself time on a busy machine.
    setTimeout(() => res.end('late'), 900)
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  await wire.until('late')
  assert.deepEqual(statuses(wire.text), [200])
})

test('a message timeout is ERR_HTTP_REQUEST_TIMEOUT for clientError', async (t) => {
  const server = http.createServer({ headersTimeout: 100, requestTimeout: 0, connectionsCheckingInterval: 30 }, () => {})
  const seen = once(server, 'clientError')
  const wire = await dial(t, await serve(t, server))
  wire.write('GET / HTTP/1.1\r\n')
  const [error, socket] = await seen
  assert.equal(error.code, 'ERR_HTTP_REQUEST_TIMEOUT')
  assert.equal(error.message, 'Request timeout')
  socket.end('mine')
  await wire.until('mine')
})

test('headersTimeout and requestTimeout may be changed while serving', async (t) => {
  const server = http.createServer({ headersTimeout: 0, requestTimeout: 0, connectionsCheckingInterval: 30 }, (req) => req.on('error', () => {}))
  const port = await serve(t, server)
  const head = await dial(t, port)
  head.write('GET / HTTP/1.1\r\nHost:')
  const body = await dial(t, port)
  body.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc')
  await once(server, 'request')
  await silence(150)
  assert.deepEqual([head.closed, body.closed], [false, false])
  server.headersTimeout = 100
  assert.deepEqual(statuses(await head.untilClosed()), [408])
  assert.equal(body.closed, false)
  server.requestTimeout = 100
  assert.deepEqual(statuses(await body.untilClosed()), [408])
})

test('the defaults of the timeouts and counts are those of node:http', () => {
  const [ours, node] = /** @type {any[]} */ ([http.createServer(), nodeHttp.createServer()])
  for (const name of ['headersTimeout', 'requestTimeout', 'keepAliveTimeout', 'timeout', 'maxHeadersCount', 'maxRequestsPerSocket', 'maxConnections',
    'requireHostHeader', 'connectionsCheckingInterval', 'maxHeaderSize', 'keepAliveTimeoutBuffer']) {
    assert.equal(ours[name], node[name], name)
  }
  assert.throws(() => http.createServer({ headersTimeout: 2, requestTimeout: 1 }), { code: 'ERR_OUT_OF_RANGE' })
  assert.throws(() => http.createServer({ requestTimeout: -1 }), { code: 'ERR_OUT_OF_RANGE' })
  assert.throws(() => http.createServer(/** @type {any} */ ({ keepAliveTimeout: 'x' })), { code: 'ERR_INVALID_ARG_TYPE' })
})

// -- Idle connections.

/** An idle connection whose keepAliveTimeout is the default of 5 s: it tells "soon" from "by default" on machines of any speed. @param {import('node:test').TestContext} t */
async function idleAtDefault (t) {
  const wire = await dial(t, await serve(t, http.createServer((req, res) => res.end('x'))))
  await wire.write(get()).until('\r\n\r\nx')
  return wire
}

test('keepAliveTimeout closes an idle connection, silently, and announces itself', async (t) => {
  const server = http.createServer({ keepAliveTimeout: 200 }, (req, res) => res.end('x'))
  const port = await serve(t, server)
  const wire = await dial(t, port)
  const asked = performance.now()
  wire.write(get())
  const text = await wire.until('\r\n\r\nx')
  assert.match(text, /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=0\r\n/)
  const patient = await idleAtDefault(t)
  await wire.untilClosed()
  const ms = performance.now() - asked
  assert.ok(ms > 150, `closed after ${ms} ms`)
  assert.equal(patient.closed, false, 'the default counted')
  assert.equal(wire.text, text)
})

test('a request within keepAliveTimeout starts it anew, a slow answer does not count', async (t) => {
  const server = http.createServer({ keepAliveTimeout: 1500 }, (req, res) => {
    if (req.url === '/slow') setTimeout(() => res.end('slow'), 3000)
    else res.end('x')
  })
  Object.assign(server, { keepAliveTimeoutBuffer: 0 })
  const wire = await dial(t, await serve(t, server))
  for (let i = 1; i <= 3; i++) {
    wire.write(get())
    await wire.until('\r\n\r\nx', i)
    // Together longer than the timeout, each much shorter.
    await silence(600)
  }
  wire.write(get('/slow'))
  await wire.until('slow')
  await wire.untilClosed()
})

test('keepAliveTimeout 0 leaves an idle connection open', async (t) => {
  const server = http.createServer({ keepAliveTimeout: 0 }, (req, res) => res.end('x'))
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  assert.doesNotMatch(await wire.until('\r\n\r\nx'), /Keep-Alive:/)
  await silence(1500)
  assert.equal(wire.closed, false)
  wire.write(get())
  await wire.until('\r\n\r\nx', 2)
})

test('keepAliveTimeout may be changed while serving, from the next answer on', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  assert.match(await wire.until('\r\n\r\nx'), /Keep-Alive: timeout=5/)
  server.keepAliveTimeout = 50
  wire.write(get())
  assert.match(await wire.until('\r\n\r\nx', 2), /Keep-Alive: timeout=0/)
  const patient = await idleAtDefault(t)
  await wire.untilClosed()
  assert.equal(patient.closed, false, 'the timeout before the change counted')
})

test('keepAliveTimeout does not close before the first request', async (t) => {
  const server = http.createServer({ keepAliveTimeout: 50 }, (req, res) => res.end('x'))
  const port = await serve(t, server)
  const fresh = await dial(t, port)
  await silence(1500)
  assert.equal(fresh.closed, false)
  fresh.write(get())
  await fresh.until('\r\n\r\nx')
})

// -- Inactivity: server.timeout, setTimeout() of server, request, response, socket.

test('server.timeout destroys an inactive connection, before and during a request', async (t) => {
  const server = http.createServer(() => {})
  server.timeout = 100
  const port = await serve(t, server)
  const [silent, waiting] = [await dial(t, port), await dial(t, port)]
  waiting.write(get())
  await Promise.all([silent.untilClosed(), waiting.untilClosed()])
  assert.deepEqual([silent.text, waiting.text], ['', ''])
})

test('server.timeout may be changed while serving, for new connections', async (t) => {
  const server = http.createServer(() => {})
  const port = await serve(t, server)
  const early = await dial(t, port)
  early.write(get())
  await once(server, 'request')
  server.timeout = 100
  const late = await dial(t, port)
  late.write(get())
  await late.untilClosed()
  await silence(150)
  assert.equal(early.closed, false)
})

test('server.setTimeout() returns the server, sets timeout and its listener decides', async (t) => {
  const server = http.createServer(() => {})
  const sockets = /** @type {any[]} */ ([])
  assert.equal(server.setTimeout(100, (socket) => {
    sockets.push(socket)
    socket.end('timed out')
  }), server)
  assert.equal(server.timeout, 100)
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  await wire.until('timed out')
  assert.ok(sockets[0] instanceof net.Socket)
})

test('activity on either side puts the timeout off', async (t) => {
  let timeouts = 0
  let written = 0
  const timeout = 500
  const server = http.createServer((req, res) => {
    let left = 6
    const timer = setInterval(() => {
      written = performance.now()
      res.write('tick')
      if (--left === 0) {
        clearInterval(timer)
        res.end('end')
      }
    }, 150)
  })
  // Where the machine has kept the process from writing for so long the timeout is right.
  server.setTimeout(timeout, () => { if (performance.now() - written < timeout) timeouts++ })
  const wire = await dial(t, await serve(t, server))
  wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n')
  await wire.until('end')
  assert.equal(timeouts, 0)
})

for (const side of ['req', 'res']) {
  test(`${side}.setTimeout() emits "timeout" there and nothing is destroyed`, async (t) => {
    const server = http.createServer((req, res) => {
      const target = side === 'req' ? req : res
      // A whole request has no timeouts any more in Node: the response has.
      target.setTimeout(100, () => {
        assert.equal(req.socket.destroyed, false)
        res.end(`${side} timed out`)
      })
    })
    const wire = await dial(t, await serve(t, server))
    wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab')
    await wire.until(`${side} timed out`)
  })

  test(`${side}.setTimeout() without a listener destroys the connection`, async (t) => {
    const server = http.createServer((req, res) => {
      req.on('error', () => {})
      const target = side === 'req' ? req : res
      assert.equal(target.setTimeout(100), target)
    })
    const wire = await dial(t, await serve(t, server))
    wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab')
    assert.equal(await wire.untilClosed(), '')
  })
}

test('req.socket.setTimeout() emits "timeout" on socket, request, response and server, which receive the socket', async (t) => {
  const seen = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    const { socket } = req
    const note = (/** @type {string} */ name) => (/** @type {any} */ got) => {
      seen.push(`${name} ${got === undefined ? 'nothing' : got === socket}`)
      if (seen.length === 4) res.end('all')
    }
    req.on('timeout', note('req'))
    res.on('timeout', note('res'))
    server.on('timeout', note('server'))
    // The connection is over before so much time has passed again after the answer.
    socket.setTimeout(400, note('socket'))
  })
  const wire = await dial(t, await serve(t, server))
  wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab')
  await wire.until('all')
  assert.deepEqual(seen, ['req true', 'res true', 'server true', 'socket nothing'])
})

test('setTimeout(0) on a socket takes a timeout back', async (t) => {
  const server = http.createServer((req, res) => {
    req.socket.setTimeout(100)
    req.socket.setTimeout(0)
    setTimeout(() => res.end('still here'), 300)
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  await wire.until('still here')
})

// -- Counts.

test('maxRequestsPerSocket announces the close with its last answer', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  server.maxRequestsPerSocket = 2
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  assert.match(await wire.until('\r\n\r\nx'), /Connection: keep-alive\r\nKeep-Alive: timeout=5, max=2\r\n/)
  wire.write(get())
  assert.match(await wire.until('\r\n\r\nx', 2), /Connection: close\r\n/)
  assert.deepEqual(statuses(wire.text), [200, 200])
})

test('requests beyond maxRequestsPerSocket are answered 503 and emit dropRequest', async (t) => {
  const dropped = /** @type {any[]} */ ([])
  const held = /** @type {any[]} */ ([])
  const server = http.createServer((req, res) => {
    held.push(res)
    if (held.length === 2) for (const response of held) response.end('x')
  })
  server.maxRequestsPerSocket = 2
  server.on('dropRequest', (req, socket) => dropped.push([req.url, socket === req.socket]))
  const wire = await dial(t, await serve(t, server))
  wire.write(get('/1'))
  await once(server, 'request')
  wire.write(get('/2') + get('/3'))
  const text = await wire.until('503 Service Unavailable')
  assert.equal(held.length, 2)
  assert.deepEqual(statuses(text), [200, 200, 503])
  assert.deepEqual(dropped, [['/3', true]])
})

test('maxRequestsPerSocket may be changed while serving', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  const wire = await dial(t, await serve(t, server))
  for (let i = 1; i <= 3; i++) {
    wire.write(get())
    assert.doesNotMatch(await wire.until('\r\n\r\nx', i), /max=/)
  }
  server.maxRequestsPerSocket = 1
  wire.write(get())
  assert.match(await wire.until('\r\n\r\nx', 4), /Connection: close\r\n/)
  wire.write(get())
  await wire.until('503 Service Unavailable')
})

test('maxConnections drops further connections with a drop event, and takes new ones when some have gone', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  server.maxConnections = 2
  const port = await serve(t, server)
  const wires = []
  for (let i = 0; i < 2; i++) {
    const wire = await dial(t, port)
    wire.write(get())
    await wire.until('\r\n\r\nx')
    wires.push(wire)
  }
  const drop = once(server, 'drop')
  const refused = await dial(t, port)
  const [data] = await drop
  await refused.untilClosed()
  assert.equal(refused.text, '')
  assert.equal(data.localPort, port)
  assert.equal(data.remoteAddress, '127.0.0.1')
  assert.equal(data.remotePort, refused.socket.localPort ?? data.remotePort)
  assert.deepEqual(Object.keys(data).sort(), ['localAddress', 'localFamily', 'localPort', 'remoteAddress', 'remoteFamily', 'remotePort'])
  wires[0].destroy()
  await drained(server, 1)
  assert.equal((await request(port)).body, 'x')
})

test('maxConnections may be changed while serving', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write(get())
  await wire.until('\r\n\r\nx')
  server.maxConnections = 1
  const drop = once(server, 'drop')
  const refused = await dial(t, port)
  await Promise.all([drop, refused.untilClosed()])
  server.maxConnections = 10
  assert.equal((await request(port)).body, 'x')
})

// -- Host.

test('a request of HTTP/1.1 without Host is answered 400 and never seen; HTTP/1.0 needs none', async (t) => {
  const urls = /** @type {(string | undefined)[]} */ ([])
  const server = http.createServer((req, res) => {
    urls.push(req.url)
    res.end('x')
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write('GET /1.1 HTTP/1.1\r\n\r\n')
  const text = (await wire.untilClosed()).replace(/Date: .*\r\n/, '')
  assert.equal(text, 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')
  assert.equal(await statusOf(t, port, 'GET /1.0 HTTP/1.0\r\n\r\n'), 200)
  assert.deepEqual(urls, ['/1.0'])
})

test('requireHostHeader false takes requests without Host; it may be changed while serving', async (t) => {
  const server = http.createServer({ requireHostHeader: false }, (req, res) => res.end('x'))
  const port = await serve(t, server)
  assert.equal(await statusOf(t, port, 'GET / HTTP/1.1\r\n\r\n'), 200)
  Object.assign(server, { requireHostHeader: true })
  assert.equal(await statusOf(t, port, 'GET / HTTP/1.1\r\n\r\n'), 400)
  Object.assign(server, { requireHostHeader: false })
  assert.equal(await statusOf(t, port, 'GET / HTTP/1.1\r\n\r\n'), 200)
})
