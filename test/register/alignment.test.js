'use strict'

// Goal: an unmodified Express application is served as fast as by an adapter, and neither it nor what stands around it sees
// that its requests were made for it.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const vm = require('node:vm')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const core = require('@httpsys/core-native')
const { request, serve } = require('../helpers/client')

const kRoot = path.resolve(__dirname, '..', '..')
const kFrameworks = { 'Express 5': require('express'), 'Express 4': require('express4') }
// Requests after which the prototypes that a listener gives are taken over (docs/options.md).
const kLearned = 8
const onlyOnEngine = { skip: core.backend === 'node' && 'stock Node constructs all requests alike' }

const prototypesOf = (req, res) => [Object.getPrototypeOf(req), Object.getPrototypeOf(res)]
const kOurs = [core.internals.IncomingMessage.prototype, core.internals.ServerResponse.prototype]

/** The prototypes that requests have when the server emits them, by event. */
function observe (server) {
  const seen = []
  const { emit } = server
  server.emit = function (event, req, res) {
    if (req instanceof http.IncomingMessage) seen.push({ event, prototypes: prototypesOf(req, res), req })
    return Reflect.apply(emit, this, arguments)
  }
  return seen
}

const pathsOf = async (port, paths) => {
  const bodies = []
  for (const path of paths) bodies.push((await request({ port, path })).body)
  return bodies
}

