'use strict'
// A client with TLS ends its side in each phase of a connection and waits: the server ends the connection, as it does not
// without TLS, whether the application listens to the end or not.
// covers: 21, 30
// breaks: secure-half-open

const https = require('node:https')
const tls = require('node:tls')
const { once } = require('node:events')
const { setTimeout } = require('node:timers')
const { certificate } = require('../../../helpers/certificates')
const { listen, log, message, program } = require('../../kit')

// A client waits for so long before it ends; what it has sent is handled by then.
const kHandledMs = 30

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

program(async () => {
  for (const isWatched of [false, true]) {
    /** @type {string[]} */
    let seen = []
    const server = https.createServer({ ...certificate('localhost'), ALPNProtocols: ['http/1.1'] }, (req, res) => {
      req.on('error', () => {})
      if (req.url === '/begun') res.write('begun')
      else if (req.url !== '/silent') res.end('answer')
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
      client.write(bytes)
      const ended = once(client, 'end')
      setTimeout(() => client.end(), kHandledMs)
      await ended
      await new Promise((resolve) => setTimeout(resolve, kHandledMs))
      log(isWatched ? 'watched' : 'unwatched', phase, seen)
    }
  }
})
