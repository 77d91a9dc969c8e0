'use strict'
// light-my-request and shot (inject() of fastify and hapi) call both classes without new, over a stream
// of their own.
// covers: 2
// breaks: classes-replaced

const http = require('node:http')
const { Writable } = require('node:stream')
const util = require('node:util')
const { answer, listen, message, program, talk } = require('../../kit')

function Response (req, done) {
  http.ServerResponse.call(this, req)
  let text = ''
  this.assignSocket(new Writable({
    write (chunk, encoding, callback) {
      text += chunk
      callback()
    },
  }))
  this.once('finish', () => done(this._header, text))
}
util.inherits(Response, http.ServerResponse)

const handler = (req, res) => {
  res.setHeader('X-Path', req.url)
  res.write('a')
  res.end('b')
}

program(async () => {
  const port = await listen(http.createServer(handler))
  await new Promise((resolve) => {
    const req = Object.create(http.IncomingMessage.prototype)
    http.IncomingMessage.call(req, { readableHighWaterMark: 1024 })
    Object.assign(req, { method: 'GET', url: '/injected', httpVersionMajor: 1, httpVersionMinor: 1 })
    handler(req, new Response(req, (head, text) => {
      answer(head)
      answer(text)
      resolve()
    }))
  })
  await talk(port, message('GET /real'))
})
