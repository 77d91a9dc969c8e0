'use strict'

// Goal: an application hears of a file that cannot be read on as on stock Node, and its client gets the bytes before the error, and no whole
// message. Method: files whose reads fail with EIO between open and end (FUSE), piped by unmodified frameworks and by hand, on stock Node and
// on the engine. HTTP/2 is compared with HTTP/1.1 of stock Node, whose own HTTP/2 has other responses.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const path = require('node:path')
const { once } = require('node:events')
const { pipeline } = require('node:stream')
const { backend } = require('../helpers/backend')
const { piped } = require('../../packages/core-native/lib/http/piped')
const { kNoFuse, mountFuse } = require('../helpers/fuse')
const { localhost } = require('../helpers/tls')
const { until } = require('../helpers/waiting')
const { kProtocols } = require('../files/kit')

const options = { skip: backend !== 'engine' ? 'the engine takes files over' : kNoFuse }

const kFiles = { late: { size: 3_000_000, failsAt: 1_500_000 }, soon: { size: 3_000_000, failsAt: 100_000 }, good: { size: 300_000 } }
const mounted = options.skip === false ? mountFuse(kFiles) : Promise.resolve('')

/** @typedef {(...words: unknown[]) => void} Log */
/** @typedef {(folder: string, log: Log) => nodeHttp.RequestListener | Promise<nodeHttp.RequestListener>} MakeApp */

/** @param {any} error of a file, or why a response has ended before its end */
const show = (error) => error === undefined || error === null ? 'none' : `${error.code} ${error.syscall ?? ''} ${error.errno ?? ''} ${error.syscall === 'read' ? error.message : ''}`

/** @param {any} express @returns {MakeApp} */
const sendsWith = (express) => (folder, log) => {
  const app = express()
  app.get('/sent/:name', (/** @type {any} */ req, /** @type {any} */ res) => res.sendFile(path.join(folder, req.params.name), (/** @type {any} */ error) => {
    log('callback', show(error))
    if (error) res.destroy()
  }))
  return app
}

/** @param {any} express @returns {MakeApp} */
const servesWith = (express) => (folder, log) => {
  const app = express()
  app.use('/sent', express.static(folder))
  app.use((/** @type {any} */ error, /** @type {any} */ req, /** @type {any} */ res, /** @type {any} */ next) => {
    log('error', show(error))
    if (res.headersSent) res.destroy()
    else next(error)
  })
  return app
}

/** How an application answers with a file, and what it logs of it. @type {Record<string, MakeApp>} */
const kApps = {
  'pipe()': (folder, log) => (req, res) => {
    const source = fs.createReadStream(path.join(folder, path.basename(String(req.url))))
    for (const event of ['end', 'close']) source.on(event, () => log('source', event))
    source.on('error', (error) => {
      log('source', show(error), res.headersSent)
      res.destroy()
    })
    source.pipe(res)
  },
  'pipe() with a length': (folder, log) => (req, res) => {
    const file = path.join(folder, path.basename(String(req.url)))
    res.setHeader('Content-Length', fs.statSync(file).size)
    const source = fs.createReadStream(file)
    for (const event of ['end', 'close']) source.on(event, () => log('source', event))
    source.on('error', (error) => {
      log('source', show(error), res.headersSent)
      res.destroy()
    })
    source.pipe(res)
  },
  'pipeline()': (folder, log) => (req, res) => {
    const source = fs.createReadStream(path.join(folder, path.basename(String(req.url))))
    source.on('close', () => log('source', 'close'))
    pipeline(source, res, (error) => log('callback', show(error)))
  },
  'sendFile() of Express 5': sendsWith(require('express')),
  'sendFile() of Express 4': sendsWith(require('express4')),
  'express.static of Express 5': servesWith(require('express')),
  'express.static of Express 4': servesWith(require('express4')),
  koa: (folder, log) => {
    const Koa = require('koa')
    const app = new Koa()
    app.on('error', (error, ctx) => {
      log('error', show(error))
      ctx.res.destroy()
    })
    app.use((/** @type {any} */ ctx) => {
      ctx.type = 'text/plain'
      ctx.body = fs.createReadStream(path.join(folder, path.basename(ctx.path)))
    })
    return app.callback()
  },
  fastify: async (folder, log) => {
    const app = require('fastify')()
    app.get('/sent/:name', (/** @type {any} */ req, /** @type {any} */ reply) => {
      const source = fs.createReadStream(path.join(folder, req.params.name))
      source.on('error', (error) => log('source', show(error)))
      source.on('close', () => log('source', 'close'))
      reply.type('text/plain').send(source)
      return reply
    })
    await app.ready()
    return /** @type {any} */ (app).routing
  }
}

