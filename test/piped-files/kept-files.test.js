'use strict'

// Goal: files that the engine keeps open for the next response are what their paths name, and nobody else's descriptors.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { PassThrough } = require('node:stream')
const { setImmediate } = require('node:timers/promises')
const { http } = require('../helpers/backend')
const { piped } = require('../../packages/core-native/lib/http/piped')
const { kLane } = /** @type {any} */ (require('../../packages/core-native/lib/http/symbols'))
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')

const kLong = 3_000_000
/** More than a client's connection holds. */
const kHuge = 24 << 20
const { folder, file } = temporaryFile(Buffer.alloc(kLong, 'abcdefghijklmnopqrstuvwxyz'))

/**
 * @param {import('node:test').TestContext} t
 * @param {(res: any, source: fs.ReadStream) => void} [prepare]
 * @returns {Promise<{ port: number, sources: fs.ReadStream[] }>} a server that pipes the file that its request names
 */
async function servePipes (t, prepare) {
  Object.assign(piped, { taken: 0, returned: 0, reason: '' })
  /** @type {fs.ReadStream[]} */
  const sources = []
  const port = await serve(t, http.createServer((req, res) => {
    const source = fs.createReadStream(decodeURIComponent(/** @type {string} */ (req.url).slice(1)))
    sources.push(source)
    source.on('error', (error) => { res.writeHead(500).end(/** @type {any} */ (error).code) })
    prepare?.(res, source)
    source.pipe(res)
  }))
  return { port, sources }
}

/** @param {number} port @param {string} at */
const get = (port, at) => request({ port, path: `/${encodeURIComponent(at)}` })

test('a file that was replaced, cut or extended is what it is now', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const { port } = await servePipes(t)
  const at = path.join(folder, 'changes')
  fs.writeFileSync(at, 'first')
  assert.equal((await get(port, at)).body, 'first')
  fs.writeFileSync(`${at}.new`, 'the second one')
  fs.renameSync(`${at}.new`, at)
  assert.equal((await get(port, at)).body, 'the second one')
  fs.truncateSync(at, 3)
  assert.equal((await get(port, at)).body, 'the')
  fs.appendFileSync(at, ' end')
  assert.equal((await get(port, at)).body, 'the end')
  fs.unlinkSync(at)
  assert.equal((await get(port, at)).body, 'ENOENT')
  assert.equal(piped.taken, 4)
})

test('a relative path is that of the working directory', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const before = process.cwd()
  t.after(() => process.chdir(before))
  const { port } = await servePipes(t)
  for (const name of ['one', 'two']) {
    fs.mkdirSync(path.join(folder, name))
    fs.writeFileSync(path.join(folder, name, 'same'), name)
    process.chdir(path.join(folder, name))
    assert.equal((await get(port, 'same')).body, name)
    assert.equal((await get(port, 'same')).body, name)
  }
})

test('with a timeout of the socket, the lane gets as much at once as Node reads at once', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  /** @type {number[]} */
  const sizes = []
  let timeout = 0
  const { port } = await servePipes(t, (res) => {
    const { native } = res.req.socket[kLane]
    if (!Object.hasOwn(native, 'sendFile')) {
      const sendFile = native.sendFile.bind(native)
      Object.defineProperty(native, 'sendFile', {
        configurable: true,
        value: (/** @type {number[]} */ ...args) => {
          sizes.push(args[3])
          return sendFile(...args)
        }
      })
      t.after(() => { delete native.sendFile })
    }
    if (timeout !== 0) res.setTimeout(timeout)
  })
  for (const [wanted, most] of [[0, 1 << 20], [60_000, 64 << 10]]) {
    timeout = wanted
    sizes.length = 0
    assert.equal((await get(port, file)).body.length, kLong)
    assert.deepEqual([Math.max(...sizes), sizes.reduce((sum, bytes) => sum + bytes, 0), sizes.length], [most, kLong, Math.ceil(kLong / most)])
  }
})

test('who listens to open has a descriptor that nobody else has', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  /** @type {number[]} */
  const descriptors = []
  const { port } = await servePipes(t, (res, source) => {
    source.on('open', (fd) => {
      descriptors.push(fd)
      // It is the application's to look at, and to close.
      assert.equal(fs.fstatSync(fd).size, kLong)
    })
  })
  const bodies = await Promise.all([get(port, file), get(port, file)])
  assert.deepEqual(bodies.map(({ body }) => body.length), [kLong, kLong])
  assert.notEqual(descriptors[0], descriptors[1])
  assert.equal(piped.taken, 2)
})

