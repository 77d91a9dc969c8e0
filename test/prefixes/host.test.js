'use strict'

// Which host a request is for. A server of URL prefixes reads it in one way for the router, the certificate and the 421
// rule, and refuses a request that leaves room for a second reading; a server on a port takes it, as node:http does.
// The same vectors are asked of the rule alone in host_name_test.cc.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { after, describe, it } = require('node:test')
const { http, backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { dial, serve } = require('../helpers/client')
const { withoutOwnFields } = require('../helpers/engine-errors')
const { freePort } = require('../helpers/free-port')

const { hasHttp2 } = backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/backend/binding').loadBinding()
const kSkip = backend === 'node' && 'node:http has no prefixes'
const kSkipHttp2 = kSkip || (!hasHttp2 && 'this Node has no nghttp2')
// A connection that does not end ends its test, not the file.
const limits = { timeout: 20_000 }

// Before the first server: then it is opened.
const kLogFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
const kLog = path.join(kLogFolder, 'error.log')
process.env.HTTPSYS_ERROR_LOG = kLog
after(() => fs.rmSync(kLogFolder, { recursive: true }))

const kPage = '<!DOCTYPE html><title>Bad Request - Invalid Hostname</title><h1>Bad Request - Invalid Hostname</h1>\n'
const kRefusal = 'HTTP/1.1 400 Bad Request\r\nContent-Type: text/html; charset=us-ascii\r\n' +
  `Content-Length: ${kPage.length}\r\nConnection: close\r\n\r\n${kPage}`

/** Lines of Host that are not one valid value: no reading of them may choose a handler. */
const kInvalid = [
  ['u@a.test'], ['u:p@a.test'], ['@a.test'], ['b.test#@a.test'], ['b.test?@a.test'], ['b.test/@a.test'], ['a.test:80:x'], ['a.test:x'],
  ['a.test:80x'], ['a.test b.test'], ['a.test\tb.test'], ['a.test, b.test'], ['a.test/'], ['http://a.test'], [':80'], ['::1'], ['[::1'], ['[::1]x'],
  ['[a.test]'], ['[fe80::1%25lo]'], ['a%test'], ['"a.test"'], ['b\xfccher.test'], ['a.test', 'b.test'], ['a.test', 'a.test'],
  ['a.test', ''], ['', ''], []
]

/** Lines of Host that are, and which of two prefixes gets them. */
const kValid = [
  ['a.test', 'a'], ['A.TEST:80', 'a'], ['a.test:', 'a'], ['a.test.', 'a'], ['a.test.:8080', 'a'], ['a_b.test', 'any'], ['', 'any'],
  ['[::1]', 'any'], ['[::1]:80', 'any'], ['127.0.0.1:80', 'any'], ['a%2etest', 'any'], ['.', 'any'], ['.:80', 'any'], ['\ta.test\t', 'a'], ['a.test..', 'any'], ['x.a.test', 'any']
]

/** @param {string} line @param {string[]} hosts */
const head = (line, hosts) => [line, ...hosts.map((host) => `Host: ${host}`), '', ''].join('\r\n')

/** A server that notes what it gets. @param {any} api @param {object} [options] */
function noting (api, options) {
  /** @type {string[]} */
  const seen = []
  const server = api.createServer(options, (/** @type {any} */ req, /** @type {any} */ res) => {
    seen.push(req.url)
    res.end(req.urlPrefix === undefined ? 'port' : /\/\/a\.test:/.test(req.urlPrefix) ? 'a' : 'any')
  })
  return { server, seen }
}

describe('A server of prefixes', { skip: kSkip }, () => {
  for (const hosts of kInvalid) {
    it(`refuses ${hosts.length === 0 ? 'no Host' : hosts.map((host) => `"${host}"`).join(' beside ')}, and the connection ends`, limits, async (t) => {
      const { server, seen } = noting(http)
      server.on('clientError', () => seen.push('clientError'))
      const port = await freePort()
      await serve(t, server, [`http://a.test:${port}/`, `http://*:${port}/`])
      for (const target of ['/odd', 'http://a.test/odd']) {
        const wire = await dial(t, port)
        const before = fs.readFileSync(kLog, 'latin1').length
        assert.equal(withoutOwnFields(await wire.write(head(`GET ${target} HTTP/1.1`, hosts) + head('GET /behind HTTP/1.1', ['a.test'])).untilClosed()), kRefusal)
        const logged = fs.readFileSync(kLog, 'latin1').slice(before).split('\n').filter((line) => line.includes('/odd'))
        assert.equal(logged.length, 1)
        assert.match(logged[0], new RegExp(` HTTP/1\\.1 GET ${target} 400 \\d+ Hostname$`))
      }
      assert.deepEqual(seen, [])
    })
  }

  it('with one prefix for everything refuses them, too', limits, async (t) => {
    const { server, seen } = noting(http)
    const port = await freePort()
    await serve(t, server, `http://*:${port}/`)
    for (const hosts of kInvalid) {
      const wire = await dial(t, port)
      assert.equal(withoutOwnFields(await wire.write(head('GET /odd HTTP/1.1', hosts)).untilClosed()), kRefusal, hosts.join())
    }
    assert.deepEqual(seen, [])
  })

  it('whatever requireHostHeader says', limits, async (t) => {
    const { server, seen } = noting(http, { requireHostHeader: false })
    const port = await freePort()
    await serve(t, server, `http://*:${port}/`)
    const wire = await dial(t, port)
    assert.equal(withoutOwnFields(await wire.write(head('GET / HTTP/1.1', [])).untilClosed()), kRefusal)
    assert.deepEqual(seen, [])
  })

  it('finds the prefix of a valid Host by its name alone', limits, async (t) => {
    const { server } = noting(http)
    const port = await freePort()
    await serve(t, server, [`http://a.test:${port}/`, `http://*:${port}/`])
    for (const [host, owner] of kValid) {
      const wire = await dial(t, port)
      const text = await wire.write(head('GET / HTTP/1.1', [host]).replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')).untilClosed()
      assert.match(text, new RegExp(`^HTTP/1\\.1 200 [^]*\r\n\r\n${owner}$`), host)
    }
  })

  it('takes HTTP/1.0 without Host, and not with two', limits, async (t) => {
    const { server } = noting(http)
    const port = await freePort()
    await serve(t, server, [`http://a.test:${port}/`, `http://*:${port}/`])
    assert.match(await (await dial(t, port)).write('GET / HTTP/1.0\r\n\r\n').untilClosed(), /^HTTP\/1\.1 200 [^]*\r\n\r\nany$/)
    assert.match(await (await dial(t, port)).write(head('GET / HTTP/1.0', ['a.test'])).untilClosed(), /^HTTP\/1\.1 200 [^]*\r\n\r\na$/)
    assert.equal(withoutOwnFields(await (await dial(t, port)).write(head('GET / HTTP/1.0', ['a.test', 'a.test'])).untilClosed()), kRefusal)
  })

  it('goes by the target where that is a URL, which has a valid host', limits, async (t) => {
    const { server } = noting(http)
    const port = await freePort()
    await serve(t, server, [`http://a.test:${port}/`, `http://*:${port}/`])
    for (const [target, owner] of [['http://a.test/', 'a'], ['http://A.test.:1/x?y', 'a'], ['HTTPS://a.test/', 'a'], ['http://a%2etest/', 'any'], ['http://b.test/', 'any'], ['/?u=http://a.test/', 'any']]) {
      const text = await (await dial(t, port)).write(`GET ${target} HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n`).untilClosed()
      assert.match(text, new RegExp(`^HTTP/1\\.1 200 [^]*\r\n\r\n${owner}$`), target)
    }
    for (const target of ['http://u@a.test/', 'http://@a.test/', 'http:///', 'http://:80/', 'http://a.test:80:x/', 'http://[a.test]/', 'http://./', 'http://[fe80::1%25lo]/']) {
      assert.equal(withoutOwnFields(await (await dial(t, port)).write(head(`GET ${target} HTTP/1.1`, ['a.test'])).untilClosed()), kRefusal, target)
    }
  })
})

describe('CONNECT', { skip: kSkip }, () => {
  /** @param {import('node:test').TestContext} t @param {object} [options] */
  async function serveTunnels (t, options) {
    const { server, seen } = noting(http, options)
    server.on('connect', (/** @type {any} */ req, /** @type {any} */ socket) => {
      socket.end(`HTTP/1.1 200 OK\r\n\r\n${/\/\/a\.test:/.test(req.urlPrefix) ? 'a' : 'any'}`)
    })
    const port = await freePort()
    await serve(t, server, [`http://a.test:${port}/`, `http://*:${port}/`])
    return { port, seen }
  }

  it('is for the host of its target, whatever its Host line has', limits, async (t) => {
    const { port } = await serveTunnels(t)
    for (const [target, host, owner] of [
      ['a.test:443', 'b.test', 'a'], ['A.Test.:443', '', 'a'], ['b.test:443', 'a.test', 'any'], ['[::1]:443', 'a.test', 'any']
    ]) {
      const text = await (await dial(t, port)).write(head(`CONNECT ${target} HTTP/1.1`, [host])).untilClosed()
      assert.equal(text, `HTTP/1.1 200 OK\r\n\r\n${owner}`, target)
    }
    assert.equal(await (await dial(t, port)).write('CONNECT a.test:443 HTTP/1.0\r\n\r\n').untilClosed(), 'HTTP/1.1 200 OK\r\n\r\na')
  })

  it('is refused without one valid Host, or a host and a port to connect to', limits, async (t) => {
    const { port, seen } = await serveTunnels(t)
    for (const [target, ...hosts] of [
      ['a.test:443'], ['a.test:443', 'u@a.test'], ['a.test:443', 'a.test:443', 'a.test:443'], ['a.test', 'a.test'], ['a.test:', 'a.test'],
      ['u@a.test:443', 'a.test'], [':443', 'a.test'], ['/', 'a.test'], ['http://a.test:443', 'a.test'], ['http://a.test/', 'a.test']
    ]) {
      assert.equal(withoutOwnFields(await (await dial(t, port)).write(head(`CONNECT ${target} HTTP/1.1`, hosts)).untilClosed()), kRefusal, target)
    }
    assert.deepEqual(seen, [])
  })

  it('is so over HTTP/2, too', { ...limits, skip: kSkipHttp2 }, async (t) => {
    const { port } = await serveTunnels(t, { http2: true })
    const session = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => session.destroy())
    for (const [authority, status] of /** @type {const} */ ([['a.test:443', 200], ['a.test', 400], ['a.test:', 400], [':443', 400]])) {
      const stream = session.request({ ':method': 'CONNECT', ':authority': authority }, { endStream: false })
      const [answer] = await once(stream, 'response')
      assert.equal(answer[':status'], status, authority)
      stream.destroy()
    }
  })
})

describe('A server on a port', () => {
  it('takes whatever Host a request has', limits, async (t) => {
    const { server, seen } = noting(http, { requireHostHeader: false })
    const port = await serve(t, server)
    let count = 0
    for (const hosts of kInvalid) {
      for (const target of ['/odd', 'http://u@a.test/odd']) {
        const wire = await dial(t, port)
        await wire.write(head(`GET ${target} HTTP/1.1`, hosts)).until(/^HTTP\/1\.1 200 /)
        assert.equal(seen.length, ++count, hosts.join())
        wire.destroy()
      }
    }
  })
})

describe('Over HTTP/2', { skip: kSkipHttp2 }, () => {
  /** @param {import('node:test').TestContext} t @param {number} port */
  function connectTo (t, port) {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    t.after(() => session.destroy())
    return session
  }

  /** What comes of a request: its status, or how its stream was reset. @param {http2.ClientHttp2Session} session @param {object} fields */
  async function outcomeOf (session, fields) {
    const stream = session.request(/** @type {any} */ (fields), { endStream: true })
    stream.resume()
    /** @type {number | undefined} */
    let status
    stream.on('response', (answer) => { status = answer[':status'] })
    stream.on('error', () => {})
    await once(stream, 'close').catch(() => {})
    return status ?? `reset ${stream.rstCode}`
  }
  const kMalformed = `reset ${http2.constants.NGHTTP2_PROTOCOL_ERROR}`

  for (const [name, args] of /** @type {[string, (port: number) => any[]][]} */ ([
    ['a server of prefixes', (port) => [`http://*:${port}/`]], ['a server on a port', (port) => [port, '127.0.0.1']]])) {
    it(`user information in :authority and "#" in :path are malformed for ${name}`, limits, async (t) => {
      const { server, seen } = noting(http, { http2: true })
      const port = await freePort()
      await serve(t, server, ...args(port))
      const session = connectTo(t, port)
      for (const authority of ['u@a.test', '@a.test', 'u:p@a.test:80', 'b.test@a.test']) {
        assert.equal(await outcomeOf(session, { ':path': '/odd', ':authority': authority }), kMalformed, authority)
      }
      for (const target of ['/a#b', '/#', '/a?b#c']) {
        assert.equal(await outcomeOf(session, { ':path': target, ':authority': 'a.test' }), kMalformed, target)
      }
      assert.deepEqual(seen, [])
      // Streams end, their connection does not.
      assert.equal(await outcomeOf(session, { ':path': '/a?b%23', ':authority': 'a.test' }), 200)
    })
  }

  it('a server of prefixes answers 400 to an :authority that is no host', limits, async (t) => {
    const { server, seen } = noting(http, { http2: true })
    const port = await freePort()
    await serve(t, server, [`http://a.test:${port}/`, `http://*:${port}/`])
    const session = connectTo(t, port)
    for (const authority of ['a.test:80:x', 'a.test:x', ':80', '[a.test]', 'a%test']) {
      assert.equal(await outcomeOf(session, { ':path': '/odd', ':authority': authority }), 400, authority)
    }
    assert.deepEqual(seen, [])
    assert.equal(await outcomeOf(session, { ':path': '/', ':authority': 'a.test.' }), 200)
  })
})

describe('The certificate of a host', { skip: kSkip }, () => {
  it('is chosen without the final dot of its name', limits, async (t) => {
    const server = /** @type {any} */ (http).https.createServer(certificate('default.test'), (/** @type {any} */ req, /** @type {any} */ res) => res.end())
    server.addContext('a.test', certificate('a.test'))
    server.addContext('b.test.', certificate('b.test'))
    const port = await freePort()
    await serve(t, server, `https://*:${port}/`)
    for (const [servername, name] of [['a.test', 'a.test'], ['a.test.', 'a.test'], ['A.Test.', 'a.test'], ['b.test', 'b.test'], ['b.test.', 'b.test']]) {
      const socket = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const { CN } = /** @type {any} */ (socket.getPeerCertificate().subject)
      socket.destroy()
      assert.equal(CN, name, servername)
    }
  })
})
