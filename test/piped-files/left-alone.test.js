'use strict'

// Goal: a file that is piped into a response is left to Node's stream where a lane could not read it unseen, and for the reason that is
// named. The client gets the file in any case. shapes.js has the reasons that an ordinary application meets.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const { promisify } = require('node:util')
const { PassThrough } = require('node:stream')
const { http, backend } = require('../helpers/backend')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { piped } = require('../../packages/core-native/lib/http/piped')
const { request, serve } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')

const run = promisify(execFile)
const kContent = Buffer.alloc(300_000, 'abcdefghijklmnopqrstuvwxyz')
const { file } = temporaryFile(kContent)
/** Five bytes, and the content. */
const { file: headed } = temporaryFile(Buffer.concat([Buffer.from('MAGIC'), kContent]))
const skip = backend === 'node' && 'the engine takes files over'

/** @typedef {(res: any, source: any) => unknown} Prepare */

/**
 * Serves the file once, by what `prepare` does behind or before pipe().
 *
 * @param {import('node:test').TestContext} t
 * @param {{ before?: Prepare, behind?: Prepare, options?: object, server?: object, path?: string }} how
 */
async function serveFile (t, { before: first, behind, options, server = {}, path: at = file }) {
  Object.assign(piped, { taken: 0, returned: 0, reason: '' })
  const port = await serve(t, http.createServer(server, async (req, res) => {
    const source = fs.createReadStream(at, options)
    await first?.(res, source)
    source.pipe(res)
    behind?.(res, source)
  }))
  return request({ port, maxHeaderSize: 1 << 20 })
}

test('a file is taken over where nothing is in the way', { skip }, async (t) => {
  const { body } = await serveFile(t, {})
  assert.ok(Buffer.from(body, 'latin1').equals(kContent))
  assert.deepEqual(piped, { taken: 1, returned: 0, reason: '' })
})

/** What listens to the head, as the package on-headers does. @type {(does: (res: any) => void) => Prepare} */
const withHead = (does) => (res) => {
  const { writeHead } = res
  res.writeHead = function (/** @type {any[]} */ ...args) {
    does(this)
    return writeHead.apply(this, args)
  }
}

/** @param {any} res */
function replaceWrite (res) {
  const { write } = res
  res.write = function (/** @type {any[]} */ ...args) { return write.apply(this, args) }
}