/** @param {number} size */
const pattern = (size) => Buffer.from(Uint8Array.from({ length: size }, (_, i) => i % 251))

/**
 * Asks one server for one file.
 *
 * @param {import('../files/kit').Get} get
 * @param {keyof typeof kFiles} name
 * @param {{ words: string[], closed: number }} told by the application
 */
async function ask (get, name, told) {
  told.words = []
  told.closed = 0
  const { status, headers, body, isWhole } = await get(`/sent/${name}`)
  await until(() => told.closed === 1, 'the response is closed')
  // What belongs to the stream comes in a later turn than what belongs to the response.
  let words = -1
  await until(async () => {
    const last = words
    await new Promise((resolve) => setTimeout(resolve, 30))
    words = told.words.length
    return words === last
  }, 'nothing more is logged')
  const { failsAt = Infinity } = /** @type {{ failsAt?: number }} */ (kFiles[name])
  assert.ok(body.length <= failsAt && body.equals(pattern(body.length)), `${name}: ${body.length} bytes of the file`)
  return { status, length: headers['content-length'], type: headers['content-type'], isWhole, told: told.words }
}

/** @param {import('node:test').TestContext} t @param {boolean} isSecure @param {nodeHttp.RequestListener} handler @param {nodeHttp.RequestListener} observe @returns {Promise<import('../files/kit').Get>} */
async function stockServer (t, isSecure, handler, observe) {
  const server = isSecure ? nodeHttps.createServer(localhost(), handler) : nodeHttp.createServer(handler)
  server.prependListener('request', observe)
  server.listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const { request } = isSecure ? nodeHttps : nodeHttp
  return (at) => new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path: at, servername: 'localhost', ca: isSecure ? localhost().cert : undefined }, (res) => {
      const pieces = /** @type {Buffer[]} */ ([])
      res.on('data', (piece) => pieces.push(piece)).on('error', () => {})
      res.on('close', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(pieces), isWhole: res.complete }))
    }).on('error', reject).end()
  })
}

for (const [protocol, start] of Object.entries(kProtocols)) {
  for (const [name, makeApp] of Object.entries(kApps)) {
    test(`${protocol}: ${name}: a file that cannot be read on ends as on stock Node`, options, async (t) => {
      const folder = await mounted
      const told = { words: /** @type {string[]} */ ([]), closed: 0 }
      const observe = (/** @type {any} */ _req, /** @type {any} */ res) => {
        for (const event of ['finish', 'error']) res.on(event, () => told.words.push(`response ${event}`))
        res.on('close', () => {
          told.closed++
          told.words.push(`response close ${res.writableFinished}`)
        })
      }
      const app = () => makeApp(folder, (...words) => told.words.push(words.join(' ')))
      const stock = await stockServer(t, protocol.includes('TLS'), await app(), observe)
      // The application itself is the listener: behind a function, the responses of Express would be those of Node.
      const { server, get } = await start(t, await app())
      server.prependListener('request', observe)
      for (const file of /** @type {const} */ (['late', 'soon', 'good', 'late'])) {
        const expected = await ask(stock, file, told)
        Object.assign(piped, { taken: 0, returned: 0, reason: '' })
        const actual = await ask(get, file, told)
        assert.deepEqual({ ...actual, told: actual.told.toSorted() }, { ...expected, told: expected.told.toSorted() }, file)
        assert.equal(piped.taken, 1, `${file} is read by the lane: ${piped.reason}`)
        assert.equal(actual.isWhole, file === 'good')
        if (file !== 'good') assert.ok(name.startsWith('express.static') || actual.told.some((words) => words.includes('EIO')), actual.told.join())
      }
    })
  }
}
