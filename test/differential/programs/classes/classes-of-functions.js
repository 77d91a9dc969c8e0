'use strict'
// Libraries of before ES6 make their classes with util.inherits() and call Node's without new.
// covers: 2
// breaks: request-class-ignored, response-class-ignored

const http = require('node:http')
const util = require('node:util')
const { listen, log, message, program, talk } = require('../../kit')

function Request (socket) {
  http.IncomingMessage.call(this, socket)
  this.made = 'request'
}
util.inherits(Request, http.IncomingMessage)

function Response (req, options) {
  http.ServerResponse.call(this, req, options)
  this.made = `response to ${req.method}`
}
util.inherits(Response, http.ServerResponse)
Response.prototype.done = function () { this.end(this.made) }

program(async () => {
  const server = http.createServer({ IncomingMessage: Request, ServerResponse: Response }, (req, res) => {
    log(req.made, res.made, req.url, Response.super_ === http.ServerResponse)
    req.resume().on('end', () => res.done())
  })
  await talk(await listen(server), message('POST /', ['Connection: close', 'Content-Length: 2'], 'ab'))
})
