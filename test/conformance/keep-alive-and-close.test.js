'use strict'

// Goal: a connection stays open or is closed after a response exactly where node:http would, and says so.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { backend, http } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get, serve } = require('../helpers/client')
const { compare, message } = require('../helpers/differential')
const { silence } = require('../helpers/waiting')

const kBody = 'body of the answer'
const kLast = message('GET /last')

/** @param {string} text how many answers there are */
function answers (text) {
  return text.match(/HTTP\/1\.1 \d\d\d /g)?.length ?? 0
}

/** @type {import('../helpers/differential').Handler} */
function body (req, res, log) {
  log(req.url, res.shouldKeepAlive)
  // An HTTP/1.0 connection survives only with a length of the handler's own.
  res.setHeader('Content-Length', kBody.length)
  res.end(kBody)
}

/**
 * A first request, and once it was answered a second: is it served, too?
 *
 * @param {import('node:test').TestContext} t
 * @param {string} first
 * @param {import('../helpers/differential').Handler} [handler]
 * @param {import('../helpers/differential').Options} [options]
 */
async function survives (t, first, handler = body, options = {}) {
  const { text } = await compare(t, handler, [first, new RegExp(kBody), kLast], options)
  return answers(text) === 2
}

test('the tokens of Connection decide, whatever their case and company', async (t) => {
  const values = [
    'close', 'Close', 'CLOSE', 'keep-alive', 'Keep-Alive', 'KEEP-ALIVE', 'x', 'x, close', 'close, x', 'x,close,y', ' close ', 'closed', 'xclose', 'close-x',
    'keep-alive, close', 'close, keep-alive', 'keep-alive, x', 'x, keep-alive', '', ',', ', close', 'close,', 'TE, close', 'keep alive', 'clo se', '\tclose'
  ]
  for (const value of values) {
    for (const version of ['1.0', '1.1']) {
      const kept = await survives(t, `GET / HTTP/${version}\r\nHost: a\r\nConnection: ${value}\r\n\r\n`)
      if (value === 'close') assert.equal(kept, false)
      if (value === 'keep-alive') assert.equal(kept, true)
    }
  }
  for (const version of ['1.0', '1.1']) assert.equal(await survives(t, `GET / HTTP/${version}\r\nHost: a\r\n\r\n`), version === '1.1')
  await survives(t, message('GET /', ['Connection: x', 'Connection: close']))
  await survives(t, message('GET /', ['Connection: close', 'Connection: keep-alive']))
  await survives(t, message('GET /', ['Proxy-Connection: close']))
})

const kKeeping = ['keep-alive', 'token', 'both']

