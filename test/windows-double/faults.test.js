'use strict'

// Goal: every function of the HTTP Server API that the addon calls may fail, at once or late. Each failure is an error
// of the right kind for the application or its client, the process goes on, and nothing is left behind in the kernel.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')
const { http } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get, request, serve, stop } = require('../helpers/client')
const { plan, report } = require('../helpers/httpapi-double')

// System error codes.
const kInvalidFunction = 1
const kAccessDenied = 5
const kNotEnoughMemory = 8
const kSharingViolation = 32
const kNetnameDeleted = 64
const kInvalidParameter = 87
const kAlreadyExists = 183
const kAborted = 995
const kServiceDisabled = 1058
const kConnectionInvalid = 1229

/** What one takes at most; a busy machine is slow. */
const timed = { timeout: 15_000 }

/** Failures of what a process has to have before it serves: in children, whose first call it is. */
const kStarts = [
  { fault: `HttpInitialize:1:${kServiceDisabled}`, message: /no such file or directory/ },
  { fault: `HttpCreateServerSession:1:${kNotEnoughMemory}`, message: /not enough memory/ },
  { fault: `HttpCreateRequestQueue:1:${kAccessDenied}`, message: /EACCES: HTTP\.SYS gives no request queue/ },
]

/** Failures of listen(), by the code of the error that is emitted. */
const kListens = [
  { fault: `HttpCreateUrlGroup:1:${kNotEnoughMemory}`, code: 'UNKNOWN' },
  { fault: `HttpSetUrlGroupProperty:1:${kInvalidParameter}`, code: 'EINVAL' },
  { fault: `HttpSetUrlGroupProperty:2:${kInvalidParameter}`, code: 'EINVAL' },
  { fault: `HttpSetRequestQueueProperty:1:${kInvalidParameter}`, code: 'EINVAL', options: { queueLimit: 7 } },
  { fault: `HttpSetRequestQueueProperty:2:${kAccessDenied}`, code: 'EACCES', options: { queueLimit: 7 } },
  { fault: `HttpAddUrlToUrlGroup:1:${kAccessDenied}`, code: 'EACCES' },
  { fault: `HttpAddUrlToUrlGroup:1:${kSharingViolation}:100`, code: 'EADDRINUSE' },
  { fault: `HttpAddUrlToUrlGroup:1:${kAlreadyExists}:100`, code: 'EADDRINUSE' },
]

/** Failures that nobody needs to hear of. */
const kUnheard = [
  { fault: `HttpReceiveHttpRequest:1:${kInvalidFunction}:3` },
  { fault: `HttpReceiveHttpRequest:1:${kNetnameDeleted}:20:late` },
  { fault: `HttpReceiveHttpRequest:1:${kConnectionInvalid}:20:late` },
  { fault: `HttpWaitForDisconnect:1:${kConnectionInvalid}` },
]

/** Failures of what is done for one request: its connection is lost, for both ends. */
const kRequests = [
  { path: '/read', fault: `HttpReceiveRequestEntityBody:1:${kNetnameDeleted}` },
  { path: '/read', fault: `HttpReceiveRequestEntityBody:1:${kConnectionInvalid}:1:late` },
  { path: '/end', fault: `HttpSendHttpResponse:1:${kInvalidParameter}` },
  { path: '/end', fault: `HttpSendHttpResponse:1:${kNetnameDeleted}:1:late` },
  { path: '/write', fault: `HttpSendHttpResponse:1:${kConnectionInvalid}` },
  { path: '/write', fault: `HttpSendResponseEntityBody:1:${kConnectionInvalid}` },
  { path: '/write', fault: `HttpSendResponseEntityBody:2:${kNetnameDeleted}:1:late` },
  { path: '/wait', fault: `HttpWaitForDisconnect:1:${kAborted}:1:late` },
]

/** Failures of the end: it comes all the same. */
const kEnds = [
  `HttpRemoveUrlFromUrlGroup:1:${kInvalidParameter}`,
  `HttpCloseUrlGroup:1:${kInvalidParameter}`,
  `HttpCloseServerSession:1:${kInvalidParameter}`,
  `HttpShutdownRequestQueue:1:${kInvalidParameter}`,
  `HttpCloseRequestQueue:1:${kInvalidParameter}`,
  `HttpTerminate:1:${kInvalidParameter}`,
  `HttpCancelHttpRequest:1:${kInvalidParameter}`,
]

