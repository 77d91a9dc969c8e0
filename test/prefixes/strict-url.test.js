'use strict'

// The option strictUrl: what HTTP.SYS does not take as a URL is refused before JavaScript, and without it reaches the
// application as on node:http. The same vectors are asked of the rule alone in url_path_test.cc, which says where they
// come from.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const nodeHttp = require('node:http')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { after, describe, it } = require('node:test')
const { createAdapter } = require('@httpsys/express-adapter')
const { http, backend } = require('../helpers/backend')
const { Wire, dial, get, request, serve } = require('../helpers/client')
const { withoutOwnFields } = require('../helpers/engine-errors')
const { freePort } = require('../helpers/free-port')

const { hasHttp2 } = backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/backend/binding').loadBinding()
const kSkip = backend === 'node' && 'node:http has no strictUrl'
// A connection that does not end ends its test, not the file.
const limits = { timeout: 20_000 }
const kSkipHttp2 = kSkip || (!hasHttp2 && 'this Node has no nghttp2')

// Before the first server: then it is opened.
const kLogFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
const kLog = path.join(kLogFolder, 'error.log')
process.env.HTTPSYS_ERROR_LOG = kLog
after(() => fs.rmSync(kLogFolder, { recursive: true }))

/** The lines of the error log that came since. */
function logger () {
  const lines = () => fs.readFileSync(kLog, 'latin1').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const before = lines().length
  return () => lines().slice(before)
}

const kRefused = [
  '/path%', '/path%XY', '/path%F', '/%%32', '/%%20', '/%', '/%%', '/%A', '/%Y', '/%F0%8F%8F%BF', '/a/%C3%84/%9D',
  '/%00', '/%1f', '/%7F', '/%u00', '/%u0007', '/%?x=1', 'http://a?q=a/1/2', 'http://a:80?', 'http://a/%', '*%'
]
const kTooLong = { 'a segment of 261 letters': `/${'a'.repeat(261)}`, 'a segment of 261 escaped letters': `/${'%C3%84'.repeat(261)}`, '256 segments': '/a'.repeat(256) }
const kTaken = [
  '/', '/%252F', '/a%2Fb', '/%C0%A4', '/%C1%BF', '/%E0%80%AF', '/%E0%9F%BF', '/%F0%80%80%AF', '/%C2%80', '/%D0%A4%20x', '/%F0%90%80%80',
  '/%u00e9', '/a?%', '/a?%XY%00', '/x/../%41', 'http://a', 'http://a/', 'http://a/?q=a/1/2',
  `/${'a'.repeat(260)}`, `/${'%C3%84'.repeat(260)}`, '/a'.repeat(255), `/?${'a'.repeat(300)}`
]
const kPage = '<!DOCTYPE html><title>Bad Request - Invalid URL</title><h1>Bad Request - Invalid URL</h1>\n'

/** An application that notes what it gets. @param {any} api @param {object} [options] */
function noting (api, options) {
  /** @type {string[]} */
  const seen = []
  const server = api.createServer(options, (/** @type {any} */ req, /** @type {any} */ res) => {
    seen.push(req.url)
    if (req.url.startsWith('/slow')) setTimeout(() => res.end('slow'), 100)
    else res.end('served')
  })
  return { server, seen }
}

