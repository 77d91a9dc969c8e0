'use strict'

// Goal: req.maxRequestBodySize limits the body of one request, whichever way the application reads it and whatever the
// client sends, and its server decides how far it can be raised.

const assert = require('node:assert/strict')
const nodeHttp = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const { PassThrough } = require('node:stream')
const { describe, it } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const { http, backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { dial, get, request, serve } = require('../helpers/client')
const { withoutOwnFields } = require('../helpers/engine-errors')
const { until } = require('../helpers/waiting')

const kSkip = backend === 'node' && 'stock Node has no maxRequestBodySize'
const kOptions = { skip: kSkip, timeout: 30_000 }
const kRefused = 'HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\n\r\n'

/** @typedef {import('node:test').TestContext} Context */
/** @typedef {{ got: string, error: any, isAborted: boolean, hasEnded: boolean, req: any }} Seen what an application has seen of a request */

/** @param {string} body @param {string} [target] */
const announced = (body, target = '/') => `POST ${target} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const kChunkedHead = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
/** @param {string} text */
const chunk = (text) => `${text.length.toString(16)}\r\n${text}\r\n`

/** Ways to read a request. Each resolves to its text. @type {Record<string, (req: any, seen: Seen) => void>} */
const kWays = {
  "'data'": (req, seen) => req.on('data', (/** @type {Buffer} */ piece) => { seen.got += piece }),
  "'readable'": (req, seen) => req.on('readable', () => {
    for (let piece; (piece = req.read()) !== null;) seen.got += piece
  }),
  'read() in a later turn': (req, seen) => {
    setTimeout(() => {
      for (let piece; (piece = req.read()) !== null;) seen.got += piece
      req.on('data', (/** @type {Buffer} */ piece) => { seen.got += piece })
    }, 50)
  },
  'an iterator': async (req, seen) => {
    try {
      for await (const piece of req) seen.got += piece
    } catch {}
  },
  'pipe()': (req, seen) => req.pipe(new PassThrough()).on('data', (/** @type {Buffer} */ piece) => { seen.got += piece }),
  'resume() after a pause': (req, seen) => {
    req.pause()
    req.on('data', (/** @type {Buffer} */ piece) => { seen.got += piece })
    setTimeout(() => req.resume(), 50)
  }
}

/** @param {any} req @param {Seen[]} all @param {(req: any, seen: Seen) => void} [read] @returns {Seen} */
function watch (req, all, read = kWays["'data'"]) {
  /** @type {Seen} */
  const seen = { got: '', error: null, isAborted: false, hasEnded: false, req }
  all.push(seen)
  req.on('error', (/** @type {any} */ error) => { seen.error = error })
  req.on('aborted', () => { seen.isAborted = true })
  req.on('end', () => { seen.hasEnded = true })
  read(req, seen)
  return seen
}

/**
 * A server whose handler sets a limit, reads the body and answers with it.
 *
 * @param {Context} t @param {number | undefined} limit undefined: none is set
 * @param {{ options?: any, read?: (req: any, seen: Seen) => void }} [how]
 */
async function serveLimited (t, limit, { options = {}, read } = {}) {
  /** @type {Seen[]} */
  const all = []
  const server = http.createServer(options, (req, res) => {
    if (limit !== undefined) Object.assign(req, { maxRequestBodySize: limit })
    const seen = watch(req, all, read)
    req.on('end', () => res.end(`taken ${seen.got}`))
  })
  return { all, server, port: await serve(t, server) }
}

/** @param {Seen} seen of a refused request @param {string} got */
async function assertRefused (seen, got) {
  await until(() => seen.error !== null, 'the request has failed')
  assert.deepEqual([seen.error.message, seen.error.code, seen.isAborted, seen.hasEnded, seen.req.complete, seen.req.destroyed], ['aborted', 'ECONNRESET', true, false, false, true])
  assert.equal(seen.got, got)
}

describe('A lower limit of a request', kOptions, () => {
  it('takes a body of that length, announced or in chunks', async (t) => {
    const { port } = await serveLimited(t, 10)
    const wire = await dial(t, port)
    wire.write(announced('0123456789') + kChunkedHead + chunk('01234') + chunk('56789') + '0\r\n\r\n')
    await wire.until('taken 0123456789', 2)
  })

  for (const [name, read] of Object.entries(kWays)) {
    it(`refuses a longer body that is announced when it is read by ${name}, and gives nothing of it`, async (t) => {
      const { all, port } = await serveLimited(t, 10, { read })
      const wire = await dial(t, port)
      wire.write(announced('01234567890'))
      assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
      await assertRefused(all[0], '')
    })

    it(`refuses a chunk of one byte behind the limit when it is read by ${name}`, async (t) => {
      const { all, port } = await serveLimited(t, 10, { read })
      const wire = await dial(t, port)
      wire.write(kChunkedHead + chunk('0123456789'))
      await until(() => all[0]?.got.length === 10, 'ten bytes are read')
      wire.write(chunk('x') + '0\r\n\r\n')
      assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
      await assertRefused(all[0], '0123456789')
    })

    it(`gives nothing of chunks that are together longer when they are read by ${name} after all have come`, async (t) => {
      const { all, port } = await serveLimited(t, 10, {
        read: (req, seen) => {
          setTimeout(read, 100, req, seen)
        }
      })
      const wire = await dial(t, port)
      wire.write(kChunkedHead + chunk('0123456789') + chunk('x') + '0\r\n\r\n')
      assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
      await assertRefused(all[0], '')
    })
  }

  it('refuses a client that announces a longer body and never sends it', async (t) => {
    const { all, port } = await serveLimited(t, 10)
    const wire = await dial(t, port)
    wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n')
    assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
    await assertRefused(all[0], '')
  })

  it('refuses a body whose first chunk alone is longer, with or before its end', async (t) => {
    for (const end of ['', '0\r\n\r\n']) {
      const { all, port } = await serveLimited(t, 10)
      const wire = await dial(t, port)
      wire.write(kChunkedHead + chunk('01234567890') + end)
      assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
      await assertRefused(all[0], '')
    }
  })

  it('is 413 for a client that sends half a megabyte before it reads', async (t) => {
    const { port } = await serveLimited(t, 10)
    const wire = await dial(t, port)
    wire.write(announced('x'.repeat(500_000)))
    assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
  })

  it('bounds what is read from a client that goes on sending', async (t) => {
    const server = http.createServer((req) => {
      Object.assign(req, { maxRequestBodySize: 1000 })
      req.on('error', () => {}).resume()
    })
    server.on('clientError', () => {}) // Leaves the connection open.
    /** @type {any[]} */
    const sockets = []
    server.on('connection', (socket) => sockets.push(socket))
    const wire = await dial(t, await serve(t, server))
    wire.write(kChunkedHead)
    const failed = once(server, 'clientError')
    for (let i = 0; i < 500; i++) wire.write(chunk('x'.repeat(16_000)))
    await failed
    await until(() => wire.socket.writableLength === 0, 'the I/O thread has thrown away what came')
    assert.ok(sockets[0].bytesRead < 1_000_000, `${sockets[0].bytesRead} bytes reached JavaScript`)
  })

  it('leaves an answer alone whose handler does not read the body', async (t) => {
    const server = http.createServer((req, res) => {
      Object.assign(req, { maxRequestBodySize: 10 })
      res.end('unread')
    })
    const wire = await dial(t, await serve(t, server))
    wire.write(announced('x'.repeat(100)) + kChunkedHead + chunk('y'.repeat(100)) + '0\r\n\r\n' + get())
    await wire.until('unread', 3)
    assert.equal(wire.closed, false)
  })

  it('may be set while bytes of the body wait to be read', async (t) => {
    for (const [limit, answer] of /** @type {[number, RegExp][]} */ ([[10, /^HTTP\/1.1 200 [^]*taken 0123456789$/], [9, /413/]])) {
      /** @type {Seen[]} */
      const all = []
      const server = http.createServer(async (req, res) => {
        await until(() => req.readableLength === 10, 'the body has come')
        await sleep(20)
        Object.assign(req, { maxRequestBodySize: limit })
        const seen = watch(req, all)
        req.on('end', () => res.end(`taken ${seen.got}`))
      })
      const wire = await dial(t, await serve(t, server))
      wire.write(kChunkedHead + chunk('0123456789') + '0\r\n\r\n')
      assert.match(await wire.until(/taken \d+|413/), answer)
      if (limit === 9) await assertRefused(all[0], '')
    }
  })

  it('is one of each request of a connection', async (t) => {
    const server = http.createServer((req, res) => {
      if (req.url === '/5') Object.assign(req, { maxRequestBodySize: 5 })
      const { maxRequestBodySize } = /** @type {any} */ (req)
      req.resume().on('end', () => res.end(`limit ${maxRequestBodySize};`))
    })
    const wire = await dial(t, await serve(t, server))
    wire.write(announced('12345', '/5') + announced('x'.repeat(100)) + announced('12345', '/5') + announced('x'.repeat(100)))
    await wire.until('limit ', 4)
    assert.deepEqual([...wire.text.matchAll(/limit (\d+);/g)].map(([, limit]) => Number(limit)), [5, 0, 5, 0])
    wire.write(announced('123456', '/5'))
    assert.ok(withoutOwnFields(await wire.untilClosed()).endsWith(kRefused))
  })

  it('is refused behind the answers to earlier requests, and before later requests are begun', async (t) => {
    const targets = /** @type {string[]} */ ([])
    /** @type {Seen[]} */
    const all = []
    const server = http.createServer((req, res) => {
      targets.push(String(req.url))
      if (req.method === 'GET') return setTimeout(() => res.end('first'), 100)
      Object.assign(req, { maxRequestBodySize: 10 })
      watch(req, all)
    })
    const wire = await dial(t, await serve(t, server))
    wire.write(get('/1') + announced('01234567890', '/2') + get('/3') + get('/4'))
    const text = await wire.untilClosed()
    assert.match(text, /^HTTP\/1\.1 200 [^]*\r\n\r\nfirst/)
    assert.equal(withoutOwnFields(text.slice(text.indexOf('first'))), `first${kRefused}`)
    assert.deepEqual(targets, ['/1', '/2'])
    await assertRefused(all[0], '')
  })

  it('is refused behind the answers to earlier requests when the I/O thread has refused the body, too', async (t) => {
    /** @type {any} */
    let wire = null
    const server = http.createServer({ maxRequestBodySize: 10, maxRequestBodySizeCeiling: 100 }, (req, res) => {
      if (req.method === 'GET') return setTimeout(() => res.end('first'), 300)
      req.on('error', () => {}).resume()
      // Both refusals are made while this thread stands still.
      wire.write(chunk('x'.repeat(200)))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    })
    wire = await dial(t, await serve(t, server))
    wire.write(get() + kChunkedHead + chunk('01234567890'))
    const text = await wire.untilClosed()
    assert.match(text, /^HTTP\/1\.1 200 /)
    assert.equal(withoutOwnFields(text.slice(text.indexOf('first'))), `first${kRefused}`)
  })

  it("is told to 'clientError' outside of the context of the request", async (t) => {
    const storage = new AsyncLocalStorage()
    const server = http.createServer((req) => storage.run('the request', () => {
      Object.assign(req, { maxRequestBodySize: 10 })
      req.on('error', () => {}).on('readable', () => req.read())
    }))
    const failed = new Promise((resolve) => server.on('clientError', (_error, socket) => {
      resolve(storage.getStore())
      socket.destroy()
    }))
    const wire = await dial(t, await serve(t, server))
    wire.write(announced('01234567890'))
    assert.equal(await failed, undefined)
  })

  it('ends the connection without 413 if the response has begun', async (t) => {
    /** @type {Seen[]} */
    const all = []
    const server = http.createServer((req, res) => {
      Object.assign(req, { maxRequestBodySize: 10 })
      res.write('begun')
      watch(req, all)
    })
    const wire = await dial(t, await serve(t, server))
    wire.write(kChunkedHead + chunk('0123456789'))
    await wire.until('begun')
    wire.write(chunk('x'))
    assert.match(await wire.untilClosed(), /^HTTP\/1\.1 200 [^]*begun\r\n$/)
    await assertRefused(all[0], '0123456789')
  })

  it('ends the connection if the response has left, and fails the request that is still read', async (t) => {
    /** @type {Seen[]} */
    const all = []
    const server = http.createServer((req, res) => {
      Object.assign(req, { maxRequestBodySize: 10 })
      watch(req, all)
      res.end('early')
    })
    const wire = await dial(t, await serve(t, server))
    wire.write(kChunkedHead + chunk('0123456789'))
    await wire.until('early')
    wire.write(chunk('x'))
    assert.match(await wire.untilClosed(), /^HTTP\/1\.1 200 [^]*\r\n\r\nearly$/)
    await until(() => all[0].error !== null, 'the request has failed')
    assert.equal(all[0].got, '0123456789')
    assert.equal(all[0].hasEnded, false)
  })

  it("is ERR_HTTPSYS_BODY_TOO_LARGE for 'clientError', which answers", async (t) => {
    const { server, port } = await serveLimited(t, 10)
    const failed = once(server, 'clientError')
    const wire = await dial(t, port)
    wire.write(announced('01234567890'))
    const [error, socket] = await failed
    assert.equal(error.code, 'ERR_HTTPSYS_BODY_TOO_LARGE')
    assert.match(error.message, /req\.maxRequestBodySize/)
    socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nmine')
    await wire.until('mine')
  })

  it('works over TLS', async (t) => {
    const { https } = /** @type {any} */ (http)
    const server = https.createServer(certificate('a.test'), (/** @type {any} */ req, /** @type {any} */ res) => {
      req.maxRequestBodySize = 10
      req.on('error', () => {}).resume().on('end', () => res.end('taken'))
    })
    const port = await serve(t, server)
    const status = (/** @type {number} */ bytes) => new Promise((resolve, reject) => {
      const client = require('node:https').request({ port, host: '127.0.0.1', rejectUnauthorized: false, method: 'POST', agent: false }, (/** @type {any} */ res) => resolve(res.resume().statusCode))
      client.on('error', reject).end('x'.repeat(bytes))
    })
    assert.deepEqual([await status(10), await status(11)], [200, 413])
  })

  it('works for requests of the application\'s own class', async (t) => {
    class Own extends nodeHttp.IncomingMessage {}
    const { all, port } = await serveLimited(t, 10, { options: { IncomingMessage: Own } })
    const wire = await dial(t, port)
    wire.write(announced('01234567890'))
    assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
    await assertRefused(all[0], '')
    assert.ok(all[0].req instanceof Own)
  })
})

describe('With Expect: 100-continue', kOptions, () => {
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n'

  it('a body that is announced too long is refused when it is read', async (t) => {
    const { port } = await serveLimited(t, 10)
    const wire = await dial(t, port)
    wire.write(head)
    assert.equal(withoutOwnFields(await wire.untilClosed()), `HTTP/1.1 100 Continue\r\n\r\n${kRefused}`)
  })

  it("a handler of 'checkContinue' refuses it before the client sends it", async (t) => {
    const { server, port } = await serveLimited(t, undefined)
    server.on('checkContinue', (req) => {
      Object.assign(req, { maxRequestBodySize: 10 })
      req.on('error', () => {}).resume()
    })
    const wire = await dial(t, port)
    wire.write(head)
    assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
  })
})

describe('req.maxRequestBodySize', kOptions, () => {
  /** @param {Context} t @param {any} options @param {(req: any) => any} ask @param {string} [body] */
  const answer = async (t, options, ask, body = 'abc') => {
    const server = http.createServer(options, async (req, res) => {
      try {
        res.end(JSON.stringify(await ask(req)))
      } catch (error) {
        const { name, code, message } = /** @type {any} */ (error)
        res.end(JSON.stringify({ name, code, message }))
      }
    })
    return JSON.parse((await request({ port: await serve(t, server), method: 'POST' }, body)).body)
  }

  it('is the limit of the server until it is set', async (t) => {
    assert.equal(await answer(t, {}, (req) => req.maxRequestBodySize), 0)
    assert.equal(await answer(t, { maxRequestBodySize: 100 }, (req) => req.maxRequestBodySize), 100)
    assert.equal(await answer(t, { maxRequestBodySize: 100, maxRequestBodySizeCeiling: 1000 }, (req) => req.maxRequestBodySize), 100)
    const setEach = (/** @type {number[]} */ ...values) => (/** @type {any} */ req) => values.map((value) => {
      req.maxRequestBodySize = value
      return req.maxRequestBodySize
    })
    assert.deepEqual(await answer(t, { maxRequestBodySize: 100 }, setEach(50, 100, 70)), [50, 100, 70])
    assert.deepEqual(await answer(t, {}, setEach(50, 0, 70)), [50, 0, 70])
  })

  it('leaves nothing on a request that does not set it', async (t) => {
    const server = http.createServer({ maxRequestBodySize: 100 }, (req, res) => {
      const found = () => Reflect.ownKeys(req).map(String).filter((key) => /maxRequestBodySize|bodyLimit|^read$/.test(key))
      req.resume().on('end', () => res.end(JSON.stringify(found())))
    })
    assert.equal((await request({ port: await serve(t, server), method: 'POST' }, 'abc')).body, '[]')
  })

  for (const [name, read] of /** @type {[string, (req: any) => any][]} */ ([
    ['read()', async (req) => { await until(() => req.readableLength === 3, 'the body has come'); req.read(1) }],
    ["a listener of 'data'", (req) => { req.on('data', () => {}) }],
    ['resume()', (req) => { req.resume() }],
    ['an iterator', async (req) => { for await (const piece of req) if (piece.length !== 3) throw new Error('more') }],
    ["'readable'", async (req) => { await once(req, 'readable') }],
    ['setEncoding()', async (req) => { await until(() => req.readableLength === 3, 'the body has come'); req.setEncoding('utf8') }]
  ])) {
    it(`cannot be set after ${name} has begun to read`, async (t) => {
      for (const options of [{}, { maxRequestBodySize: 100, maxRequestBodySizeCeiling: 200 }]) {
        const { name, code, message } = await answer(t, options, async (req) => {
          await read(req)
          req.maxRequestBodySize = 5
        })
        assert.deepEqual([name, code], ['Error', 'ERR_HTTPSYS_BODY_BEGUN'])
        assert.match(message, /begun to read .* before middleware/)
      }
    })
  }

  it('can be set on a request without a body, and has no effect', async (t) => {
    const server = http.createServer(/** @type {any} */ ({ optimizeEmptyRequests: true }), (req, res) => {
      Object.assign(req, { maxRequestBodySize: 1 })
      res.end(String(/** @type {any} */ (req).maxRequestBodySize))
    })
    const port = await serve(t, server)
    assert.equal((await request(port)).body, '1')
  })

  it('refuses other values than whole numbers of bytes', async (t) => {
    for (const value of ['10', null, true, 10n, {}, undefined]) {
      const { name, code, message } = await answer(t, {}, (req) => { req.maxRequestBodySize = value })
      assert.deepEqual([name, code], ['TypeError', 'ERR_INVALID_ARG_TYPE'])
      assert.match(message, /^The "req\.maxRequestBodySize" property must be of type number\. Received /)
    }
    for (const value of [-1, 1.5, NaN, Infinity, 2 ** 53]) {
      const { name, code } = await answer(t, {}, (req) => { req.maxRequestBodySize = value })
      assert.deepEqual([name, code], ['RangeError', 'ERR_OUT_OF_RANGE'])
    }
  })

  it('cannot be more than the server allows, nor be without a limit there', async (t) => {
    for (const value of [101, 0]) {
      const { code, message } = await answer(t, { maxRequestBodySize: 100 }, (req) => { req.maxRequestBodySize = value })
      assert.equal(code, 'ERR_OUT_OF_RANGE')
      assert.match(message, new RegExp(`>= 1 && <= 100, .*"maxRequestBodySizeCeiling" allows more\\. Received ${value}$`))
    }
    for (const value of [1001, 0]) {
      const { code, message } = await answer(t, { maxRequestBodySize: 100, maxRequestBodySizeCeiling: 1000 }, (req) => { req.maxRequestBodySize = value })
      assert.equal(code, 'ERR_OUT_OF_RANGE')
      assert.match(message, new RegExp(`>= 1 && <= 1000, .*"maxRequestBodySizeCeiling" says\\. Received ${value}$`))
    }
  })

  it('is nothing of responses that a client gets, nor of requests that other servers get', async (t) => {
    const stock = nodeHttp.createServer((req, res) => {
      const before = /** @type {any} */ (req).maxRequestBodySize
      Object.assign(req, { maxRequestBodySize: 'anything' })
      res.end(JSON.stringify([before === undefined, /** @type {any} */ (req).maxRequestBodySize]))
    })
    const port = await serve(t, stock)
    const [res] = await once(nodeHttp.get({ port, host: '127.0.0.1', agent: false }), 'response')
    assert.equal(res.maxRequestBodySize, undefined)
    res.maxRequestBodySize = 1
    assert.equal(res.maxRequestBodySize, 1)
    let text = ''
    for await (const piece of res) text += piece
    assert.deepEqual(JSON.parse(text), [true, 'anything'])
  })

  it('is refused where Node\'s own code serves a server of ours', async (t) => {
    const { code, message } = await answer(t, { insecureHTTPParser: true }, (req) => { req.maxRequestBodySize = 10 })
    assert.equal(code, 'ERR_HTTPSYS_CAPABILITY')
    assert.match(message, /^req\.maxRequestBodySize needs /)
    assert.equal(await answer(t, { insecureHTTPParser: true }, (req) => req.maxRequestBodySize), 0)
  })
})

describe('maxRequestBodySizeCeiling', kOptions, () => {
  const options = { maxRequestBodySize: 10, maxRequestBodySizeCeiling: 100 }

  it('lets a handler raise the limit of a request up to it', async (t) => {
    const { port } = await serveLimited(t, 100, { options })
    const wire = await dial(t, port)
    const body = 'x'.repeat(100)
    wire.write(announced(body) + kChunkedHead + chunk(body) + '0\r\n\r\n')
    await wire.until(`taken ${body}`, 2)
  })

  it('lets a handler raise it when a part of the body has come already', async (t) => {
    /** @type {Seen[]} */
    const all = []
    const server = http.createServer(options, async (req, res) => {
      await until(() => req.readableLength === 50, 'half of the body has come')
      Object.assign(req, { maxRequestBodySize: 60 })
      const seen = watch(req, all)
      req.on('end', () => res.end(`taken ${seen.got.length}`))
    })
    const wire = await dial(t, await serve(t, server))
    wire.write(kChunkedHead + chunk('x'.repeat(50)))
    await until(() => all.length === 1, 'the limit is raised')
    wire.write(chunk('x'.repeat(10)) + '0\r\n\r\n')
    await wire.until('taken 60')
  })

  it('refuses longer bodies of requests whose handler does not raise the limit', async (t) => {
    const { all, port } = await serveLimited(t, undefined, { options })
    const short = await dial(t, port)
    short.write(announced('0123456789') + kChunkedHead + chunk('0123456789') + '0\r\n\r\n')
    await short.until('taken 0123456789', 2)
    for (const bytes of [announced('01234567890'), kChunkedHead + chunk('01234567890')]) {
      const wire = await dial(t, port)
      wire.write(bytes)
      assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
      await assertRefused(/** @type {Seen} */ (all.pop()), '')
    }
  })

  it('is enforced before JavaScript, whatever the handler does', async (t) => {
    let begun = 0
    const { server, port } = await serveLimited(t, 100, { options })
    server.on('request', () => begun++)
    const wire = await dial(t, port)
    wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 101\r\n\r\n')
    assert.equal(withoutOwnFields(await wire.untilClosed()), kRefused)
    assert.equal(begun, 0)
    const chunked = await dial(t, port)
    chunked.write(kChunkedHead + chunk('x'.repeat(100)) + chunk('y'))
    assert.equal(withoutOwnFields(await chunked.untilClosed()), kRefused)
  })

  it('leaves a request alone whose handler does not read the body', async (t) => {
    const server = http.createServer(options, (_req, res) => { res.end('unread') })
    const wire = await dial(t, await serve(t, server))
    wire.write(announced('x'.repeat(100)) + get())
    await wire.until('unread', 2)
  })

  it('must not be below maxRequestBodySize, nor be without it', () => {
    const create = (/** @type {any} */ options) => () => http.createServer(options)
    assert.throws(create({ maxRequestBodySize: 10, maxRequestBodySizeCeiling: 9 }), { name: 'RangeError', code: 'ERR_OUT_OF_RANGE', message: /maxRequestBodySizeCeiling.*>= "options\.maxRequestBodySize", which is 10\. Received 9$/ })
    assert.throws(create({ maxRequestBodySizeCeiling: 9 }), { code: 'ERR_HTTPSYS_OPTION', message: /without "maxRequestBodySize"/ })
    assert.throws(create({ maxRequestBodySize: 0, maxRequestBodySizeCeiling: 9 }), { code: 'ERR_HTTPSYS_OPTION' })
    assert.throws(create({ maxRequestBodySize: 10, maxRequestBodySizeCeiling: '20' }), { code: 'ERR_INVALID_ARG_TYPE' })
    assert.throws(create({ maxRequestBodySize: 10, maxRequestBodySizeCeiling: -1 }), { code: 'ERR_OUT_OF_RANGE' })
    create({ maxRequestBodySize: 10, maxRequestBodySizeCeiling: 10 })()
    create({ maxRequestBodySize: 10, maxRequestBodySizeCeiling: 0 })()
  })
})

describe('maxRequestBodySize of a server', kOptions, () => {
  const kTooLong = kChunkedHead + chunk('x'.repeat(20)) + chunk('')
  /** @param {string} text */
  const answersIn = (text) => text.split('HTTP/1.1 ').slice(1).map((answer) => `${answer.slice(0, 3)} ${answer.split('\r\n\r\n')[1]}`)

  for (const [what, message] of Object.entries({ 'known before': 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 20\r\n\r\n', 'seen while it comes': kTooLong })) {
    it(`sends 413 behind the answers to earlier requests, the length ${what}`, async (t) => {
      const server = http.createServer({ maxRequestBodySize: 10 }, (req, res) => {
        if (req.url === '/slow') setTimeout(() => res.end('slow'), 50)
      })
      const wire = await dial(t, await serve(t, server))
      wire.write(get('/slow') + message)
      assert.deepEqual(answersIn(await wire.untilClosed()), ['200 slow', '413 '])
    })
  }

  it('sends no second answer to a request that is answered', async (t) => {
    const server = http.createServer({ maxRequestBodySize: 10 }, (req, res) => {
      if (req.url === '/slow') setTimeout(() => res.end('slow'), 50)
      else res.end('early')
    })
    const port = await serve(t, server)
    for (const [sent, wanted] of /** @type {[string[], string[]][]} */ ([
      [[kTooLong + get()], ['200 early']],
      [[kChunkedHead, chunk('x'.repeat(20))], ['200 early']],
      [[get('/slow') + kTooLong], ['200 slow', '200 early']]
    ])) {
      const wire = await dial(t, port)
      for (const piece of sent) {
        wire.write(piece)
        await sleep(20)
      }
      assert.deepEqual(answersIn(await wire.untilClosed()), wanted)
    }
  })
})
