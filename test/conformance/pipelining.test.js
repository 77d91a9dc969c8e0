'use strict'

// Goal: requests sent without waiting are all answered, in their order, whatever their handlers do.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { backend, http } = require('../helpers/backend')
const { dial, get, serve } = require('../helpers/client')
const { bytewise, compare, message } = require('../helpers/differential')

/** @param {number} count @param {(i: number) => string} [one] a sequence of requests, the last of which closes */
function pipeline (count, one = (i) => message(`GET /${i}`, [])) {
  return Array.from({ length: count }, (_, i) => one(i)).join('') + message('GET /last')
}

/** @param {string} text the bodies of answers with a Content-Length */
function bodies (text) {
  const found = []
  for (let at = 0; at < text.length;) {
    const end = text.indexOf('\r\n\r\n', at) + 4
    const length = Number(text.slice(at, end).match(/Content-Length: (\d+)/)?.[1])
    found.push(text.slice(end, end + length))
    at = end + length
  }
  return found
}

/**
 * A handler with state of its own for each connection.
 *
 * @param {() => import('../helpers/differential').Handler} make
 * @returns {import('../helpers/differential').Handler}
 */
function fresh (make) {
  let handler = make()
  return (req, res, log) => {
    if (req.url === '/0') handler = make()
    handler(req, res, log)
  }
}

/** @param {number} count */
function paths (count) {
  return [...Array.from({ length: count }, (_, i) => `/${i}`), '/last']
}

test('answers come in the order of the requests when the handlers finish in reverse', async (t) => {
  const { text, events } = await compare(t, fresh(() => {
    /** @type {(() => void)[]} */
    const finishers = []
    return (req, res, log) => {
      finishers.push(() => {
        log('ends', req.url)
        res.end(req.url)
      })
      res.on('finish', () => log('finish', req.url))
      if (finishers.length === 11) for (const finish of finishers.splice(0).reverse()) finish()
    }
  }), pipeline(10))
  assert.deepEqual(bodies(text), paths(10))
  assert.equal(events[0], 'ends /last')
})

test('answers written in pieces do not mix', async (t) => {
  const { text } = await compare(t, (req, res) => {
    const number = Number(req.url.slice(1)) || 0
    res.write(`<${req.url}`)
    setTimeout(() => {
      res.write('|')
      setImmediate(() => res.end(`${req.url}>`))
    }, (20 - number) % 7)
  }, pipeline(20))
  const seen = [...text.matchAll(/<(\/\w+)\r\n1\r\n\|\r\n\w+\r\n(\/\w+)>/g)].map((match) => [match[1], match[2]])
  assert.deepEqual(seen, paths(20).map((path) => [path, path]))
})

test('bodies between the requests reach their own handler', async (t) => {
  const { text } = await compare(t, (req, res) => {
    let body = ''
    req.on('data', (/** @type {Buffer} */ piece) => { body += piece })
    req.on('end', () => setTimeout(() => res.end(`${req.url}=${body}`), Number(req.url.slice(1)) % 3))
  }, pipeline(30, (i) => {
    if (i % 3 === 0) return message(`GET /${i}`, [])
    if (i % 3 === 1) return message(`POST /${i}`, [`Content-Length: ${i}`], 'x'.repeat(i))
    return message(`POST /${i}`, ['Transfer-Encoding: chunked'], `1\r\n${i % 10}\r\n2\r\nab\r\n0\r\n\r\n`)
  }))
  assert.deepEqual(bodies(text), [...Array.from({ length: 30 }, (_, i) => `/${i}=${['', 'x'.repeat(i), `${i % 10}ab`][i % 3]}`), '/last='])
})

test('bodies that nobody reads do not end up in the next request', async (t) => {
  const { text } = await compare(t, (req, res) => res.end(req.url), pipeline(20, (i) => message(`POST /${i}`, ['Content-Length: 20'], 'GET /wrong HTTP/1.1\r')))
  assert.deepEqual(bodies(text), paths(20))
})

