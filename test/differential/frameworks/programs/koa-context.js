'use strict'
// Koa keeps the current context in an AsyncLocalStorage: two requests of one connection, and a body read in pieces.
// covers: 36
// breaks: body-in-nobodys-context

const Koa = require('koa')
const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { answer, dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  const app = new Koa({ asyncLocalStorage: true })
  const trace = new AsyncLocalStorage()
  app.use((ctx, next) => {
    // As nestjs-cls and others do where there is no callback to wrap.
    trace.enterWith(ctx.get('x-trace'))
    return next()
  })
  app.use(async (ctx) => {
    ctx.body = await new Promise((resolve) => {
      let text = ''
      ctx.req.on('data', (piece) => {
        text += piece
        log('data', trace.getStore(), String(piece))
      })
      ctx.req.on('end', () => resolve(text))
      log('reading', trace.getStore())
    })
    log('answering', trace.getStore(), app.currentContext.path, app.currentContext === ctx)
  })
  const wire = await dial(await listen(http.createServer(app.callback())))
  await play(wire, [message('POST /one', ['X-Trace: a', 'Content-Length: 6']), { event: 'reading a' }, 'one', { event: 'data a one' }, 'two', /onetwo/])
  await play(wire, [message('POST /two', ['X-Trace: b', 'Content-Length: 4', 'Connection: close']), { event: 'reading b' }, 'four'])
  answer(await wire.untilClosed())
})