/** Those that fail in features.test.js. */
const kFeatures = [
  'HttpDeleteServiceConfiguration', 'HttpFlushResponseCache', 'HttpIsFeatureSupported', 'HttpQueryServiceConfiguration', 'HttpReceiveClientCertificate', 'HttpSetServiceConfiguration'
]

/** What an environment holds for all its servers. */
const kIdle = { initialized: 1, sessions: 1, groups: 0, urls: 0, queues: 1, calls: 8, requests: 0, tokens: 0, files: 0 }

/** The same while one of them listens. Not what is found there: something of the test before may be left. */
const kServing = { ...kIdle, groups: 1, urls: 1 }

/** @param {string} file as a child writes it @returns {import('../helpers/httpapi-double').Report} */
const readReport = (file) => JSON.parse(fs.readFileSync(file, 'utf8'))

/** @param {import('node:test').TestContext} t */
function reportFile (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpapi-double-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  return path.join(folder, 'report.json')
}

/** Until the kernel has heard of everything. @param {Record<string, number>} wanted */
async function settled (wanted) {
  for (;;) {
    const { open } = await report()
    if (JSON.stringify(open) === JSON.stringify(wanted)) return
    await turn()
  }
}

/** Answers by path, and notes what it hears of the one request that is made to fail. */
function makeServer () {
  const heard = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    if (req.url === '/ok') return res.end('ok')
    res.on('close', () => heard.push(res.writableFinished ? 'finished' : 'cut'))
    req.on('error', (error) => heard.push(/** @type {any} */ (error).code))
    if (req.url === '/end') return res.end('all of it')
    if (req.url === '/read') return req.resume().on('end', () => res.end('read'))
    if (req.url !== '/write') return
    // Each piece with a call of its own, which it also has where a timer is late.
    const write = (/** @type {number} */ left) => {
      res.write('a piece')
      if (left > 0) setTimeout(write, 20, left - 1)
      else res.end()
    }
    write(5)
  })
  return { server, heard }
}

for (const { fault, message } of kStarts) {
  test(`${fault}: listen() fails, and the process goes on`, timed, async (t) => {
    const file = reportFile(t)
    const child = startChild(({ http, report }) => {
      const listen = () => {
        const server = http.createServer()
        server.on('error', (error) => report({ error: error.message }))
        server.on('error', () => setImmediate(listen))
        server.listen(0, '127.0.0.1', () => {
          report({ listening: true })
          server.close(() => process.disconnect())
        })
      }
      listen()
    }, { env: { HTTPAPI_DOUBLE_FAULT: fault, HTTPAPI_DOUBLE_REPORT: file } })
    assert.match(await child.message('error'), message)
    assert.equal(await child.message('listening'), true)
    assert.equal((await child.exit).code, 0)
    assert.deepEqual(new Set(Object.values(readReport(file).open)), new Set([0]))
  })
}

for (const { fault, code, options = {} } of kListens) {
  test(`${fault}: the error of listen() is ${code}`, timed, async (t) => {
    // Whose calls those of the other one follow.
    await serve(t, http.createServer())
    await settled(kServing)
    await plan(fault)
    const server = http.createServer(options)
    server.listen(0, '127.0.0.1')
    const [error] = await once(server, 'error')
    assert.equal(error.code, code)
    assert.equal(error.syscall, 'listen')
    assert.equal(error.status, Number(fault.split(':')[2]))
    await plan('')
    await settled(kServing)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    await stop(server)
  })
}

for (const status of [kSharingViolation, kAlreadyExists]) {
  test(`listen(0) takes another port when the one it found is refused with ${status}`, timed, async (t) => {
    await serve(t, http.createServer())
    await settled(kServing)
    await plan(`HttpAddUrlToUrlGroup:1:${status}:3`)
    t.after(() => plan(''))
    const server = http.createServer((req, res) => res.end('here'))
    const port = await serve(t, server)
    assert.equal((await report()).faultsLeft, 0)
    await plan('')
    assert.equal((await request(port)).body, 'here')
    await stop(server)
    await settled(kServing)
  })
}

test('listen() on a port that is refused does not take another one', timed, async (t) => {
  const port = await serve(t, http.createServer())
  await plan(`HttpAddUrlToUrlGroup:1:${kSharingViolation}`)
  t.after(() => plan(''))
  const server = http.createServer()
  server.listen(port, '127.0.0.1')
  const [error] = await once(server, 'error')
  assert.deepEqual([error.code, error.status, error.port], ['EADDRINUSE', kSharingViolation, port])
})