/** @type {[what: string, reason: string, how: Parameters<typeof serveFile>[1]][]} */
const kLeft = [
  ['a stream that was read before', 'begun', { before: async (res, source) => { await once(source, 'readable'); res.write(source.read(5)) } }],
  ['a stream that has bytes in its buffer', 'begun', { before: async (res, source) => { await once(source, 'readable') } }],
  ['a stream with a read on its way', 'begun', { before: async (res, source) => { await once(source, 'open'); source.read(0) } }],
  ['a readable listener', 'not flowing', { behind: (res, source) => { source.on('readable', () => source.read()) } }],
  ['a pause listener', 'flow listener', { behind: (res, source) => { source.on('pause', () => {}) } }],
  ['a resume listener that came before', 'flow listener', { before: (res, source) => { source.on('resume', () => {}) } }],
  ['pause() in the same tick', 'not flowing', { behind: (res, source) => { source.pause(); setTimeout(() => source.resume(), 50) } }],
  ['another class', '', { before: (res, source) => { Object.setPrototypeOf(source, Object.create(fs.ReadStream.prototype)) } }],
  ['pipe() of its own', 'a method of the stream', { before: (res, source) => { const { pipe } = source; source.pipe = function (/** @type {any[]} */ ...args) { return pipe.apply(this, args) } } }],
  ['a class whose methods were changed', 'a method of the stream', {
    before: (res, source) => {
      const { read } = fs.ReadStream.prototype
      fs.ReadStream.prototype.read = function (/** @type {any[]} */ ...args) { return Reflect.apply(read, this, args) }
      source.on('close', () => Reflect.deleteProperty(fs.ReadStream.prototype, 'read'))
    }
  }],
  ['read() of node:fs replaced', 'node:fs was changed', { before: (res, source) => { const { read } = fs; Object.assign(fs, { read: (/** @type {any[]} */ ...args) => Reflect.apply(read, fs, args) }); source.on('close', () => Object.assign(fs, { read })) } }],
  ['emit() of the response replaced', 'a method of the response', { before: (res) => { const { emit } = res; res.emit = function (/** @type {any[]} */ ...args) { return emit.apply(this, args) } } }],
  ['end() of all responses replaced', 'a method of the response', {
    before: (res, source) => {
      const { end } = nodeHttp.ServerResponse.prototype
      nodeHttp.ServerResponse.prototype.end = function (/** @type {any[]} */ ...args) { return Reflect.apply(end, this, args) }
      source.on('close', () => { Reflect.deleteProperty(nodeHttp.ServerResponse.prototype, 'end') })
    }
  }],
  ['write() of all responses replaced', 'a method of the response', {
    before: (res, source) => {
      const { write } = nodeHttp.ServerResponse.prototype
      nodeHttp.ServerResponse.prototype.write = function (/** @type {any[]} */ ...args) { return Reflect.apply(write, this, args) }
      source.on('close', () => { Reflect.deleteProperty(nodeHttp.ServerResponse.prototype, 'write') })
    }
  }],
  ['write() replaced when the head is made', 'a method of the response', { before: withHead(replaceWrite) }],
  ['a drain listener that comes with the head', 'drain listener', { before: withHead((res) => res.on('drain', () => {})) }],
  ['a descriptor that was read from', 'position of a descriptor', { path: headed, before: (_res, source) => { source.on('open', (/** @type {number} */ fd) => fs.readSync(fd, Buffer.alloc(5), 0, 5, null)) } }],
  ['a descriptor that was read from before pipe()', 'position of a descriptor', { path: headed, before: async (_res, source) => { const [fd] = await once(source, 'open'); fs.readSync(fd, Buffer.alloc(5), 0, 5, null) } }],
  ['a strict length', 'strict length', { before: (res) => { res.strictContentLength = true; res.setHeader('Content-Length', kContent.length) } }],
  ['a head longer than a record may be', 'long head', { before: (res) => { for (let i = 0; i < 20; i++) res.setHeader(`X-${i}`, 'v'.repeat(1000)) } }],
  ['a response that is corked', 'output waits', { before: (res) => { res.cork(); setTimeout(() => res.uncork(), 100) } }],
]

for (const [what, reason, how] of kLeft) {
  test(`a file is left to Node: ${what}`, { skip }, async (t) => {
    const answer = await serveFile(t, how)
    assert.equal(answer.status, 200)
    const body = Buffer.from(answer.body, 'latin1')
    assert.ok(body.subarray(body.length - kContent.length).equals(kContent))
    assert.ok(!body.includes('MAGIC'))
    assert.deepEqual([piped.taken, piped.reason], [0, reason])
  })
}

test('a file is left to Node: a length that comes with the head, and is another one', { skip }, async (t) => {
  const promise = serveFile(t, {
    before: (res, source) => {
      const { writeHead } = res
      res.writeHead = function (/** @type {any[]} */ ...args) {
        this.setHeader('Content-Length', kContent.length + 1)
        return writeHead.apply(this, args)
      }
      res.on('finish', () => res.destroy())
    }
  })
  await assert.rejects(promise, { code: 'ECONNRESET' })
  assert.deepEqual([piped.taken, piped.reason], [0, 'another length'])
})

test('a file is left to Node while the backend sends none', { skip }, async (t) => {
  const { capabilities } = loadBinding()
  const { sendsFiles } = capabilities
  t.after(() => { capabilities.sendsFiles = sendsFiles })
  capabilities.sendsFiles = false
  const { body } = await serveFile(t, {})
  assert.equal(body.length, kContent.length)
  assert.deepEqual([piped.taken, piped.reason], [0, 'backend'])
})

test('a response of the application\'s own class is left to Node', { skip }, async (t) => {
  class Own extends nodeHttp.ServerResponse {}
  const { body } = await serveFile(t, { server: { ServerResponse: Own } })
  assert.equal(body.length, kContent.length)
  assert.equal(piped.taken, 0)
})