/** What a client gets that says nothing about the connection and waits for the first answer. @param {number} port @param {string} target */
async function ask (port, target, method = 'GET') {
  const wire = new Wire({ host: '127.0.0.1', port })
  try {
    const text = await wire.write(`${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).until(/\r\n\r\n/)
    return Number(text.slice(9, 12))
  } finally {
    wire.destroy()
  }
}

describe('with strictUrl', { skip: kSkip }, () => {
  for (const target of kRefused) {
    it(`${target} is answered with 400, and the connection ends`, limits, async (t) => {
      const { server, seen } = noting(http, { strictUrl: true })
      const wire = await dial(t, await serve(t, server))
      const log = logger()
      const answer = await wire.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).untilClosed()
      assert.equal(withoutOwnFields(answer), 'HTTP/1.1 400 Bad Request\r\nContent-Type: text/html; charset=us-ascii\r\n' +
        `Content-Length: ${kPage.length}\r\nConnection: close\r\n\r\n${kPage}`)
      assert.equal(wire.error, null)
      assert.deepEqual(seen, [])
      assert.equal(log().length, 1)
      assert.ok(/ 127\.0\.0\.1 \d+ 127\.0\.0\.1 \d+ HTTP\/1\.1 (GET .*) 400 \d+ URL$/.exec(log()[0])?.[1] === `GET ${target}`, log()[0])
    })
  }

  for (const [name, target] of Object.entries(kTooLong)) {
    it(`${name} is answered with 400, and reaches the application without the option`, limits, async (t) => {
      const [strict, lenient] = [noting(http, { strictUrl: true }), noting(http)]
      const port = await serve(t, strict.server)
      const log = logger()
      assert.equal((await request({ port, path: target })).status, 400)
      assert.match(log().join(), / 400 \d+ URL$/)
      assert.deepEqual(strict.seen, [])
      await request({ port: await serve(t, lenient.server), path: target })
      assert.deepEqual(lenient.seen, [target])
    })
  }

  it('what HTTP.SYS takes is served, with the URL that the client sent', limits, async (t) => {
    const { server, seen } = noting(http, { strictUrl: true })
    const wire = await dial(t, await serve(t, server))
    const log = logger()
    for (const [i, target] of kTaken.entries()) await wire.write(get(target)).until('served', i + 1)
    assert.deepEqual(seen, kTaken)
    wire.write('OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n')
    await wire.until('served', kTaken.length + 1)
    assert.equal(seen.at(-1), '*')
    assert.doesNotMatch(wire.text, /HTTP\/1\.1 4/)
    assert.deepEqual(log(), [])
  })

  it('a raw space is what breaks the protocol, with or without it', limits, async (t) => {
    const { server, seen } = noting(http, { strictUrl: true })
    const log = logger()
    assert.equal(await ask(await serve(t, server), '/path with spaces'), 400)
    assert.deepEqual(seen, [])
    assert.match(log().join('\n'), /^[^\n]* 400 \d+ BadRequest$/)
  })

  it('requests before it are answered first, those behind it never begin', limits, async (t) => {
    const { server, seen } = noting(http, { strictUrl: true })
    const wire = await dial(t, await serve(t, server))
    const answer = await wire.write(get('/slow/1') + get('/slow/2') + get('/%') + get('/behind')).untilClosed()
    assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
    assert.deepEqual(seen, ['/slow/1', '/slow/2'])
  })

  it('a connection that was kept ends with it', limits, async (t) => {
    const { server, seen } = noting(http, { strictUrl: true })
    const wire = await dial(t, await serve(t, server))
    await wire.write(get('/first')).until('served')
    assert.match(wire.text, /Connection: keep-alive\r\n/)
    wire.write(get('/%'))
    await wire.until('Invalid URL</h1>\n')
    wire.write(get('/last'))
    assert.match(await wire.untilClosed(), /Connection: close\r\n\r\n<!DOCTYPE html>[^]*Invalid URL<\/h1>\n$/)
    assert.deepEqual(seen, ['/first'])
  })

  it('with a body, an expectation, by HEAD or for an upgrade it is the same', limits, async (t) => {
    const { server } = noting(http, { strictUrl: true })
    server.on('upgrade', () => assert.fail('upgrade')).on('checkContinue', () => assert.fail('checkContinue'))
    const port = await serve(t, server)
    const answer = async (/** @type {string} */ text) => {
      const wire = await dial(t, port)
      return (await wire.write(text).untilClosed()).replace(/\r\n[^]*\r\n\r\n/, ' ')
    }
    const refused = `HTTP/1.1 400 Bad Request ${kPage}`
    assert.equal(await answer('POST /% HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody'), refused)
    assert.equal(await answer('POST /% HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbo'), refused)
    assert.equal(await answer('POST /% HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n'), refused)
    assert.equal(await answer('HEAD /% HTTP/1.1\r\nHost: a\r\n\r\n'), 'HTTP/1.1 400 Bad Request ')
    assert.equal(await answer('GET /% HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'), refused)
    assert.equal(await answer('GET /% HTTP/1.0\r\n\r\n'), refused)
  })

  it("'clientError' is not told, as of other requests that nobody gets", limits, async (t) => {
    const { server } = noting(http, { strictUrl: true })
    /** @type {string[]} */
    const events = []
    server.on('clientError', (/** @type {any} */ error, /** @type {any} */ socket) => {
      events.push(error.code)
      socket.destroy()
    })
    const port = await serve(t, server)
    assert.equal(await ask(port, '/%'), 400)
    // It would have come by now, as this one does.
    const wire = await dial(t, port)
    await wire.write('\0').untilClosed()
    assert.deepEqual(events, ['HPE_INVALID_METHOD'])
  })

  it('only requests for one of its prefixes are looked at', limits, async (t) => {
    const { server, seen } = noting(http, { strictUrl: true })
    const port = await freePort()
    await serve(t, server, `http://a:${port}/shop/`)
    assert.equal((await request({ port, path: '/%', headers: { host: 'a' } })).status, 404)
    const unknown = await request({ port, path: '/shop/%', headers: { host: 'b' } })
    assert.deepEqual([unknown.status, /Invalid Hostname/.test(unknown.body)], [400, true])
    const bad = await request({ port, path: '/shop/%', headers: { host: 'a' } })
    assert.deepEqual([bad.status, bad.body], [400, kPage])
    assert.equal((await request({ port, path: '/shop/%41', headers: { host: 'a' } })).status, 200)
    assert.deepEqual(seen, ['/shop/%41'])
  })

  it('each server of a port has its own', limits, async (t) => {
    const port = await freePort()
    const strict = noting(http, { strictUrl: true })
    const lax = noting(http)
    await serve(t, strict.server, `http://*:${port}/strict/`)
    await serve(t, lax.server, `http://*:${port}/lax/`)
    const wire = await dial(t, port)
    await wire.write(get('/lax/%') + get('/strict/a') + get('/lax/%00') + get('/strict/%') + get('/lax/')).untilClosed()
    assert.deepEqual(wire.text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 400'])
    assert.deepEqual([strict.seen, lax.seen], [['/strict/a'], ['/lax/%', '/lax/%00']])
  })

  it('a stream of HTTP/2 is answered alone', { ...limits, skip: kSkipHttp2 }, async (t) => {
    const { server, seen } = noting(http, { strictUrl: true, http2: true })
    server.on('upgrade', () => assert.fail('upgrade'))
    const client = http2.connect(`http://127.0.0.1:${await serve(t, server)}`)
    t.after(() => client.destroy())
    await once(client, 'remoteSettings')
    const answer = async (/** @type {string} */ target, /** @type {http2.OutgoingHttpHeaders} */ more = {}, body = '') => {
      const stream = client.request({ ':path': target, ...more }, { endStream: false })
      if (more[':protocol'] === undefined) stream.end(body)
      let text = ''
      stream.setEncoding('latin1').on('data', (piece) => { text += piece })
      const [headers] = await once(stream, 'response')
      assert.equal(headers.connection, undefined)
      await once(stream, 'end')
      stream.destroy()
      return [headers[':status'], text]
    }
    const log = logger()
    const streams = kRefused.filter((target) => target.startsWith('/'))
    const answers = await Promise.all([answer('/slow'), ...streams.map((target) => answer(target))])
    assert.deepEqual(answers, [[200, 'slow'], ...streams.map(() => [400, kPage])])
    assert.deepEqual(log().map((line) => / HTTP\/2\.0 GET (.*) 400 \d+ URL$/.exec(line)?.[1]), streams)
    assert.deepEqual(await answer('/%', { ':method': 'POST' }, 'body'), [400, kPage])
    assert.deepEqual(await answer('/%', { ':method': 'CONNECT', ':protocol': 'websocket' }), [400, kPage])
    assert.deepEqual(await answer('/%C0%A4'), [200, 'served'])
    assert.deepEqual(seen, ['/slow', '/%C0%A4'])
  })

  it('the adapter of Express has it, too', limits, async (t) => {
    /** @type {string[]} */
    const seen = []
    const adapter = createAdapter((/** @type {any} */ req, /** @type {any} */ res) => {
      seen.push(req.url)
      res.end()
    }, { strictUrl: true })
    const port = await serve(t, adapter.server)
    assert.deepEqual([await ask(port, '/%'), await ask(port, '/%41')], [400, 200])
    assert.deepEqual(seen, ['/%41'])
  })
})

