'use strict'
// A body piped back to a client that reads late: neither side grows, all of it comes back.
// covers: 32, 34, r6, r7
// breaks: sent-block-unheard

const http = require('node:http')
const { setTimeout } = require('node:timers')
const { answer, dial, listen, log, message, program } = require('../../kit')

program(async () => {
  const total = 16 * 1024 * 1024
  const server = http.createServer((req, res) => {
    let most = 0
    req.on('data', () => { most = Math.max(most, res.writableLength + res.socket.writableLength) })
    req.pipe(res)
    req.on('end', () => log('end', most < total / 4))
    res.on('finish', () => log('finish', res.writableLength))
  })
  const wire = await dial(await listen(server))
  let bytes = 0
  let text = ''
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  wire.write(message('POST /', [`Content-Length: ${total}`, 'Connection: close']))
  for (let i = 0; i < 16; i++) wire.write(Buffer.alloc(total / 16, 97 + i))
  // A client that is late; on a slow machine less is waiting by then.
  setTimeout(() => wire.socket.on('data', (piece) => {
    bytes += piece.toString('latin1').match(/[a-p]{8,}/g)?.join('').length ?? 0
    text = `${text}${piece.subarray(-8).toString('latin1')}`.slice(-8)
  }).resume(), 300)
  await wire.untilClosed()
  answer(bytes > total * 0.99, text)
})