test('what says that it was piped and is no stream does no harm', { skip }, async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    for (const source of [undefined, null, 1, 'a', {}, new PassThrough(), Object.create(null)]) res.emit('pipe', source)
    res.end('fine')
  }))
  assert.equal((await request(port)).body, 'fine')
})

/**
 * Pipes the file in a process of its own.
 *
 * @param {string[]} flags of node
 * @param {string} setup JavaScript that runs before the package is loaded
 * @param {string} late JavaScript that runs before the file is piped
 * @returns {Promise<any>} what became of the file, and the length of the body
 */
async function inProcess (flags, setup = '', late = '') {
  const core = path.resolve(__dirname, '..', '..', 'packages', 'core-native')
  const program = `
    const fs = require('node:fs')
    const { once } = require('node:events')
    ${setup}
    const http = require(${JSON.stringify(core)})
    const { piped } = require(${JSON.stringify(path.join(core, 'lib', 'http', 'piped'))})
    const server = http.createServer((req, res) => { ${late}; fs.createReadStream(${JSON.stringify(file)}).pipe(res) })
    server.listen(0, '127.0.0.1', async () => {
      const req = require('node:http').get({ port: server.address().port, agent: false })
      const [res] = await once(req, 'response')
      let bytes = 0
      for await (const piece of res) bytes += piece.length
      server.close()
      console.log(JSON.stringify({ ...piped, bytes }))
    })`
  const { stdout, stderr } = await run(process.execPath, [...flags, '--eval', program], { env: { ...process.env, NODE_EXTRA_CA_CERTS: '' } })
  return { ...JSON.parse(stdout), stderr }
}

/** What a program needs under the permission model that reads files, loads an addon and listens: by Node's line. */
const kPermission = ['--permission', '--experimental-permission', '--allow-addons', '--allow-worker', '--allow-net']
  .filter((flag, at) => process.allowedNodeEnvironmentFlags.has(flag) && !(at === 1 && process.allowedNodeEnvironmentFlags.has('--permission')))

/** @type {[what: string, flags: string[], setup: string, late: string, reason: string][]} */
const kProcesses = [
  ['functions of node:fs that were replaced before the package was loaded', [], 'const { open } = fs; fs.open = function (...args) { return open.apply(this, args) }', '', ''],
  ['graceful-fs', [], `require(${JSON.stringify(require.resolve('graceful-fs'))}).gracefulify(fs)`, '', ''],
  ['a binding that was replaced, as by mock-fs, before', [], "const binding = process.binding('fs'); const { open } = binding; binding.open = function (...args) { return open.apply(this, args) }", '', ''],
  ['a binding that was replaced, as by mock-fs, later', [], '', `
    if (!fs.isWarm) { fs.isWarm = true; const source = fs.createReadStream('/'); source.on('error', () => {}); res.emit('pipe', source); source.destroy() }
    const binding = process.binding('fs'); const { open } = binding; binding.open = function (...args) { return open.apply(this, args) }`, 'the binding of node:fs was changed'],
  ['--pending-deprecation, which would tell of the look at the binding', ['--pending-deprecation'], '', '', ''],
  ['the permission model', [...kPermission, '--allow-fs-read=*'], '', '', ''],
]

for (const [what, flags, setup, late, reason] of kProcesses) {
  test(`a file is left to Node: ${what}`, { skip }, async () => {
    const outcome = await inProcess(flags, setup, late)
    assert.deepEqual([outcome.taken, outcome.bytes, outcome.reason], [0, kContent.length, reason])
    assert.doesNotMatch(outcome.stderr, /DEP0111/)
  })
}

test('in a process of its own, a file is taken over where nothing is in the way', { skip }, async () => {
  const { taken, bytes, stderr } = await inProcess([])
  assert.deepEqual([taken, bytes, stderr], [1, kContent.length, ''])
})

test('a Node whose streams of files have no such symbol serves them itself', { skip }, async () => {
  const outcome = await inProcess([], `
    const { getOwnPropertySymbols } = Object
    Object.getOwnPropertySymbols = (of) => getOwnPropertySymbols(of).filter(({ description }) => description !== 'kFs')`)
  assert.deepEqual([outcome.taken, outcome.bytes], [0, kContent.length])
})
