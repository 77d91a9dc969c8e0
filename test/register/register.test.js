'use strict'

// Goal: a program that says nothing but node:http is served by the engine once register is preloaded,
// and nothing is left of that after unregister().

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')

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

/** @param {string} source @param {string[]} flags @returns {string[]} lines of standard error that name the warning */
function warningsOf (source, flags = ['--require', kRegister], env = {}) {
  const { status, stderr } = spawnSync(process.execPath, [...flags, '-e', source], {
    cwd: kRoot, encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_BACKEND: '', ...env }, timeout: 60_000
  })
  assert.equal(status, 0, stderr)
  return stderr.split('\n').filter((line) => line.includes('HTTPSYS_HTTP2_STOCK'))
}

test('one process warning names the function of node:http2 whose servers stay Node\'s', () => {
  const twice = 'const { createSecureServer } = require("node:http2"); createSecureServer(); createSecureServer(); require("http2").createServer()'
  const [warned, ...others] = warningsOf(twice)
  assert.match(warned, /http2\.createSecureServer\(\)/)
  assert.equal(others.length, 0)
  assert.match(warningsOf('import("node:http2").then(({ createServer }) => createServer())')[0], /http2\.createServer\(\)/)
  assert.deepEqual(warningsOf('require("http2").connect; require("https").createServer()'), [])
  assert.deepEqual(warningsOf(twice, []), [])
  assert.deepEqual(warningsOf(twice, undefined, { HTTPSYS_BACKEND: 'node' }), [])
})

test('servers of node:http2 are made as without register', () => {
  assert.equal(runProgram(`
    const http2 = require('node:http2')
    const before = http2.createServer
    const { register, unregister } = require('${kRegister}')
    console.log(http2.createServer.name, http2.createServer.length === before.length)
    const server = http2.createServer({}, (req, res) => res.end('over HTTP/2')).listen(0, () => {
      const session = http2.connect('http://localhost:' + server.address().port)
      session.request().setEncoding('utf8').on('data', (text) => console.log(text)).on('end', () => { session.close(); server.close() })
    })
    console.log(unregister(), http2.createServer === before)`, { flags: ['--no-warnings'] }), 'createServer true\ntrue true\nover HTTP/2')
})

test('--require leaves compile hooks of CommonJS their work on the program itself', (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-register-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const hook = path.join(folder, 'hook.js')
  const program = path.join(folder, 'app.typed')
  fs.writeFileSync(hook, `require.extensions['.typed'] = (module, file) =>
    module._compile(require('node:fs').readFileSync(file, 'utf8').replaceAll(': any', ''), file)`)
  fs.writeFileSync(program, `${kUse.replace('(server, http)', '(server: any, http: any)')}; const http: any = require('node:http'); use(http.createServer(), http)`)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-r', hook, '-r', path.join(kRoot, 'packages/core-native/register.js'), program],
    { encoding: 'utf8', env: { ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_BACKEND: '' }, timeout: 60_000 })
  assert.deepEqual([status, stdout], [0, 'true\n'], stderr)
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

test('nothing of undici, which Node loads when WebSocket is first read, is loaded', () => {
  const source = 'require("node:http"); console.log(process.moduleLoadList.filter((name) => name.includes("undici/")).join())'
  assert.equal(runProgram(source), runProgram(source, { flags: [] }))
})

test('the package exports what node:http does, also what Node loads later', () => {
  assert.equal(runProgram(`
    const [http, core] = [require('node:http'), require('@httpsys/core-native')]
    for (const name of Object.keys(http)) if (!(name in core) || (typeof http[name] === 'function' && core[name] !== http[name])) console.log(name)
    http.globalAgent = new http.Agent()
    console.log(core.globalAgent === http.globalAgent, core.maxHeaderSize === http.maxHeaderSize)
    core.globalAgent = new http.Agent()
    console.log(core.globalAgent === http.globalAgent)`), 'true true\ntrue')
})

/** What a program does about the signal that ends it: [title, source, exit code, signal]. @type {[string, string, number | null, NodeJS.Signals | null][]} */
const kEnds = [
  ['does not handle', '', null, 'SIGTERM'],
  ['handles', 'process.on("SIGTERM", () => process.exit(3))', 3, null],
  // As signal-exit, which most command line tools have: whoever finds itself alone ends the process.
  ['gives back, when nobody else listens for it,', `const give = () => {
    if (process.listenerCount("SIGTERM") !== 1) return
    process.removeListener("SIGTERM", give)
    process.kill(process.pid, "SIGTERM")
  }
  process.on("SIGTERM", give)`, null, 'SIGTERM'],
  ['gives back, as the last thing that it does,', `const stop = () => server.close(() => setImmediate(() => {
    process.removeListener("SIGTERM", stop)
    process.kill(process.pid, "SIGTERM")
  }))
  process.on("SIGTERM", stop)`, null, 'SIGTERM'],
  ['hears once, and ends its work after,', 'process.once("SIGTERM", () => server.close(() => setImmediate(() => process.exit(4))))', 4, null],
  ['hears once, and gets a second time,', `process.once("SIGTERM", () => setImmediate(() => {
    process.kill(process.pid, "SIGTERM")
    setInterval(() => {}, 1000)
  }))`, null, 'SIGTERM']
]

for (const [title, source, status, signal] of kEnds) {
  test(`HTTPSYS_REGISTER_REPORT gets one line from a process that ${title} the signal that ends it`, { skip: process.platform === 'win32' }, async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-register-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const report = path.join(folder, 'report')
    const child = spawn(process.execPath, ['--require', kRegister, '-e', `${source}
      const http = require('node:http')
      const server = http.createServer((req, res) => res.end('ok')).listen(0, '127.0.0.1', () => {
        http.get({ port: server.address().port, agent: false }, (res) => res.resume().on('end', () => console.log('served')))
      })`], { cwd: kRoot, env: { ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_BACKEND: '', HTTPSYS_REGISTER_REPORT: report }, stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [status, signal])
    const [line, ...others] = fs.readFileSync(report, 'utf8').trim().split('\n')
    assert.equal(others.length, 0)
    assert.deepEqual(JSON.parse(line), { pid: child.pid, threadId: 0, backend: 'engine', servers: 1, connections: 1, requests: 1 })
  })
}

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
