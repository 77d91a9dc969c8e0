'use strict'

// The routing vectors of docs/url-prefixes.md over sockets: which prefix gets a request. Those about
// reservations and https are in the C++ tests of the table (url_prefix_table_test.cc).

const assert = require('node:assert/strict')
const os = require('node:os')
const { describe, it } = require('node:test')
const { http, backend } = require('../helpers/backend')
const { Wire, listen, stop } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')

const kSkip = backend === 'node' && 'node:http does not route'
const has = (/** @type {string} */ address) => Object.values(os.networkInterfaces()).flat().some((entry) => entry?.address === address)
// Linux answers on all of 127/8.
const kAddresses = { '127.0.0.1': true, '127.0.0.2': os.platform() === 'linux', '::1': has('::1') }

/** Prefixes without scheme and port; requests: local address, Host, target and the winner or the status. */
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
  ]]
}

/** @param {string} host @param {number} port @param {string | null} name @param {string} target */
async function ask (host, port, name, target) {
  const wire = new Wire({ host, port })
  wire.write(name === null ? `GET ${target} HTTP/1.0\r\n\r\n` : `GET ${target} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
  const answer = await wire.untilClosed()
  return { status: Number(answer.slice(9, 12)), winner: /^X-Prefix: (.*)\r$/m.exec(answer)?.[1] }
}

describe('routing vectors over sockets', { skip: kSkip }, () => {
  for (const [name, [prefixes, requests]] of Object.entries(kSets)) {
    it(`set ${name}: ${prefixes.join(', ')}`, async () => {
      const port = await freePort()
      const canonical = (/** @type {any} */ prefix) => `http://${prefix.replace('/', `:${port}/`)}`
      const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
        res.setHeader('X-Prefix', encodeURI(req.urlPrefix)).end()
      })
      await listen(server, prefixes.map(canonical))
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
})