for (const [name, express] of Object.entries(kFrameworks)) {
  const application = () => {
    const app = express()
    app.get('/path', (req, res) => res.send(`${req.path} ${req.query.q ?? ''}`))
    return app
  }

  for (const [way, create] of /** @type {const} */ ([
    ['createServer(app)', (app) => core.createServer(app)],
    ["server.on('request', app)", (app) => core.createServer().on('request', app)],
    ['createServer(options, app)', (app) => core.createServer({ keepAliveTimeout: 1000 }, app)]
  ])) {
    test(`${name}: the first request of ${way} has the application's prototypes`, onlyOnEngine, async (t) => {
      const app = application()
      const server = create(app)
      const seen = observe(server)
      const port = await serve(t, server)
      assert.deepEqual(await pathsOf(port, ['/path?q=1']), ['/path 1'])
      assert.deepEqual(seen[0].prototypes, [app.request, app.response])
    })
  }

  test(`${name}: app.listen() below register makes requests with the application's prototypes`, onlyOnEngine, () => {
    const source = `
      const app = require('${name === 'Express 5' ? 'express' : 'express4'}')()
      app.get('/', (req, res) => res.send('x'))
      const http = require('node:http')
      const server = app.listen(0, '127.0.0.1', () => {
        const { emit } = server
        server.emit = function (event, req) {
          if (event === 'request') console.log(Object.getPrototypeOf(req) === app.request)
          return Reflect.apply(emit, this, arguments)
        }
        http.get({ port: server.address().port, agent: false }, (res) => res.resume().on('end', () => server.close(() => {
          const { IncomingMessage } = require('@httpsys/core-native').internals
          console.log(IncomingMessage.prototype.isPrototypeOf(app.request))
          const { unregister } = require('@httpsys/core-native/register')
          unregister()
          server.on('request', app)
          console.log(IncomingMessage.prototype.isPrototypeOf(app.request), unregister())
        })))
      })`
    const { stdout, stderr } = spawnSync(process.execPath, ['--require', '@httpsys/core-native/register', '-e', source], {
      cwd: kRoot, encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_BACKEND: '' }
    })
    assert.equal(stdout, 'true\ntrue\nfalse true\n', stderr)
  })

  test(`${name}: beside another listener, requests are plain`, onlyOnEngine, async (t) => {
    const app = application()
    const server = core.createServer(app)
    const seen = observe(server)
    const port = await serve(t, server)
    const other = (req) => { req.query = { q: 'mine' } }
    server.prependListener('request', other)
    assert.deepEqual(await pathsOf(port, ['/path']), ['/path mine'])
    server.removeListener('request', other)
    await request({ port, path: '/path' })
    assert.deepEqual(seen.map(({ prototypes }) => prototypes), [kOurs, [app.request, app.response]])
  })

  test(`${name}: behind a function, requests are made with the application's prototypes after ${kLearned} in a row`, onlyOnEngine, async (t) => {
    const app = application()
    const server = core.createServer((req, res) => app(req, res))
    const seen = observe(server)
    const port = await serve(t, server)
    const bodies = await pathsOf(port, Array(kLearned + 2).fill('/path?q=1'))
    assert.deepEqual(new Set(bodies), new Set(['/path 1']))
    assert.deepEqual(seen.map(({ prototypes }) => prototypes[0] === app.request), [...Array(kLearned).fill(false), true, true])
    assert.deepEqual(seen.map(({ prototypes }) => prototypes[1] === app.response), [...Array(kLearned).fill(false), true, true])
  })

  test(`${name}: two applications behind a function never take each other's requests`, onlyOnEngine, async (t) => {
    const [first, second] = [application(), application()]
    first.get('/who', (req, res) => res.send(String(req.app === first && res.app === first)))
    second.get('/who', (req, res) => res.send(String(req.app === second && res.app === second)))
    const server = core.createServer((req, res) => (req.headers['x-app'] === '2' ? second : first)(req, res))
    const seen = observe(server)
    const port = await serve(t, server)
    const ask = async (which, times) => {
      for (let i = 0; i < times; i++) assert.equal((await request({ port, path: '/who', headers: { 'x-app': which } })).body, 'true')
    }
    await ask('1', kLearned - 1)
    await ask('2', 1)
    await ask('1', kLearned - 1)
    assert.ok(seen.every(({ prototypes }) => prototypes[0] === kOurs[0]), 'not in a row')
    await ask('1', 2)
    assert.equal(seen.at(-1).prototypes[0], first.request)
    // The first one that differs ends it.
    await ask('2', 1)
    await ask('1', 2 * kLearned)
    assert.deepEqual(new Set(seen.slice(-kLearned).map(({ prototypes }) => prototypes[0])), new Set([kOurs[0]]))
  })

  test(`${name}: what has a getter alone is assigned around the application and in it as on stock Node, in strict and in sloppy code`, onlyOnEngine, async (t) => {
    const app = express()
    const names = Object.entries(Object.getOwnPropertyDescriptors(express.request)).filter(([, { get }]) => get !== undefined).map(([key]) => key)
    assert.ok(names.includes('ip') && names.includes('fresh'))
    const assign = {
      strict: (req, name) => { req[name] = 'mine' },
      // A script of its own is not strict, as this file is.
      sloppy: vm.runInThisContext('(req, name) => { req[name] = "mine" }')
    }
    const tryAssigning = (place, req) => {
      const { searchParams } = new URL(req.url, 'http://h')
      if (searchParams.get('place') !== place) return 'elsewhere'
      try {
        assign[searchParams.get('how')](req, searchParams.get('name'))
        return 'assigned'
      } catch ({ name, message }) {
        return `${name}: ${message}`
      }
    }
    app.get('/', (req, res) => {
      const name = new URL(req.originalUrl, 'http://h').searchParams.get('name')
      const [outcome, value, own] = [tryAssigning('in', req), req[name], Object.getOwnPropertyDescriptor(req, name)]
      delete req[name] // Express needs its own.
      res.json([outcome, value, own])
    })
    const listener = (req, res) => {
      res.setHeader('x-around', tryAssigning('around', req))
      app(req, res)
    }
    const server = core.createServer(listener)
    const seen = observe(server)
    const port = await serve(t, server)
    const stockPort = await serve(t, http.createServer(listener))
    const ask = async (port, path) => {
      const { body, headers } = await request({ port, path, headers: { host: 'h' } })
      return [headers['x-around'], body]
    }
    await pathsOf(port, Array(kLearned + 1).fill('/?name=ip'))
    for (const name of names) {
      for (const query of ['around&how=strict', 'around&how=sloppy', 'in&how=strict', 'in&how=sloppy', 'nowhere']) {
        const path = `/?name=${name}&place=${query}`
        const answer = await ask(port, path)
        assert.equal(seen.at(-1).prototypes[0], app.request)
        const [outcome, , own] = JSON.parse(answer[1])
        assert.equal(own?.value, query.startsWith('around') ? 'mine' : undefined, path)
        if (query === 'in&how=strict') assert.equal(outcome, `TypeError: Cannot set property ${name} of #<IncomingMessage> which has only a getter`)
        // A server of Node has the same application.
        assert.deepEqual(await ask(stockPort, path), answer, path)
      }
    }
  })

  test(`${name}: unregister() leaves the prototypes as they were, and servers that go on serve as before`, onlyOnEngine, () => {
    const source = `
      const assert = require('node:assert/strict')
      const http = require('node:http')
      const express = require('${name === 'Express 5' ? 'express' : 'express4'}')
      const { register, unregister } = require('@httpsys/core-native/register')
      const app = express().get('/', (req, res) => res.send(req.ip))
      const propertiesOf = ({ request, response }) => [request, response].map((object) => Object.getOwnPropertyDescriptors(object))
      const before = [app, express].map(propertiesOf)
      const serve = (app) => new Promise((resolve) => {
        const server = http.createServer(app).listen(0, '127.0.0.1', () => resolve(server))
      })
      const ask = (server) => new Promise((resolve) => http.get({ port: server.address().port, agent: false }, async (res) => resolve(String(Buffer.concat(await res.toArray())))))
      const main = async () => {
        const servers = [await serve(app), await serve((req, res) => {
          req.ip = 'mine'
          app(req, res)
        })]
        const answers = async () => [await ask(servers[0]), await ask(servers[1])].join()
        for (let i = 0; i < 10; i++) assert.equal(await answers(), '127.0.0.1,mine')
        assert.notDeepEqual([app, express].map(propertiesOf), before)
        assert.equal(unregister(), true)
        assert.deepEqual([app, express].map(propertiesOf), before)
        for (let i = 0; i < 10; i++) assert.equal(await answers(), '127.0.0.1,mine')
        servers[0].on('request', () => {}).removeAllListeners('request').on('request', app)
        assert.equal(await answers(), '127.0.0.1,mine')
        assert.deepEqual([app, express].map(propertiesOf), before)
        register()
        for (let i = 0; i < 10; i++) assert.equal(await answers(), '127.0.0.1,mine')
        for (const server of servers) server.close()
        console.log('ok')
      }
      main()`
    const { stdout, stderr } = spawnSync(process.execPath, ['--require', '@httpsys/core-native/register', '-e', source], {
      cwd: kRoot, encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_BACKEND: '' }
    })
    assert.equal(stdout, 'ok\n', stderr)
  })

  test(`${name}: a getter that is replaced in the application's module is the one that is called`, onlyOnEngine, async (t) => {
    const app = express()
    app.get('/path', (req, res) => res.send(req.hostname))
    const port = await serve(t, core.createServer(app))
    await request({ port, path: '/path' })
    const { request: module } = express
    const original = Object.getOwnPropertyDescriptor(module, 'hostname')
    t.after(() => Object.defineProperty(module, 'hostname', original))
    Object.defineProperty(module, 'hostname', { ...original, get: () => 'replaced' })
    assert.equal((await request({ port, path: '/path' })).body, 'replaced')
  })

  test(`${name}: prototypes that the application replaces later are taken over, too`, onlyOnEngine, async (t) => {
    const app = application()
    const server = core.createServer(app)
    const seen = observe(server)
    const port = await serve(t, server)
    await request({ port, path: '/path' })
    app.request = Object.create(app.request, { extra: { value: 'x', writable: true } })
    app.get('/extra', (req, res) => res.send(req.extra))
    assert.deepEqual(new Set(await pathsOf(port, Array(kLearned + 2).fill('/extra'))), new Set(['x']))
    assert.equal(seen.at(-1).prototypes[0], app.request)
  })

  for (const [event, use] of Object.entries({
    upgrade: (port) => net.connect(port).end('GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    connect: (port) => net.connect(port).end('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'),
    checkContinue: (port) => net.connect(port).end('POST /path HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 0\r\n\r\n'),
    checkExpectation: (port) => net.connect(port).end('POST /path HTTP/1.1\r\nHost: h\r\nExpect: other\r\nContent-Length: 0\r\n\r\n'),
    dropRequest: (port) => net.connect(port).end('GET /path HTTP/1.1\r\nHost: h\r\n\r\nGET /path HTTP/1.1\r\nHost: h\r\n\r\n')
  })) {
    test(`${name}: listeners of '${event}' get a plain request`, onlyOnEngine, async (t) => {
      const server = core.createServer(application())
      if (event === 'dropRequest') server.maxRequestsPerSocket = 1
      const seen = observe(server)
      const happened = new Promise((resolve) => server.on(event, (req, other) => {
        other.destroy()
        resolve(req)
      }))
      use(await serve(t, server)).on('error', () => {})
      const req = await happened
      assert.equal(Object.getPrototypeOf(req), kOurs[0])
      assert.equal(seen.at(-1).event, event)
      req.query = 'assignable'
      assert.equal(req.query, 'assignable')
    })
  }
}