test('the handler decides with Connection, shouldKeepAlive or removeHeader', async (t) => {
  /** @type {[string, (res: any) => void][]} */
  const ways = [
    ['close', (res) => res.setHeader('Connection', 'close')],
    ['CLOSE', (res) => res.setHeader('connection', 'CLOSE')],
    ['x, close', (res) => res.setHeader('Connection', 'x, close')],
    ['keep-alive', (res) => res.setHeader('Connection', 'keep-alive')],
    ['token', (res) => res.setHeader('Connection', 'X-Hop')],
    ['list', (res) => res.setHeader('Connection', ['X-Hop', 'close'])],
    ['shouldKeepAlive', (res) => { res.shouldKeepAlive = false }],
    ['removed', (res) => res.removeHeader('Connection')],
    ['removed and false', (res) => { res.removeHeader('Connection'); res.shouldKeepAlive = false }],
    ['writeHead', (res) => res.writeHead(200, { Connection: 'close' })],
    ['writeHead array', (res) => res.writeHead(200, ['Connection', 'close'])],
    ['keep-alive own hint', (res) => res.setHeader('Keep-Alive', 'timeout=1')],
    ['both', (res) => { res.setHeader('Connection', 'keep-alive'); res.setHeader('Keep-Alive', 'timeout=33, max=7') }]
  ]
  for (const [name, way] of ways) {
    for (const head of [message('GET /', []), 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', message('GET /')]) {
      // docs/compatibility.md, close-as-asked.
      if (head.includes('close') && kKeeping.includes(name)) continue
      for (const pieces of [false, true]) {
        const kept = await survives(t, head, (req, res) => {
          if (req.url !== '/last') way(res)
          if (pieces) res.write(kBody)
          res.end(pieces ? undefined : kBody)
        })
        if (name === 'close') assert.equal(kept, false)
      }
    }
  }
})

test('an answer that says keep-alive to a client that asked to close is whole', async (t) => {
  const { text } = await compare(t, (req, res) => {
    res.setHeader('Connection', 'keep-alive')
    res.end(kBody)
  }, message('GET /'), { until: /answer/ })
  assert.match(text, /Connection: keep-alive\r\n/)
})

test('a response that only the end of the connection can end closes it', async (t) => {
  for (const head of [message('GET /', []), 'GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n']) {
    const { text } = await compare(t, (req, res) => {
      res.removeHeader('Transfer-Encoding')
      res.write('no length, ')
      res.end(kBody)
    }, head)
    assert.ok(text.endsWith(`\r\n\r\nno length, ${kBody}`))
  }
})

test('Keep-Alive hints at keepAliveTimeout in whole seconds', async (t) => {
  for (const [keepAliveTimeout, hint] of [[5000, 'timeout=5'], [1500, 'timeout=1'], [999, 'timeout=0'], [72_000, 'timeout=72'], [0, null], [61_999, 'timeout=61']]) {
    const { text } = await compare(t, body, message('GET /', []) + kLast, { server: { keepAliveTimeout } })
    assert.equal(text.match(/Keep-Alive: (.*)\r\n/)?.[1] ?? null, hint)
  }
  const { text } = await compare(t, (req, res) => {
    if (req.url === '/last') return res.end()
    req.socket.server.keepAliveTimeout = 9000
    res.end()
  }, message('GET /', []) + message('GET /', []) + kLast)
  assert.match(text, /timeout=5.*timeout=9/s)
})

test('an HTTP/1.0 client that asks for keep-alive gets it and is told', async (t) => {
  const { text } = await compare(t, body, ['GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', /body/, 'GET /2 HTTP/1.0\r\n\r\n'])
  assert.equal(answers(text), 2)
  assert.match(text, /Connection: keep-alive\r\n.*Connection: close\r\n/s)
})

test('maxRequestsPerSocket is hinted at, closes after the last one and refuses more', async (t) => {
  const most = { prepare: (/** @type {any} */ server) => { server.maxRequestsPerSocket = 3 } }
  const { text } = await compare(t, body, [message('GET /1', []), /body/, message('GET /2', []), /body[^]*body/, message('GET /3', [])], { ...most, until: /body[^]*body[^]*body/ })
  assert.equal(answers(text), 3)
  assert.match(text, /max=3.*max=3.*Connection: close/s)
  const refused = await compare(t, (req, res, log) => {
    log(req.url, res.maxRequestsOnConnectionReached)
    setImmediate(() => res.end(kBody))
  }, [1, 2, 3, 4, 5].map((i) => message(`GET /${i}`, [])).join(''), {
    until: /503 [^]*503 /,
    prepare: (server, log) => {
      most.prepare(server)
      server.on('dropRequest', (/** @type {any} */ req, /** @type {any} */ socket) => log('dropped', req.url, req.socket === socket))
    }
  })
  assert.deepEqual(refused.events, ['/1 false', '/2 false', '/3 true', 'dropped /4 true', 'dropped /5 true'])
})

test('an idle connection is closed after keepAliveTimeout', async (t) => {
  const { text } = await compare(t, body, message('GET /', []), { server: { keepAliveTimeout: 1 } })
  assert.equal(answers(text), 1)
})

test('a connection that is used again outlives its keepAliveTimeout', async (t) => {
  const { text } = await compare(t, (req, res) => setTimeout(() => res.end(kBody), 2200), [message('GET /1', []), /body/, message('GET /2', []), /body[^]*body/, kLast], { server: { keepAliveTimeout: 1000 } })
  assert.equal(answers(text), 3)
})

test('a closing response with an unread body is whole, and nothing behind it is served', async (t) => {
  for (const [headers, sent] of [[['Content-Length: 10'], '0123456789'], [['Content-Length: 10'], '01'], [['Content-Length: 10'], ''], [['Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n'],
    [['Transfer-Encoding: chunked'], '3\r\nab'], [['Transfer-Encoding: chunked'], '']]) {
    const { text } = await compare(t, body, message('POST /', [...headers, 'Connection: close'], /** @type {string} */ (sent)))
    assert.ok(text.endsWith(kBody))
    const byHandler = await compare(t, (req, res) => {
      res.setHeader('Connection', 'close')
      res.end(kBody)
    }, message('POST /', /** @type {string[]} */ (headers), /** @type {string} */ (sent)))
    assert.ok(byHandler.text.endsWith(kBody))
  }
})

test('a kept connection first takes the rest of an unread body, then the next request', async (t) => {
  const rest = 'r'.repeat(300_000)
  const { events } = await compare(t, body, [message('POST /1', ['Content-Length: 300003'], 'abc'), /body/, rest, kLast])
  assert.deepEqual(events, ['/1 true', '/last false'])
  const chunked = await compare(t, body, [message('POST /1', ['Transfer-Encoding: chunked'], '3\r\nabc\r\n'), /body/, `${rest.length.toString(16)};x=y\r\n${rest}\r\n0\r\nT: 1\r\n\r\n`, kLast])
  assert.deepEqual(chunked.events, ['/1 true', '/last false'])
})

test('the socket is the same for all requests of a connection, and closes once', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    if (req.socket.seen === undefined) {
      req.socket.seen = 0
      req.socket.on('close', (/** @type {boolean} */ failed) => log('socket close', failed))
    }
    log(req.url, req.socket.seen++)
    res.on('close', () => log('close', req.url))
    res.end(kBody)
  }, [message('GET /1', []), /body/, message('GET /2', []), /body[^]*body/, kLast])
  assert.deepEqual(events, ['/1 0', 'close /1', '/2 1', 'close /2', '/last 2', 'close /last', 'socket close false'])
})

