'use strict'

// What the processes of a shared port write to their error logs, and what their clients learn, about requests of
// connections that stay with one of them while another one answers.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { Member, connect, kSkip, session, until } = require('./kit')

/** @typedef {import('node:test').TestContext} Context */

const kTrusting = { servername: 'a.test', ca: [certificate('a.test').cert] }

/** A process with an error log of its own. @param {Context} t */
async function loggingMember (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
  const file = path.join(folder, 'error.log')
  const one = new Member({ HTTPSYS_ERROR_LOG: file })
  t.after(async () => {
    await one.kill()
    fs.rmSync(folder, { recursive: true })
  })
  await one.ready
  const lines = () => fs.readFileSync(file, 'latin1').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.assign(one, { lines })
}

/**
 * Two processes: connections that ask for a.test are with the first one; what is for other hosts the second one answers.
 *
 * @param {Context} t @param {any} [front] @param {any} [back] options of their servers
 */
async function frontAndBack (t, front = {}, back = {}) {
  const port = await freePort()
  const a = await loggingMember(t)
  await a.tell('listen', { name: 'a', options: front, on: [`https://a.test:${port}/`, certificate('a.test')] })
  const b = await loggingMember(t)
  await b.tell('listen', { name: 'b', options: back, on: [`https://*:${port}/`, certificate('a.test')] })
  return { port, a, b }
}

/**
 * @param {http2.ClientHttp2Session} client @param {string} target
 * @returns {Promise<{ status: number | undefined, text: string, code: number }>}
 */
async function ask (client, target) {
  const stream = client.request({ ':path': target, ':authority': 'other.test' })
  let text = ''
  let status
  stream.setEncoding('latin1').on('data', (piece) => { text += piece })
  stream.on('response', (headers) => { status = headers[':status'] })
  stream.on('error', () => {})
  await new Promise((resolve) => stream.on('close', resolve))
  return { status, text, code: stream.rstCode ?? 0 }
}

/** The second process has that many requests. @param {Member} b @param {number} count */
const hasBegun = (b, count) => until(async () => await b.tell('requests') >= count, `${count} requests have begun`)

describe('A request whose owner dies before it has answered', { skip: kSkip }, () => {
  const kPage = '<!DOCTYPE html><title>Service Unavailable</title><h1>Service Unavailable</h1>\n'
  for (const [verbosity, body] of [['limited', kPage], ['full', `${kPage}<p>AppOffline</p>\n`]]) {
    it(`gets 503 as "${verbosity}" says, and is in the log`, async (t) => {
      const { port, a, b } = await frontAndBack(t, { http503Verbosity: verbosity })
      const client = await connect(t, port, undefined, kTrusting)
      const answer = client.request('/x?ms=60000', { host: 'other.test' })
      await hasBegun(b, 1)
      const from = client.socket.localPort
      await b.kill()
      const { status, headers, body: text } = await answer
      assert.deepEqual([status, headers.connection, text], [503, 'close', body])
      await client.closed
      assert.equal(a.lines().length, 1)
      assert.match(a.lines()[0], new RegExp(` ::ffff:127\\.0\\.0\\.1 ${from} ::ffff:127\\.0\\.0\\.1 ${port} HTTP/1\\.1 GET /x\\?ms=60000 503 \\d+ AppOffline$`))
    })

    it(`does so on HTTP/2 ("${verbosity}")`, async (t) => {
      const { port, a, b } = await frontAndBack(t, { http503Verbosity: verbosity })
      const client = await session(t, port, kTrusting)
      const answer = ask(client, '/x?ms=60000')
      await hasBegun(b, 1)
      await b.kill()
      assert.deepEqual(await answer, { status: 503, text: body, code: 0 })
      assert.equal(a.lines().length, 1)
      assert.match(a.lines()[0], new RegExp(` ::ffff:127\\.0\\.0\\.1 \\d+ ::ffff:127\\.0\\.0\\.1 ${port} HTTP/2\\.0 GET /x\\?ms=60000 503 \\d+ AppOffline$`))
    })
  }

  it('is reset with "basic", which the log says, too', async (t) => {
    const { port, a, b } = await frontAndBack(t, { http503Verbosity: 'basic' })
    const client = await connect(t, port, undefined, kTrusting)
    const lost = assert.rejects(client.request('/x?ms=60000', { host: 'other.test' }), /ECONNRESET/)
    await hasBegun(b, 1)
    await b.kill()
    await lost
    assert.match(a.lines().join('\n'), /^[^\n]* HTTP\/1\.1 GET \/x\?ms=60000 - \d+ AppOffline$/)
  })

  it('is reset with "basic" on HTTP/2, with a code that does not say "ask again"', async (t) => {
    const { port, a, b } = await frontAndBack(t, { http503Verbosity: 'basic' })
    const answer = ask(await session(t, port, kTrusting), '/x?ms=60000')
    await hasBegun(b, 1)
    await b.kill()
    assert.deepEqual(await answer, { status: undefined, text: '', code: http2.constants.NGHTTP2_INTERNAL_ERROR })
    assert.match(a.lines().join('\n'), /^[^\n]* HTTP\/2\.0 GET \/x\?ms=60000 - \d+ AppOffline$/)
  })

  it('has no body when it was HEAD', async (t) => {
    const { port, a, b } = await frontAndBack(t)
    const client = await connect(t, port, undefined, kTrusting)
    let text = ''
    client.socket.removeAllListeners('data').setEncoding('latin1').on('data', (piece) => { text += piece })
    client.socket.write('HEAD /x?ms=60000 HTTP/1.1\r\nHost: other.test\r\n\r\n')
    await hasBegun(b, 1)
    await b.kill()
    await client.closed
    assert.match(text, /^HTTP\/1\.1 503 [^]*\r\n\r\n$/)
    assert.match(a.lines().join('\n'), / HEAD \/x\?ms=60000 503 \d+ AppOffline$/)
  })

  it('is logged without what is not known any more of one that is long', async (t) => {
    const { port, a, b } = await frontAndBack(t)
    const client = await connect(t, port, undefined, kTrusting)
    const answer = client.request('/x?ms=60000', { host: 'other.test', method: 'POST', body: 'x'.repeat(200_000) })
    await hasBegun(b, 1)
    await b.kill()
    const { status, body } = await answer
    assert.deepEqual([status, body], [503, ''])
    assert.match(a.lines().join('\n'), /^[^\n]* ::ffff:127\.0\.0\.1 \d+ ::ffff:127\.0\.0\.1 \d+ - - - 503 \d+ AppOffline$/)
  })
})

