'use strict'
// The client leaves while Koa pipes an stream that is not over: Koa destroys the stream, and ctx.res says that it is closed.
// covers: 31, 32, r13
// breaks: response-close-untold-when-cut

const Koa = require('koa')
const http = require('node:http')
const { Readable } = require('node:stream')
const { dial, listen, log, logged, message, play, program, watch, within } = require('../../kit')

program(async () => {
  const app = new Koa()
  app.on('error', (error) => log('app error', error.code))
  app.use((ctx) => {
    const body = new Readable({ read () {} })
    body.push('tick')
    watch('body', body, ['close'])
    watch('res', ctx.res, ['close'])
    watch('req', ctx.req, ['aborted', 'close'])
    ctx.res.on('close', () => log('left', ctx.res.writableEnded, ctx.writable))
    ctx.body = body
  })
  const wire = await dial(await listen(http.createServer(app.callback())))
  await play(wire, [message('GET /'), /tick/])
  wire.destroy()
  for (const event of ['left', 'body close']) await within(logged(event))
})