test('destroying a response in the middle ends the connection without an end of the body', async (t) => {
  for (const destroy of [(/** @type {any} */ req, /** @type {any} */ res) => res.destroy(), (/** @type {any} */ req) => req.socket.destroy(), (/** @type {any} */ req) => req.destroy()]) {
    const { text } = await compare(t, (req, res, log) => {
      for (const [name, emitter] of [['req', req], ['res', res]]) {
        for (const event of ['aborted', 'close', 'error', 'finish', 'end']) emitter.on(event, (/** @type {any} */ error) => log(name, event, error?.code))
      }
      res.write('started')
      req.once('data', () => destroy(req, res))
    }, [message('POST /', ['Content-Length: 2']), /started/, 'x'])
    assert.ok(text.endsWith('7\r\nstarted\r\n'))
  }
})

test('a client that leaves while the response is written closes it', async (t) => {
  // It leaves with the whole chunk: a server may send the end of one by itself.
  await compare(t, (req, res, log) => {
    for (const [name, emitter] of [['req', req], ['res', res]]) {
      for (const event of ['aborted', 'close', 'error', 'finish', 'end']) emitter.on(event, (/** @type {any} */ error) => log(name, event, error?.code, res.writableFinished, req.aborted))
    }
    res.write('started')
  }, message('GET /', []), { until: /started\r\n/ })
})

test('a client that half-closes still gets the answer to what it asked', async (t) => {
  for (const later of [false, true]) {
    const { text } = await compare(t, (req, res) => {
      if (later) setImmediate(() => setImmediate(() => res.end(kBody)))
      else res.end(kBody)
    }, [message('GET /', []), null], { prepare: (server) => { server.httpAllowHalfOpen = true } })
    assert.ok(text.endsWith(kBody))
  }
})

test('keepAliveTimeout ends with the first byte of a request on the engine, on Node with its last line', async (t) => {
  // docs/compatibility.md, keep-alive-within-a-head. Node 20 adds a second of its own to the time (keepAliveTimeoutBuffer).
  const port = await serve(t, http.createServer({ keepAliveTimeout: 100 }, (req, res) => res.end(kBody)))
  const wire = await dial(t, port)
  wire.write(get())
  await wire.until(kBody)
  wire.write('GET /next HTTP/1.1\r\nHost: a\r\n')
  if (backend === 'node') return wire.untilClosed()
  await silence(1500)
  wire.write('\r\n')
  await wire.until(/answer[^]*answer/)
})

test('what a client sent before it reset the connection is read', async (t) => {
  const child = startChild(({ http, report }) => {
    http.createServer((req, res) => {
      report({ [`${req.url}`]: true })
      req.on('error', () => {})
      if (req.url === '/answered') res.end()
    }).listen(0, '127.0.0.1', /** @this {any} */ function () { report({ port: this.address().port }) })
  })
  t.after(() => child.kill())
  const port = await child.message('port')
  for (let i = 0; i < 20; i++) {
    const wire = await dial(t, port)
    wire.write(get('/answered'))
    await wire.until(/\r\n\r\n/)
    // The process finds the request and the reset together when it goes on.
    child.process.kill('SIGSTOP')
    wire.write(get(`/reset/${i}`))
    wire.socket.resetAndDestroy()
    child.process.kill('SIGCONT')
    assert.equal(await child.message(`/reset/${i}`), true)
  }
})
