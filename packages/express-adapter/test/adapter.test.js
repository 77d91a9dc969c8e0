'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const connect = require('connect')
const fastify = require('fastify')
const Koa = require('koa')
const supertest = require('supertest')
const { createAdapter } = require('..')
const { freePort } = require('../../../test/helpers/free-port')
const { fetchText, start } = require('./support')

const frameworks = { 'Express 5': require('express'), 'Express 4': require('express4') }

for (const [name, express] of Object.entries(frameworks)) {
  test(`${name} serves text, JSON, parameters and errors`, async (t) => {
    const app = express()
    app.get('/text', (req, res) => res.send('hello'))
    app.post('/echo', express.json(), (req, res) => res.status(201).json(req.body))
    app.get('/items/:id', (req, res) => res.json({ id: req.params.id, q: req.query.q, ip: req.ip }))
    app.get('/fail', () => { throw Object.assign(new Error('no'), { status: 418 }) })
    const port = await start(t, createAdapter(app))

    const text = await fetchText(port, '/text')
    assert.equal(text.text, 'hello')
    assert.equal(text.headers['x-powered-by'], 'Express')
    const echo = await fetchText(port, '/echo', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":[1,2]}'
    })
    assert.deepEqual([echo.status, echo.text], [201, '{"a":[1,2]}'])
    assert.deepEqual(JSON.parse((await fetchText(port, '/items/7?q=x')).text), { id: '7', q: 'x', ip: '127.0.0.1' })
    assert.equal((await fetchText(port, '/fail')).status, 418)
    assert.equal((await fetchText(port, '/nowhere')).status, 404)
  })

  test(`${name} answers as it does on node:http, header for header`, async (t) => {
    const app = express()
    app.get('/', (req, res) => res.cookie('a', 'b').set('X-Case', 'Kept').type('txt').send('ü'.repeat(100)))
    app.get('/redirect', (req, res) => res.redirect('/'))
    const port = await start(t, createAdapter(app))
    const stock = http.createServer(app).listen(0, '127.0.0.1')
    await once(stock, 'listening')
    t.after(() => stock.close())
    for (const [target, headers] of [['/', {}], ['/redirect', {}], ['/', { 'accept-encoding': 'gzip' }], ['/missing', {}]]) {
      const [ours, theirs] = [await fetchText(port, target, { headers }), await fetchText(stock.address().port, target, { headers })]
      const withoutDate = ({ rawHeaders }) => rawHeaders.filter((value, i) => rawHeaders[i & ~1] !== 'Date')
      assert.deepEqual([ours.status, withoutDate(ours), ours.text], [theirs.status, withoutDate(theirs), theirs.text])
    }
  })

  test(`${name}: supertest works on the server`, async (t) => {
    const app = express()
    app.use(express.urlencoded({ extended: false }))
    app.post('/form', (req, res) => res.json(req.body))
    const adapter = createAdapter(app)
    t.after(() => adapter.uninstall())
    await supertest(adapter.server).post('/form').type('form').send({ a: '1' }).expect(200, { a: '1' })
    await supertest(adapter.server).get('/none').expect(404)
  })
}

test('connect serves its middleware', async (t) => {
  const app = connect()
  app.use('/a', (req, res) => res.end(`a ${req.url} ${req.originalUrl}`))
  app.use((req, res) => { throw new Error('no') })
  app.use((error, req, res, next) => { res.statusCode = 500; res.end(error.message) })
  const port = await start(t, createAdapter(app))
  assert.equal((await fetchText(port, '/a/b')).text, 'a /b /a/b')
  assert.deepEqual((({ status, text }) => [status, text])(await fetchText(port, '/c')), [500, 'no'])
})

test('a plain function serves', async (t) => {
  const port = await start(t, createAdapter((req, res) => res.end(req.method)))
  assert.equal((await fetchText(port, '/', { method: 'PUT' })).text, 'PUT')
})

test('an adapter listens on a URL prefix and calls back', async (t) => {
  const port = await freePort()
  const adapter = createAdapter((req, res) => res.end(req.url))
  const server = await new Promise((resolve) => {
    const listening = adapter.listen(`http://127.0.0.1:${port}/shop/`, () => resolve(listening))
  })
  t.after(() => adapter.close())
  assert.equal(server, adapter.server)
  assert.ok(server instanceof http.Server)
  assert.equal(server.address().port, port)
  assert.equal((await fetchText(port, '/shop/x')).text, '/shop/x')
})

test('several prefixes share one server', async (t) => {
  const [first, second] = [await freePort(), await freePort()]
  const adapter = createAdapter((req, res) => res.end('ok'))
  adapter.listen([`http://127.0.0.1:${first}/`, `http://127.0.0.1:${second}/`], { backlog: 10 })
  await once(adapter.server, 'listening')
  t.after(() => { adapter.server.closeAllConnections(); adapter.close() })
  // The further sockets of stock Node listen a moment later.
  if (require('@httpsys/core-native').backend === 'node') await new Promise((resolve) => setImmediate(resolve))
  assert.equal((await fetchText(first)).text, 'ok')
  assert.equal((await fetchText(second)).text, 'ok')
})

test('a port or Unix path may be followed by options', async (t) => {
  const adapter = createAdapter((req, res) => res.end('ok'))
  adapter.listen(0, { host: '127.0.0.1', backlog: 5 })
  await once(adapter.server, 'listening')
  assert.equal(adapter.server.address().address, '127.0.0.1')
  await new Promise((resolve) => adapter.close(resolve))

  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  adapter.listen(path.join(folder, 's'), { backlog: 5 })
  await once(adapter.server, 'listening')
  assert.equal(adapter.server.address(), path.join(folder, 's'))
  await new Promise((resolve) => adapter.close(resolve))
})

test('close() calls back with the error of a server that does not listen', async () => {
  const adapter = createAdapter(() => {})
  const error = await new Promise((resolve) => adapter.close(resolve))
  assert.equal(error.code, 'ERR_SERVER_NOT_RUNNING')
})

test('what is no application is refused', () => {
  for (const app of [undefined, null, {}, 'app']) assert.throws(() => createAdapter(app), { code: 'ERR_INVALID_ARG_TYPE' })
})

test('an object that is no function is named, with what to do with it', (t) => {
  const instance = fastify()
  t.after(() => instance.close())
  const cases = /** @type {[any, RegExp][]} */ ([
    [undefined, /Received undefined; pass an Express or connect application/],
    [null, /Received null; pass/],
    [{}, /Received an object; pass/],
    [instance, /Received a Fastify instance: .*serverFactory.*app\.server\.listen\(prefix\)/],
    [http.createServer(), /Received a server: .*@httpsys\/core-native/],
    [new Koa(), /pass app\.callback\(\)/],
    [{ init () {}, getHttpAdapter () {} }, /Received a Nest application: .*getInstance\(\)/],
  ])
  for (const [app, message] of cases) assert.throws(() => createAdapter(app), message)
})

test('a misspelt option is refused, an unknown one passes to Node', () => {
  assert.throws(() => createAdapter(() => {}, { keepaliveTimeout: 1 }),
    { code: 'ERR_HTTPSYS_OPTION', message: 'createAdapter() has no option "keepaliveTimeout"; did you mean "keepAliveTimeout"?' })
  assert.equal(createAdapter(() => {}, { keepAliveTimeout: 1234, novelty: 1 }).server.keepAliveTimeout, 1234)
})

test('ES modules import it by name', async () => {
  const module = await import('@httpsys/express-adapter')
  assert.equal(module.createAdapter, createAdapter)
  assert.equal(module.default.createAdapter, createAdapter)
})
