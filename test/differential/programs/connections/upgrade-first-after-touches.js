'use strict'
// An upgrade as the first request of a connection whose socket was used in 'connection': every way of reading gets the bytes
// behind the head, those that came with it included, at once or later.
// covers: 21, 35, r9
// breaks: reading-stays

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, message, play, program } = require('../../kit')
const { kSocketTouches } = require('../../touches')

/** Ways to read. @type {Record<string, (socket: any, take: (piece: Buffer) => void) => void>} */
const kReaders = {
  data: (socket, take) => socket.on('data', take),
  resumed: (socket, take) => socket.pause().on('data', take).resume(),
  readable: (socket, take) => socket.on('readable', () => {
    for (let piece; (piece = socket.read()) !== null;) take(piece)
  }),
  async: async (socket, take) => {
    for await (const piece of socket) take(piece)
  },
  piped: (socket, take) => socket.pipe(new (require('node:stream').Writable)({
    write (piece, encoding, done) {
      take(piece)
      done()
    }
  })),
}

program(async () => {
  const server = http.createServer()
  server.on('connection', (socket) => kSocketTouches[touch]?.(socket))
  server.on('upgrade', (req, socket, head) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n')
    let text = ''
    const read = () => kReaders[reader](socket, (piece) => {
      text += piece
      if (text === 'first bytes') socket.end(`echo ${text}`)
    })
    if (head.length !== 0) socket.unshift(head)
    if (isLater) setImmediate(read)
    else read()
  })
  const port = await listen(server)
  let touch = ''
  let reader = ''
  let isLater = false
  for (touch of ['none', ...Object.keys(kSocketTouches)]) {
    for (reader of Object.keys(kReaders)) {
      for (const what of ['websocket', 'x']) {
        for (isLater of [false, true]) {
          const wire = await dial(port)
          const first = isLater ? [/101[^]*\r\n\r\n/, 'first '] : []
          await play(wire, [message('GET /', ['Connection: Upgrade', `Upgrade: ${what}`], isLater ? '' : 'first '), ...first, /101[^]*\r\n\r\n/, 'bytes'])
          await wire.untilClosed()
          log(`${touch}, ${reader}, ${what}${isLater ? ', later' : ''}:`, wire.text.slice(-16))
        }
      }
    }
  }
})
