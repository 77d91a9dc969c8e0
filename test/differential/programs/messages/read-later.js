'use strict'
// koa and fastify read a body after an await (a session, a database): nothing of it is lost meanwhile.
// covers: 34, r6
// breaks: resume-without-credit

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { setTimeout } = require('node:timers/promises')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

/** Resolves when nothing more comes: the server has read as much as it does for an application that does not; on a slow machine too early. */
async function full (req) {
  for (let before = -1; before !== req.readableLength;) {
    before = req.readableLength
    await setTimeout(100)
  }
}

program(async () => {
  const server = http.createServer(async (req, res) => {
    log(req.url, 'request')
    if (req.url !== '/first') await logged(`sent ${req.url}`)
    if (req.url === '/second') await full(req)
    await new Promise((resolve) => setImmediate(resolve))
    let body = ''
    req.setEncoding('utf8')
    for await (const piece of req) body += piece
    log(req.url, body.length, body.slice(0, 5), body.slice(-5), req.complete, req.readableEnded, req.destroyed)
    res.end(`${req.url};`)
  })
  const port = await listen(server)
  const euros = '\u20ac'.repeat(150_000)
  const bytes = Buffer.from(euros)
  const wire = await dial(port)
  await play(wire, [message('POST /first', ['Content-Length: 3'], 'abc'), /first;/])
  await play(wire, [message('POST /second', [`Content-Length: ${bytes.length}`]), { event: '/second request' }, bytes.subarray(0, 100_000)])
  // More than a server reads ahead: written when the application has begun.
  wire.write(bytes.subarray(100_000))
  log('sent /second')
  await play(wire, [/second;/])
  await play(wire, [message('POST /third', ['Connection: close', 'Transfer-Encoding: chunked']), { event: '/third request' }, '2\r\n\xe2\x82\r\n', '1\r\n\xac\r\n0\r\n\r\n'])
  log('sent /third')
  await talk(wire, [])
})
