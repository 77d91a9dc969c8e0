'use strict'

// Goal: the classes are Node's as far as anyone can tell: instanceof, calls without new, subclasses,
// prototypes swapped per request, methods patched on objects and on prototypes.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const nodeHttp = require('node:http')
const net = require('node:net')
const { EventEmitter } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')

test('a server is an http.Server, a net.Server and an EventEmitter', () => {
  const server = http.createServer()
  for (const Class of [nodeHttp.Server, net.Server, EventEmitter, http.Server]) assert.ok(server instanceof Class)
  assert.equal(server.constructor.name, 'Server')
  assert.equal(server.constructor, http.Server)
})

test('Server may be called without new', async (t) => {
  const server = /** @type {any} */ (http.Server)((/** @type {any} */ req, /** @type {any} */ res) => res.end('called'))
  assert.ok(server instanceof nodeHttp.Server)
  assert.equal((await request(await serve(t, server))).body, 'called')
})

test('Server may be a superclass, of classes and in the old way', async (t) => {
  class Modern extends http.Server {
    greet () { return 'modern' }
  }
  const modern = new Modern((req, res) => res.end(modern.greet()))
  assert.ok(modern instanceof nodeHttp.Server)
  assert.equal((await request(await serve(t, modern))).body, 'modern')

  /** @this {any} @param {any} listener */
  function Old (listener) {
    Reflect.apply(/** @type {any} */ (http.Server), this, [listener])
  }
  Object.setPrototypeOf(Old.prototype, http.Server.prototype)
  const old = new /** @type {any} */ (Old)((/** @type {any} */ req, /** @type {any} */ res) => res.end('old'))
  assert.equal((await request(await serve(t, old))).body, 'old')
})

test('a subclass may override emit', async (t) => {
  class Counting extends http.Server {
    requests = 0
    /** @param {any} event @param {...any} args */
    emit (event, ...args) {
      if (event === 'request') this.requests++
      return super.emit(event, ...args)
    }
  }
  const server = new Counting((req, res) => res.end('x'))
  const port = await serve(t, server)
  await request(port)
  await request(port)
  assert.equal(server.requests, 2)
})

test('requests and responses are instances of Node\'s classes', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.end(JSON.stringify([
      req instanceof nodeHttp.IncomingMessage, res instanceof nodeHttp.ServerResponse, res instanceof nodeHttp.OutgoingMessage,
      req.constructor.name, res.constructor.name, res.req === req
    ]))
  }))
  assert.deepEqual(JSON.parse((await request(port)).body), [true, true, true, 'IncomingMessage', 'ServerResponse', true])
})

test('the constructor of requests, responses and sockets is the class that programs know', async (t) => {
  // undici destroys a request that it forwards only after having compared it.
  const port = await serve(t, http.createServer((req, res) => {
    const { constructor } = Object.getPrototypeOf(req)
    res.end(JSON.stringify([constructor === nodeHttp.IncomingMessage, res.constructor === nodeHttp.ServerResponse, req.socket.constructor === net.Socket]))
  }))
  assert.deepEqual(JSON.parse((await request(port)).body), [true, true, true])
})

test('the exported classes are node:http\'s own', () => {
  for (const name of /** @type {const} */ (['IncomingMessage', 'ServerResponse', 'OutgoingMessage', 'Agent', 'ClientRequest', 'METHODS', 'STATUS_CODES'])) {
    assert.equal(http[name], nodeHttp[name])
  }
})

test('IncomingMessage and ServerResponse of the options are what the handler gets', async (t) => {
  class MyRequest extends nodeHttp.IncomingMessage {
    get shout () { return String(this.url).toUpperCase() }
  }
  class MyResponse extends nodeHttp.ServerResponse {
    /** @param {any} value */
    json (value) {
      this.setHeader('Content-Type', 'application/json')
      this.end(JSON.stringify(value))
    }
  }
  const port = await serve(t, http.createServer({
    IncomingMessage: MyRequest, ServerResponse: /** @type {any} */ (MyResponse)
  }, (/** @type {any} */ req, /** @type {any} */ res) => {
    res.json([req.shout, req instanceof MyRequest, res instanceof MyResponse])
  }))
  const { headers, body } = await request({ port, path: '/quiet' })
  assert.deepEqual(JSON.parse(body), ['/QUIET', true, true])
  assert.equal(headers['content-type'], 'application/json')
})

// An application replaces the prototypes at one of these moments; everything must work afterwards.
const kMoments = /** @type {Record<string, (req: any, res: any, swap: () => void) => void>} */ ({
  'before anything is set': (req, res, swap) => {
    swap()
    res.setHeader('X-A', '1')
    res.send('done')
  },
  'after headers are set': (req, res, swap) => {
    res.setHeader('X-A', '1')
    res.statusCode = 200
    swap()
    res.send('done')
  },
  'after writeHead': (req, res, swap) => {
    res.writeHead(200, { 'X-A': '1' })
    swap()
    res.send('done')
  },
  'after a first write': (req, res, swap) => {
    res.setHeader('X-A', '1')
    res.write('do')
    swap()
    res.send('ne')
  },
  'in a later tick': (req, res, swap) => {
    res.setHeader('X-A', '1')
    setImmediate(() => {
      swap()
      res.send('done')
    })
  },
  'twice, as a mounted application does': (req, res, swap) => {
    const [ofRequest, ofResponse] = [Object.getPrototypeOf(req), Object.getPrototypeOf(res)]
    swap()
    res.setHeader('X-A', '1')
    Object.setPrototypeOf(req, ofRequest)
    Object.setPrototypeOf(res, ofResponse)
    swap()
    res.send('done')
  },
  'after the request was read': (req, res, swap) => {
    req.resume().on('end', () => {
      swap()
      res.setHeader('X-A', '1')
      res.send('done')
    })
  },
  'after the response ended': (req, res, swap) => {
    res.setHeader('X-A', '1')
    res.end('done')
    swap()
    assert.equal(res.writableEnded, true)
    assert.equal(res.headersSent, true)
  }
})

