'use strict'

// Goal: files arrive byte for byte over every protocol, whatever the file system says about them, and cost neither memory nor descriptors
// when clients are slow. Method: sendFile() of files on the machine's disk, in memory (/dev/shm), and cold.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { Buffer } = require('node:buffer')
const { execFileSync } = require('node:child_process')
const { once } = require('node:events')
const { after } = require('node:test')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { kProtocols } = require('./kit')
const { sendFile } = /** @type {any} */ (http)

const kMiB = 1024 * 1024

/** Bytes that are not the same at any two offsets of a window. @param {number} size */
function pattern (size) {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; ++i) bytes[i] = i % 251
  return bytes
}

/** @param {string} parent */
function temporaryFolder (parent) {
  const folder = fs.mkdtempSync(path.join(parent, 'httpsys-sending-'))
  after(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

const kDisk = temporaryFolder(os.tmpdir())
const kMemory = fs.existsSync('/dev/shm') && temporaryFolder('/dev/shm')
// Around the limits of what is read at once, of a window, of a frame and of a record.
const kSizes = [1, 13, 8192, 8193, 16_384, 35_840, 262_143, 262_144, 262_145, kMiB + 7, 3 * kMiB]
for (const folder of [kDisk, kMemory]) {
  if (folder === false) continue
  for (const size of kSizes) fs.writeFileSync(path.join(folder, String(size)), pattern(size))
}

/** @param {(path: string) => string} find of a request */
const handlerOf = (find) => (/** @type {any} */ req, /** @type {any} */ res) => {
  const [where, range] = req.url.slice(1).split('?')
  const [start, end] = range === undefined ? [] : range.split('-').map(Number)
  sendFile(res, find(where), range === undefined ? {} : { start, end }, (/** @type {any} */ error) => {
    if (error !== null && !res.headersSent) res.writeHead(500).end(error.code)
  })
}

// Linux drops the pages of a file that nobody has changed. Where it does not, the test is one more of warm files.
/** @param {string} file */
function makeCold (file) {
  execFileSync('dd', [`if=${file}`, 'iflag=nocache', 'count=0'], { stdio: 'ignore' })
}

for (const [protocol, start] of Object.entries(kProtocols)) {
  for (const [name, folder] of Object.entries({ 'on a disk': kDisk, 'in memory': kMemory })) {
    test(`${protocol}: files ${name} of every size, and ranges of them, one behind the other`,
      { ...needs(), ...(folder === false && { skip: 'there is no /dev/shm' }) }, async (t) => {
        const { get } = await start(t, handlerOf((name) => path.join(String(folder), name)))
        for (const size of kSizes) {
          const all = pattern(size)
          const whole = await get(`/${size}`)
          assert.deepEqual([whole.status, whole.isWhole, whole.headers['content-length']], [200, true, String(size)])
          assert.ok(whole.body.equals(all), `${size} bytes`)
          const [from, to] = [Math.floor(size / 3), Math.ceil(size / 2)]
          const some = await get(`/${size}?${from}-${to}`)
          assert.ok(some.body.equals(all.subarray(from, to + 1)), `${size} bytes, ${from} to ${to}`)
        }
      })
  }

  test(`${protocol}: forty files at a time`, needs(), async (t) => {
    const { get } = await start(t, handlerOf((name) => path.join(kDisk, name)))
    const sizes = Array.from({ length: 40 }, (_, i) => kSizes[i % kSizes.length])
    const answers = await Promise.all(sizes.map((size) => get(`/${size}`)))
    for (const [i, size] of sizes.entries()) assert.ok(answers[i].body.equals(pattern(size)), `${size} bytes`)
  })

  test(`${protocol}: files that the kernel has to read from the disk`,
    { ...needs(), ...(process.platform !== 'linux' && { skip: 'dd of other systems drops no pages' }) }, async (t) => {
      const { get } = await start(t, handlerOf((name) => path.join(kDisk, name)))
      for (let round = 0; round < 3; ++round) {
        for (const size of kSizes) makeCold(path.join(kDisk, String(size)))
        const answers = await Promise.all(kSizes.map((size) => get(`/${size}`)))
        for (const [i, size] of kSizes.entries()) assert.ok(answers[i].body.equals(pattern(size)), `${size} bytes`)
      }
    })

  test(`${protocol}: a client that stands still within a file gets all of it`, needs('slowReaders'), async (t) => {
    const file = path.join(kDisk, `still ${protocol.replaceAll('/', ' ')}`)
    fs.writeFileSync(file, pattern(40 * kMiB))
    const { get } = await start(t, handlerOf(() => file))
    const before = process.memoryUsage.rss()
    let grown = 0
    const answer = await get('/', {
      pause: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300))
        grown = process.memoryUsage.rss() - before
      }
    })
    assert.ok(answer.isWhole && answer.body.equals(pattern(40 * kMiB)))
    // Most of it is what the client has received by then.
    assert.ok(grown < 30 * kMiB, `${grown} bytes more`)
  })

  test(`${protocol}: a file that is cut while it is sent ends the message, and the callback hears why`, needs('slowReaders', 'aborts'), async (t) => {
    const file = path.join(kDisk, `cut ${protocol.replaceAll('/', ' ')}`)
    fs.writeFileSync(file, pattern(40 * kMiB))
    const told = /** @type {any[]} */ ([])
    const { server, get } = await start(t, (req, res) => {
      sendFile(res, req.url === '/small' ? path.join(kDisk, '13') : file, (/** @type {any} */ error) => {
        told.push(error?.code)
        server.emit('told')
      })
    })
    const heard = once(server, 'told')
    const answer = await get('/', { pause: async () => fs.truncateSync(file, 25 * kMiB) })
    assert.equal(answer.isWhole, false)
    assert.ok(answer.body.length <= 25 * kMiB && answer.body.equals(pattern(answer.body.length)), `${answer.body.length} bytes`)
    await heard
    assert.deepEqual(told, ['ERR_HTTP_CONTENT_LENGTH_MISMATCH'])
    // The server, and on HTTP/2 the connection, go on.
    assert.ok((await get('/small')).body.equals(pattern(13)))
  })

  test(`${protocol}: a file that grows is sent as announced`, needs('slowReaders'), async (t) => {
    const file = path.join(kDisk, `grown ${protocol.replaceAll('/', ' ')}`)
    fs.writeFileSync(file, pattern(20 * kMiB))
    const { get } = await start(t, handlerOf(() => file))
    const answer = await get('/', { pause: async () => fs.appendFileSync(file, 'more') })
    assert.ok(answer.isWhole && answer.body.equals(pattern(20 * kMiB)))
  })

  test(`${protocol}: descriptors are closed when files have left or their clients have`,
    { ...needs('slowReaders'), ...(!fs.existsSync('/proc/self/fd') && { skip: 'there is no /proc' }) }, async (t) => {
      const { get } = await start(t, handlerOf((name) => path.join(kDisk, name)))
      const opened = () => fs.readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(kDisk)
        } catch {
          return false
        }
      }).length
      await Promise.all(Array.from({ length: 100 }, () => get('/35840')))
      await until(() => opened() === 0, 'no file is open')
    })
}