describe('A relayed request that its owner refuses', { skip: kSkip }, () => {
  it('is in the log of the owner with the addresses of the client', async (t) => {
    const { port, a, b } = await frontAndBack(t, {}, { maxRequestBodySize: 10 })
    const client = await connect(t, port, undefined, kTrusting)
    const { status } = await client.request('/x', { host: 'other.test', method: 'POST', body: 'more than ten bytes' })
    assert.equal(status, 413)
    assert.equal(b.lines().length, 1)
    assert.match(b.lines()[0], new RegExp(` ::ffff:127\\.0\\.0\\.1 ${client.socket.localPort} ::ffff:127\\.0\\.0\\.1 ${port} - - - 413 \\d+ EntityTooLarge$`))
    assert.deepEqual(a.lines(), [])
  })

  it('is there when its application has lowered the limit of the body, of a known length or in chunks', async (t) => {
    const { port, a, b } = await frontAndBack(t)
    const chunks = ['Transfer-Encoding: chunked', '', '13\r\nmore than ten bytes\r\n0\r\n\r\n']
    const known = ['Content-Length: 19', '', 'more than ten bytes']
    for (const [i, rest] of [chunks, known].entries()) {
      const client = await connect(t, port, undefined, kTrusting)
      const [answer] = client.send(['POST /x?limit=10 HTTP/1.1', 'Host: other.test', ...rest].join('\r\n'))
      assert.equal((await answer).status, 413)
      await client.closed
      assert.equal(b.lines().length, i + 1)
      assert.match(b.lines()[i], new RegExp(` ::ffff:127\\.0\\.0\\.1 \\d+ ::ffff:127\\.0\\.0\\.1 ${port} - - - 413 \\d+ EntityTooLarge$`))
    }
    assert.deepEqual(a.lines(), [])
    const taken = await (await connect(t, port, undefined, kTrusting)).request('/x?limit=10', { host: 'other.test', method: 'POST', body: 'ten  bytes' })
    assert.equal(taken.status, 200)
  })

  it('is there when its application has lowered the limit of a stream of HTTP/2, whose connection goes on', async (t) => {
    const { port, a, b } = await frontAndBack(t)
    const client = await session(t, port, kTrusting)
    for (const length of [{ 'content-length': '19' }, {}]) {
      const stream = client.request({ ':path': '/x?limit=10', ':authority': 'other.test', ':method': 'POST', ...length })
      stream.on('error', () => {}).resume()
      stream.end('more than ten bytes')
      const [headers] = await once(stream, 'response')
      assert.equal(headers[':status'], 413)
      if (!stream.closed) await once(stream, 'close')
    }
    assert.equal((await ask(client, '/y')).status, 200)
    assert.equal(b.lines().length, 2)
    for (const line of b.lines()) assert.match(line, / - - - 413 \d+ EntityTooLarge$/)
    assert.deepEqual(a.lines(), [])
  })

  it('is there when a body of a shared port goes above the ceiling of its owner, whatever its application has set', async (t) => {
    const { port, b } = await frontAndBack(t, {}, { maxRequestBodySize: 10, maxRequestBodySizeCeiling: 20 })
    const status = async (/** @type {string} */ target, /** @type {number} */ bytes) =>
      (await (await connect(t, port, undefined, kTrusting)).request(target, { host: 'other.test', method: 'POST', body: 'x'.repeat(bytes) })).status
    assert.deepEqual([await status('/x', 10), await status('/x', 11), await status('/x?limit=20', 20), await status('/x?limit=20', 21)], [200, 413, 200, 413])
    assert.equal(b.lines().length, 2)
  })

  it('is so with its version when it is a stream of HTTP/2', async (t) => {
    const { port, b } = await frontAndBack(t, {}, { queueLimit: 1 })
    const client = await session(t, port, kTrusting)
    const port2 = /** @type {any} */ (client.socket).localPort
    const release = await b.block(t)
    const asked = ['/1', '/2', '/3', '/4'].map((target) => ask(client, target))
    await Promise.race(asked)
    release()
    const answers = await Promise.all(asked)
    assert.ok(answers.some(({ status }) => status === 503))
    assert.ok(b.lines().length > 0)
    for (const line of b.lines()) {
      assert.match(line, new RegExp(` ::ffff:127\\.0\\.0\\.1 ${port2} ::ffff:127\\.0\\.0\\.1 ${port} HTTP/2\\.0 GET /\\d 503 \\d+ QueueFull$`))
    }
  })
})

