'use strict'
// Bad names and values are refused with Node's codes, and leave a response as it was.
// covers: 10
// breaks: refused-header-remembered, header-value-unchecked, header-value-checked-once, refused-value-remembered, header-after-the-head

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const refused = (what, run) => {
      try {
        run()
        log(what, 'taken')
      } catch (error) {
        log(what, error.name, error.code, error.message)
      }
    }
    refused('name', () => res.setHeader('a b', '1'))
    refused('value', () => res.setHeader('a', 'b\nc'))
    refused('undefined', () => res.setHeader('a', undefined))
    for (const value of ['b', 'b', 'b\nc', 'b\nc', undefined, 'b', ['b\nc'], ['b'], 7]) {
      refused('again', () => res.setHeader('X-Again', value))
      log(res.getHeader('x-again'))
    }
    refused('append', () => res.appendHeader('a', '\u0000'))
    refused('status', () => res.writeHead(1000))
    refused('reason', () => res.writeHead(200, 'a\r\nb'))
    res.statusMessage = undefined
    refused('map', () => res.setHeaders({ a: 'b' }))
    log(res.headersSent, res.getHeaderNames())
    refused('head', () => res.writeHead(200, ['X-A', '1', 'x-a', '2', 'X-B', '3']))
    refused('set late', () => res.setHeader('late', '1'))
    refused('remove late', () => res.removeHeader('x-a'))
    refused('head late', () => res.writeHead(200))
    res.end('.')
  })
  await talk(await listen(server), message('GET /'))
})
