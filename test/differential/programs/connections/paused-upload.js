'use strict'
// multer waits for a disk: an upload that nobody reads stops at the sender, and goes on where it stopped.
// covers: r6, 34
// breaks: paused-upload-flows

const http = require('node:http')
const { clearInterval, setInterval } = require('node:timers')
const { dial, listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const total = 48 * 1024 * 1024
  const server = http.createServer((req, res) => {
    // Nothing says that a sender has stopped: nothing came for as long as this. A slow machine ends it early, with fewer bytes.
    let seen = -1
    const timer = setInterval(() => {
      const { bytesRead } = req.socket
      if (bytesRead !== seen) {
        seen = bytesRead
        return
      }
      clearInterval(timer)
      log('stopped', bytesRead < total / 2)
      let bytes = 0
      req.on('data', (piece) => { bytes += piece.length })
      req.on('end', () => {
        log('end', bytes)
        res.end('ok')
      })
    }, 200)
  })
  const wire = await dial(await listen(server))
  wire.write(message('POST /', [`Content-Length: ${total}`, 'Connection: close']))
  wire.write(Buffer.alloc(total))
  await talk(wire, [])
})
