'use strict'

// Goal: a disk that does not answer any more costs a server nothing for clients that have left, and stops nobody but those who ask for its
// files. Method: names and reads that another process does not answer (FUSE), and clients that come and leave.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { pipeline } = require('node:stream')
const { setTimeout: sleep } = require('node:timers/promises')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { listen, stop } = require('../helpers/client')
const { kNoFuse, mountFuse, startFuse } = require('../helpers/fuse')
const { someOf } = require('../helpers/thorough')
const { localhost } = require('../helpers/tls')
const { until } = require('../helpers/waiting')
const { clientOf, makeSite, serveFolder } = require('./static-kit')
const { sendFile } = /** @type {any} */ (http)

const options = { ...needs('slowReaders', 'aborts', 'servesFiles'), ...(kNoFuse && { skip: kNoFuse }) }

/** Longer than a test. */
const kDeadMs = 120_000
const kClients = 30
const kFiles = Object.fromEntries(['name', 'read'].flatMap((what) => Array.from({ length: kClients }, (_, i) =>
  [`${what}${i}`, { size: 5000, ...what === 'name' ? { nameMs: kDeadMs } : { delayMs: kDeadMs } }])))

/** The head of every other request ends its connection: nothing is read behind it. */
const kLast = ['', 'Connection: close\r\n']

/** @param {any} server @returns {Promise<number>} */
const connectionsOf = (server) => new Promise((resolve, reject) => {
  server.getConnections((/** @type {Error | null} */ error, /** @type {number} */ count) => error === null ? resolve(count) : reject(error))
})

/** @param {string} folder @returns {number} descriptors of this process for files below it, and for sockets */
const descriptorsIn = (folder) => fs.readdirSync('/proc/self/fd').filter((fd) => {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder)
  } catch {
    return false // That of the folder that is read.
  }
}).length

/** What asks for the file: which kind of file, by which path, and what answers. */
const kWays = /** @type {const} */ ({
  'a search of a served folder': { file: 'name', path: '/static/' },
  'a read of a served folder': { file: 'read', path: '/static/' },
  'a file that is piped': { file: 'read', path: '/piped/' },
  'sendFile()': { file: 'read', path: '/sent/' }
})

for (const isSecure of someOf([false, true], 2)) {
  describe(isSecure ? 'TLS' : 'HTTP/1.1', () => {
    for (const [name, way] of Object.entries(kWays)) {
      test(`${name}: clients that have left leave nothing behind`, options, async (t) => {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-dead-'))
        const unmount = await startFuse(kFiles, folder)
        const handler = (/** @type {any} */ req, /** @type {any} */ res) => {
          const file = path.join(folder, path.basename(req.url))
          if (req.url.startsWith('/piped/')) pipeline(fs.createReadStream(file), res, () => {})
          else sendFile(res, file, () => {})
        }
        const server = isSecure ? /** @type {any} */ (http).https.createServer(localhost(), handler) : http.createServer(handler)
        t.after(async () => {
          await stop(server)
          unmount()
          fs.rmdirSync(folder)
        })
        await server.serveFiles('/static/', folder)
        const port = await listen(server)
        const clients = await Promise.all(Array.from({ length: kClients }, async (_, i) => {
          const client = isSecure ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }) : net.connect(port, '127.0.0.1')
          client.on('error', () => {})
          await once(client, isSecure ? 'secureConnect' : 'connect')
          client.write(`GET ${way.path}${way.file}${i} HTTP/1.1\r\nHost: localhost\r\n${kLast[i % kLast.length]}\r\n`)
          return client
        }))
        await until(async () => await connectionsOf(server) === kClients, 'all are there')
        await sleep(300)
        for (const client of clients) client.destroy()
        await until(async () => await connectionsOf(server) === 0, 'the connections have ended')
        // One is read; files of a folder stay open for a while.
        await until(() => descriptorsIn(folder) <= 2, 'the files are closed')
      })
    }
  })
}

test('a client that has only ended its direction gets a file that takes its time', options, async (t) => {
  const folder = await mountFuse({ slow: { size: 5000, delayMs: 300 }, name: { size: 5000, nameMs: 300 } })
  const server = /** @type {any} */ (http.createServer(() => {}))
  t.after(() => stop(server))
  await server.serveFiles('/', folder)
  const port = await listen(server)
  for (const name of ['name', 'slow']) {
    const client = net.connect(port, '127.0.0.1')
    client.end(`GET /${name} HTTP/1.1\r\nHost: a\r\n\r\n`)
    let bytes = 0
    client.on('data', (piece) => { bytes += piece.length })
    await once(client, 'end')
    assert.ok(bytes > 5000, `${name}: ${bytes} bytes`)
  }
})

test('folders on one disk that does not answer leave other files alone', options, async (t) => {
  const dead = await mountFuse(kFiles)
  const slow = await mountFuse({ file: { size: 5000, delayMs: 1 } })
  const site = makeSite(t)
  const server = /** @type {any} */ (http.createServer((_req, res) => sendFile(res, path.join(slow, 'file'), () => {})))
  t.after(() => stop(server))
  for (let i = 0; i < 10; i++) await server.serveFiles(`/dead${i}/`, dead)
  await server.serveFiles('/alive/', site)
  const port = await listen(server)
  const ask = clientOf(t, port)
  // Sites are known to be on one disk when they were asked for something.
  for (let i = 0; i < 10; i++) assert.equal((await ask({ path: `/dead${i}/none` })).status, 404)
  for (let i = 0; i < 10; i++) {
    const client = net.connect(port, '127.0.0.1')
    client.on('error', () => {})
    t.after(() => client.destroy())
    client.write(`GET /dead${i}/name${i} HTTP/1.1\r\nHost: a\r\n\r\n`)
  }
  await sleep(300)
  assert.equal((await ask({ path: '/alive/a.txt' })).body, '0123456789')
  assert.equal((await ask({ path: '/sent' })).body.length, 5000)
})

test('a disk that is mounted below a folder does not stop the folder', options, async (t) => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-dead-'))
  const below = path.join(root, 'below')
  fs.mkdirSync(below)
  fs.writeFileSync(path.join(root, 'a.css'), 'p {}')
  const unmount = await startFuse({ name: { size: 5000, nameMs: kDeadMs }, file: { size: 5000 } }, below)
  t.after(() => {
    unmount()
    fs.rmSync(root, { recursive: true })
  })
  const { ask, port } = await serveFolder(t, root)
  assert.equal((await ask({ path: '/below/file' })).body.length, 5000)
  const client = net.connect(port, '127.0.0.1')
  client.on('error', () => {})
  t.after(() => client.destroy())
  client.write('GET /below/name HTTP/1.1\r\nHost: a\r\n\r\n')
  await sleep(300)
  assert.equal((await ask({ path: '/a.css' })).body, 'p {}')
  assert.equal((await ask({ path: '/none' })).status, 404)
})