test('pipelined requests for files and other answers are answered in order', needs('pipelines'), async (t) => {
  const server = http.createServer((req, res) => {
    const size = Number(req.url?.slice(1))
    if (size === 0) res.end('text')
    else sendFile(res, path.join(kDisk, String(size)), () => {})
  })
  const port = await serve(t, server)
  const order = [13, 0, 35_840, 262_145, 0, 13, kMiB + 7, 8192, 0]
  const socket = net.connect(port, '127.0.0.1')
  socket.write(order.map((size) => `GET /${size} HTTP/1.1\r\nHost: a\r\n\r\n`).join('') + 'GET /0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const pieces = []
  for await (const piece of socket) pieces.push(piece)
  let rest = Buffer.concat(pieces)
  for (const size of [...order, 0]) {
    const end = rest.indexOf('\r\n\r\n') + 4
    const length = Number(/content-length: (\d+)/i.exec(rest.subarray(0, end).toString())?.[1])
    assert.equal(length, size === 0 ? 4 : size)
    assert.ok(rest.subarray(end, end + length).equals(size === 0 ? Buffer.from('text') : pattern(size)), `${size} bytes`)
    rest = rest.subarray(end + length)
  }
  assert.equal(rest.length, 0)
})

test('the line before a chunk of 1 TiB is whole', needs('sendsFiles', 'aborts'), async (t) => {
  const file = path.join(kDisk, 'sparse')
  const bytes = 2 ** 40 + 5
  try {
    fs.closeSync(fs.openSync(file, 'w'))
    fs.truncateSync(file, bytes)
  } catch (error) {
    return t.skip(`the file system has no such files: ${error}`)
  }
  const port = await serve(t, http.createServer((_req, res) => {
    res.setHeader('Transfer-Encoding', 'chunked')
    sendFile(res, file, () => {})
  }))
  const client = net.connect(port, '127.0.0.1')
  t.after(() => client.destroy())
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  let text = ''
  while (!text.includes('\0')) text += (await once(client, 'data'))[0].toString('latin1')
  assert.equal(text.slice(text.indexOf('\r\n\r\n') + 4, text.indexOf('\0')), `${bytes.toString(16)}\r\n`)
})

for (const announced of [4, 40]) {
  test(`a Content-Length of ${announced} for a file of 13 bytes is an error, and the response is still the application's`, needs('sendsFiles'), async (t) => {
    /** @type {(prepare: (res: any) => void) => Promise<import('../helpers/client').Answer>} */
    const get = async (prepare) => {
      const port = await serve(t, http.createServer((_req, res) => {
        prepare(res)
        sendFile(res, path.join(kDisk, '13'), (/** @type {any} */ error) => {
          if (res.headersSent) return res.destroy()
          res.writeHead(500, { 'Content-Length': error.code.length }).end(error.code)
        })
      }))
      return request({ port })
    }
    const { status, body } = await get((res) => res.setHeader('Content-Length', announced))
    assert.deepEqual([status, body], [500, 'ERR_HTTP_CONTENT_LENGTH_MISMATCH'])
    // The head with the wrong length has left, so the client sees the connection end.
    await assert.rejects(get((res) => res.writeHead(200, { 'Content-Length': announced })))
    if (announced < 13) await assert.rejects(get((res) => res.writeHead(200, { 'Content-Length': announced }).flushHeaders()))
  })
}

test('HEAD has the Content-Length of the application', needs('sendsFiles'), async (t) => {
  const port = await serve(t, http.createServer((_req, res) => {
    res.setHeader('Content-Length', 40)
    sendFile(res, path.join(kDisk, '13'), () => {})
  }))
  const { status, headers } = await request({ port, method: 'HEAD' })
  assert.deepEqual([status, headers['content-length']], [200, '40'])
})