for (const [name, express] of Object.entries(kFrameworks)) {
  test(`${name}: an application that is mounted below leaves the alignment as it is`, onlyOnEngine, async (t) => {
    const [app, inner] = [express(), express()]
    inner.get('/', (req, res) => res.send(String(req.app === inner)))
    app.use('/inner', inner)
    const server = core.createServer(app)
    const seen = observe(server)
    const port = await serve(t, server)
    assert.deepEqual(new Set(await pathsOf(port, Array(2 * kLearned).fill('/inner'))), new Set(['true']))
    assert.ok(seen.every(({ prototypes }) => prototypes[0] === app.request))
  })

  for (const [what, change] of Object.entries({
    'a method that the server calls': (app) => { app.response.on = app.response.writeHead = () => { throw new Error('called too early') } },
    'a getter where the constructor assigns': (app) => {
      Object.defineProperty(app.request, 'method', { get () { return 'GET' } })
      Object.defineProperty(app.response, 'sendDate', { get () { return true } })
    }
  })) {
    test(`${name}: prototypes with ${what} are left alone`, onlyOnEngine, async (t) => {
      const app = express()
      app.get('/', (req, res) => res.end('x'))
      change(app)
      const server = core.createServer(app)
      const seen = observe(server)
      // Express itself needs some of what was replaced.
      const port = await serve(t, server)
      const socket = net.connect(port).on('error', () => {})
      socket.write('GET / HTTP/1.1\r\nConnection: close\r\n\r\n')
      assert.match(String(Buffer.concat(await socket.toArray())), /^HTTP\/1\.1 400 /)
      assert.deepEqual(seen, [])
    })
  }

  test(`${name}: prototypes of which one cannot be changed are left alone`, onlyOnEngine, async (t) => {
    const app = express()
    app.get('/', (req, res) => res.send('x'))
    app.request = Object.create(app.request, { mine: { configurable: true, get () { return 'mine' } } })
    Object.freeze(app.response)
    const before = Object.getOwnPropertyDescriptors(app.request)
    const server = core.createServer(app)
    const seen = observe(server)
    const port = await serve(t, server)
    assert.deepEqual(new Set(await pathsOf(port, Array(kLearned + 2).fill('/'))), new Set(['x']))
    assert.ok(seen.every(({ prototypes }) => prototypes[0] === kOurs[0]))
    assert.deepEqual(Object.getOwnPropertyDescriptors(app.request), before)
  })

  test(`${name}: a function with the application's properties is a function`, onlyOnEngine, async (t) => {
    const app = express()
    app.get('/', (req, res) => res.send(String(req.ip)))
    const server = core.createServer(Object.assign((req, res) => {
      req.ip = 'mine'
      app(req, res)
    }, app))
    const port = await serve(t, server)
    assert.deepEqual(new Set(await pathsOf(port, Array(2 * kLearned).fill('/'))), new Set(['mine']))
  })

  test(`${name}: listeners that are replaced within a request decide about the next one`, onlyOnEngine, async (t) => {
    const [first, second] = [express(), express()]
    second.get('/', (req, res) => res.send('second'))
    const server = core.createServer(first)
    first.get('/', (req, res) => {
      server.removeAllListeners('request')
      server.on('request', second)
      res.send('first')
    })
    const seen = observe(server)
    const port = await serve(t, server)
    assert.deepEqual(await pathsOf(port, ['/', '/', '/']), ['first', 'second', 'second'])
    assert.deepEqual(seen.map(({ prototypes }) => prototypes[0]), [first.request, second.request, second.request])
  })

  test(`${name}: no application is kept alive by what was inserted below it`, onlyOnEngine, () => {
    const source = `
      const http = require('node:http')
      const core = require('@httpsys/core-native')
      const refs = []
      for (let i = 0; i < 20; i++) {
        const app = () => {}
        app.request = Object.create(http.IncomingMessage.prototype, { app: { value: app } })
        app.response = Object.create(http.ServerResponse.prototype)
        core.createServer(app)
        refs.push(new WeakRef(app.request))
      }
      setImmediate(() => setImmediate(() => {
        gc()
        console.log(refs.filter((ref) => ref.deref() !== undefined).length < 20)
      }))`
    const { stdout, stderr } = spawnSync(process.execPath, ['--expose-gc', '-e', source], { cwd: kRoot, encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined } })
    assert.equal(stdout, 'true\n', stderr)
  })
}

