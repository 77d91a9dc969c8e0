'use strict'

// Requests that come while JavaScript has not begun HTTPSYS_QUEUE_BYTES of others: none is refused, and other answers go on.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http2 = require('node:http2')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const tls = require('node:tls')
const { createServer, backend } = require('@httpsys/core-native')
const { BlockingServer, send } = require('../helpers/blocking-server')
const { freePort } = require('../helpers/free-port')
const { readByPeer, silence } = require('../helpers/waiting')
const { certificate } = require('../helpers/certificates')
const { hasHttp2 } = backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/backend/binding').loadBinding()

const skip = backend === 'node' ? 'node:http parks no requests' : false
const skipHttp2 = skip || (hasHttp2 ? false : 'this Node has no nghttp2')

// The least that may be set, and requests of which some fifty fill it.
const kQueueBytes = 64 * 1024
const kPadding = 'x'.repeat(1200)
const kCount = 150

// Says what it begins, and stands still in /block until it is told to go on.
const kServer = `
const fs = require('node:fs')
const core = require('@httpsys/core-native')
const { options, listen, folder, closes } = JSON.parse(process.argv[1])
const { createServer } = options.key === undefined ? core : core.https
const server = createServer(options, (req, res) => {
  if (req.url === '/block') {
    process.stdout.write('blocked\\n')
    fs.readSync(0, Buffer.alloc(1))
    if (closes) server.close(() => process.stdout.write('closed\\n'))
  } else {
    process.stdout.write('begun ' + req.url + '\\n')
  }
  let bytes = 0
  req.on('data', (piece) => { bytes += piece.length })
  req.on('end', () => res.end(process.pid + ' ' + req.url + ' ' + bytes))
})
if (folder) server.serveFiles('/files/', folder)
server.listen(...listen, () => process.stdout.write('port ' + server.address()?.port + '\\n'))
`

class Server extends BlockingServer {
  /** @param {import('node:test').TestContext} t @param {object} given */
  constructor (t, given) {
    super(t, kServer, { options: {}, listen: [0, '127.0.0.1'], ...given }, { env: { HTTPSYS_QUEUE_BYTES: String(kQueueBytes) } })
  }

  begun () { return (this.output.match(/begun .*/g) ?? []).map((line) => line.slice(6)) }

  /** Waits until it has said that it began so many: answers may overtake what it says. @param {number} count */
  async hasBegun (count) {
    while (this.begun().length < count) await once(this.child.stdout, 'data')
  }
}

const head = (/** @type {string} */ url, rest = 'Connection: close\r\n\r\n') => `GET ${url} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Padding: ${kPadding}\r\n${rest}`

/** @param {number} count @param {(i: number) => Promise<string>} ask */
const all = (count, ask) => Promise.all(Array.from({ length: count }, (_, i) => ask(i)))

function folderOf (/** @type {import('node:test').TestContext} */ t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-parked-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  fs.writeFileSync(path.join(folder, 'a.txt'), 'a file')
  return folder
}

const { key, cert } = certificate('localhost')
for (const [name, options, connect] of /** @type {[string, object, any][]} */ ([['HTTP/1.1', {}, net.connect], ['TLS', { key, cert }, tls.connect]])) {
  test(`every request of a burst over ${name} is answered, those of a connection in order, and files meanwhile`, { skip }, async (t) => {
    const server = await new Server(t, { options, folder: folderOf(t) }).start()
    await server.block(connect)
    const answers = all(kCount, (i) => send(server, head(`/${i}/1`, '\r\n') + head(`/${i}/2`, '\r\n') + head(`/${i}/3`), connect))
    // A file that comes later, and one behind nothing that waits.
    assert.match(await send(server, head('/files/a.txt'), connect), /a file$/)
    server.goOn()
    for (const [i, answer] of (await answers).entries()) {
      assert.deepEqual(answer.match(/(?<= )\/\d+\/\d(?= 0)/g), [1, 2, 3].map((n) => `/${i}/${n}`))
      assert.doesNotMatch(answer, /503/)
    }
    assert.match(await /** @type {Promise<string>} */ (server.first), /block 0$/)
    await server.hasBegun(3 * kCount)
    assert.equal(new Set(server.begun()).size, 3 * kCount)
    assert.equal(server.begun().length, 3 * kCount)
  })
}

