'use strict'
// Restify adds methods to the prototypes of Node's classes when it loads, and wraps writeHead() there.
// covers: 12, 8
// breaks: requests-of-their-own-chain, responses-of-their-own-chain

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

const { writeHead } = http.ServerResponse.prototype
http.ServerResponse.prototype.writeHead = function (...args) {
  this.emit('header')
  return writeHead.apply(this, args)
}
Object.assign(http.ServerResponse.prototype, {
  charSet (name) {
    this._charSet = name
    return this
  },
  send (text) {
    this.setHeader('Content-Type', `text/plain; charset=${this._charSet}`)
    return this.end(text)
  },
})
http.IncomingMessage.prototype.contentType = function () { return this.headers['content-type'] ?? 'none' }
Object.defineProperty(http.IncomingMessage.prototype, 'id', { configurable: true, get () { return `id ${this.url}` } })

program(async () => {
  const server = http.createServer((req, res) => {
    res.once('header', () => {
      log('header', req.id, res.headersSent)
      res.setHeader('X-Id', req.id)
    })
    res.charSet('utf-8').send(req.contentType())
  })
  const port = await listen(server)
  await talk(port, message('GET /a'))
  http.IncomingMessage.prototype.contentType = () => 'patched while serving'
  await talk(port, message('GET /b', ['Connection: close', 'Content-Type: text/html']))
})