for (const [moment, handle] of Object.entries(kMoments)) {
  test(`prototypes of req and res may be replaced ${moment}`, async (t) => {
    const requestPrototype = Object.create(nodeHttp.IncomingMessage.prototype, { protocol: { get: () => 'http' } })
    const responsePrototype = Object.create(nodeHttp.ServerResponse.prototype)
    responsePrototype.send = function (/** @type {string} */ text) { this.end(text) }
    const server = http.createServer((req, res) => {
      handle(req, res, () => {
        Object.setPrototypeOf(req, requestPrototype)
        Object.setPrototypeOf(res, responsePrototype)
        assert.equal(/** @type {any} */ (req).protocol, 'http')
        assert.ok(res instanceof nodeHttp.ServerResponse)
      })
    })
    const port = await serve(t, server)
    const wire = await dial(t, port)
    for (let i = 1; i <= 3; i++) {
      wire.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody${get()}`)
      await wire.until(/X-A: 1\r\n/, 2 * i)
      await wire.until(/(done|ne\r\n0\r\n\r\n)/, 2 * i)
    }
  })
}

test('writeHead patched on a response is called for implicit headers', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    const { writeHead } = res
    res.writeHead = /** @type {any} */ function (/** @type {any[]} */ ...args) {
      // @ts-ignore
      this.setHeader('X-Late', 'yes')
      return Reflect.apply(writeHead, this, args)
    }
    if (req.url === '/write') res.write('a')
    if (req.url === '/flush') res.flushHeaders()
    res.end('b')
  }))
  for (const path of ['/', '/write', '/flush']) {
    assert.equal((await request({ port, path })).headers['x-late'], 'yes', path)
  }
})

test('end and write patched on a response see what the application writes', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    const { write, end } = res
    res.write = /** @type {any} */ (/** @type {any} */ chunk) => Reflect.apply(write, res, [String(chunk).toUpperCase()])
    res.end = /** @type {any} */ (/** @type {any} */ chunk) => Reflect.apply(end, res, [`${chunk}!`])
    res.write('loud ')
    res.end('end')
  }))
  assert.equal((await request(port)).body, 'LOUD end!')
})

test('methods patched on the global prototypes are used', async (t) => {
  const { prototype } = nodeHttp.ServerResponse
  const requestPrototype = /** @type {any} */ (nodeHttp.IncomingMessage.prototype)
  const { writeHead } = prototype
  prototype.writeHead = function (/** @type {any[]} */ ...args) {
    this.setHeader('X-Patched', 'globally')
    return Reflect.apply(writeHead, this, args)
  }
  Object.assign(prototype, { answer (/** @type {any} */ text) { /** @type {any} */ (this).end(text) } })
  requestPrototype.path = function () { return this.url }
  t.after(() => {
    prototype.writeHead = writeHead
    delete (/** @type {any} */ (prototype).answer)
    delete requestPrototype.path
  })
  const port = await serve(t, http.createServer((/** @type {any} */ req, /** @type {any} */ res) => res.answer(req.path())))
  const { headers, body } = await request({ port, path: '/x' })
  assert.equal(headers['x-patched'], 'globally')
  assert.equal(body, '/x')
})

test('write and end patched on ServerResponse.prototype are used', async (t) => {
  /** @type {any} */
  const prototype = nodeHttp.ServerResponse.prototype
  const calls = /** @type {string[]} */ ([])
  for (const name of ['write', 'end']) {
    const method = prototype[name]
    prototype[name] = function (/** @type {any[]} */ ...args) {
      calls.push(name)
      return Reflect.apply(method, this, args)
    }
    t.after(() => { delete prototype[name] })
  }
  const port = await serve(t, http.createServer((req, res) => {
    res.write('a')
    res.end('b')
  }))
  assert.equal((await request(port)).body, 'ab')
  assert.deepEqual(calls, ['write', 'end'])
})

test('a response made by hand for a request answers through assignSocket', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    assert.ok(req.socket)
    res.detachSocket(req.socket)
    const mine = new http.ServerResponse(req)
    mine.shouldKeepAlive = false
    mine.assignSocket(req.socket)
    mine.on('finish', () => req.socket.destroySoon())
    mine.end('mine')
  }))
  assert.equal((await request(port)).body, 'mine')
})

test('ServerResponse and IncomingMessage may be called without new', () => {
  const req = Object.create(http.IncomingMessage.prototype)
  Reflect.apply(/** @type {any} */ (http.IncomingMessage), req, [null])
  const res = Object.create(http.ServerResponse.prototype)
  Reflect.apply(/** @type {any} */ (http.ServerResponse), res, [req])
  assert.ok(res instanceof nodeHttp.ServerResponse)
  assert.equal(res.statusCode, 200)
})

test('createServer checks its options as node:http does', () => {
  for (const [options, code] of /** @type {[any, string][]} */ ([
    [{ insecureHTTPParser: 'yes' }, 'ERR_INVALID_ARG_TYPE'],
    [{ maxHeaderSize: 'big' }, 'ERR_INVALID_ARG_TYPE'],
    [{ requestTimeout: -1 }, 'ERR_OUT_OF_RANGE'],
    [{ headersTimeout: 2000, requestTimeout: 1000 }, 'ERR_OUT_OF_RANGE'],
    [{ joinDuplicateHeaders: 1 }, 'ERR_INVALID_ARG_TYPE']
  ])) {
    assert.throws(() => http.createServer(options), { code }, JSON.stringify(options))
  }
})