/** @param {import('node:test').TestContext} t @param {any} server */
function connectHttp2 (t, server) {
  const client = http2.connect(`http://127.0.0.1:${server.port}`)
  t.after(() => client.destroy())
  const ask = async (/** @type {string} */ url, body = '') => {
    const stream = client.request({ ':path': url, 'x-padding': kPadding, ...(body === '' ? {} : { ':method': 'POST' }) })
    stream.setEncoding('latin1')
    if (body !== '') stream.end(body)
    let text = ''
    stream.on('data', (piece) => { text += piece })
    const [[fields]] = await Promise.all([once(stream, 'response'), once(stream, 'end')])
    return `${fields[':status']} ${fields['retry-after'] ?? ''} ${text}`
  }
  return { client, ask }
}

test('a parked stream of HTTP/2 holds up no other stream of its connection', { skip: skipHttp2 }, async (t) => {
  const server = await new Server(t, { options: { http2: { maxConcurrentStreams: 1000 } }, folder: folderOf(t) }).start()
  await server.block()
  const { client, ask } = connectHttp2(t, server)
  const answers = all(kCount, (i) => ask(`/${i}`, i % 2 === 0 ? '' : 'x'.repeat(i * 300)))
  const left = client.request({ ':path': '/left', 'x-padding': kPadding }).on('error', () => {})
  assert.equal(await ask('/files/a.txt'), '200  a file')
  left.close(http2.constants.NGHTTP2_CANCEL)
  await new Promise((resolve) => client.ping(() => resolve(undefined)))
  server.goOn()
  for (const [i, answer] of (await answers).entries()) {
    assert.equal(answer, `200  ${server.child.pid} /${i} ${i % 2 === 0 ? 0 : i * 300}`)
  }
  await server.hasBegun(kCount)
  assert.equal(server.begun().length, kCount)
  // Those without a body come before the others.
  const bodiless = server.begun().map((url) => Number(url.slice(1))).filter((i) => i % 2 === 0)
  assert.deepEqual(bodiless, Array.from({ length: kCount / 2 }, (_, i) => 2 * i))
})

test('bodies wait for JavaScript, and come whole', { skip }, async (t) => {
  const server = await new Server(t, {}).start()
  await server.block()
  const bytes = 400_000
  const post = (/** @type {number} */ i) => `POST /${i} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n${'x'.repeat(bytes)}`
  const answers = all(12, (i) => send(server, post(i)))
  const others = all(kCount, (i) => send(server, head(`/other/${i}`)))
  server.goOn()
  for (const answer of await answers) assert.match(answer, / 400000$/)
  for (const answer of await others) assert.match(answer, / 0$/)
})

test('queueTimeout refuses parked requests by their age', { skip }, async (t) => {
  const server = await new Server(t, { options: { queueTimeout: 400 } }).start()
  await server.block()
  const answers = await all(kCount, (i) => send(server, head(`/${i}`)))
  for (const answer of answers) assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n[^]*\r\nRetry-After: 1\r\n/)
  server.goOn()
  assert.match(await send(server, head('/after')), /after 0$/)
  await server.hasBegun(1)
  assert.deepEqual(server.begun(), ['/after'])
})

test('requests of Node\'s own forms of listen() may wait for JavaScript without limit', { skip }, async () => {
  // The settings are all that can be seen of two minutes.
  const { theEngine } = require('../../packages/core-native/lib/listen/listener')
  const { native } = theEngine()
  const { configure } = native
  /** @type {number[]} */
  const times = []
  Object.defineProperty(native, 'configure', {
    configurable: true,
    value: (/** @type {number} */ id, /** @type {any} */ settings) => {
      times.push(settings.queueTimeout)
      return configure.call(native, id, settings)
    }
  })
  try {
    for (const [options, listen, expected] of /** @type {[object, any[], number][]} */ ([
      [{}, [0, '127.0.0.1'], 0], [{ queueTimeout: 7 }, [0, '127.0.0.1'], 7], [{}, [`http://127.0.0.1:${await freePort()}/`], 120_000]])) {
      const server = createServer(options)
      await once(server.listen(...listen), 'listening')
      assert.equal(times.at(-1), expected)
      await new Promise((resolve) => server.close(resolve))
    }
  } finally {
    Reflect.deleteProperty(native, 'configure')
  }
})

