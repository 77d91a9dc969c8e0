'use strict'

// Goal: a program that says nothing but node:http is served by the engine once register is preloaded,
// and nothing is left of that after unregister().

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')

const kRoot = path.resolve(__dirname, '..', '..')
const kRegister = '@httpsys/core-native/register'
const kWorker = path.join(kRoot, 'test', 'fixtures', 'served-by.js')

// What a program does with its server: one request to it, and whether the engine's socket carried it.
const kUse = `
  function use (server, http) {
    server.on('request', (req, res) => {
      res.end(String(Object.getOwnPropertySymbols(req.socket).some((s) => s.description === 'httpsys.lane')))
    })
    server.listen(0, '127.0.0.1', () => {
      http.get({ port: server.address().port, agent: false }, (res) => {
        res.setEncoding('latin1').on('data', (text) => console.log(text)).on('end', () => server.close())
      })
    })
  }`

/**
 * @param {string} source
 * @param {object} [options]
 * @param {string[]} [options.flags]
 * @param {'commonjs' | 'module'} [options.type]
 * @param {NodeJS.ProcessEnv} [options.env]
 */
function runProgram (source, { flags = ['--require', kRegister], type = 'commonjs', env = {} } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, ...type === 'module' ? ['--input-type=module'] : [], '-e', source], {
    cwd: kRoot, encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_BACKEND: '', ...env }, timeout: 60_000
  })
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

const kPrograms = /** @type {const} */ ([
  ['require("node:http").createServer()', 'commonjs', 'const http = require("node:http"); use(http.createServer(), http)'],
  ['require("http").createServer()', 'commonjs', 'const http = require("http"); use(http.createServer(), http)'],
  ['new http.Server()', 'commonjs', 'const http = require("node:http"); use(new http.Server(), http)'],
  ['http.Server() without new', 'commonjs', 'const http = require("node:http"); use(http.Server(), http)'],
  ['a class that extends http.Server', 'commonjs', 'const http = require("node:http"); class Mine extends http.Server {}; use(new Mine(), http)'],
  ['process.getBuiltinModule or require', 'commonjs', 'const http = (process.getBuiltinModule ?? require)("node:http"); use(http.createServer(), http)'],
  ['express app.listen()', 'commonjs', `
    const http = require('node:http'); const app = require('express')()
    app.get('/', (req, res) => res.send(String(Object.getOwnPropertySymbols(req.socket).some((s) => s.description === 'httpsys.lane'))))
    const server = app.listen(0, '127.0.0.1', () => http.get({ port: server.address().port, agent: false }, (res) => {
      res.setEncoding('latin1').on('data', (text) => console.log(text)).on('end', () => server.close())
    }))`],
  ['ws with { port }', 'commonjs', `
    const { WebSocket, WebSocketServer } = require('ws')
    const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => {
      new WebSocket('ws://127.0.0.1:' + wss.address().port).on('message', function (text) { console.log(String(text)); this.close(); wss.close() })
    })
    wss.on('connection', (socket, req) => socket.send(String(Object.getOwnPropertySymbols(req.socket).some((s) => s.description === 'httpsys.lane'))))`],
  ['socket.io with a port', 'commonjs', `
    const { Server } = require('socket.io')
    const io = new Server(0)
    io.on('connection', ({ request }) => {
      console.log(Object.getOwnPropertySymbols(request.socket).some((s) => s.description === 'httpsys.lane'))
      io.close()
    })
    io.httpServer.once('listening', () => {
      require('socket.io-client').io('http://127.0.0.1:' + io.httpServer.address().port, { reconnection: false, transports: ['websocket'] })
    })`],
  ['express-ws without a server', 'commonjs', `
    const app = require('express')()
    require('express-ws')(app)
    app.ws('/', (socket, req) => socket.send(String(Object.getOwnPropertySymbols(req.socket).some((s) => s.description === 'httpsys.lane'))))
    const server = app.listen(0, '127.0.0.1', () => {
      new (require('ws').WebSocket)('ws://127.0.0.1:' + server.address().port).on('message', function (text) { console.log(String(text)); this.close(); server.close() })
    })`],
  ['import { createServer }', 'module', 'import http, { createServer } from "node:http"; use(createServer(), http)'],
  ['import { Server }', 'module', 'import http, { Server } from "node:http"; use(new Server(), http)'],
  ['import http', 'module', 'import http from "http"; use(http.createServer(), http)'],
  ['import * as http', 'module', 'import * as http from "node:http"; use(http.createServer(), http)'],
  ['a worker thread', 'commonjs', `
    const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(kWorker)})`]
])

for (const flag of ['--require', '--import']) {
  for (const [name, type, source] of kPrograms) {
    test(`${flag}: ${name} is served by the engine`, () => {
      assert.equal(runProgram(`${kUse}; ${source}`, { type, flags: [flag, kRegister] }), 'true')
    })
  }
}

