'use strict'

// Requests that JavaScript does not begin in time (queueTimeout): answered by the I/O thread, and not begun later.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { createServer, backend } = require('@httpsys/core-native')
const { hasHttp2 } = backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/binding').loadBinding()

const skip = backend === 'node' ? 'node:http has no request queue' : false

// It tells every request that it begins, and stands still in some until it is told to go on.
const kServer = `
const fs = require('node:fs')
const { createServer } = require('@httpsys/core-native')
const server = createServer(JSON.parse(process.argv[1]), (req, res) => {
  process.stdout.write('begun ' + req.method + ' ' + req.url + '\\n')
  if (req.url === '/early') res.write('begun')
  if (req.url === '/block') {
    process.stdout.write('blocked\\n')
    fs.readSync(0, Buffer.alloc(1))
  }
  res.end('served')
})
server.on('upgrade', (req, socket) => socket.end())
server.listen(0, '127.0.0.1', () => process.stdout.write('port ' + server.address().port + '\\n'))
`

class Server {
  output = ''
  #child

  /** @param {import('node:test').TestContext} t @param {object} options @param {NodeJS.ProcessEnv} [env] */
  constructor (t, options, env) {
    this.#child = spawn(process.execPath, ['-e', kServer, JSON.stringify(options)], {
      stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, HTTPSYS_IO_THREADS: '1', ...env }, cwd: __dirname
    })
    this.#child.stdout.setEncoding('utf8').on('data', (text) => { this.output += text })
    t.after(() => this.#child.kill('SIGKILL'))
  }

  /** @param {RegExp} pattern @returns {Promise<RegExpExecArray>} */
  async says (pattern) {
    for (;;) {
      const found = pattern.exec(this.output)
      if (found !== null) return found
      await once(this.#child.stdout, 'data')
    }
  }

  async start () {
    this.port = Number((await this.says(/port (\d+)/))[1])
    return this
  }

  async block () {
    this.first = send(this, 'GET /block HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    await this.says(/blocked/)
  }

  goOn () { this.#child.stdin.write('.') }
}

/** @param {any} server @param {string} text @returns {Promise<string>} everything that comes until the end; an error's code */
function send ({ port }, text) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('latin1').on('data', (data) => { received += data })
    socket.on('error', (/** @type {any} */ error) => resolve(error.code))
    socket.on('close', () => resolve(received))
    socket.write(text)
  })
}

/** @param {string} method @param {string} url */
const request = (method, url) => `${method} ${url} HTTP/1.1\r\nHost: a\r\n${method === 'POST' ? 'Content-Length: 4\r\n' : ''}\r\n${method === 'POST' ? 'body' : ''}`

test('a request that is not begun in time gets 503 and is not begun later', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: 200, http503Verbosity: 'limited' }).start()
  await server.block()
  const answers = await Promise.all([
    send(server, request('GET', '/get')),
    send(server, request('POST', '/post')),
    send(server, request('HEAD', '/head')),
    send(server, request('GET', '/piped') + request('GET', '/behind')),
    send(server, 'GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    send(server, 'POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhalf')])
  for (const answer of answers) {
    assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n[^]*\r\nConnection: close\r\n\r\n/)
    assert.equal(answer.split('HTTP/1.1').length, 2)
  }
  assert.match(answers[0], /<h1>Service Unavailable<\/h1>\n$/)
  assert.match(answers[2], /\r\n\r\n$/)
  server.goOn()
  assert.match(await /** @type {Promise<string>} */ (server.first), /served$/)
  assert.match(await send(server, 'GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), /served$/)
  await server.says(/begun GET \/after/)
  assert.deepEqual(server.output.match(/begun .*/g), ['begun GET /block', 'begun GET /after'])
})

test('one that is begun in time is served, whatever the time', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: 60_000 }).start()
  await server.block()
  const answers = [send(server, 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')]
  await new Promise((resolve) => setTimeout(resolve, 300))
  server.goOn()
  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 200 [^]*served$/)
})

test('0 waits for ever', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: 0 }).start()
  await server.block()
  const answer = send(server, 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await new Promise((resolve) => setTimeout(resolve, 300))
  server.goOn()
  assert.match(await answer, /served$/)
})

test('one that JavaScript has begun to answer is left alone', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: 200 }).start()
  // In one batch, as far as the I/O thread can see.
  const socket = net.connect(server.port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (data) => { received += data })
  socket.write(request('GET', '/early') + request('GET', '/block'))
  await server.says(/blocked/)
  await new Promise((resolve) => setTimeout(resolve, 500))
  server.goOn()
  while (received.split('served').length < 3) await once(socket, 'data')
  assert.doesNotMatch(received, /503/)
  socket.destroy()
})

test('streams of HTTP/2 get it each, and their connection goes on', { skip: skip || (hasHttp2 ? false : 'this Node has no nghttp2') }, async (t) => {
  const server = await new Server(t, { queueTimeout: 200, http2: true, http503Verbosity: 'full' }).start()
  const client = http2.connect(`http://127.0.0.1:${server.port}`)
  t.after(() => client.destroy())
  const ask = async (/** @type {string} */ url, method = 'GET') => {
    const stream = client.request({ ':path': url, ':method': method })
    let text = ''
    stream.setEncoding('utf8').on('data', (data) => { text += data })
    const [[headers]] = await Promise.all([once(stream, 'response'), once(stream, 'close')])
    return [headers[':status'], text]
  }
  assert.deepEqual(await ask('/first'), [200, 'served'])
  await server.block()
  const [get, head] = await Promise.all([ask('/a'), ask('/b', 'HEAD')])
  assert.equal(get[0], 503)
  assert.match(get[1], /<p>Timer_AppPool<\/p>/)
  assert.deepEqual(head, [503, ''])
  server.goOn()
  assert.deepEqual(await ask('/last'), [200, 'served'])
  await server.says(/begun GET \/last/)
  assert.deepEqual(server.output.match(/begun .*/g), ['begun GET /first', 'begun GET /block', 'begun GET /last'])
})

test("'basic' resets the connection, and the error log has the reason", { skip }, async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'httperr.log')
  const server = await new Server(t, { queueTimeout: 200, http503Verbosity: 'basic' }, { HTTPSYS_ERROR_LOG: file }).start()
  await server.block()
  assert.equal(await send(server, request('GET', '/a')), 'ECONNRESET')
  assert.match(fs.readFileSync(file, 'latin1'), / - - - - \d+ Timer_AppPool\n$/)
  server.goOn()
})

test('a keep-alive connection has the time for each of its requests', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: 200 }).start()
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const ask = async (/** @type {string} */ url) => {
    const [res] = /** @type {any} */ (await once(http.get({ port: server.port, path: url, agent }), 'response'))
    res.resume()
    await once(res, 'end')
    return res.statusCode
  }
  assert.equal(await ask('/one'), 200)
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(await ask('/two'), 200)
  await server.block()
  assert.equal(await ask('/three'), 503)
  server.goOn()
  await server.first
  assert.equal(await ask('/four'), 200)
  await server.says(/begun GET \/four/)
  assert.doesNotMatch(server.output, /three/)
})

test('values that mean nothing are refused', { skip }, () => {
  assert.throws(() => createServer(/** @type {any} */ ({ queueTimeout: -1 })), { code: 'ERR_OUT_OF_RANGE' })
  assert.throws(() => createServer(/** @type {any} */ ({ queueTimeout: '10' })), { code: 'ERR_INVALID_ARG_TYPE' })
})
