'use strict'
// raw-body stops reading at its limit and Express answers 413; finalhandler lets the rest run off later,
// so that the next request is heard.
// covers: 34, 32, r6
// breaks: resume-without-credit

const http = require('node:http')
const { setTimeout } = require('node:timers')
const { dial, listen, log, message, play, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (req.method === 'GET') return res.end('next')
    let bytes = 0
    const onData = (piece) => {
      bytes += piece.length
      if (bytes < 4) return
      req.off('data', onData)
      req.unpipe()
      req.pause()
      log('limit', req.isPaused(), req.readableFlowing)
      res.statusCode = 413
      res.end('too large')
    }
    req.on('data', onData)
    watch('request', req, ['end', 'close'])
    watch('response', res, ['finish', 'close'])
    server.once('goes on', () => req.resume())
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('POST /', ['Content-Length: 400006']), 'abcdef', { event: 'response close' }, /too large/])
  wire.write('x'.repeat(400_000)).write(message('GET /'))
  // Silence, in which what was written meets a request that nobody reads; how much does so is not compared.
  setTimeout(() => server.emit('goes on'), 200)
  await talk(wire, [])
})