it('A request for a host whose certificate was not shown is logged as 421', { skip: kSkip }, async (t) => {
  const { port, a, b } = await frontAndBack(t)
  await b.tell('addPrefix', { name: 'b', prefix: `https://b.test:${port}/` })
  const client = await connect(t, port, undefined, kTrusting)
  assert.equal((await client.request('/x', { host: 'b.test' })).status, 421)
  assert.match(a.lines().join('\n'), /^[^\n]* HTTP\/1\.1 GET \/x 421 \d+ Hostname$/)
})

it('A body is in the log that its server refuses in the middle, whether the server or the application has set the limit', { skip: kSkip }, async (t) => {
  for (const [options, target] of /** @type {[any, string][]} */ ([[{ maxRequestBodySize: 10 }, '/x'], [{}, '/x?limit=10']])) {
    const { port, a } = await frontAndBack(t, options)
    const client = await connect(t, port, undefined, kTrusting)
    const [answer] = client.send(`POST ${target} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n`)
    await until(async () => await a.tell('requests') === 1, 'the request has begun')
    client.socket.write('1\r\nx\r\n')
    assert.equal((await answer).status, 413)
    await client.closed
    assert.equal(a.lines().length, 1)
    assert.match(a.lines()[0], / - - - 413 \d+ EntityTooLarge$/)
  }
})

it('A body that is refused when its response has begun or left is in the log without a status', { skip: kSkip }, async (t) => {
  for (const early of ['write', 'end']) {
    const { port, a } = await frontAndBack(t)
    const client = await connect(t, port, undefined, kTrusting)
    let text = ''
    client.socket.on('data', (/** @type {Buffer} */ piece) => { text += piece.toString('latin1') })
    client.send(`POST /x?limit=10&early=${early} HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n`)[0].catch(() => {})
    await until(() => text.includes('early'), 'the response has begun')
    client.socket.write('1\r\nx\r\n')
    await client.closed
    assert.doesNotMatch(text, / 413 /)
    assert.equal(a.lines().length, 1)
    assert.match(a.lines()[0], / - - - - \d+ EntityTooLarge$/)
  }
})

it('A request of HTTP/2 that breaks a limit is in the log', { skip: kSkip }, async (t) => {
  const { port, a } = await frontAndBack(t, { maxRequestBodySize: 10 })
  const client = await session(t, port, kTrusting)
  const stream = client.request({ ':path': '/x', ':authority': 'a.test', ':method': 'POST', 'content-length': '11' })
  stream.on('error', () => {})
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 413)
  assert.match(a.lines().join('\n'), / - - - 413 \d+ EntityTooLarge$/)
})
