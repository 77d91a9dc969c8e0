'use strict'

// Ways in which applications pipe a file into a response. Each runs on stock Node and on the engine, and the events, their states and what
// the client gets are compared.

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const zlib = require('node:zlib')
const { execFileSync } = require('node:child_process')
const { AsyncLocalStorage } = require('node:async_hooks')
const { PassThrough, Readable, finished, pipeline } = require('node:stream')
const { pipeline: pipelinePromise } = require('node:stream/promises')
const { setTimeout: after } = require('node:timers/promises')

/**
 * @typedef {object} Shape
 * @property {(t: any) => unknown} run the handler: t has req, res, log(), note(), read() and midway()
 * @property {boolean} [taken] the lane reads the file
 * @property {string} [reason] why it does not, or why Node goes on
 * @property {string} [method]
 * @property {number} [pauseMs] the client begins to read the body so late
 * @property {number} [destroyAfter] the client leaves after so many bytes
 * @property {boolean} [isLoose] how much the client gets before the end is settled by the scheduler
 * @property {boolean} [isRace] the events depend on whether a write waits at a certain moment, on stock Node, too
 * @property {boolean} [endsConnection] what the client was promised does not come: a lane ends the connection, where stock Node lets the client wait
 * @property {string} [needs] a file of the system
 */

const kSmall = 13
const kLarge = 1 << 20
const kHuge = 24 << 20

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-shapes-'))
process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }))
const pattern = (/** @type {number} */ bytes) => Buffer.alloc(bytes, 'abcdefghijklmnopqrstuvwxyz0123456789-')

/** @param {string} name @param {string | Buffer} bytes @returns {string} its path */
function file (name, bytes) {
  const at = path.join(folder, name)
  fs.writeFileSync(at, bytes)
  return at
}

const small = file('small', 'Hello, world!')
const large = file('large', pattern(kLarge))
const huge = file('huge', pattern(kHuge))
const empty = file('empty', '')
const locked = file('locked', 'secret')
fs.chmodSync(locked, 0)
fs.chmodSync(folder, 0o755)
const none = path.join(folder, 'none')
const fifo = path.join(folder, 'fifo')
execFileSync('mkfifo', [fifo])

const kPause = { pauseMs: 100 }
/** How long JavaScript runs where a lane is to be faster. */
const kBusyMs = 60
const storage = new AsyncLocalStorage()
const isRoot = process.geteuid?.() === 0

/** Runs a function as a user who may not read what is locked, until privileged(). @param {() => void} run */
function unprivileged (run) {
  if (isRoot) process.seteuid?.(65534)
  run()
}
function privileged () {
  if (isRoot) process.seteuid?.(0)
}