test('a parked request counts for queueLimit, which refuses at once', { skip: skipHttp2 }, async (t) => {
  const server = await new Server(t, { options: { queueLimit: 100, http2: { maxConcurrentStreams: 1000 } } }).start()
  await server.block()
  const { ask } = connectHttp2(t, server)
  const served = all(100, (i) => ask(`/${i}`))
  for (const answer of await all(20, (i) => ask(`/more/${i}`))) assert.match(answer, /^503 1 /)
  server.goOn()
  for (const answer of await served) assert.match(answer, /^200 /)
})

test('a parked request of a client that leaves is not begun', { skip }, async (t) => {
  const server = await new Server(t, {}).start()
  // JavaScript itself ends a connection that has had no request.
  /** @type {any[]} */
  const leaving = await all(2, async () => {
    const socket = net.connect(server.port, '127.0.0.1').on('error', () => {})
    socket.write(head('/early', '\r\n'))
    await once(socket, 'data')
    return /** @type {any} */ (socket.resume())
  })
  await server.block()
  // More than fit, on connections that were accepted before.
  /** @type {any[]} */
  const sockets = await all(kCount, async () => {
    const socket = net.connect(server.port, '127.0.0.1')
    await once(socket, 'connect')
    return /** @type {any} */ (socket)
  })
  const answers = sockets.map((socket, i) => {
    socket.write(head(`/${i}`))
    return once(socket.resume(), 'close')
  })
  await readByPeer(...sockets)
  // The I/O thread notices both ends while JavaScript stands still.
  for (const socket of leaving) socket.write(head('/left'))
  await readByPeer(...leaving)
  const closed = once(leaving[0], 'close')
  leaving[0].end()
  leaving[1].resetAndDestroy()
  await closed
  server.goOn()
  await Promise.all(answers)
  assert.deepEqual(server.begun().filter((url) => url === '/left'), [])
})

test('close() waits for parked requests', { skip }, async (t) => {
  const server = await new Server(t, { closes: true, folder: folderOf(t) }).start()
  // JavaScript must have heard of a connection: others end, as those in the backlog of a socket do.
  const answers = await all(kCount, async (i) => {
    const socket = net.connect(server.port, '127.0.0.1')
    socket.setEncoding('latin1').write(head('/early', '\r\n'))
    await once(socket, 'data')
    return () => new Promise((resolve) => {
      let text = ''
      socket.on('data', (piece) => { text += piece })
      socket.on('error', (/** @type {any} */ error) => { text = error.code }).on('close', () => resolve(text))
      socket.write(head(`/${i}`))
    })
  })
  await server.block()
  const late = Promise.all(answers.map((ask) => ask()))
  // The I/O thread has read them when it answers what came later.
  assert.match(await send(server, head('/files/a.txt')), /a file$/)
  server.goOn()
  for (const answer of await late) assert.match(answer, / 0$/)
  await server.says(/closed/)
})

test('another owner of the queue that has room gets what is parked', { skip }, async (t) => {
  const port = await freePort()
  const listen = [{ prefixes: [`http://127.0.0.1:${port}/`], queueName: 'parked', queueMode: 'createOrAttach' }]
  /** @type {any[]} */
  const owners = []
  for (let i = 0; i < 2; ++i) owners.push(Object.assign(await new Server(t, { listen }).start(), { port }))
  const blocking = owners.map(() => send(owners[0], head('/block')))
  await Promise.all(owners.map((owner) => owner.says(/blocked/)))
  const answers = all(2 * kCount, (i) => send(owners[0], head(`/${i}`)))
  // Until both have their share, it may be that none is parked.
  await silence(200)
  owners[1].goOn()
  for (const answer of await answers) assert.match(answer, new RegExp(`${owners[1].child.pid} /\\d+ 0$`))
  owners[0].goOn()
  for (const answer of await Promise.all(blocking)) assert.match(answer, /block 0$/)
  assert.deepEqual(owners[0].begun(), [])
})
