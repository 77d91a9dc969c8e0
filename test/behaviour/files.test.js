'use strict'

// Goal: sendFile() is the same for clients and applications on every backend, whoever reads the file.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')
const { sendFile } = /** @type {any} */ (http)

const kContent = crypto.randomBytes(300_000)

const { folder, file } = temporaryFile(kContent)

/**
 * Sends by what `prepare` says.
 *
 * @param {import('node:test').TestContext} t
 * @param {(res: any, req: any) => any[]} prepare arguments of sendFile() behind the response
 */
async function serveFile (t, prepare) {
  const results = /** @type {any[]} */ ([])
  const server = http.createServer((req, res) => {
    sendFile(res, ...prepare(res, req), (/** @type {any} */ error) => {
      results.push(error)
      server.emit('result', error)
      if (error !== null && !res.headersSent) res.writeHead(404).end(error.code)
    })
  })
  return { server, port: await serve(t, server), results }
}

test('a file arrives whole, with its length, and the callback hears of it', needs(), async (t) => {
  const { port, results } = await serveFile(t, () => [file])
  for (let i = 1; i <= 3; i++) {
    const { status, headers, body } = await request(port)
    assert.equal(status, 200)
    assert.equal(headers['content-length'], String(kContent.length))
    assert.equal(headers['transfer-encoding'], undefined)
    assert.ok(Buffer.from(body, 'latin1').equals(kContent))
    while (results.length < i) await new Promise(setImmediate)
  }
  assert.deepEqual(results, [null, null, null])
})

for (const [options, from, to] of /** @type {[any, number, number][]} */ ([
  [{ start: 10, end: 19 }, 10, 20], [{ start: 299_000 }, 299_000, 300_000], [{ end: 0 }, 0, 1],
  [{ start: 299_999, end: 400_000 }, 299_999, 300_000], [{ start: 300_000 }, 0, 0], [undefined, 0, 300_000]
])) {
  test(`with ${JSON.stringify(options) ?? 'no options'} the bytes up to ${to} from ${from} arrive`, needs(), async (t) => {
    const { port, results } = await serveFile(t, (res) => {
      res.writeHead(206, { 'Content-Length': to - from })
      return [file, options]
    })
    const { status, headers, body } = await request(port)
    assert.deepEqual([status, headers['content-length']], [206, String(to - from)])
    assert.ok(Buffer.from(body, 'latin1').equals(kContent.subarray(from, to)))
    while (results.length === 0) await new Promise(setImmediate)
    assert.deepEqual(results, [null])
  })
}

test('a length that the application has set is left alone, and so are other headers', needs(), async (t) => {
  const { port } = await serveFile(t, (res) => {
    res.setHeader('Content-Length', '5')
    res.setHeader('ETag', '"f"')
    return [file, { end: 4 }]
  })
  const { headers, body } = await request(port)
  assert.deepEqual([headers['content-length'], headers.etag], ['5', '"f"'])
  assert.ok(Buffer.from(body, 'latin1').equals(kContent.subarray(0, 5)))
})

test('behind what was written the file is the rest of the body', needs(), async (t) => {
  const { port } = await serveFile(t, (res) => {
    res.write('before ')
    return [file, { end: 99 }]
  })
  const { headers, body } = await request(port)
  assert.equal(headers['transfer-encoding'], 'chunked')
  assert.ok(Buffer.from(body, 'latin1').equals(Buffer.concat([Buffer.from('before '), kContent.subarray(0, 100)])))
})

test('a head that was sent before is followed by the file', needs(), async (t) => {
  const { port } = await serveFile(t, (res) => {
    res.flushHeaders()
    return [file]
  })
  const { headers, body } = await request(port)
  assert.equal(headers['content-length'], undefined)
  assert.ok(Buffer.from(body, 'latin1').equals(kContent))
})

test('HEAD has the length and no body, 304 has neither', needs(), async (t) => {
  const { port, results } = await serveFile(t, (res, req) => {
    if (req.url === '/304') res.statusCode = 304
    return [file]
  })
  const head = await request({ port, method: 'HEAD' })
  assert.deepEqual([head.headers['content-length'], head.body], [String(kContent.length), ''])
  const unmodified = await request({ port, path: '/304' })
  assert.deepEqual([unmodified.status, unmodified.body], [304, ''])
  while (results.length < 2) await new Promise(setImmediate)
  assert.deepEqual(results, [null, null])
})

test('an empty file is a response without a body', needs(), async (t) => {
  const empty = path.join(folder, 'empty')
  fs.writeFileSync(empty, '')
  const { port } = await serveFile(t, () => [empty])
  const { headers, body } = await request(port)
  assert.deepEqual([headers['content-length'], body], ['0', ''])
})

test('several requests of one connection get their files in turn', needs(), async (t) => {
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const { port } = await serveFile(t, (res, req) => [file, { end: Number(req.url.slice(1)) }])
  const ports = new Set()
  for (const end of [0, 70_000, 5]) {
    const { body, localPort } = await request({ port, agent, path: `/${end}` })
    assert.ok(Buffer.from(body, 'latin1').equals(kContent.subarray(0, end + 1)))
    ports.add(localPort)
  }
  assert.equal(ports.size, 1)
})