test('a large body within a pipeline holds up nothing but what is behind it', async (t) => {
  const large = 'z'.repeat(400_000)
  const { text } = await compare(t, (req, res) => {
    let length = 0
    req.on('data', (/** @type {Buffer} */ piece) => { length += piece.length })
    req.on('end', () => res.end(`${req.url} ${length}`))
  }, message('GET /1', []) + message('POST /2', [`Content-Length: ${large.length}`], large) + message('GET /3', []) + message('GET /last'))
  assert.deepEqual(bodies(text), ['/1 0', '/2 400000', '/3 0', '/last 0'])
})

test('a pipeline cut into single bytes is the same pipeline', async (t) => {
  const requests = message('GET /0', []) + message('POST /1', ['Content-Length: 3'], 'abc') + message('POST /2', ['Transfer-Encoding: chunked'], '1\r\na\r\n0\r\n\r\n') + message('GET /last')
  const handler = (/** @type {any} */ req, /** @type {any} */ res) => {
    req.resume()
    req.on('end', () => res.end(req.url))
  }
  const whole = await compare(t, handler, requests)
  const cut = await compare(t, handler, bytewise(requests))
  assert.equal(cut.text, whole.text)
  assert.deepEqual(bodies(cut.text), paths(3))
})

test('HEAD, 204, 304 and bodies may follow each other', async (t) => {
  const { text } = await compare(t, (req, res) => {
    const status = Number(req.url.slice(1)) || 200
    setImmediate(() => {
      res.statusCode = status
      if (status === 206) res.write('chunk')
      res.end('body')
    })
  }, message('HEAD /200', []) + message('GET /204', []) + message('GET /206', []) + message('GET /304', []) + message('HEAD /206', []) + message('GET /last'))
  assert.deepEqual([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]), ['200', '204', '206', '304', '206', '200'])
})

test('1000 pipelined requests are answered in order, at once and later', async (t) => {
  for (const later of [false, true]) {
    const { text } = await compare(t, (req, res) => {
      if (later) setImmediate(() => res.end(req.url))
      else res.end(req.url)
    }, pipeline(1000))
    assert.deepEqual(bodies(text), paths(1000))
  }
})

test('large answers of a pipeline are whole and in order', async (t) => {
  const { text } = await compare(t, (req, res) => {
    const body = Buffer.alloc(50_000, req.url)
    if (req.url.endsWith('7')) setTimeout(() => res.end(body), 2)
    else res.end(body)
  }, pipeline(60))
  assert.deepEqual(bodies(text).map((body) => body.slice(0, 9)), paths(60).map((path) => path.repeat(9).slice(0, 9)))
})

test('unanswered requests of a connection are bounded', { skip: backend === 'node' && 'stock Node starts all that it has read' }, async (t) => {
  let unanswered = 0
  let most = 0
  const { text } = await compare(t, (req, res) => {
    // Both servers run one after the other; ours is the second.
    if (req.url === '/0') most = unanswered = 0
    most = Math.max(most, ++unanswered)
    setTimeout(() => {
      unanswered--
      res.end(req.url)
    }, 1)
  }, pipeline(1000))
  assert.deepEqual(bodies(text), paths(1000))
  assert.ok(most > 1 && most <= 32, `${most} at the same time`)
})

test('nothing is sent after a response that closes', async (t) => {
  const { text } = await compare(t, fresh(() => {
    /** @type {any[]} */
    const waiting = []
    return (req, res, log) => {
      log(req.url)
      waiting.push([req, res])
      if (waiting.length < 4) return
      for (const [req, res] of waiting.splice(0)) {
        if (req.url === '/1') res.setHeader('Connection', 'close')
        res.end(req.url)
      }
    }
  }), pipeline(3))
  assert.deepEqual(bodies(text), ['/0', '/1'])
})

