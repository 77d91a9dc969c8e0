'use strict'
// fastify's forceCloseConnections: 'idle' ends what waits for a next request, and nothing else.
// covers: 27
// breaks: close-keeps-idle, idle-with-half-a-head, unserved-are-idle

const http = require('node:http')
const { readByPeer } = require('../../../helpers/waiting')
const { dial, listen, log, message, play, program, within } = require('../../kit')

program(async () => {
  let finish
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/busy') finish = () => res.end('busy')
    else if (req.url === '/upload') req.on('end', () => res.end('uploaded')).resume()
    else res.end('idle')
  })
  // Nothing but the call ends the idle one within the program.
  server.keepAliveTimeout = 60_000
  const port = await listen(server)
  const wires = {}
  for (const name of ['idle', 'unserved', 'busy', 'upload', 'head']) {
    wires[name] = await dial(port)
  }
  await play(wires.idle, [message('GET /idle', []), /idle$/])
  await play(wires.busy, [message('GET /busy', []), { event: 'request /busy' }])
  await play(wires.upload, [message('POST /upload', ['Content-Length: 6'], 'abc'), { event: 'request /upload' }])
  await play(wires.head, [message('GET /first', []), /idle$/, 'GET /second HT'])
  await readByPeer(wires.head.socket)
  server.closeIdleConnections()
  if (await within(wires.idle.untilClosed(), 'late') === 'late') log('idle is open')
  finish()
  await wires.busy.until(/busy$/)
  await play(wires.upload, ['def', /uploaded/])
  await play(wires.head, ['TP/1.1\r\nHost: a\r\n\r\n'])
  await wires.head.until(/idle[^]*idle$/)
  // Idle too since Node 26.
  wires.unserved.write(message('GET /unserved', []))
  log('unserved is served', await wires.unserved.until(/idle$/).then(() => true, () => false))
  log('all served', Object.entries(wires).filter(([, { closed }]) => closed).map(([name]) => name))
  server.close(() => log('closed'))
  for (const name of ['unserved', 'busy', 'upload', 'head']) await wires[name].untilClosed()
})
