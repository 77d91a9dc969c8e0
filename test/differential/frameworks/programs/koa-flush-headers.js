'use strict'
// Koa sends the head early with ctx.flushHeaders(), and the body in one piece when the work is done.
// covers: 38, 7
// breaks: head-repeated-after-flush

const Koa = require('koa')
const http = require('node:http')
const { answer, dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  const app = new Koa()
  let work
  app.use(async (ctx) => {
    ctx.set('X-Early', '1')
    if (ctx.path === '/length') ctx.length = 4
    ctx.flushHeaders()
    log(ctx.headerSent, ctx.res.headersSent, typeof ctx.res._header)
    await new Promise((resolve) => { work = resolve })
    ctx.set('X-Late', '1')
    ctx.body = 'done'
  })
  const port = await listen(http.createServer(app.callback()))
  for (const path of ['/', '/length']) {
    const wire = await dial(port)
    await play(wire, [message(`GET ${path}`), /\r\n\r\n/])
    work?.()
    answer(await wire.untilClosed())
  }
})
