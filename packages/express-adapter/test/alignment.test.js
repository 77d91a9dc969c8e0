'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { test } = require('node:test')
const core = require('@httpsys/core-native')
const { createAdapter } = require('..')
const { fetchText, start } = require('./support')

const frameworks = { 'Express 5': require('express'), 'Express 4': require('express4') }
const { internals } = core
const onlyOnEngine = { skip: core.backend === 'node' && 'stock Node has no prototypes of its own to insert' }

const prototypesOf = (req, res) => [Object.getPrototypeOf(req), Object.getPrototypeOf(res)]
const parents = ({ request, response }) => [Object.getPrototypeOf(request), Object.getPrototypeOf(response)]
const stockPrototypes = [http.IncomingMessage.prototype, http.ServerResponse.prototype]
const ourPrototypes = [internals.IncomingMessage.prototype, internals.ServerResponse.prototype]

/** Records the prototypes that requests and responses have when the server emits 'request'. */
function observe (server) {
  const seen = []
  const { emit } = server
  server.emit = function (event, req, res) {
    if (event === 'request') seen.push(prototypesOf(req, res))
    return Reflect.apply(emit, this, arguments)
  }
  return seen
}

for (const [name, express] of Object.entries(frameworks)) {
  test(`${name}: requests and responses are made with the application's own prototypes`, async (t) => {
    const app = express()
    app.get('/', (req, res) => {
      assert.deepEqual(prototypesOf(req, res), [app.request, app.response])
      assert.ok(req instanceof http.IncomingMessage && res instanceof http.ServerResponse)
      res.send('ok')
    })
    const adapter = createAdapter(app)
    const seen = observe(adapter.server)
    const port = await start(t, adapter)
    assert.equal((await fetchText(port)).text, 'ok')
    assert.equal(seen[0][0], app.request)
    assert.equal(seen[0][1], app.response)
  })

  test(`${name}: the engine's prototypes stand under the module's, until the last adapter is uninstalled`, onlyOnEngine, () => {
    assert.deepEqual(parents(express), stockPrototypes)
    const [first, second] = [createAdapter(express()), createAdapter(express())]
    assert.deepEqual(parents(express), ourPrototypes)
    first.uninstall()
    first.uninstall()
    assert.deepEqual(parents(express), ourPrototypes)
    second.uninstall()
    assert.deepEqual(parents(express), stockPrototypes)
  })

  test(`${name}: an uninstalled adapter goes on serving and leaves no trace`, async (t) => {
    const app = express()
    const before = [Reflect.ownKeys(app.request), Reflect.ownKeys(app.response), Reflect.ownKeys(express.request),
      Reflect.ownKeys(express.response), Reflect.ownKeys(app)]
    app.get('/', (req, res) => res.send('ok'))
    const adapter = createAdapter(app)
    const seen = observe(adapter.server)
    const port = await start(t, adapter)
    await fetchText(port)
    adapter.uninstall()
    assert.equal((await fetchText(port)).text, 'ok')
    assert.deepEqual(seen[1], ourPrototypes)
    assert.deepEqual(parents(express), stockPrototypes)
    const { router, _router, ...rest } = Object.fromEntries(Reflect.ownKeys(app).map((key) => [key, true]))
    assert.deepEqual([Reflect.ownKeys(app.request), Reflect.ownKeys(app.response), Reflect.ownKeys(express.request),
      Reflect.ownKeys(express.response), Reflect.ownKeys(app).filter((key) => key in rest)],
    [...before.slice(0, 4), before[4].filter((key) => key in rest)])
  })

  test(`${name}: a server on plain node:http serves the same application beside the adapter`, async (t) => {
    const app = express()
    app.use(express.json())
    app.all('/', (req, res) => {
      res.write('part ')
      res.end(`${req.method} ${JSON.stringify(req.body ?? {})}`)
    })
    app.get('/big', (req, res) => res.send('x'.repeat(300_000)))
    const port = await start(t, createAdapter(app))
    const stock = http.createServer(app).listen(0, '127.0.0.1')
    await once(stock, 'listening')
    t.after(() => stock.close())
    for (const each of [stock.address().port, port]) {
      const options = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":1}' }
      assert.equal((await fetchText(each, '/', options)).text, 'part POST {"n":1}')
      assert.equal((await fetchText(each, '/big')).text.length, 300_000)
      assert.equal((await fetchText(each, '/', { method: 'HEAD' })).text, '')
    }
  })

  test(`${name}: mounted applications and routers see their own prototypes`, async (t) => {
    const app = express()
    const sub = express()
    const router = express.Router()
    sub.get('/inner', (req, res, next) => {
      assert.deepEqual(prototypesOf(req, res), [sub.request, sub.response])
      assert.equal(req.app, sub)
      if (req.query.pass) return next()
      res.send(`${req.baseUrl} ${req.path}`)
    })
    router.get('/x', (req, res) => res.json({ base: req.baseUrl, app: req.app === app }))
    app.use('/sub', sub)
    app.use('/router', router)
    app.use((req, res) => {
      assert.deepEqual(prototypesOf(req, res), [app.request, app.response])
      res.status(404).send('outer')
    })
    const port = await start(t, createAdapter(app))
    assert.equal((await fetchText(port, '/sub/inner')).text, '/sub /inner')
    assert.equal((await fetchText(port, '/sub/inner?pass=1')).text, 'outer')
    assert.equal((await fetchText(port, '/router/x')).text, '{"base":"/router","app":true}')
  })

  test(`${name}: extensions of app.request and app.response are seen, whenever they are made`, async (t) => {
    const app = express()
    app.get('/', (req, res) => res.shout(req.greeting))
    const port = await start(t, createAdapter(app))
    Object.defineProperty(app.request, 'greeting', { get () { return `hi ${this.url}` } })
    app.response.shout = function (text) { return this.send(text.toUpperCase()) }
    assert.equal((await fetchText(port)).text, 'HI /')
  })

  test(`${name}: a second 'request' listener gets plain objects, and alignment comes back without it`, async (t) => {
    const app = express()
    app.use((req, res) => res.send('app'))
    const adapter = createAdapter(app)
    const seen = observe(adapter.server)
    const port = await start(t, adapter)
    const other = (req) => { req.query = { mine: true } }
    adapter.server.prependListener('request', other)
    assert.equal((await fetchText(port)).text, 'app')
    adapter.server.removeListener('request', other)
    await fetchText(port)
    assert.deepEqual(seen[0], ourPrototypes)
    assert.deepEqual(seen[1], [app.request, app.response])
  })

  test(`${name}: a listener that took the application's place gets plain objects`, async (t) => {
    const app = express()
    app.use((req, res) => res.send('app'))
    const adapter = createAdapter(app)
    const seen = observe(adapter.server)
    const port = await start(t, adapter)
    const [stolen] = adapter.server.listeners('request')
    adapter.server.removeAllListeners('request')
    adapter.server.on('request', (req, res) => req.url === '/mine' ? res.end('mine') : stolen(req, res))
    assert.equal((await fetchText(port, '/mine')).text, 'mine')
    assert.equal((await fetchText(port, '/')).text, 'app')
    assert.deepEqual(seen, [ourPrototypes, ourPrototypes])
  })
}

