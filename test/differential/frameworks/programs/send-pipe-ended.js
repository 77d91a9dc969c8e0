'use strict'
// A plain server pipes with send, whose events tell what it found; the connection is used again after a 304.
// covers: 33, 10
// breaks: light-socket-not-writable

const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const send = require('send')
const { dial, listen, log, message, play, program, answer, within } = require('../../kit')

program(async () => {
  const root = process.cwd()
  fs.writeFileSync(path.join(root, 'a.txt'), 'abcdef')
  fs.utimesSync(path.join(root, 'a.txt'), 1_600_000_000, 1_600_000_000)
  const server = http.createServer((req, res) => {
    send(req, req.url, { root })
      .on('file', (file) => log('file', path.basename(file)))
      .on('headers', (out, file, stat) => log('headers', stat.size))
      .on('stream', () => log('stream'))
      .on('end', () => log('end'))
      .on('error', (error) => {
        log('error', error.status)
        res.statusCode = error.status
        res.end()
      })
      .pipe(res)
  })
  const wire = await dial(await listen(server))
  await play(wire, [
    message('GET /a.txt', []), /abcdef/, message('GET /a.txt', ['If-Modified-Since: Sun, 13 Sep 2020 12:26:40 GMT']), /304 [^]*\r\n\r\n/,
    message('GET /a.txt', ['Range: bytes=2-3']), /206 [^]*\r\n\r\ncd/, message('GET /b.txt')
  ])
  await within(wire.untilClosed())
  answer(wire.text)
})
