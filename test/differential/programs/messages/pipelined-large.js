'use strict'
// What is written to a response before its turn is kept, and 'drain' comes when it has gone.
// covers: 35, r7
// breaks: socket-untold

const http = require('node:http')
const { answer, dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  let first
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/1') {
      first = res
      return
    }
    const piece = 'x'.repeat(40_000)
    log(res.write(piece), res.write(piece), res.writableNeedDrain, res.writableLength >= 80_000)
    res.on('drain', () => {
      log('drain', res.writableNeedDrain)
      res.end('last')
    })
    res.on('socket', () => log('socket'))
    first.end('first;')
    log('first ended')
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /1', []), { event: 'request /1' }, message('GET /2')])
  answer((await wire.untilClosed()).replace(/x+/g, (text) => `(${text.length})`))
})