test('Express 4 and Express 5 serve side by side, and inside each other', async (t) => {
  const [four, five] = [frameworks['Express 4'](), frameworks['Express 5']()]
  const inner = frameworks['Express 4']()
  inner.get('/', (req, res) => res.json({ host: req.hostname, four: Object.getPrototypeOf(req) === inner.request }))
  four.get('/', (req, res) => res.send('four'))
  five.get('/', (req, res) => res.send('five'))
  five.use('/inner', inner)
  const ports = [await start(t, createAdapter(four)), await start(t, createAdapter(five))]
  assert.equal((await fetchText(ports[0])).text, 'four')
  assert.equal((await fetchText(ports[1])).text, 'five')
  assert.equal((await fetchText(ports[1], '/inner')).text, '{"host":"127.0.0.1","four":true}')
})

test('an application that was mounted after createAdapter() is installed where it is now', onlyOnEngine, async (t) => {
  const express = frameworks['Express 5']
  const inner = frameworks['Express 4']()
  inner.get('/', (req, res) => res.send('inner'))
  const adapter = createAdapter(inner)
  express().use(inner)
  const port = await start(t, adapter)
  assert.deepEqual(parents(express), ourPrototypes)
  assert.deepEqual(parents(frameworks['Express 4']), stockPrototypes)
  assert.equal((await fetchText(port)).text, 'inner')
})

test('upgrade listeners get a plain request', async (t) => {
  const app = frameworks['Express 5']()
  const adapter = createAdapter(app)
  const port = await start(t, adapter)
  const upgraded = once(adapter.server, 'upgrade')
  const socket = net.connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  const [req, duplex] = await upgraded
  duplex.destroy()
  socket.destroy()
  assert.equal(Object.getPrototypeOf(req), internals.IncomingMessage.prototype)
  req.query = 'assignable'
  assert.equal(req.query, 'assignable')
})

test('checkContinue listeners may pass the request on to the application', async (t) => {
  const app = frameworks['Express 5']()
  app.post('/', (req, res) => req.on('data', (chunk) => res.write(chunk)).on('end', () => res.end('.')))
  const adapter = createAdapter(app)
  adapter.server.on('checkContinue', (req, res) => {
    res.writeContinue()
    adapter.server.emit('request', req, res)
  })
  const port = await start(t, adapter)
  const req = http.request({ host: '127.0.0.1', port, method: 'POST', headers: { expect: '100-continue' }, agent: false })
  req.flushHeaders()
  await once(req, 'continue')
  req.end('body')
  const [res] = await once(req, 'response')
  const chunks = await res.toArray()
  assert.equal(Buffer.concat(chunks).toString(), 'body.')
})

test('classes given as options are used as they are', async (t) => {
  class Mine extends http.IncomingMessage {
    get mine () { return true }
  }
  const express = frameworks['Express 5']
  const app = express()
  const adapter = createAdapter(app, { IncomingMessage: Mine })
  const seen = observe(adapter.server)
  const port = await start(t, adapter)
  await fetchText(port)
  assert.equal(seen[0][0], Mine.prototype)
  assert.deepEqual(parents(express), stockPrototypes)
})

test("a wrapper around http.Server.prototype.emit sees the adapter's requests", async (t) => {
  const { emit } = http.Server.prototype
  const seen = []
  http.Server.prototype.emit = function (event) {
    seen.push(event)
    return Reflect.apply(emit, this, arguments)
  }
  t.after(() => { http.Server.prototype.emit = emit })
  const app = frameworks['Express 5']()
  const port = await start(t, createAdapter(app))
  await fetchText(port)
  assert.ok(seen.includes('request'))
})
