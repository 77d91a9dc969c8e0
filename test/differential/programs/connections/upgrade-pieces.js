'use strict'
// Small pieces of one corked write leave together; all bytes arrive in their order and are counted, beside
// empty, long and text pieces.
// covers: 21, r7
// breaks: pieces-overlap

const { createHash } = require('node:crypto')
const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

const kSizes = [1, 0, 2, 2000, 45, 1, 2048, 3, 4, 2049, 70000, 5, 6]

program(async () => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    const sent = createHash('sha256')
    const write = (piece) => {
      sent.update(piece)
      socket.write(piece, (error) => log('written', piece.length, error))
    }
    socket.cork()
    kSizes.forEach((size, index) => write(Buffer.alloc(size, index + 1)))
    write('text')
    write(Buffer.from('behind'))
    socket.uncork()
    log('bytes', socket.bytesWritten)
    socket.end()
    socket.on('finish', () => log('finish', sent.digest('hex'), socket.bytesWritten))
  })
  const text = await talk(await listen(server), message('GET /', ['Upgrade: x', 'Connection: Upgrade']))
  log('received', createHash('sha256').update(text.slice(text.indexOf('\r\n\r\n') + 4)).digest('hex'))
})
