'use strict'

// Goal: a program that closes a number once too often gets no other file served, and keeps what it has opened since. Method: the test closes
// descriptors of the engine, and opens secret files until one has the number.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const nodeHttp = require('node:http')
const nodeHttp2 = require('node:http2')
const nodeHttps = require('node:https')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { http, backend } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { certificate } = require('../helpers/certificates')
const { listen, serve, stop } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { makeSite, serveFolder, temporaryFolder } = require('./static-kit')

const { https, sendFile } = /** @type {any} */ (http)
const needed = needs('servesFiles', 'sendsFiles', 'listensOnSockets')
const options = {
  ...needed,
  ...(backend === 'node' && { skip: 'node:http keeps nothing open' }),
  ...(process.platform !== 'linux' && { skip: 'only Linux says which number is open on what' })
}

const kSecret = 'S'.charCodeAt(0)
/** The header section of the response has a few of these letters, too. */
const kWindow = 256 * 1024 + 100

/** What a program opens beside connections gets smaller numbers. */
const kOwnFrom = 1024

/** @param {string} target @returns {number[]} the descriptors of the process that are open on it */
function numbersOf (target) {
  return fs.readdirSync('/proc/self/fd').map(Number).filter((number) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${number}`) === target
    } catch {
      return false
    }
  })
}

/**
 * Closes the numbers, and opens another file until it has all of them.
 *
 * @param {import('node:test').TestContext} t
 * @param {number[]} numbers
 * @param {string} other
 * @returns {() => void} asserts that the numbers still are those of the other file
 */
function steal (t, numbers, other) {
  const { ino } = fs.statSync(other)
  const rest = new Set(numbers)
  /** @type {number[]} */
  const opened = []
  t.after(() => { for (const number of opened) fs.closeSync(number) })
  assert.ok(numbers.length > 0)
  for (const number of numbers) fs.closeSync(number)
  while (rest.size > 0) {
    const number = fs.openSync(other, 'r')
    opened.push(number)
    rest.delete(number)
  }
  return () => { for (const number of numbers) assert.equal(fs.fstatSync(number).ino, ino) }
}

/** @param {any} res @returns {Promise<string>} */
async function textOf (res) {
  res.setEncoding('latin1')
  let text = ''
  for await (const piece of res) text += piece
  return text
}

/** @type {Record<string, { create: (handler: any) => any, get: (port: number, path: string) => Promise<string> }>} */
const kProtocols = {
  'HTTP/1.1': {
    create: (handler) => http.createServer(handler),
    get: async (port, path) => {
      const [res] = await once(nodeHttp.get({ port, host: '127.0.0.1', path, agent: false }), 'response')
      return `${res.statusCode} ${await textOf(res)}`
    }
  },
  TLS: {
    create: (handler) => https.createServer(certificate('localhost'), handler),
    get: async (port, path) => {
      const asked = nodeHttps.get({ port, host: '127.0.0.1', path, agent: false, rejectUnauthorized: false })
      const [res] = await once(asked, 'response')
      return `${res.statusCode} ${await textOf(res)}`
    }
  },
  'HTTP/2': {
    create: (handler) => https.createServer({ ...certificate('localhost'), http2: true }, handler),
    get: async (port, path) => {
      const session = nodeHttp2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
      const stream = session.request({ ':path': path })
      const [headers] = await once(stream, 'response')
      const text = await textOf(stream)
      session.close()
      return `${headers[':status']} ${text}`
    }
  }
}

/**
 * Serves a folder, closes all its descriptors, and asks for its files.
 *
 * @param {import('node:test').TestContext} t
 * @param {(typeof kProtocols)[string]} protocol
 */
async function serveWithoutDescriptors (t, { create, get }) {
  const folder = makeSite(t, { 'small.txt': 'public', 'large.txt': 'p'.repeat(100_000) })
  const other = makeSite(t, { 'key.txt': 'SECRET', 'small.txt': 'SECRET', 'large.txt': 'SECRET' })
  const server = create(() => assert.fail('no request is for JavaScript'))
  t.after(() => stop(server))
  await server.serveFiles('/', folder)
  const port = await listen(server)
  const check = async () => {
    const texts = await Promise.all(['/small.txt', '/large.txt', '/key.txt'].map((path) => get(port, path)))
    const short = texts.map((text) => text.startsWith('404 ') ? '404' : text.replace(/p{3,}/, ({ length }) => `${length}`))
    assert.deepEqual(short, ['200 public', '200 100000', '404'])
  }
  await check()
  const kept = ['', '/small.txt', '/large.txt'].map((name) => ({ name, numbers: numbersOf(folder + name) }))
  const numbers = kept.flatMap(({ numbers }) => numbers)
  assert.ok(numbers.every((number) => number >= kOwnFrom), `the numbers are ${numbers}`)
  const stays = kept.map(({ name, numbers }) => steal(t, numbers, other + name))
  // At once, and when everything that was known is looked at again.
  const stolen = performance.now()
  await until(async () => {
    await check()
    return performance.now() - stolen > 1100
  }, 'the folder is looked at again')
  for (const check of stays) check()
}

test('a folder and its files are served although the program closed their descriptors', options, async (t) => {
  await Promise.all(Object.values(kProtocols).map((protocol) => serveWithoutDescriptors(t, protocol)))
})

test('a file that changes in place is sent as it is, not as it was', options, async (t) => {
  const folder = makeSite(t, { 'a.txt': 'first' })
  const { ask } = await serveFolder(t, folder)
  const before = await ask({ path: '/a.txt' })
  fs.writeFileSync(path.join(folder, 'a.txt'), 'second, longer')
  const after = await ask({ path: '/a.txt' })
  assert.deepEqual([before.body, after.body], ['first', 'second, longer'])
  assert.equal(after.headers['content-length'], '14')
  assert.notEqual(after.headers.etag, before.headers.etag)
})

/** @type {Record<string, (res: any, file: string, given: number) => void>} */
const kSenders = {
  'sendFile() of a path': (res, file) => sendFile(res, file, () => {}),
  'sendFile() of a descriptor': (res, _file, given) => sendFile(res, given, {}, () => {}),
  'a stream that is piped': (res, file) => fs.createReadStream(file).on('error', (error) => res.destroy(error)).pipe(res),
  'a stream that Node reads on': (res, file) => {
    const source = fs.createReadStream(file).on('error', (error) => res.destroy(error))
    source.pipe(res)
    stolen.then(() => source.on('data', () => {}))
  }
}
/** Resolves when the descriptors of a response on its way are another file's. */
let stolen = Promise.resolve()

for (const way of ['a served folder', ...Object.keys(kSenders)]) {
  // The lane looks before each window: the one that it sends meanwhile may still have bytes of the other file.
  test(`a response on its way has no more than a window of a file that got its number (${way})`, options, async (t) => {
    const kBytes = 16_000_000
    /** @type {() => void} */
    let tell = () => {}
    stolen = new Promise((resolve) => { tell = resolve })
    const folder = temporaryFolder(t)
    const file = path.join(folder, 'large')
    const secret = path.join(folder, 'secret')
    fs.writeFileSync(file, Buffer.alloc(kBytes, 'p'))
    fs.writeFileSync(secret, Buffer.alloc(kBytes, 'S'))
    const given = fs.openSync(file, 'r')
    t.after(() => fs.closeSync(given))
    const server = /** @type {any} */ (http.createServer((_req, res) => kSenders[way](res, file, given)))
    if (way === 'a served folder') await server.serveFiles('/', folder)
    const port = await serve(t, server)
    const client = net.connect(port, '127.0.0.1')
    t.after(() => client.destroy())
    client.on('error', () => {})
    client.write('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    await once(client, 'readable')
    const stays = steal(t, numbersOf(file).filter((number) => number !== given), secret)
    tell()
    let wrong = 0
    client.on('data', (piece) => {
      for (const byte of piece) wrong += Number(byte === kSecret)
    })
    await once(client, 'close')
    stays()
    assert.ok(wrong <= kWindow, `${wrong} bytes of the other file`)
    assert.equal(fs.fstatSync(given).ino, fs.statSync(file).ino)
  })
}
