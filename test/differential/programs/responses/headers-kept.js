'use strict'
// koa, send and fastify ask a response for the headers it has: names, values, copies, also of names
// that objects have.
// covers: 10
// breaks: header-names-with-prototype

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(res.getHeaderNames(), res.getHeaders(), res.hasHeader('a'), res.getHeader('a'))
    res.setHeader('X-One', 1)
    for (const name of ['x-one', 'X-ONE', 'constructor', 'toString', '__proto__', 'hasOwnProperty']) {
      log(name, res.hasHeader(name), res.getHeader(name))
    }
    res.setHeader('toString', 'a name')
    res.appendHeader('X-List', 'a').appendHeader('x-list', ['b', 'c'])
    res.setHeaders(new Map([['X-Map', 'm'], ['X-One', 'other']]))
    res.removeHeader('x-map')
    res.removeHeader('never')
    log(res.getHeaderNames(), res.getRawHeaderNames?.(), res.getHeaders(), Object.getPrototypeOf(res.getHeaders()))
    res.end()
  })
  await talk(await listen(server), message('GET /'))
})
