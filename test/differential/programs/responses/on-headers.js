'use strict'
// on-headers calls several listeners, last one first, once and with any shape of writeHead().
// covers: 8, 10
// breaks: saved-implicit-header, header-made-again

const http = require('node:http')
const onHeaders = require('on-headers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    for (const name of ['first', 'second']) {
      onHeaders(res, function () {
        log(req.url, name, this === res, this.statusCode, this.getHeaderNames())
        this.setHeader(`X-${name}`, `${this.statusCode}`)
        if (this.statusCode === 404) this.statusCode = 200
      })
    }
    if (req.url === '/array') res.writeHead(202, [['X-A', '1'], ['X-B', '2']])
    if (req.url === '/object') res.writeHead(203, { 'X-A': '1' })
    if (req.url === '/reason') res.writeHead(200, 'Fine', { 'X-A': '1' })
    if (req.url === '/changed') res.statusCode = 404
    res.end(req.url)
  })
  const port = await listen(server)
  for (const path of ['/implicit', '/array', '/object', '/reason', '/changed']) await talk(port, message(`GET ${path}`))
})
