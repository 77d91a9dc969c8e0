'use strict'
// A report written row by row to a client that reads late: write() says when to wait, 'drain' when to go on.
// covers: 32, r6, r7
// breaks: credit-lost

const http = require('node:http')
const { setTimeout } = require('node:timers')
const { answer, dial, listen, log, message, program } = require('../../kit')

program(async () => {
  const row = Buffer.alloc(1000, '~')
  const rows = 12_000
  const server = http.createServer((req, res) => {
    let left = rows
    let waited = false
    const go = () => {
      while (left > 0) {
        left--
        if (!res.write(row)) {
          waited = true
          return res.once('drain', go)
        }
      }
      res.end(() => log('end written', waited))
    }
    res.on('close', () => log('close', res.writableFinished, left))
    go()
  })
  const wire = await dial(await listen(server))
  wire.socket.pause()
  // Of the body: since Node 26, how many chunks it comes in depends on when the client reads.
  let bytes = 0
  wire.socket.on('data', (piece) => { for (const byte of piece) if (byte === row[0]) bytes++ })
  wire.write(message('GET /'))
  // A client that is late; how late does not matter to what comes back.
  setTimeout(() => wire.socket.resume(), 200)
  await wire.untilClosed()
  answer(bytes)
})
