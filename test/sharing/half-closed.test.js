'use strict'

// A client that ends its side behind its last request gets the answers, also where they are another process', as on a port
// of one process.

const assert = require('node:assert/strict')
const net = require('node:net')
const tls = require('node:tls')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { apart } = require('../helpers/waiting')
const { kSkip, member } = require('./kit')

const kUpgrade = ['Connection: Upgrade', 'Upgrade: echo']
const kBody = 'x'.repeat(200_000)

/** @param {string} target @param {{ method?: string, lines?: string[], body?: string }} [options] */
function request (target, { method = 'GET', lines = [], body = '' } = {}) {
  const length = body === '' ? [] : [`Content-Length: ${body.length}`]
  return [`${method} ${target} HTTP/1.1`, 'Host: shared.test', ...lines, ...length, '', body].join('\r\n')
}

const kChunks = `${request('/b/chunks', { method: 'POST', lines: ['Transfer-Encoding: chunked'] })}3\r\nabc\r\n0\r\n\r\n`
const kUpload = request('/b/up', { method: 'POST', body: kBody })

// What a client sends before it ends its side, in pieces with a pause between them.
/** @type {Record<string, string[]>} */
const kCases = {
  'a request': [request('/b/1')],
  'a request that takes a while': [request('/b/1?ms=60')],
  'an upload': [kUpload],
  'an upload in pieces': [kUpload.slice(0, 50_000), kUpload.slice(50_000)],
  chunks: [kChunks],
  'HTTP/1.0': [request('/b/1').replace('HTTP/1.1', 'HTTP/1.0')],
  'a request behind one of this process': [request('/a/1?ms=30') + request('/b/2?ms=30')],
  'requests to both': [request('/b/1?ms=30') + request('/a/2') + request('/b/3') + request('/a/4?ms=30')],
  'a later request': [request('/a/1'), request('/b/2?ms=30')],
  'an upgrade': [request('/b/', { lines: kUpgrade }) + 'bytes'],
  'a head that is cut off': ['GET /b/1 HTTP/1.1\r\nHo'],
  'an upload that is cut off': [kUpload.slice(0, 90_000)],
  'an upload that is cut off behind a request': [request('/a/1') + kUpload.slice(0, 90_000)]
}

/**
 * All that comes back until the server ends its side.
 *
 * @param {number} port @param {boolean} isSecure @param {string[]} pieces
 * @returns {Promise<string>} with the names and times of processes left out
 */
async function converse (port, isSecure, pieces) {
  const options = { port, host: '127.0.0.1', allowHalfOpen: true }
  const socket = isSecure ? tls.connect({ ...options, servername: 'shared.test', ca: certificate('shared.test').cert, ALPNProtocols: ['http/1.1'] }) : net.connect(options)
  let text = ''
  const ended = new Promise((resolve, reject) => {
    socket.on('data', (piece) => { text += piece.toString('latin1') }).on('end', resolve).on('error', (error) => resolve(text += error))
    setTimeout(reject, 20_000, new Error(`no end after ${text.slice(0, 1000)}`)).unref()
  })
  for (const [i, piece] of pieces.entries()) {
    if (i !== 0) await apart(20)
    socket.write(piece, 'latin1')
  }
  socket.end()
  await ended
  socket.destroy()
  return text.replaceAll(/Date: .*\r\n/g, '').replaceAll(/\b([ab]) \d+ /g, '$1 <pid> ').replaceAll(`*:${port}/`, '*:<port>/').replaceAll(/Content-Length: \d+/g, 'Content-Length: <n>')
}

describe('A client that ends its side', { skip: kSkip }, () => {
  for (const [scheme, allowsHalfOpen] of /** @type {[string, boolean][]} */ ([['http', true], ['http', false], ['https', true], ['https', false]])) {
    it(`gets what it gets on a port of one process: ${scheme}, httpAllowHalfOpen: ${allowsHalfOpen}`, async (t) => {
      const isSecure = scheme === 'https'
      const options = isSecure ? certificate('shared.test') : {}
      const [shared, alone] = [await freePort(), await freePort()]
      const listen = (/** @type {import('./kit').Member} */ where, /** @type {string} */ name, /** @type {number} */ port) =>
        where.tell('listen', { name, allowsHalfOpen, on: [`${scheme}://*:${port}/${name}/`, options] })
      const one = await member(t)
      for (const name of ['a', 'b']) {
        await listen(await member(t), name, shared)
        await listen(one, name, alone)
      }
      for (const [what, given] of Object.entries(kCases)) {
        // Where the end of the client ends the connection, the last answer that is to be late has to be later than that.
        const pieces = allowsHalfOpen ? given : given.map((piece) => piece.replace(/\?ms=\d+(?![^]*\?ms=)/, '?ms=5000'))
        // The process that has accepted the connection answers the one or the other.
        const exchanged = pieces.map((piece) => piece.replaceAll('/a/', '/-/').replaceAll('/b/', '/a/').replaceAll('/-/', '/b/'))
        for (const [ours, owner] of [[pieces, 'b'], [exchanged, 'a']]) {
          const expected = await converse(alone, isSecure, /** @type {string[]} */ (ours))
          // As on Node, an answer that the client does not wait for is one that comes too late.
          if (allowsHalfOpen && !what.includes('cut off')) assert.match(expected, new RegExp(`^HTTP/1\\.1 (200|101) [^]*(${owner} <pid> [A-Z]+ |${owner}:bytes$)`), what)
          for (let i = 0; i < 2; i++) assert.equal(await converse(shared, isSecure, /** @type {string[]} */ (ours)), expected, what)
        }
      }
    })
  }
})
