'use strict'
// Koa answers by the kind of ctx.body: text, bytes, objects, streams, nothing; HEAD, and an error's status.
// covers: 10, 11, 33
// breaks: last-chunk-missing

const Koa = require('koa')
const { Readable } = require('node:stream')
const { listen, log, message, program, talk } = require('../../kit')
const http = require('node:http')

program(async () => {
  const app = new Koa()
  app.silent = true
  app.on('error', (error) => log('error', error.message))
  const kinds = {
    text: (ctx) => { ctx.body = 'h\u00e9' },
    bytes: (ctx) => { ctx.body = Buffer.from('bytes') },
    object: (ctx) => { ctx.body = { ip: ctx.ip, method: ctx.method, query: ctx.query } },
    stream: (ctx) => { ctx.body = Readable.from(['one ', 'two']) },
    blob: (ctx) => { ctx.body = new Response('from a response') },
    null: (ctx) => { ctx.body = null },
    none: () => {},
    throw: (ctx) => ctx.throw(409, 'conflict', { headers: { 'X-Why': 'so' } }),
    hidden: () => { throw new Error('hidden') },
    own: (ctx) => {
      ctx.respond = false
      ctx.res.write('own ')
      ctx.res.end('answer')
    },
  }
  app.use((ctx) => kinds[ctx.path.slice(1)](ctx))
  const port = await listen(http.createServer(app.callback()))
  for (const kind of Object.keys(kinds)) await talk(port, message(`GET /${kind}?q=1`))
  await talk(port, message('HEAD /text'))
  await talk(port, message('HEAD /stream'))
})