for (const { fault } of kUnheard) {
  test(`${fault}: requests are served all the same`, timed, async (t) => {
    const { server } = makeServer()
    const port = await serve(t, server)
    await plan(fault)
    for (let i = 0; i < 30; i++) assert.equal((await request({ port, path: '/ok' })).body, 'ok')
    assert.equal((await report()).faultsLeft, 0)
    await plan('')
    await stop(server)
    await settled(kIdle)
  })
}

for (const { path, fault } of kRequests) {
  test(`${path} with ${fault}: both ends are told that the connection is lost`, timed, async (t) => {
    const { server, heard } = makeServer()
    const port = await serve(t, server)
    await plan(fault)
    const wire = await dial(t, port)
    // The rest of the body comes when the request has been received.
    wire.write(path === '/read' ? 'POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n12' : get(path))
    await wire.untilClosed()
    while (heard.length === 0) await turn()
    // What was ended has left the application's hands, as on a socket.
    assert.ok(path === '/end' || !heard.includes('finished'), heard.join())
    assert.doesNotMatch(wire.text, /\r\n0\r\n\r\n$|read|all of it/)
    assert.equal((await report()).faultsLeft, 0)
    await plan('')
    assert.equal((await request({ port, path: '/ok' })).body, 'ok')
    await stop(server)
    await settled(kIdle)
  })
}

for (const fault of kEnds) {
  test(`${fault}: servers close and the process ends`, timed, async (t) => {
    const file = reportFile(t)
    const child = startChild(({ http, report }) => {
      const server = http.createServer((req, res) => {
        if (req.url === '/ok') return res.end('ok')
        res.destroy()
        server.close(() => process.disconnect())
      })
      server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
    }, { env: { HTTPAPI_DOUBLE_FAULT: fault, HTTPAPI_DOUBLE_REPORT: file } })
    const port = await child.message('port')
    assert.equal((await request({ port, path: '/ok' })).body, 'ok')
    const wire = await dial(t, port)
    wire.write(get('/destroy'))
    assert.equal(await wire.untilClosed(), '')
    assert.equal((await child.exit).code, 0)
    assert.equal(readReport(file).faultsLeft, 0)
  })
}

test('a function that this Windows lacks is not missed', timed, async (t) => {
  const file = reportFile(t)
  const kProcNotFound = 127
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      res.setHeader('Trailer', 'X-Sum')
      res.addTrailers({ 'X-Sum': '7' })
      res.end('body')
      if (req.url === '/last') server.close(() => process.disconnect())
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { env: { HTTPAPI_DOUBLE_FAULT: `GetProcAddress:1:${kProcNotFound}`, HTTPAPI_DOUBLE_REPORT: file } })
  const port = await child.message('port')
  for (const path of ['/', '/last']) {
    assert.equal((await request({ port, path, headers: { 'X-Double-Version': '2' } })).body, 'body')
  }
  assert.equal((await child.exit).code, 0)
  const { calls, faultsLeft, notes } = readReport(file)
  assert.deepEqual([faultsLeft, calls.HttpIsFeatureSupported, notes.filter((note) => 'trailers' in note)], [0, undefined, []])
})

test('a process that ends leaves nothing open', timed, async (t) => {
  const file = reportFile(t)
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      if (req.url === '/wait') return report({ waits: true })
      res.end('bye')
      process.disconnect()
      server.close()
      server.closeAllConnections()
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { env: { HTTPAPI_DOUBLE_REPORT: file } })
  const port = await child.message('port')
  const wire = await dial(t, port)
  wire.write(get('/wait'))
  await child.message('waits')
  await request(port).catch(() => {})
  assert.equal((await child.exit).code, 0)
  assert.deepEqual(new Set(Object.values(readReport(file).open)), new Set([0]))
})

test('no function that the addon calls is left out here', timed, async (t) => {
  await serve(t, http.createServer())
  const tried = [...kStarts, ...kListens, ...kUnheard, ...kRequests].map(({ fault }) => fault).concat(kEnds)
    .map((fault) => fault.split(':')[0]).concat(kFeatures)
  assert.deepEqual((await report()).imports.filter((name) => !tried.includes(name)), [])
})
