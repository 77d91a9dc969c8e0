'use strict'

// Goal: what an application writes arrives at the client, on every backend: no word here about bytes on the wire.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const nodeHttp = require('node:http')
const { once } = require('node:events')
const { Readable, pipeline } = require('node:stream')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const { silence } = require('../helpers/waiting')

const kMegabyte = 1024 * 1024

/** @param {number} port @param {object} [options] */
async function open (port, options = {}) {
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false, ...options })
  const [res] = await once(client, 'response')
  return res
}

/** @param {AsyncIterable<Buffer>} stream */
async function digestOf (stream) {
  const digest = crypto.createHash('sha1')
  for await (const piece of stream) digest.update(piece)
  return digest.digest('hex')
}

test('status, reason and headers arrive, also several of one name', needs(), async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.setHeader('X-Custom', 'a')
    res.setHeader('Set-Cookie', ['b=1', 'c=2', 'd=3'])
    res.writeHead(418, 'Short and stout', { ETag: '"e"', 'Content-Type': 'text/plain' })
    res.end('tea')
  }))
  const res = await open(port)
  res.resume()
  assert.equal(res.statusCode, 418)
  assert.equal(res.statusMessage, 'Short and stout')
  assert.equal(res.headers['x-custom'], 'a')
  assert.equal(res.headers.etag, '"e"')
  assert.equal(res.headers['content-type'], 'text/plain')
  assert.deepEqual(res.headers['set-cookie'], ['b=1', 'c=2', 'd=3'])
  assert.match(res.headers.date ?? '', / GMT$/)
})

for (const [name, body] of /** @type {[string, string | Buffer][]} */ ([
  ['nothing', ''], ['a string', 'grüße'], ['a Buffer', Buffer.from([0, 1, 254, 255])], ['200 KB', Buffer.alloc(200_000, 'abc')]
])) {
  test(`end() with ${name} has a Content-Length`, needs(), async (t) => {
    const port = await serve(t, http.createServer((req, res) => res.end(body)))
    const res = await request(port)
    assert.equal(res.headers['content-length'], String(Buffer.byteLength(body)))
    assert.ok(Buffer.from(res.body, 'latin1').equals(Buffer.from(body)))
  })
}

test('what is written piece by piece arrives in order and in chunks', needs(), async (t) => {
  const port = await serve(t, http.createServer(async (req, res) => {
    for (let i = 0; i < 20; i++) {
      // Some pieces have left before the next one is written, others have not.
      if (i % 5 === 0) await new Promise((resolve) => res.write(`${i},`, resolve))
      else res.write(`${i},`)
    }
    res.end('end')
  }))
  const { body, headers } = await request(port)
  assert.equal(body, `${Array.from({ length: 20 }, (_, i) => i).join(',')},end`)
  assert.equal(headers['transfer-encoding'], 'chunked')
})

test('a piece leaves before the next one is written', needs(), async (t) => {
  /** @type {() => void} */
  let goOn = () => {}
  const port = await serve(t, http.createServer((req, res) => {
    res.write('first')
    goOn = () => res.end('second')
  }))
  const res = await open(port)
  let text = ''
  res.on('data', (/** @type {Buffer} */ piece) => {
    text += piece
    if (text === 'first') goOn()
  })
  await once(res, 'end')
  assert.equal(text, 'firstsecond')
})

test('a head leaves by itself with flushHeaders()', needs(), async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.setHeader('X-Early', 'yes')
    res.flushHeaders()
    server = res
  }))
  /** @type {any} */
  let server
  const res = await open(port)
  assert.equal(res.headers['x-early'], 'yes')
  server.end('later')
  res.setEncoding('utf8')
  assert.deepEqual(await res.toArray(), ['later'])
})

test('pieces with a given Content-Length are not chunked', needs(), async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.writeHead(200, { 'Content-Length': 10 })
    res.write('01234')
    res.end('56789')
  }))
  const { body, headers } = await request(port)
  assert.equal(body, '0123456789')
  assert.equal(headers['transfer-encoding'], undefined)
})

for (const status of [204, 304]) {
  test(`${status} has no body`, needs(), async (t) => {
    const port = await serve(t, http.createServer((req, res) => {
      res.writeHead(status)
      res.end('left out')
    }))
    const res = await request(port)
    assert.equal(res.status, status)
    assert.equal(res.body, '')
  })
}