test('a response that closes while later ones are pending ends them with close, not finish', async (t) => {
  await compare(t, fresh(() => {
    /** @type {any[]} */
    const waiting = []
    return (req, res, log) => {
      for (const event of ['finish', 'close']) res.on(event, () => log(event, req.url))
      req.on('error', (/** @type {any} */ error) => log('error', req.url, error.code))
      req.on('aborted', () => log('aborted', req.url))
      waiting.push(res)
      if (waiting.length < 4) return
      waiting[1].setHeader('Connection', 'close')
      waiting[0].end('0')
      waiting[1].end('1')
    }
  }), pipeline(3))
})

test('a request that asks to close is the last one served', async (t) => {
  const { text, events } = await compare(t, (req, res, log) => {
    log(req.url)
    res.end(req.url)
  }, [message('GET /0', []) + message('GET /1'), /\/1/, message('GET /2')])
  assert.deepEqual(bodies(text), ['/0', '/1'])
  assert.deepEqual(events, ['/0', '/1'])
})

test('destroying the socket in the middle ends all requests that are pending', async (t) => {
  const { events } = await compare(t, fresh(() => {
    let seen = 0
    return (req, res, log) => {
      res.on('close', () => log('close', req.url, res.destroyed, res.writableFinished))
      req.on('close', () => log('req close', req.url))
      req.on('error', (/** @type {any} */ error) => log('error', req.url, error.code))
      if (++seen === 4) setImmediate(() => req.socket.destroy())
    }
  }), pipeline(3))
  assert.ok(events.length > 0)
})

test('a response that waits for its turn keeps what is written to it', async (t) => {
  const { text } = await compare(t, fresh(() => {
    /** @type {any} */
    let first = null
    return (req, res, log) => {
      if (first === null) {
        first = res
        return
      }
      log(req.url, res.socket === null, req.socket !== null, res.headersSent, res.writableLength)
      res.setHeader('X-Path', req.url)
      log(res.write('early '), res.headersSent, res.writableLength > 0)
      res.write(Buffer.from('bytes '))
      res.end('end', () => log('ended', req.url))
      log(res.writableEnded, res.writableFinished)
      if (req.url === '/last') setImmediate(() => first.end('first'))
    }
  }), pipeline(3))
  assert.equal(text.match(/early \r\n6\r\nbytes \r\n3\r\nend\r\n0/g)?.length, 3)
})

test('what waits behind a slow answer pauses the client and is sent in the end', async (t) => {
  const { text } = await compare(t, fresh(() => {
    /** @type {any} */
    let first = null
    let rest = 0
    return (req, res) => {
      if (req.url === '/0') {
        first = res
        setTimeout(() => first.end('slow'), 50)
        return
      }
      rest++
      res.end(Buffer.alloc(20_000, `${rest % 10}`))
    }
  }), pipeline(100))
  assert.equal(bodies(text).length, 101)
  assert.equal(bodies(text)[0], 'slow')
})

test('a handler that throws away a request half-way does not disturb the ones before it', async (t) => {
  const { text } = await compare(t, fresh(() => {
    /** @type {any} */
    let thrownAway = null
    return (req, res) => {
      if (req.url === '/2') thrownAway = res
      else if (req.url === '/3') thrownAway.destroy()
      else res.end(req.url)
    }
  }), [message('GET /0', []) + message('GET /1', []) + message('GET /2', []), /\/1$/, message('GET /3', [])])
  assert.deepEqual(bodies(text), ['/0', '/1'])
})

for (const count of [1, 40]) {
  test(`a client that leaves behind ${count} unanswered request(s) takes its connection along`, async (t) => {
    const server = http.createServer(() => {})
    const connection = once(server, 'connection')
    const wire = await dial(t, await serve(t, server))
    const asked = once(server, 'request')
    wire.write(get('/').repeat(count))
    const [socket] = await connection
    await asked
    const closed = once(socket, 'close')
    wire.destroy()
    await closed
    assert.equal(await new Promise((resolve) => server.getConnections((error, open) => resolve(error ?? open))), 0)
  })
}
