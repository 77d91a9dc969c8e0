'use strict'

// Routing vectors over sockets: which prefix gets a request (docs/url-prefixes.md). The same ones are asked of the
// table alone in url_prefix_table_test.cc.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const os = require('node:os')
const { describe, it } = require('node:test')
const { addReservation } = require('@httpsys/core-native/reservations')
const { http, backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { Wire, listen, request, serve, stop } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')
const { ownUrlacl } = require('../helpers/urlacl')

const kSkip = backend === 'node' && 'node:http does not route'
const has = (/** @type {string} */ address) => Object.values(os.networkInterfaces()).flat().some((entry) => entry?.address === address)
// Linux answers on all of 127/8.
const kAddresses = { '127.0.0.1': true, '127.0.0.2': os.platform() === 'linux', '::1': has('::1') }

/**
 * Prefixes without scheme and port; requests: local address, Host, target and the winner or the status; prefixes that
 * are reserved, and for whom. The server that asks for them is `us`.
 *
 * @type {Record<string, [string[], any[][], Record<string, string>?]>}
 */
const kSets = {
  A: [['www.adatum.com/', 'www.adatum.com/dir/sna/'], [
    ['127.0.0.1', 'www.adatum.com', '/default.htm', 'www.adatum.com/'],
    ['127.0.0.1', 'www.adatum.com', '/dir/sna/snadefault.htm', 'www.adatum.com/dir/sna/'],
    ['127.0.0.1', 'www.adatum.com', '/dir/app.htm', 'www.adatum.com/'],
    ['127.0.0.1', 'www.adatum.com', '/dir/sna', 'www.adatum.com/dir/sna/'],
    ['127.0.0.1', 'www.adatum.com', '/dir/snax', 'www.adatum.com/'],
    ['127.0.0.1', 'www.adatum.com', '/DIR/SNA/x', 'www.adatum.com/dir/sna/'],
    ['127.0.0.1', 'WWW.Adatum.COM', '/x', 'www.adatum.com/'],
    ['127.0.0.1', 'www.adatum.com:80', '/x', 'www.adatum.com/'],
    ['127.0.0.1', 'other.com', '/', 400]
  ]],
  B: [['+/vroot/', 'adatum.com/', '*/'], [
    ['127.0.0.1', 'adatum.com', '/vroot/subdir/file.htm', '+/vroot/'],
    ['127.0.0.1', 'adatum.com', '/default.htm', 'adatum.com/'],
    ['127.0.0.1', 'otheradatum.com', '/file.htm', '*/'],
    ['127.0.0.1', 'otheradatum.com', '/vroot/', '+/vroot/'],
    ['127.0.0.1', null, '/vroot', '+/vroot/'],
    ['127.0.0.1', null, '/x', '*/']
  ]],
  C: [['*/vroot/'], [
    ['127.0.0.1', 'adatum.com', '/vroot/file.htm', 503],
    ['127.0.0.1', 'other.com', '/vroot/file.htm', '*/vroot/'],
    ['127.0.0.1', 'other.com', '/x', 404]
  ], { 'adatum.com/': 'others' }],
  D: [['*/', '*/11/', '*/2/', '*/2/3/', '*/11/2/'], [
    ...['/', '/random', '/111'].map((path) => ['127.0.0.1', 'h', path, '*/']),
    ...['/11', '/11/', '/11/random'].map((path) => ['127.0.0.1', 'h', path, '*/11/']),
    ...['/2', '/2/', '/2/random'].map((path) => ['127.0.0.1', 'h', path, '*/2/']),
    ...['/2/3', '/2/3/', '/2/3/random'].map((path) => ['127.0.0.1', 'h', path, '*/2/3/']),
    ['127.0.0.1', 'h', '/11/2', '*/11/2/']
  ]],
  E: [['*/1/', '*/2/', '*/12/'], [
    ...['/1/room7', '/1', '/1?x=/2/'].map((path) => ['127.0.0.1', 'megachat.com', path, '*/1/']),
    ['127.0.0.1', 'megachat.com', '/12/room7', '*/12/'],
    ['127.0.0.1', 'megachat.com', '/3/room', 404]
  ]],
  F: [['+/a/', 'app.test/a/b/c/', '127.0.0.2/', '*/a/'], [
    ['127.0.0.1', 'app.test', '/a/b/c/d', '+/a/'],
    ['127.0.0.2', 'app.test', '/z', '127.0.0.2/'],
    ['127.0.0.1', 'app.test', '/z', 404],
    ['127.0.0.2', 'app.test', '/a/', '+/a/'],
    ['127.0.0.1', 'x', '/b', 404]
  ]],
  G: [['[::1]/v6/', '127.0.0.1/v4/', '*/'], [
    ['::1', 'x', '/v6/a', '[::1]/v6/'],
    ['127.0.0.1', 'x', '/v4/a', '127.0.0.1/v4/'],
    ['127.0.0.2', '127.0.0.1', '/v4/a', '*/'],
    ['127.0.0.1', '[::1]', '/v6/a', '*/']
  ]],
  H: [['*.shop.test/', 'eu.shop.test/', '*/'], [
    ['127.0.0.1', 'eu.shop.test', '/', 'eu.shop.test/'],
    ['127.0.0.1', 'us.shop.test', '/', '*.shop.test/'],
    ['127.0.0.1', 'a.b.shop.test', '/', '*.shop.test/'],
    ['127.0.0.1', 'shop.test', '/', '*/'],
    ['127.0.0.1', 'xshop.test', '/', '*/']
  ]],
  I: [['*/base path/', '*/caf\u00e9/'], [
    ['127.0.0.1', 'h', '/base%20path/sub%20path', '*/base path/'],
    ['127.0.0.1', 'h', '/caf%C3%A9/x', '*/caf\u00e9/'],
    ['127.0.0.1', 'h', '/base%20path%2Fx', 404],
    ['127.0.0.1', 'h', '/x/../base%20path/y', '*/base path/']
  ]],
  J: [['adatum.com/vroot/', 'adatum.com/vroot/subdir/'], [
    ['127.0.0.1', 'adatum.com', '/vroot/file', 'adatum.com/vroot/'],
    // `+` comes first, although its prefix is nobody's and the other one is as long.
    ['127.0.0.1', 'adatum.com', '/vroot/subdir/file.htm', 503],
    ['127.0.0.1', 'other.com', '/vroot/subdir/file.htm', 503],
    ['127.0.0.1', 'adatum.com', '/vroot/subdirs', 'adatum.com/vroot/'],
    ['127.0.0.1', 'other.com', '/vroot/file', 404]
  ], { '+/vroot/subdir/': 'others', 'adatum.com/vroot/': 'us' }]
}

/** @param {string} host @param {number} port @param {string | null} name @param {string} target */
async function ask (host, port, name, target) {
  const wire = new Wire({ host, port })
  wire.write(name === null ? `GET ${target} HTTP/1.0\r\n\r\n` : `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
  const answer = await wire.untilClosed()
  return { status: Number(answer.slice(9, 12)), winner: /^X-Prefix: (.*)\r$/m.exec(answer)?.[1] }
}

describe('routing vectors over sockets', { skip: kSkip }, () => {
  for (const [name, [prefixes, requests, reserved = {}]] of Object.entries(kSets)) {
    it(`set ${name}: ${prefixes.join(', ')}${Object.keys(reserved).map((prefix) => `, reserved ${prefix}`).join('')}`, async (t) => {
      ownUrlacl(t)
      const port = await freePort()
      const canonical = (/** @type {any} */ prefix) => `http://${prefix.replace('/', `:${port}/`)}`
      const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
        res.setHeader('X-Prefix', encodeURI(req.urlPrefix)).end()
      })
      for (const [prefix, app] of Object.entries(reserved)) addReservation(canonical(prefix), { register: [`app:${app}`] })
      await listen(server, { prefixes: prefixes.map(canonical), queueName: 'us' })
      try {
        for (const [host, header, target, expected] of /** @type {any[]} */ (requests)) {
          if (!kAddresses[/** @type {'::1'} */ (host)]) continue // This machine does not have the address.
          const label = `${header}${target} at ${host}`
          const { status, winner } = await ask(host, port, header, target)
          if (typeof expected === 'number') assert.equal(status, expected, label)
          else assert.equal(winner, encodeURI(canonical(expected)), label)
        }
      } finally {
        await stop(server)
      }
    })
  }

  it('set K: https://*:443/s/, http://*:80/s/', async (t) => {
    const [secure, plain] = [await freePort(), await freePort()]
    const prefixes = [`https://*:${secure}/s/`, `http://*:${plain}/s/`]
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
      res.end(`${req.urlPrefix} ${req.socket.encrypted === true}`)
    })
    await serve(t, server, prefixes, certificate('localhost'))
    assert.equal((await tls.request(secure, { path: '/s/1' })).body, `${prefixes[0]} true`)
    assert.equal((await request({ port: plain, path: '/s/1' })).body, `${prefixes[1]} false`)
    assert.equal((await tls.request(secure, { path: '/x' })).status, 404)
    assert.equal((await request({ port: plain, path: '/x' })).status, 404)
    // Each port speaks its own scheme only, whatever the path.
    await assert.rejects(tls.request(plain, { path: '/s/1' }), { code: /^(?:EPROTO|ERR_SSL_|ECONNRESET)/ })
    assert.equal((await request({ port: secure, path: '/s/1' })).status, 400)
    const wire = new Wire({ host: '127.0.0.1', port: plain })
    wire.write(Buffer.from('16030100050100000100', 'hex'))
    assert.match(await wire.untilClosed(), /^HTTP\/1\.1 400 Bad Request\r\n/)
    for (const taken of [`http://*:${secure}/t/`, `https://*:${plain}/t/`]) {
      await assert.rejects(server.addPrefix(taken), { code: 'EADDRINUSE' }, taken)
    }
    assert.deepEqual(server.prefixes, prefixes)
    const both = http.createServer()
    both.listen([`https://*:${plain}/b/`, `http://*:${await freePort()}/b/`], certificate('localhost'))
    assert.equal((await once(both, 'error'))[0].code, 'EADDRINUSE')
    const free = await freePort()
    both.listen([`https://*:${free}/b/`, `http://*:${free}/c/`], certificate('localhost'))
    assert.equal((await once(both, 'error'))[0].code, 'EADDRINUSE')
  })
})