/** @type {Record<string, Shape>} */
const shapes = {
  // -- Ordinary ones.
  'small with a length': { taken: true, run: ({ res, read }) => { res.setHeader('Content-Length', kSmall); read(small).pipe(res) } },
  'small in chunks': { taken: true, run: ({ res, read }) => { read(small).pipe(res) } },
  'one window with a length': { taken: true, run: ({ res, read }) => { res.setHeader('Content-Length', 256 << 10); read(large, { start: 0, end: (256 << 10) - 1 }).pipe(res) } },
  '1 MiB with a length': { taken: true, run: ({ res, read }) => { res.setHeader('Content-Length', kLarge); read(large).pipe(res) } },
  '1 MiB in chunks': { taken: true, run: ({ res, read }) => { read(large).pipe(res) } },
  '24 MiB to a slow reader': { taken: true, ...kPause, run: ({ res, read }) => { read(huge).pipe(res) } },
  'a range': { taken: true, run: ({ res, read }) => { res.writeHead(206, { 'Content-Length': 200000 }); read(large, { start: 1000, end: 200999 }).pipe(res) } },
  'an end': { taken: true, run: ({ res, read }) => { read(large, { end: 99 }).pipe(res) } },
  'a start': { taken: true, run: ({ res, read }) => { read(large, { start: 1048000 }).pipe(res) } },
  'a start beyond the end': { reason: 'nothing to read', run: ({ res, read }) => { read(small, { start: 99 }).pipe(res) } },
  'an end beyond the end': { taken: true, run: ({ res, read }) => { read(small, { start: 2, end: 99 }).pipe(res) } },
  'a high-water mark of 7': { taken: true, run: ({ res, read }) => { read(small, { highWaterMark: 7 }).pipe(res) } },
  'as send does': {
    taken: true,
    run: ({ res, read, note }) => {
      res.setHeader('Content-Length', kSmall)
      const source = read(small, { start: 0, end: 12, maxAge: 0, root: '/' })
      source.pipe(res)
      finished(res, () => source.destroy())
      source.on('error', note('error'))
      source.on('end', note('end'))
    }
  },
  'headers that were flushed': { taken: true, run: ({ res, read }) => { res.flushHeaders(); read(large).pipe(res) } },
  'a connection that ends': { taken: true, run: ({ res, read }) => { res.setHeader('Connection', 'close'); res.setHeader('Content-Length', kLarge); read(large).pipe(res) } },
  'a length that is too long': { reason: 'another length', isLoose: true, endsConnection: true, run: ({ res, read }) => { res.setHeader('Content-Length', 20); read(small).pipe(res) } },
  'a length, and the application ends the response later': {
    taken: true,
    run: ({ res, read }) => {
      res.setHeader('Content-Length', kLarge)
      const source = read(large)
      source.pipe(res, { end: false })
      source.on('end', () => setTimeout(() => res.end(), 50))
    }
  },
  'a length, and pipeline() that does not end the response': {
    taken: true,
    run: async ({ res, read, log }) => {
      res.setHeader('Content-Length', kSmall)
      await pipelinePromise(read(small), res, { end: false })
      log('sent')
      await after(50)
      res.end()
    }
  },
  'trailers behind it': { taken: true, run: ({ res, read }) => { res.setHeader('Trailer', 'A'); const source = read(small); source.pipe(res, { end: false }); source.on('end', () => { res.addTrailers({ A: 'b' }); res.end() }) } },

  // -- Files that are none, or cannot be read.
  ENOENT: { reason: '', run: ({ res, read }) => { const source = read(none); source.pipe(res); source.on('error', (/** @type {any} */ error) => { res.statusCode = 404; res.end(error.code) }) } },
  'ENOENT that nobody expects': { reason: '', run: ({ res, read, expectUncaught }) => { expectUncaught(); read(none).pipe(res) } },
  EACCES: {
    reason: '',
    run: ({ res, read }) => unprivileged(() => {
      const source = read(locked)
      source.pipe(res)
      source.on('error', (/** @type {any} */ error) => { privileged(); res.statusCode = 403; res.end(error.code) })
    })
  },
  EISDIR: { reason: 'not a regular file', run: ({ res, read }) => { const source = read(folder); source.pipe(res); source.on('error', (/** @type {any} */ error) => { res.statusCode = res.headersSent ? 1 : 500; res.end(error.code + error.syscall) }) } },
  'EIO at once': { needs: '/proc/self/mem', reason: 'nothing to read', run: ({ res, read }) => { const source = read('/proc/self/mem'); source.pipe(res); source.on('error', (/** @type {any} */ error) => { res.statusCode = 500; res.end(error.code + error.syscall) }) } },
  'an empty file': { reason: 'nothing to read', run: ({ res, read }) => { read(empty).pipe(res) } },
  'a file of procfs': { needs: '/proc/sys/kernel/ostype', reason: 'nothing to read', run: ({ res, read }) => { read('/proc/sys/kernel/ostype').pipe(res) } },
  'a file of sysfs, shorter than it says': { needs: '/sys/kernel/mm/transparent_hugepage/enabled', reason: 'file without blocks', run: ({ res, read }) => { read('/sys/kernel/mm/transparent_hugepage/enabled').pipe(res) } },
  'a device': { needs: '/dev/zero', reason: 'not a regular file', run: ({ res, read }) => { read('/dev/zero', { end: 99999 }).pipe(res) } },
  'a FIFO': { reason: 'not a regular file', run: ({ res, read }) => { read(fifo).pipe(res); setTimeout(() => fs.writeFile(fifo, 'through a pipe', () => {}), 30) } },

  // -- Answers without a body.
  HEAD: { method: 'HEAD', reason: 'no body', run: ({ res, read }) => { res.setHeader('Content-Length', kSmall); read(small).pipe(res) } },
  204: { reason: 'no body', run: ({ res, read }) => { res.statusCode = 204; read(small).pipe(res) } },
  304: { reason: 'no body', run: ({ res, read }) => { res.writeHead(304); read(small).pipe(res) } },

  // -- Somebody else reads.
  'two destinations': { reason: 'destinations', run: ({ res, read }) => { const source = read(large); const other = new PassThrough(); other.resume(); source.pipe(res); source.pipe(other) } },
  'another destination later': {
    taken: true,
    reason: 'not flowing',
    ...kPause,
    run: ({ res, read, log, midway }) => {
      const source = read(huge)
      const other = new PassThrough()
      let bytes = 0
      other.on('data', (piece) => { bytes += piece.length })
      other.on('end', () => log('other', bytes > 0))
      source.pipe(res)
      midway(source, () => source.pipe(other))
    }
  },
  'a data listener before pipe()': { reason: 'data listener', run: ({ res, read, log }) => { const source = read(large); let n = 0; source.on('data', (/** @type {Buffer} */ piece) => { n += piece.length }); source.pipe(res); source.on('end', () => log('counted', n)) } },
  'a data listener behind pipe()': { reason: 'data listener', run: ({ res, read, log }) => { const source = read(large); let n = 0; source.pipe(res); source.on('data', (/** @type {Buffer} */ piece) => { n += piece.length }); source.on('end', () => log('counted', n)) } },
  'a data listener in a microtask': { reason: 'data listener', run: async ({ res, read, log }) => { const source = read(large); let n = 0; source.pipe(res); await null; await null; source.on('data', (/** @type {Buffer} */ piece) => { n += piece.length }); source.on('end', () => log('counted', n)) } },
  'a data listener later': {
    taken: true,
    reason: 'data listener',
    ...kPause,
    run: ({ res, read, log, midway }) => {
      const source = read(huge)
      let n = 0
      source.pipe(res)
      midway(source, () => source.on('data', (/** @type {Buffer} */ piece) => { n += piece.length }))
      source.on('end', () => log('some', n > 0))
    }
  },
  'an open listener': { taken: true, run: ({ res, read, log }) => { const source = read(large); source.on('open', (/** @type {number} */ fd) => log('open', typeof fd, fs.fstatSync(fd).size)); source.pipe(res) } },
  'pipe() in the open listener': { taken: true, run: ({ res, read }) => { const source = read(large); source.on('open', () => source.pipe(res)) } },
  'pipe() later': { taken: true, run: async ({ res, read }) => { const source = read(large); await after(20); source.pipe(res) } },
  'an encoding': { reason: 'encoding', run: ({ res, read }) => { read(large, { encoding: 'utf8' }).pipe(res) } },
  'setEncoding()': { reason: 'encoding', run: ({ res, read }) => { const source = read(large); source.setEncoding('latin1'); source.pipe(res) } },
  'setEncoding() behind pipe()': { reason: 'encoding', run: ({ res, read }) => { const source = read(large); source.pipe(res); source.setEncoding('latin1') } },

  // -- Streams of other kinds.
  'functions of the application': { reason: 'functions of the application', run: ({ res, read }) => { read(large, { fs: { open: fs.open, read: fs.read, close: fs.close } }).pipe(res) } },
  'a FileHandle': { reason: 'functions of the application', run: async ({ res, read }) => { read(null, { fd: await fs.promises.open(large) }).pipe(res) } },
  'a descriptor and a start': { taken: true, run: ({ res, read }) => { read(null, { fd: fs.openSync(large, 'r'), start: 0 }).pipe(res) } },
  'a descriptor in the middle': { reason: 'position of a descriptor', run: ({ res, read }) => { const fd = fs.openSync(large, 'r'); fs.readSync(fd, Buffer.alloc(5)); read(null, { fd }).pipe(res) } },
  'koa: opened before it is piped': { taken: true, run: async ({ res, read, log }) => { const source = read(large); source.once('error', () => {}); finished(res, () => source.destroy()); await null; pipeline(source, res, (error) => log('callback', error?.code)) } },
  'koa: piped some ticks later': { taken: true, run: ({ res, read }) => { const source = read(large); process.nextTick(() => process.nextTick(() => source.pipe(res))) } },
  'a file that stays open': { reason: 'left open', run: ({ res, read, log }) => { const source = read(large, { autoClose: false }); source.pipe(res); res.on('close', () => setTimeout(() => { log('fd', typeof source.fd, source.destroyed); source.destroy() }, 10)) } },
  'a file that closes without a word': { reason: 'left open', run: ({ res, read }) => { read(large, { emitClose: false }).pipe(res) } },
  'another flag': { reason: 'flags', run: ({ res, read }) => { read(small, { flags: 'r+' }).pipe(res) } },
  'emit() of its own': { reason: 'emit of the stream', run: ({ res, read, log }) => { const source = read(large); const { emit } = source; let pieces = 0; source.emit = function (/** @type {string} */ name, /** @type {any[]} */ ...args) { if (name === 'data') pieces++; return emit.call(this, name, ...args) }; source.pipe(res); source.on('close', () => log('pieces', pieces > 1)) } },
  'push() of its own': { reason: 'a method of the stream', run: ({ res, read, log }) => { const source = read(large); const { push } = source; let n = 0; source.push = function (/** @type {Buffer | null} */ piece) { n += piece?.length ?? 0; return push.call(this, piece) }; source.pipe(res); source.on('close', () => log('pushed', n)) } },
  'a class of its own': { reason: '', run: ({ res }) => { class Own extends fs.ReadStream { /** @param {number} n */ _read (n) { return super._read(n) } } new Own(large).pipe(res) } },
  'a stream of something else': { reason: '', run: ({ res }) => { Readable.from(['a', 'b']).pipe(res) } },
  'open() of node:fs replaced': {
    reason: 'node:fs was changed',
    run: ({ res, read, log }) => {
      const { open } = fs
      let n = 0
      Object.assign(fs, { open: (/** @type {any[]} */ ...args) => { n++; return Reflect.apply(open, fs, args) } })
      const source = read(large)
      source.pipe(res)
      source.on('close', () => { Object.assign(fs, { open }); log('opened', n) })
    }
  },

  // -- Ends.
  'an abort signal': { taken: true, ...kPause, isLoose: true, run: ({ res, read, midway }) => { const aborting = new AbortController(); const source = read(huge, { signal: aborting.signal }); source.on('error', () => res.destroy()); source.pipe(res); midway(source, () => aborting.abort()) } },
  'an abort signal before it is open': { reason: '', run: ({ res, read }) => { const aborting = new AbortController(); const source = read(large, { signal: aborting.signal }); source.on('error', (/** @type {Error} */ error) => { res.statusCode = 500; res.end(error.name) }); source.pipe(res); aborting.abort() } },
  'unpipe() at once': { reason: '', run: ({ res, read }) => { const source = read(large); source.pipe(res); source.unpipe(res); source.destroy(); res.end('nothing') } },
  'unpipe() and back': { taken: true, run: ({ res, read }) => { const source = read(large); source.pipe(res); source.unpipe(res); source.pipe(res) } },
  'unpipe() later, the rest goes elsewhere': {
    taken: true,
    reason: 'not flowing',
    ...kPause,
    isLoose: true,
    run: ({ res, read, log, midway }) => {
      const source = read(huge)
      source.pipe(res)
      midway(source, () => {
        source.unpipe(res)
        let n = 0
        source.on('data', (/** @type {Buffer} */ piece) => { n += piece.length })
        source.on('end', () => { res.end(); log('rest', n > 0, source.bytesRead === kHuge) })
        source.resume()
      })
    }
  },
  'pause() and resume()': { taken: true, ...kPause, run: ({ res, read, midway }) => { const source = read(huge); source.pipe(res); midway(source, () => { source.pause(); setTimeout(() => source.resume(), 30) }) } },
  'destroy() of the source': { taken: true, ...kPause, isLoose: true, run: ({ res, read, midway }) => { const source = read(huge); source.pipe(res); midway(source, () => source.destroy()); source.on('close', () => res.destroy()) } },
  'destroy() of the source with an error': { taken: true, ...kPause, isLoose: true, run: ({ res, read, midway }) => { const source = read(huge); source.pipe(res); source.on('error', () => {}); midway(source, () => source.destroy(new Error('mine'))); source.on('close', () => res.destroy()) } },
  'destroy() before it is open': { reason: '', run: ({ res, read }) => { const source = read(large); source.pipe(res); source.destroy(); source.on('close', () => res.end('closed')) } },
  'close() with a callback': { taken: true, ...kPause, isLoose: true, run: ({ res, read, log, midway }) => { const source = read(huge); source.pipe(res); midway(source, () => source.close((/** @type {any} */ error) => { log('closed', error?.code); res.destroy() })) } },
  'destroy() of the response': { taken: true, ...kPause, isLoose: true, run: ({ res, read, midway }) => { const source = read(huge); source.pipe(res); midway(source, () => res.destroy()); res.on('close', () => source.destroy()) } },
  'destroy() of the response, the source stays': { taken: true, ...kPause, isLoose: true, run: ({ res, read, log, midway }) => { const source = read(huge); source.pipe(res); midway(source, () => { res.destroy(); setTimeout(() => { log('still', source.destroyed); source.destroy() }, 30) }) } },
  'a client that leaves': { taken: true, destroyAfter: 1_000_000, isLoose: true, run: ({ res, read }) => { const source = read(huge); source.pipe(res); res.on('close', () => source.destroy()) } },
  'end() of the response in the middle': { taken: true, ...kPause, isLoose: true, isRace: true, run: ({ res, read, midway }) => { const source = read(huge); res.on('error', () => source.destroy()); source.pipe(res); midway(source, () => res.end()) } },

  // -- Somebody else writes.
  'writes before and behind pipe()': { taken: true, run: ({ res, read }) => { res.write('before '); read(small).pipe(res); res.write('behind ') } },
  'a write in the middle': { taken: true, reason: 'another writer', ...kPause, isLoose: true, run: ({ res, read, midway }) => { const source = read(huge); source.pipe(res); midway(source, () => res.write('in between')) } },
  'a tail': { taken: true, run: ({ res, read }) => { const source = read(small); source.pipe(res, { end: false }); source.on('end', () => res.end(' tail')) } },
  'a corked response': { taken: true, run: ({ res, read }) => { res.cork(); read(small).pipe(res); res.uncork() } },
  'two files one after the other': { taken: true, run: ({ res, read }) => { const source = read(small); source.pipe(res, { end: false }); source.on('end', () => read(large).pipe(res)) } },
  'write() replaced in the middle': {
    taken: true,
    reason: 'a method of the response',
    ...kPause,
    run: ({ res, read, midway, log }) => {
      const source = read(huge)
      source.pipe(res)
      let n = 0
      midway(source, () => {
        const { write } = res
        res.write = function (/** @type {Buffer} */ piece, /** @type {any[]} */ ...rest) { n += piece.length; return write.call(this, piece, ...rest) }
      })
      res.on('finish', () => log('sees much', n > kHuge / 4))
    }
  },
  'a drain listener in the middle': { taken: true, reason: 'drain listener', ...kPause, run: ({ res, read, midway, log }) => { const source = read(huge); source.pipe(res); midway(source, () => res.once('drain', () => log('drain'))) } },
  'a drain listener': { reason: 'drain listener', run: ({ res, read }) => { res.on('drain', () => {}); read(large).pipe(res) } },

  // -- Files that change.
  'a file that becomes shorter': { taken: true, ...kPause, isLoose: true, endsConnection: true, run: ({ res, read, midway }) => { const at = file('shrinks', pattern(kHuge)); const source = read(at); source.pipe(res); midway(source, () => fs.truncateSync(at, 1000)) } },
  'a file that becomes shorter while JavaScript is busy': {
    taken: true,
    pauseMs: 1,
    isLoose: true,
    endsConnection: true,
    run: ({ res, read }) => {
      const at = file('shrinks early', pattern(kHuge))
      const { writeHead } = res
      // Called when the length is known, before anything is read by a lane. What the lane says of the first window and of the end comes in one piece.
      res.writeHead = function (/** @type {any[]} */ ...args) {
        fs.truncateSync(at, 400 * 1024)
        process.nextTick(() => { const until = Date.now() + kBusyMs; while (Date.now() < until); })
        return writeHead.apply(this, args)
      }
      read(at).pipe(res)
    }
  },
  'a file that becomes longer': { taken: true, ...kPause, run: ({ res, read, midway }) => { const at = file('grows', pattern(8 << 20)); const source = read(at); source.pipe(res); midway(source, () => fs.appendFileSync(at, 'more')) } },
  'a file that is removed': { taken: true, ...kPause, run: ({ res, read, midway }) => { const at = file('goes', pattern(8 << 20)); const source = read(at); source.pipe(res); midway(source, () => fs.unlinkSync(at)) } },

  // -- pipeline() and what frameworks do.
  'pipeline()': { taken: true, run: ({ res, read, log }) => { pipeline(read(large), res, (error) => log('callback', error?.code)) } },
  'pipeline() with a promise': { taken: true, run: ({ res, read, log }) => { pipelinePromise(read(large), res).then(() => log('then'), (error) => log('catch', error.code)) } },
  'pipeline() of what is not there': { reason: '', run: ({ res, read, log }) => { pipeline(read(none), res, (error) => log('callback', error?.code)) } },
  'pipeline(), and the client leaves': { taken: true, destroyAfter: 1_000_000, isLoose: true, run: ({ res, read, log }) => { pipeline(read(huge), res, (error) => log('callback', error?.code)) } },
  'pipeline() that is aborted': { taken: true, ...kPause, isLoose: true, run: ({ res, read, log, midway }) => { const aborting = new AbortController(); const source = read(huge); pipelinePromise(source, res, { signal: aborting.signal }).catch((error) => log('callback', error?.code)); midway(source, () => aborting.abort()) } },
  'pipeline() through gzip': { reason: '', run: ({ res, read, log }) => { pipeline(read(large), zlib.createGzip(), res, (error) => log('callback', error?.code)) } },
  'compression: write() and end() replaced': {
    reason: 'a method of the response',
    run: ({ res, read, log }) => {
      const { end, write } = res
      let n = 0
      res.write = function (/** @type {Buffer} */ piece, /** @type {any[]} */ ...rest) { n += piece.length; return write.call(this, piece, ...rest) }
      res.end = function (/** @type {any[]} */ ...args) { log('seen', n); return end.apply(this, args) }
      read(large).pipe(res)
    }
  },
  'writeHead() replaced': { taken: true, run: ({ res, read }) => { const { writeHead } = res; res.writeHead = function (/** @type {any[]} */ ...args) { this.setHeader('X-Late', 'yes'); return writeHead.apply(this, args) }; read(large).pipe(res) } },
  'writeHead() that throws': { reason: 'head', isLoose: true, run: ({ res, read, expectUncaught }) => { expectUncaught(() => res.destroy()); res.writeHead = () => { throw Object.assign(new Error('late'), { code: 'LATE' }) }; read(large).pipe(res).on('close', () => {}) } },
  'fastify: two listeners for the end': { taken: true, run: ({ res, read, log }) => { const source = read(large); finished(source, { readable: true, writable: false }, (error) => log('source', error?.code)); finished(res, (error) => log('res', error?.code)); source.pipe(res) } },
  'hapi: listeners of both': { taken: true, run: ({ res, read, note }) => { const source = read(large); res.on('close', note('res close')); res.on('finish', note('res finish')); source.on('error', note('error')); source.on('close', note('source close')); source.pipe(res) } },
  'the context of listeners': {
    taken: true,
    run: ({ res, read, log }) => {
      storage.run('outer', () => {
        const source = read(small)
        storage.run('inner', () => {
          source.pipe(res)
          for (const event of ['end', 'close']) source.on(event, () => log(event, storage.getStore()))
          res.on('finish', () => log('finish', storage.getStore()))
        })
      })
    }
  },
  'what can be seen of the source': {
    taken: true,
    run: ({ res, read, log }) => {
      const source = read(large)
      source.pipe(res)
      log(Object.keys(source).join(), Object.prototype.toString.call(source), source.constructor.name, source.listenerCount('data'), source.listenerCount('end'),
        source.readableFlowing, source.pending, source.path === large, String(source.end))
      source.on('end', () => log(source.readableDidRead, source.readableEnded, source.readableAborted, Readable.isDisturbed(source), Object.keys(source).join()))
    }
  },
  'what can be seen of the response': {
    taken: true,
    run: ({ res, read, log }) => {
      res.setHeader('Content-Length', kLarge)
      const source = read(large)
      const look = () => [res.writableEnded, res.writableFinished, res.writableLength, res.headersSent, res.writableNeedDrain, Object.keys(res).sort().join()].join(' ')
      log(look(), res.listenerCount('pipe'), res.eventNames().sort().join())
      source.pipe(res)
      log(look())
      source.on('end', () => log(look()))
      res.on('finish', () => log(look()))
      res.on('close', () => log(res.writableEnded, res.writableFinished, res.writableLength))
    }
  }
}

for (const [name, { needs }] of Object.entries(shapes)) if (needs !== undefined && !fs.existsSync(needs)) delete shapes[name]

module.exports = { shapes }