test('HEAD is answered with the headers of GET and no body', needs(), async (t) => {
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const port = await serve(t, http.createServer((req, res) => {
    res.setHeader('Content-Length', 5)
    res.end('hello')
  }))
  for (let i = 0; i < 2; i++) {
    const res = await request({ port, agent, method: 'HEAD' })
    assert.equal(res.headers['content-length'], '5')
    assert.equal(res.body, '')
  }
  assert.equal((await request({ port, agent })).body, 'hello')
})

// Any reader is a slow one for a moment, which shows in bodies that are larger than the sockets' buffers.
for (const [megabytes, options] of /** @type {const} */ ([[2, needs()], [20, needs('slowReaders')]])) {
  test(`${megabytes} MB arrive as they were written, through a pipeline`, options, async (t) => {
    const block = crypto.randomBytes(kMegabyte)
    const sent = crypto.createHash('sha1')
    for (let i = 0; i < megabytes; i++) sent.update(block)
    const port = await serve(t, http.createServer((req, res) => {
      pipeline(Readable.from(Array(megabytes).fill(block)), res, () => {})
    }))
    assert.equal(await digestOf(await open(port)), sent.digest('hex'))
  })

  test(`one Buffer of ${megabytes} MB arrives as it is`, options, async (t) => {
    const body = crypto.randomBytes(megabytes * kMegabyte)
    const port = await serve(t, http.createServer((req, res) => res.end(body)))
    assert.equal(await digestOf(await open(port)), crypto.createHash('sha1').update(body).digest('hex'))
  })
}

test('a reader who stops makes write() return false, and drain follows', needs('slowReaders'), async (t) => {
  let drains = 0
  const server = http.createServer((req, res) => {
    let left = 200
    const block = Buffer.alloc(64 * 1024, 'x')
    const go = () => {
      while (left > 0) {
        left--
        if (!res.write(block)) {
          res.once('drain', () => {
            drains++
            go()
          })
          return
        }
      }
      res.end()
    }
    go()
  })
  const port = await serve(t, server)
  const res = await open(port)
  // Nobody reads: the writer fills what lies between.
  await silence(100)
  let bytes = 0
  for await (const piece of res) bytes += piece.length
  assert.equal(bytes, 200 * 64 * 1024)
  assert.ok(drains > 0)
})

test('trailers arrive behind the chunks', needs(), async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.writeHead(200, { Trailer: 'X-Sum' })
    res.write('body')
    res.addTrailers({ 'X-Sum': '42' })
    res.end()
  }))
  const res = await open(port)
  res.resume()
  await once(res, 'end')
  assert.equal(res.trailers['x-sum'], '42')
})

test('a response tells finish and then close, a request end and then close', needs(), async (t) => {
  /** @type {string[]} */
  const events = []
  const server = http.createServer((req, res) => {
    for (const name of ['end', 'close']) req.on(name, () => events.push(`req ${name}`))
    for (const name of ['finish', 'close']) res.on(name, () => events.push(`res ${name}`))
    req.resume()
    req.on('end', () => res.end('x'))
  })
  const port = await serve(t, server)
  await request(port)
  while (events.length < 4) await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(events.filter((event) => event.startsWith('res')), ['res finish', 'res close'])
  assert.deepEqual(events.filter((event) => event.startsWith('req')), ['req end', 'req close'])
})

test('interim responses arrive before the final one', needs('informational'), async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.writeProcessing()
    res.end('done')
  }))
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
  const response = once(client, 'response')
  const [{ statusCode }] = await once(client, 'information')
  assert.equal(statusCode, 102)
  const [res] = await response
  assert.equal(res.statusCode, 200)
  res.resume()
})

test('a response may follow an interim one that the backend leaves out', needs(), async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.writeProcessing()
    res.end('done')
  }))
  assert.equal((await request(port)).body, 'done')
})

test('destroy() in the middle of a response is an error for the client', needs('aborts'), async (t) => {
  /** @type {any[]} */
  const answers = []
  const port = await serve(t, http.createServer((req, res) => {
    res.writeHead(200, { 'Content-Length': 1000 })
    res.write('part')
    answers.push(res)
  }))
  const req = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
  const [res] = await once(req, 'response')
  // A backend that resets the connection tells the request of that, too, and would take the head away with it if it
  // had not arrived.
  req.on('error', () => {})
  answers[0].destroy()
  await assert.rejects(digestOf(res), { code: 'ECONNRESET' })
})

test('a connection that upgrades carries bytes in both directions', needs('upgrades'), async (t) => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  const port = await serve(t, server)
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false, headers: { Connection: 'Upgrade', Upgrade: 'echo' } })
  const [, socket] = await once(client, 'upgrade')
  socket.end('hello')
  socket.setEncoding('utf8')
  assert.deepEqual(await socket.toArray(), ['hello'])
})
