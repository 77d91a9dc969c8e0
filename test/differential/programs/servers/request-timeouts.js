'use strict'
// Slow heads and slow bodies get 408 by headersTimeout and requestTimeout, which may be set after createServer (next, restify).
// covers: 28, 24, r12
// breaks: timeouts-of-the-start

const http = require('node:http')
const { dial, listen, log, message, play, program, talk, within } = require('../../kit')

program(async () => {
  const server = http.createServer({ connectionsCheckingInterval: 20 }, (req, res) => {
    log('request', req.url)
    req.on('error', ({ code }) => log('req', code)).resume()
    if (req.url === '/quick') res.end('quick')
  })
  log(server.headersTimeout, server.requestTimeout, server.timeout, server.connectionsCheckingInterval)
  const port = await listen(server)
  const head = await dial(port)
  await play(head, ['GET / HTTP/1.1\r\nHost: a\r\nX-'])
  const body = await dial(port)
  await play(body, [message('POST /body', ['Content-Length: 6'], 'abc'), { event: 'request /body' }])
  const second = await dial(port)
  await play(second, [message('GET /quick', []), /quick$/, 'GET'])
  server.headersTimeout = 300
  const inTime = async (wire) => { if (await within(talk(wire, []), 'late') === 'late') log('too late') }
  await inTime(head)
  await inTime(second)
  server.requestTimeout = 300
  await inTime(body)

  const told = http.createServer({ connectionsCheckingInterval: 20, requestTimeout: 200, headersTimeout: 100 })
  told.once('clientError', (error, socket) => {
    log(error.code, error.message, error.name, { ...error }, socket.writable)
    socket.end('HTTP/1.1 418 \r\n\r\n')
  })
  await talk(await listen(told), ['GET'])
})
