'use strict'

// Goal: who gets a 4xx or 5xx of the engine sees when it was made and that no application made it (RFC 9110, sections 6.6.1 and 10.2.4); what
// node:http answers in its own words stays as it is. Method: every error that the engine has, over HTTP/1.1, TLS and HTTP/2.

const assert = require('node:assert/strict')
const nodeHttp2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { http, backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { dial, request, serve } = require('../helpers/client')
const { withoutOwnFields } = require('../helpers/engine-errors')
const { freePort } = require('../helpers/free-port')
const { makeSite } = require('../files/static-kit')

/** @typedef {import('node:test').TestContext} Context */
/** @typedef {{ path: string, method?: string, headers?: Record<string, string> }} Asked */
/** @typedef {{ status: number, options?: object, ask: Asked, body?: string, isStored?: boolean, prepare?: (server: any, t: Context) => unknown }} Case */

const { hasHttp2 } = backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/backend/binding').loadBinding()
const kSkip = backend === 'node' && 'node:http has no errors of an engine'
const limits = { timeout: 20_000 }
const core = /** @type {any} */ (http)

/** @param {number} port @param {object} headers @param {string} [body] @returns {Promise<Record<string, any>>} those of the answer over HTTP/2 */
async function askHttp2 (port, headers, body) {
  const session = nodeHttp2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  const stream = session.request(headers, { endStream: body === undefined })
  stream.on('error', () => {})
  if (body !== undefined) stream.end(body)
  const [fields] = await once(stream, 'response')
  session.destroy()
  return fields
}

/** @param {Record<string, any>} fields @param {boolean} [isNamed] whether they say who answered */
function assertFields (fields, isNamed = true) {
  assert.ok(Math.abs(Date.parse(fields.date) - Date.now()) < 60_000, `Date: ${fields.date}`)
  assert.equal(fields.server, isNamed ? 'httpsys' : undefined)
}

/** Requests that the engine answers with an error. @type {Record<string, Case>} */
const kErrors = {
  'a path of no prefix': { status: 404, ask: { path: '/other' } },
  'a folder without the file': { status: 404, ask: { path: '/shop/none' }, prepare: serveSite },
  'a method that no folder has': { status: 405, ask: { path: '/shop/a.txt', method: 'DELETE' }, prepare: serveSite },
  'a file that the client has another version of': { status: 412, ask: { path: '/shop/a.txt', headers: { 'If-Match': '"x"' } }, prepare: serveSite },
  'a range beyond the file': { status: 416, ask: { path: '/shop/a.txt', headers: { Range: 'bytes=100-' } }, prepare: serveSite },
  'a name that is none': { status: 400, ask: { path: '/shop/%zz' }, prepare: serveSite },
  'nothing stored': { status: 504, options: { cache: true }, ask: { path: '/shop/', headers: { 'Cache-Control': 'only-if-cached' } } },
  'a range beyond what is stored': { status: 416, options: { cache: true }, isStored: true, ask: { path: '/shop/', headers: { Range: 'bytes=100-' } } },
  'a URL that HTTP.SYS refuses': { status: 400, options: { strictUrl: true }, ask: { path: '/shop/%00' } },
  'a body that is too long': { status: 413, options: { maxRequestBodySize: 10 }, ask: { path: '/shop/', method: 'POST' }, body: 'more than ten bytes' },
  'a body that is too long for its handler': {
    status: 413, options: { maxRequestBodySize: 10, maxRequestBodySizeCeiling: 1000 }, ask: { path: '/shop/', method: 'POST' }, body: 'more than ten bytes'
  }
}

/** @param {any} server @param {Context} t */
function serveSite (server, t) {
  return server.serveFiles('/', makeSite(t, { 'a.txt': 'text' }), { fallthrough: false })
}

/**
 * @param {Context} t
 * @param {boolean} isSecure
 * @param {Case} error
 * @param {object} [more] options of the server
 */
async function start (t, isSecure, { options = {}, prepare = () => {} }, more = {}) {
  const own = { ...options, ...more }
  const handler = (/** @type {any} */ req, /** @type {any} */ res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    req.on('error', () => {}).resume().on('end', () => res.end('of the application'))
  }
  const server = isSecure ? core.https.createServer({ ...certificate('localhost'), ...own }, handler) : core.createServer(own, handler)
  const port = await freePort()
  await serve(t, server, `http${isSecure ? 's' : ''}://*:${port}/shop/`)
  await prepare(server, t)
  return port
}

describe('an error of the engine', { skip: kSkip }, () => {
  for (const [what, error] of Object.entries(kErrors)) {
    const { path, method = 'GET', headers: asked = {} } = error.ask
    it(`has Date and Server: ${what}`, limits, async (t) => {
      const port = await start(t, false, error)
      if (error.isStored) await request({ port, path })
      const { status, headers } = await request({ port, path, method, headers: asked }, error.body)
      assert.equal(status, error.status)
      assertFields(headers)
    })

    it(`has Date and Server over HTTP/2: ${what}`, { ...limits, skip: !hasHttp2 && 'this Node has no nghttp2' }, async (t) => {
      const port = await start(t, true, error)
      if (error.isStored) await askHttp2(port, { ':path': path })
      const fields = await askHttp2(port, { ':path': path, ':method': method, ...asked }, error.body)
      assert.equal(fields[':status'], error.status)
      assertFields(fields)
    })
  }

  it('does not say who answered with serverHeader: false', limits, async (t) => {
    for (const name of ['a path of no prefix', 'a folder without the file', 'nothing stored', 'a body that is too long', 'a body that is too long for its handler']) {
      const port = await start(t, false, kErrors[name], { serverHeader: false })
      const { status, headers } = await request({ port, ...kErrors[name].ask }, kErrors[name].body)
      assert.equal(status, kErrors[name].status, name)
      assertFields(headers, false)
    }
  })

  it('is told from one of the application, which is left alone', limits, async (t) => {
    const port = await serve(t, http.createServer({ cache: true }, (req, res) => res.writeHead(404, { 'Cache-Control': 'max-age=60' }).end('nothing')))
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await request({ port })
      assert.deepEqual([status, headers.server], [404, undefined])
    }
  })

  it('has them where a server of folders alone is asked for what no folder has', limits, async (t) => {
    const server = /** @type {any} */ (http.createServer())
    await server.serveFiles('/files/', makeSite(t, {}))
    const { status, headers } = await request({ port: await serve(t, server), path: '/other' })
    assert.equal(status, 404)
    assertFields(headers)
  })

  it('has them where plain HTTP is spoken on a port with TLS', limits, async (t) => {
    const port = await serve(t, core.https.createServer(certificate('localhost'), () => {}))
    const text = await (await dial(t, port)).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n').untilClosed()
    assert.match(withoutOwnFields(text), /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n/)
  })

  it('has them where a request is refused over HTTP/2, which node:http does not answer', { ...limits, skip: !hasHttp2 && 'this Node has no nghttp2' }, async (t) => {
    const port = await serve(t, core.https.createServer({ ...certificate('localhost'), maxHeaderSize: 1000 }, () => {}))
    const fields = await askHttp2(port, { ':path': '/', long: 'x'.repeat(2000) })
    assert.equal(fields[':status'], 431)
    assertFields(fields)
  })

  it('has the bytes of node:http where that answers', limits, async (t) => {
    const server = http.createServer({ maxHeaderSize: 1000 }, () => {})
    const port = await serve(t, server)
    const answerTo = async (/** @type {string} */ text) => (await dial(t, port)).write(text).untilClosed()
    assert.equal(await answerTo('NONE\r\n\r\n'), 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    assert.equal(await answerTo(`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(2000)}\r\n\r\n`),
      'HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n')
    const withoutHost = await answerTo('GET / HTTP/1.1\r\n\r\n')
    assert.match(withoutHost, /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\nDate: /)
    assert.doesNotMatch(withoutHost, /Server:/)
  })
})