test('without register the same program is served by Node', () => {
  assert.equal(runProgram(`${kUse}; const http = require('node:http'); use(http.createServer(), http)`, { flags: [] }), 'false')
})

test('HTTPSYS_BACKEND=node keeps stock Node, which then knows URL prefixes', () => {
  const env = { HTTPSYS_BACKEND: 'node' }
  assert.equal(runProgram(`${kUse}; const http = require('node:http'); use(http.createServer(), http)`, { env }), 'false')
  assert.equal(runProgram(`const http = require('node:http')
    const probe = http.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address()
      probe.close(() => {
        const server = http.createServer().listen('http://127.0.0.1:' + port + '/a/', () => {
          console.log(server.address().port === port)
          server.close()
        })
      })
    })`, { env }), 'true')
})

test('unregister() leaves no trace: the same exports for require and import, the same property attributes', () => {
  assert.equal(runProgram(`
    import http, { createServer, Server } from 'node:http'
    import { createRequire } from 'node:module'
    import assert from 'node:assert/strict'
    const before = Object.getOwnPropertyDescriptors(http)
    const names = Object.keys(http)
    const stock = { createServer, Server }
    const require = createRequire(${JSON.stringify(path.join(kRoot, 'test/'))})
    const { register, unregister } = require('${kRegister}')
    const core = require('@httpsys/core-native')
    assert.equal(createServer, core.createServer)
    assert.equal(Server, core.Server)
    assert.equal(unregister(), true)
    assert.deepEqual(Object.getOwnPropertyDescriptors(http), before)
    assert.deepEqual(Object.keys(http), names)
    assert.equal(createServer, stock.createServer)
    assert.equal(Server, stock.Server)
    assert.equal(Object.hasOwn(core.Server, Symbol.hasInstance), false)
    assert.equal(unregister(), true)
    register(); register()
    assert.equal(createServer, core.createServer)
    unregister()
    assert.deepEqual(Object.getOwnPropertyDescriptors(http), before)
    console.log('clean')`, { type: 'module', flags: [] }), 'clean')
})

test('what instrumentation has put over ours stays when unregister() takes the rest back', () => {
  assert.equal(runProgram(`
    const http = require('node:http')
    const { unregister } = require('${kRegister}')
    const { Server } = require('@httpsys/core-native')
    const { createServer } = http
    const wrapped = http.createServer = (...args) => createServer(...args)
    console.log(unregister(), http.createServer === wrapped, http.Server === Server)`, { flags: [] }), 'false true false')
})

test('servers of before and after are instances of http.Server, of a subclass only its own', () => {
  assert.equal(runProgram(`
    const http = require('node:http')
    const before = http.createServer()
    require('${kRegister}')
    const after = http.createServer()
    class Mine extends http.Server {}
    console.log(before instanceof http.Server, after instanceof http.Server, {} instanceof http.Server,
      new Mine() instanceof Mine, after instanceof Mine, before instanceof Mine)`, { flags: [] }), 'true true false true false false')
})

test('IncomingMessage and ServerResponse stay Node\'s, and ours are instances of them', () => {
  assert.equal(runProgram(`
    const http = require('node:http')
    const { IncomingMessage, ServerResponse } = http
    require('${kRegister}')
    console.log(http.IncomingMessage === IncomingMessage, http.ServerResponse === ServerResponse)
    const server = http.createServer((req, res) => {
      res.end()
      console.log(req instanceof IncomingMessage, res instanceof ServerResponse)
    }).listen(0, '127.0.0.1', () => http.get({ port: server.address().port, agent: false }, (res) => {
      res.resume().on('end', () => server.close()) }))`, { flags: [] }), 'true true\ntrue true')
})

test('HTTPSYS_REGISTER_REPORT gets a line from each process and worker with what it served', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-register-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const report = path.join(folder, 'report')
  const program = `${kUse}; const http = require('node:http'); use(http.createServer(), http)`
  runProgram(`${program}
    const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(kWorker)})`, { env: { HTTPSYS_REGISTER_REPORT: report } })
  runProgram('', { env: { HTTPSYS_REGISTER_REPORT: report } })
  const lines = fs.readFileSync(report, 'utf8').trim().split('\n').map((line) => JSON.parse(line))
  const served = lines.map(({ threadId, backend, servers, connections, requests }) =>
    ({ isWorker: threadId !== 0, backend, servers, connections, requests }))
  assert.deepEqual(served.sort((a, b) => b.servers - a.servers || Number(b.isWorker) - Number(a.isWorker)), [
    { isWorker: true, backend: 'engine', servers: 1, connections: 1, requests: 1 },
    { isWorker: false, backend: 'engine', servers: 1, connections: 1, requests: 1 },
    { isWorker: false, backend: 'engine', servers: 0, connections: 0, requests: 0 }
  ])
})