test('the descriptor that a stream shows is the application\'s to close, and no file takes its place in a response', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const huge = path.join(folder, 'shown')
  const secret = path.join(folder, 'secret')
  fs.writeFileSync(huge, Buffer.alloc(kHuge, 'p'))
  fs.writeFileSync(secret, 'TOP-SECRET')
  const { port, sources } = await servePipes(t)
  await get(port, huge)
  const client = nodeHttp.get({ port, host: '127.0.0.1', path: `/${encodeURIComponent(huge)}`, agent: false })
  const [res] = await once(client, 'response')
  const source = /** @type {any} */ (sources[1])
  while (source.bytesRead === 0) await setImmediate()
  const { fd } = source
  assert.equal(source.fd, fd)
  assert.equal(fs.fstatSync(fd).ino, fs.statSync(huge).ino)
  fs.closeSync(fd)
  const taken = [1, 2, 3].map(() => fs.openSync(secret, 'r'))
  t.after(() => { for (const other of taken) try { fs.closeSync(other) } catch {} })
  // The same file again, and the rest of the one that is on its way.
  assert.equal((await get(port, huge)).body, 'p'.repeat(kHuge))
  let bytes = 0
  for await (const piece of res) {
    bytes += piece.length
    assert.ok(!piece.includes('TOP'))
  }
  assert.equal(bytes, kHuge)
  assert.equal(piped.taken, 3)
})

test('a stream shows a descriptor when its response closes before the end of a short file', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const short = path.join(folder, 'short')
  fs.writeFileSync(short, Buffer.alloc(500_000, 'p'))
  /** @type {any} */
  let source
  /** @type {(res: any) => void} */
  let leave = () => {}
  // Slow enough that the file is on its way when the response closes.
  const port = await serve(t, http.createServer({ maxBandwidth: 2048 }, (req, res) => {
    if (req.url === '/') return res.end()
    source = fs.createReadStream(short)
    source.pipe(res)
    leave(res)
  }))
  for (const isByClient of [true, false]) {
    const taken = piped.taken
    const closed = new Promise((resolve) => { leave = (res) => res.once('close', () => resolve(source.fd)) })
    const client = nodeHttp.get({ port, host: '127.0.0.1', path: '/short', agent: false }).on('error', () => {})
    const [res] = await once(client, 'response')
    res.on('error', () => {})
    while (piped.taken === taken) await setImmediate()
    if (isByClient) client.destroy()
    else source._readableState.pipes[0].destroy()
    const fd = await closed
    assert.equal(fs.fstatSync(fd).ino, fs.statSync(short).ino)
    fs.closeSync(fd)
  }
})

test('a descriptor of the engine that other code closes by mistake is not sent, and not closed again', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const { port } = await servePipes(t)
  const kept = path.join(folder, 'mistaken')
  const secret = path.join(folder, 'secret')
  fs.writeFileSync(kept, 'p'.repeat(kLong))
  fs.writeFileSync(secret, 'TOP-SECRET')
  await get(port, kept)
  const numbers = fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`) === kept
    } catch {
      return false
    }
  })
  assert.equal(numbers.length, 1)
  fs.closeSync(Number(numbers[0]))
  const opened = [fs.openSync(secret, 'r')]
  while (String(opened.at(-1)) !== numbers[0]) opened.push(fs.openSync(secret, 'r'))
  const taken = Number(opened.at(-1))
  for (let i = 0; i < 2; i++) assert.equal((await get(port, kept)).body, 'p'.repeat(kLong))
  assert.equal(fs.fstatSync(taken).ino, fs.statSync(secret).ino)
  for (const fd of opened) fs.closeSync(fd)
})

test('a stream that closes leaves the file open for the next one, and for another that is being sent', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const { port, sources } = await servePipes(t)
  await get(port, file)
  await get(port, file)
  for (const source of sources) if (!source.closed) await once(source, 'close')
  const [one, two] = await Promise.all([get(port, file), get(port, file)])
  assert.deepEqual([one.body.length, two.body.length], [kLong, kLong])
  assert.equal(piped.taken, 4)
})

test('where Node has to read on, it reads the same file where the lane has stopped', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const { port, sources } = await servePipes(t)
  const huge = path.join(folder, 'huge')
  const content = Buffer.alloc(kHuge, 'zyxwvutsrqponmlkjihgfedcba')
  fs.writeFileSync(huge, content)
  await get(port, huge)
  // A client that reads later leaves the lane in the middle of the file.
  const [res] = await once(nodeHttp.get({ port, host: '127.0.0.1', path: `/${encodeURIComponent(huge)}`, agent: false }), 'response')
  const source = sources[1]
  while (source.bytesRead === 0) await setImmediate()
  /** @type {Buffer[]} */
  const rest = []
  const other = new PassThrough().on('data', (piece) => rest.push(piece))
  source.pipe(other)
  let bytes = 0
  for await (const piece of res) bytes += piece.length
  assert.equal(bytes, kHuge)
  if (!other.readableEnded) await once(other, 'end')
  const read = Buffer.concat(rest)
  assert.deepEqual([piped.taken, piped.returned, piped.reason], [2, 1, 'not flowing'])
  assert.ok(read.length > 0 && read.equals(content.subarray(kHuge - read.length)))
})

test('a file that is left to Node is read by Node, and closed once', needs('sendsFiles', 'listensOnSockets'), async (t) => {
  const { port } = await servePipes(t, (res, source) => { source.on('pause', () => {}) })
  const open = () => fs.readdirSync('/proc/self/fd').length
  await get(port, file)
  const before = open()
  for (let i = 0; i < 10; i++) assert.equal((await get(port, file)).body.length, kLong)
  assert.ok(open() <= before + 4, `${before} descriptors became ${open()}`)
  assert.deepEqual([piped.taken, piped.reason], [0, 'flow listener'])
})
