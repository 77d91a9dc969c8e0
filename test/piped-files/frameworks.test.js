'use strict'

// Goal: the files of unmodified frameworks and static middleware are sent by the I/O threads, with the answers of stock Node.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { piped } = require('../../packages/core-native/lib/http/piped')
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')

const kContent = Buffer.alloc(300_000, 'abcdefghijklmnopqrstuvwxyz')
const { folder } = temporaryFile(kContent)
fs.writeFileSync(path.join(folder, 'page.html'), '<p>a page</p>')

/** @param {any} express @returns {nodeHttp.RequestListener} */
function expressApp (express) {
  const app = express()
  app.get('/sent', (/** @type {any} */ req, /** @type {any} */ res) => res.sendFile(path.join(folder, 'content')))
  app.get('/saved', (/** @type {any} */ req, /** @type {any} */ res) => res.download(path.join(folder, 'page.html')))
  app.use(express.static(folder))
  return app
}

/** @returns {nodeHttp.RequestListener} */
function koaApp () {
  const Koa = require('koa')
  const app = new Koa()
  app.use((/** @type {any} */ ctx) => {
    ctx.type = 'text/html'
    ctx.body = fs.createReadStream(path.join(folder, ctx.path))
  })
  return app.callback()
}

/** @returns {Promise<nodeHttp.RequestListener>} */
async function fastifyApp () {
  const app = require('fastify')()
  app.get('/*', (/** @type {any} */ req, /** @type {any} */ reply) => {
    reply.type('text/html').send(fs.createReadStream(path.join(folder, req.params['*'])))
    return reply
  })
  await app.ready()
  return app.routing
}

/** @type {Record<string, { app: () => nodeHttp.RequestListener | Promise<nodeHttp.RequestListener>, requests: [string, Record<string, string>?][], taken: number }>} */
const kFrameworks = {
  'Express 5': { app: () => expressApp(require('express')), requests: [['/sent'], ['/saved'], ['/content'], ['/page.html'], ['/content', { Range: 'bytes=1000-1999' }], ['/none']], taken: 5 },
  'Express 4': { app: () => expressApp(require('express4')), requests: [['/sent'], ['/saved'], ['/content'], ['/page.html'], ['/content', { Range: 'bytes=-20' }], ['/none']], taken: 5 },
  'serve-static': {
    app: () => {
      const serveStatic = require('serve-static')(folder)
      return (req, res) => serveStatic(/** @type {any} */ (req), /** @type {any} */ (res), () => { res.statusCode = 404; res.end() })
    },
    requests: [['/content'], ['/page.html'], ['/none']],
    taken: 2
  },
  koa: { app: koaApp, requests: [['/content'], ['/page.html']], taken: 2 },
  fastify: { app: fastifyApp, requests: [['/content'], ['/page.html'], ['/none']], taken: 2 }
}

for (const [name, { app, requests, taken }] of Object.entries(kFrameworks)) {
  test(`${name}: files are sent by the I/O threads`, needs('sendsFiles'), async (t) => {
    const listener = await app()
    const stock = nodeHttp.createServer(listener).listen(0, '127.0.0.1')
    t.after(() => stock.close())
    await once(stock, 'listening')
    const port = await serve(t, http.createServer(listener))
    Object.assign(piped, { taken: 0, returned: 0, reason: '' })
    for (const [at, headers] of requests) {
      const [ours, theirs] = await Promise.all([port, /** @type {import('node:net').AddressInfo} */ (stock.address()).port]
        .map((where) => request({ port: where, path: at, headers })))
      const seen = (/** @type {Awaited<ReturnType<typeof request>>} */ { status, headers: { date, ...others }, body }) => [status, others, body]
      assert.deepEqual(seen(ours), seen(theirs), at)
    }
    assert.deepEqual([piped.taken, piped.returned], [taken, 0])
  })
}