test('a FileHandle and a descriptor are read from the beginning and remain open', needs(), async (t) => {
  const handle = await fs.promises.open(file)
  t.after(() => handle.close())
  const fd = fs.openSync(file, 'r')
  t.after(() => fs.closeSync(fd))
  const { port } = await serveFile(t, (res, req) => [req.url === '/fd' ? fd : handle, { end: 9 }])
  for (const url of ['/fd', '/handle', '/fd', '/handle']) {
    assert.ok(Buffer.from((await request({ port, path: url })).body, 'latin1').equals(kContent.subarray(0, 10)))
  }
  assert.equal((await handle.stat()).size, kContent.length)
  assert.equal(fs.fstatSync(fd).size, kContent.length)
})

test('what cannot be opened or read is an error of fs, and the response is still the application\'s', needs(), async (t) => {
  const closed = await fs.promises.open(file)
  await closed.close()
  const { port, results } = await serveFile(t, (res, req) =>
    [req.url === '/folder' ? folder : req.url === '/closed' ? closed : path.join(folder, 'missing')])
  const missing = await request({ port, path: '/missing' })
  assert.deepEqual([missing.status, missing.body], [404, 'ENOENT'])
  assert.equal(results[0].path, path.join(folder, 'missing'))
  assert.equal((await request({ port, path: '/folder' })).body, 'EISDIR')
  assert.equal((await request({ port, path: '/closed' })).body, 'EBADF')
})

test('arguments are checked as fs does', needs(), async (t) => {
  const codes = /** @type {any[]} */ ([])
  const server = http.createServer((req, res) => {
    const never = () => assert.fail()
    for (const args of [
      [file, { start: -1 }, never], [file, { start: 2, end: 1 }, never], [file, { end: 0.5 }, never], [file, { start: '1' }, never],
      [file, null, 1], [{}, never], [undefined, never], ['a\0b', never]
    ]) {
      try {
        sendFile(res, ...args)
      } catch (error) {
        codes.push(/** @type {any} */ (error).code)
      }
    }
    res.end('checked')
  })
  assert.equal((await request(await serve(t, server))).body, 'checked')
  const [range, type, value] = ['ERR_OUT_OF_RANGE', 'ERR_INVALID_ARG_TYPE', 'ERR_INVALID_ARG_VALUE']
  assert.deepEqual(codes, [range, range, range, type, type, type, type, value])
})

test('a response that has ended takes no file', needs(), async (t) => {
  const server = http.createServer((req, res) => {
    res.end('ended')
    sendFile(res, file, (/** @type {any} */ error) => server.emit('result', error))
  })
  const port = await serve(t, server)
  const [[error], { body }] = await Promise.all([once(server, 'result'), request(port)])
  assert.deepEqual([error.code, body], ['ERR_STREAM_WRITE_AFTER_END', 'ended'])
})

test('who replaces write() or end() sees the bytes of the file', needs(), async (t) => {
  let seen = 0
  const { port } = await serveFile(t, (res) => {
    const { write } = res
    res.write = (/** @type {any} */ chunk, /** @type {any[]} */ ...rest) => {
      seen += chunk.length
      return Reflect.apply(write, res, [chunk, ...rest])
    }
    return [file]
  })
  assert.equal((await request(port)).body.length, kContent.length)
  assert.equal(seen, kContent.length)
})

test('a client that leaves within the file is an error for the callback, and the file is closed', needs('seesDisconnects', 'slowReaders'), async (t) => {
  const large = path.join(folder, 'large')
  fs.writeFileSync(large, '')
  fs.truncateSync(large, 50 * 1024 * 1024)
  const { server, port } = await serveFile(t, () => [large])
  const ended = once(server, 'result')
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
  client.on('error', () => {})
  const [res] = await once(client, 'response')
  res.on('error', () => {})
  await once(res, 'readable')
  client.destroy()
  const [error] = await ended
  assert.equal(error.code, 'ERR_STREAM_PREMATURE_CLOSE')
})

test('destroy() cuts a file off', needs('aborts', 'slowReaders'), async (t) => {
  const large = path.join(folder, 'large too')
  fs.writeFileSync(large, '')
  fs.truncateSync(large, 50 * 1024 * 1024)
  /** @type {any} */
  let sent
  const { server, port } = await serveFile(t, (res) => {
    sent = res
    return [large]
  })
  const ended = once(server, 'result')
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
  client.on('error', () => {})
  const [res] = await once(client, 'response')
  const failed = once(res, 'error')
  await once(res, 'readable')
  sent.destroy()
  res.resume()
  assert.equal((await failed)[0].code, 'ECONNRESET')
  assert.equal((await ended)[0].code, 'ERR_STREAM_PREMATURE_CLOSE')
})