test('a listener whose properties throw is a function', onlyOnEngine, async (t) => {
  const server = core.createServer().on('request', new Proxy((req, res) => res.end('x'), { get (target, name) { if (name === 'request') throw new Error('looked at'); return target[name] } }))
  assert.equal((await request(await serve(t, server))).body, 'x')
})

test('removeAllListeners() without arguments removes the listeners of all events', () => {
  const server = core.createServer(() => {})
  server.on('upgrade', () => {})
  server.removeAllListeners()
  assert.deepEqual(server.eventNames(), [])
})

test('a function without a framework gets plain requests', onlyOnEngine, async (t) => {
  const server = core.createServer((req, res) => res.end(req.url))
  const seen = observe(server)
  const port = await serve(t, server)
  await pathsOf(port, Array(kLearned + 4).fill('/x'))
  assert.ok(seen.every(({ prototypes }) => prototypes[0] === kOurs[0] && prototypes[1] === kOurs[1]))
})

for (const [what, enter, isLearned] of /** @type {const} */ ([
  ['as Express does, goes on seeing plain responses', (req, res) => { [req.res, res.locals] = [res, {}] }, true],
  ['without the signs of Express gets plain requests', () => {}, false]
])) {
  test(`a function that changes the prototype of requests alone, ${what}`, onlyOnEngine, async (t) => {
    const request = Object.create(http.IncomingMessage.prototype, { mine: { configurable: true, get () { return `mine ${this.url}` } } })
    const server = core.createServer((req, res) => {
      Object.setPrototypeOf(req, request)
      enter(req, res)
      res.end(req.mine)
    })
    const seen = observe(server)
    const port = await serve(t, server)
    assert.deepEqual(new Set(await pathsOf(port, Array(kLearned + 1).fill('/x'))), new Set(['mine /x']))
    assert.equal(seen.at(-1).prototypes[0], isLearned ? request : kOurs[0])
    assert.equal(seen.at(-1).prototypes[1], kOurs[1])
  })
}

