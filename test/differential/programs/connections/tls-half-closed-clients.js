'use strict'
// A client with TLS ends its side in each phase of a connection and waits: the server ends the connection, as it does not
// without TLS, whether the application listens to the end or not.
// covers: 21, 30
// breaks: secure-half-open

const https = require('node:https')
const tls = require('node:tls')
const { once } = require('node:events')
const { certificate } = require('../../../helpers/certificates')
const { drained, readByPeer, until } = require('../../../helpers/waiting')
const { listen, log, message, program } = require('../../kit')

/** @type {Record<string, string>} */
const kPhases = {
  'before a request': '',
  'within a head': 'GET / HT',
  'between requests': message('GET /', []),
  'before the answer': message('GET /silent', []),
  'within an answer': message('GET /begun', []),
  'within a body': message('POST /silent', ['Content-Length: 10'], 'x'),
  'within a body that was answered': message('POST /', ['Content-Length: 10'], 'x'),
  upgraded: message('GET /', ['Connection: Upgrade', 'Upgrade: x'], 'x'),
  'upgraded to a WebSocket': message('GET /', ['Connection: Upgrade', 'Upgrade: websocket'], 'x'),
  'in a tunnel': message('CONNECT a:1', [], 'x'),
}

/** Waits until what was sent has had its effect. @param {any} server @param {tls.TLSSocket} client @param {string} bytes */
async function handled (server, client, bytes) {
  if (!bytes.includes('\r\n\r\n')) await readByPeer(client)
  else if (bytes.includes('/silent')) await once(server, 'silent')
  else await once(client, 'data')
}

program(async () => {
  for (const isWatched of [false, true]) {
    /** @type {string[]} */
    let seen = []
    const server = https.createServer({ ...certificate('localhost'), ALPNProtocols: ['http/1.1'] }, (req, res) => {
      req.on('error', () => {})
      if (req.url === '/begun') res.write('begun')
      else if (req.url === '/silent') server.emit('silent')
      else res.end('answer')
    })
    for (const type of ['upgrade', 'connect']) {
      server.on(type, (req, socket) => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        socket.on('error', () => {}).resume()
      })
    }
    server.on('clientError', (error) => seen.push(error.code))
    server.on('secureConnection', (socket) => {
      if (isWatched) for (const type of ['end', 'close']) socket.on(type, () => seen.push(type))
    })
    const port = await listen(server)
    for (const [phase, bytes] of Object.entries(kPhases)) {
      seen = []
      const client = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false, allowHalfOpen: true })
      client.on('error', () => {}).resume()
      await once(client, 'secureConnect')
      const ended = once(client, 'end')
      const isHandled = handled(server, client, bytes)
      client.write(bytes)
      await isHandled
      client.end()
      await ended
      await drained(server)
      if (isWatched) await until(() => seen.includes('close'), 'the end of the connection')
      log(isWatched ? 'watched' : 'unwatched', phase, seen)
    }
  }
})
