'use strict'

// Goal: a client that leaves is known to have left, whatever its connection waits for: handlers that run hear 'close', and no connection stays.
// Method: pairs of pipelined requests of every kind, over plain HTTP and TLS; the client ends or resets the connection. Stock Node has some of
// the kinds, and is right about them.

const fs = require('node:fs')
const http2 = require('node:http2')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const net = require('node:net')
const { once } = require('node:events')
const { test } = require('node:test')
const assert = require('node:assert/strict')
const { backend, http } = require('../helpers/backend')
const { serve } = require('../helpers/client')
const { localhost } = require('../helpers/tls')
const { until } = require('../helpers/waiting')

const kIsEngine = backend === 'engine'
const kHost = 'Host: localhost\r\n'
const kStored = { 'Cache-Control': 'max-age=60' }
const kUpload = 400_000

/**
 * Kinds of requests.
 *
 * @type {Record<string, { text: string, isOfEngine?: boolean, leavesOnlyByReset?: boolean }>}
 */
const kKinds = {
  'that is never answered': { text: `GET /poll HTTP/1.1\r\n${kHost}\r\n` },
  'that is answered at once': { text: `GET /quick HTTP/1.1\r\n${kHost}\r\n` },
  'whose answer never ends': { text: `GET /stream HTTP/1.1\r\n${kHost}\r\n` },
  'for a file of a folder': { text: `GET /files/a.txt HTTP/1.1\r\n${kHost}\r\n`, isOfEngine: true },
  'for a stored answer': { text: `GET /hit HTTP/1.1\r\n${kHost}\r\n`, isOfEngine: true },
  'that waits for the answer to another client': { text: `GET /known HTTP/1.1\r\n${kHost}\r\n`, isOfEngine: true },
  // What is unread of a body comes before the end, also on stock Node.
  'whose body nobody reads': {
    text: `POST /unread HTTP/1.1\r\n${kHost}Content-Length: ${kUpload}\r\n\r\n${'x'.repeat(kUpload)}`, isOfEngine: true, leavesOnlyByReset: true
  }
}

/** A client's connection: what it writes to, and its socket. @typedef {{ stream: import('node:net').Socket, socket: import('node:net').Socket }} Client */

/** Ways to leave. @type {Record<string, (client: Client) => void>} */
const kWays = {
  ends: ({ stream }) => stream.destroy(),
  resets: ({ socket }) => socket.resetAndDestroy()
}

/** @param {import('node:test').TestContext} t */
function folder (t) {
  const name = fs.mkdtempSync(path.join(os.tmpdir(), 'left-'))
  t.after(() => fs.rmSync(name, { recursive: true }))
  fs.writeFileSync(path.join(name, 'a.txt'), 'a')
  return name
}

/**
 * A server that counts the handlers that run, and those that have heard 'close'.
 *
 * @param {import('node:test').TestContext} t @param {boolean} isTls
 */
async function serveKinds (t, isTls) {
  const counts = { runs: 0, closes: 0 }
  let isKnown = false
  const handler = (/** @type {any} */ req, /** @type {any} */ res) => {
    counts.runs++
    let isClosed = false
    const onClose = () => {
      if (!isClosed) counts.closes++
      isClosed = true
    }
    // On stock Node a response that stands behind unanswered ones hears nothing; its request does.
    res.on('close', onClose)
    req.on('close', onClose)
    if (req.url === '/quick') return res.end('quick')
    if (req.url === '/hit' || (req.url === '/known' && !isKnown)) return res.writeHead(200, kStored).end('stored')
    if (req.url === '/stream') res.write('begun')
  }
  const options = /** @type {any} */ ({ ...(kIsEngine && { cache: { coalesceTimeout: 60_000 } }), ...(isTls && localhost()) })
  const server = /** @type {any} */ (isTls ? /** @type {any} */ (http).https : http).createServer(options, handler)
  if (kIsEngine) server.serveFiles('/files/', folder(t))
  const port = await serve(t, server)
  /** @returns {Promise<Client>} */
  const connect = async () => {
    const socket = net.connect({ port, host: '127.0.0.1' }).on('error', () => {})
    await once(socket, 'connect')
    const stream = isTls ? tls.connect({ socket, servername: 'localhost', ca: localhost().cert }) : socket
    if (isTls) await once(stream, 'secureConnect')
    stream.on('error', () => {}).resume()
    return { stream, socket }
  }
  const { stream: leader } = await connect()
  if (kIsEngine) {
    const first = once(leader, 'data')
    leader.write(kKinds['for a stored answer'].text + kKinds['that waits for the answer to another client'].text)
    await first
    await until(() => counts.closes === 2, 'both are stored')
    server.cache.flush(`http${isTls ? 's' : ''}://localhost:${port}/known`)
    isKnown = true
    leader.write(kKinds['that waits for the answer to another client'].text)
    await until(() => counts.runs === 3, 'one leads')
  }
  return { server, port, counts, connect, leader }
}

/** @param {any} server @returns {Promise<number>} */
const connectionsOf = (server) => new Promise((resolve, reject) => server.getConnections((/** @type {Error | null} */ error, /** @type {number} */ count) => error === null ? resolve(count) : reject(error)))

for (const protocol of ['plain HTTP', 'TLS']) {
  test(`${protocol}: whatever its requests wait for, a client that leaves is known to have left`, { timeout: 30_000 }, async (t) => {
    const { server, counts, connect, leader } = await serveKinds(t, protocol === 'TLS')
    const kinds = Object.values(kKinds).filter(({ isOfEngine }) => kIsEngine || isOfEngine !== true)
    for (const [way, leave] of Object.entries(kWays)) {
      const usable = kinds.filter(({ leavesOnlyByReset }) => way === 'resets' || leavesOnlyByReset !== true)
      const clients = []
      const before = counts.runs
      for (const first of usable) {
        for (const second of usable) {
          const client = await connect()
          client.stream.write(first.text + second.text)
          clients.push(client)
        }
      }
      const least = usable.filter(({ isOfEngine }) => isOfEngine !== true).length * usable.length
      await until(() => counts.runs >= before + least, 'the handlers of requests that stand first run')
      for (const client of clients) leave(client)
      await until(async () => await connectionsOf(server) === 1, `no connection of a client that ${way} stays`)
      await until(() => counts.closes === counts.runs - (kIsEngine ? 1 : 0), 'each handler that runs hears it')
    }
    leader.destroy()
    await until(() => counts.closes === counts.runs, 'the handler that led hears it')
    await until(async () => await connectionsOf(server) === 0, 'no connection stays')
  })
}

test('HTTP/2: a client that leaves while its streams wait for the answer to another client is known to have left', { ...(!kIsEngine && { skip: 'node:http has no cache' }), timeout: 30_000 }, async (t) => {
  const { server, port, counts, leader } = await serveKinds(t, true)
  const before = server.cache.stats().coalesced
  const session = http2.connect(`https://localhost:${port}`, { ca: localhost().cert })
  session.on('error', () => {})
  await once(session, 'connect')
  for (let i = 0; i < 3; i++) session.request({ ':path': '/known', ':authority': 'localhost' }).on('error', () => {})
  session.request({ ':path': '/poll', ':authority': 'localhost' }).on('error', () => {})
  await until(() => server.cache.stats().coalesced === before + 3 && counts.runs === 4, 'three streams wait')
  session.destroy()
  await until(async () => await connectionsOf(server) === 1 && counts.closes === 3, 'they have left')
  leader.destroy()
  await until(() => counts.closes === counts.runs, 'the handler that led hears it')
  assert.equal(counts.runs, 4)
})