test('classes that the application gives are used for all requests', onlyOnEngine, async (t) => {
  class Mine extends http.IncomingMessage {}
  const app = kFrameworks['Express 5']()
  app.get('/', (req, res) => res.send('x'))
  const server = core.createServer({ IncomingMessage: Mine }, app)
  const seen = observe(server)
  const port = await serve(t, server)
  await request(port)
  assert.equal(seen[0].prototypes[0], Mine.prototype)
})

test('HTTPSYS_ALIGN_AFTER decides after how many requests, and 0 is never', onlyOnEngine, () => {
  const source = `
    const http = require('@httpsys/core-native')
    const app = require('express')()
    app.get('/', (req, res) => res.send('x'))
    const seen = []
    const server = http.createServer((req, res) => {
      seen.push(Object.getPrototypeOf(req) === app.request)
      app(req, res)
    }).listen(0, '127.0.0.1', () => {
      const ask = (times) => http.get({ port: server.address().port, agent: false }, (res) => res.resume().on('end', () => {
        if (times > 1) return ask(times - 1)
        console.log(seen.join())
        server.close()
      }))
      ask(4)
    })`
  const run = (after) => spawnSync(process.execPath, ['-e', source], {
    cwd: kRoot, encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_ALIGN_AFTER: after }
  })
  assert.equal(run('1').stdout.trim(), 'false,true,true,true')
  assert.equal(run('2').stdout.trim(), 'false,false,true,true')
  assert.equal(run('0').stdout.trim(), 'false,false,false,false')
  assert.match(run('often').stderr, /HTTPSYS_ALIGN_AFTER must be[^]*ERR_HTTPSYS_ENVIRONMENT/)
})
