'use strict'
// multer and finalhandler take a pipe away again (unpipe) and throw the rest away: both sides stay in order.
// covers: 34
// breaks: end-for-readers-only

const http = require('node:http')
const stream = require('node:stream')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const sink = new stream.Writable({ write (piece, encoding, callback) { log('sink', String(piece)); callback() } })
    watch('sink', sink, ['pipe', 'unpipe', 'finish'])
    watch('request', req, ['pause', 'resume', 'end', 'close'])
    req.pipe(sink)
    req.once('data', () => {
      req.unpipe(sink)
      log('unpiped', req.readableFlowing, req.listenerCount('data'), req._readableState.pipes.length)
      req.resume()
      log('resumed', req.readableFlowing)
    })
    req.on('end', () => res.end('done'))
  })
  await talk(await listen(server), [message('POST /', ['Connection: close', 'Content-Length: 9']), 'first', { event: 'resumed' }, 'last'])
})
