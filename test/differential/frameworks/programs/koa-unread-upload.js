'use strict'
// Koa refuses an upload without reading it; the next request on that connection is answered.
// covers: 32, r11
// breaks: unread-body-left

const Koa = require('koa')
const http = require('node:http')
const { answer, dial, listen, log, message, play, program, within } = require('../../kit')

program(async () => {
  const app = new Koa()
  app.use((ctx) => {
    log(ctx.method, ctx.path)
    if (ctx.method === 'POST') ctx.throw(401)
    ctx.body = 'next'
  })
  app.silent = true
  const wire = await dial(await listen(http.createServer(app.callback())))
  const size = 300_000
  await play(wire, [message('POST /upload', [`Content-Length: ${size}`]), /401[^]*Unauthorized/, 'x'.repeat(size), message('GET /after')])
  await within(wire.untilClosed())
  answer(wire.text)
})