describe('without strictUrl', { skip: kSkip }, () => {
  it('everything that node:http takes reaches the application as there', limits, async (t) => {
    const ours = noting(http)
    const nodes = noting(nodeHttp)
    const [port, nodePort] = [await serve(t, ours.server), await serve(t, nodes.server)]
    const statuses = []
    for (const target of [...kRefused, ...kTaken, '/path with spaces']) {
      const [own, reference] = await Promise.all([ask(port, target), ask(nodePort, target)])
      assert.equal(own, reference, target)
      statuses.push(own)
    }
    assert.deepEqual(ours.seen, [...kRefused, ...kTaken])
    assert.deepEqual(nodes.seen, ours.seen)
    assert.deepEqual(statuses, [...ours.seen.map(() => 200), 400])
  })

  it('false is the same', limits, async (t) => {
    const { server, seen } = noting(http, { strictUrl: false })
    assert.equal(await ask(await serve(t, server), '/%'), 200)
    assert.deepEqual(seen, ['/%'])
  })

  it('values that mean nothing are refused', () => {
    assert.throws(() => http.createServer(/** @type {any} */ ({ strictUrl: 'yes' })), {
      code: 'ERR_INVALID_ARG_TYPE', message: 'The "options.strictUrl" property must be of type boolean. Received type string'
    })
  })
})
