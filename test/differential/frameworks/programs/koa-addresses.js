'use strict'
// Koa's ctx.ip, ips, host, origin and protocol, with and without app.proxy; X-Forwarded-For comes in two lines.
// covers: 17, 18, 30
// breaks: no-peer-name, plain-said-encrypted, second-line-forgotten

const Koa = require('koa')
const { listen, message, program, talk } = require('../../kit')
const http = require('node:http')

program(async () => {
  for (const proxy of [false, true]) {
    const app = new Koa({ proxy, maxIpsCount: 2 })
    app.use((ctx) => {
      ctx.cookies.set('a', 'b')
      ctx.body = { ip: ctx.ip, ips: ctx.ips, host: ctx.host, name: ctx.hostname, origin: ctx.origin, href: ctx.href, protocol: ctx.protocol, secure: ctx.secure }
    })
    const port = await listen(http.createServer(app.callback()))
    await talk(port, message('GET /path?q', ['X-Forwarded-For: 1.1.1.1, 2.2.2.2', 'X-Forwarded-For: 3.3.3.3', 'X-Forwarded-Host: b.example, c', 'X-Forwarded-Proto: https', 'Connection: close']))
  }
})
