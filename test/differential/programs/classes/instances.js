'use strict'
// Libraries tell a request and a response from other streams by instanceof, and loggers name their
// class.
// covers: 1
// breaks: requests-of-their-own-chain, responses-of-their-own-chain, request-class-name, response-class-name

const http = require('node:http')
const { Readable, Stream, Writable } = require('node:stream')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    for (const Class of [http.IncomingMessage, http.ServerResponse, http.OutgoingMessage, Readable, Writable, Stream]) {
      log(Class.name, req instanceof Class, res instanceof Class)
    }
    log(req.constructor.name, res.constructor.name, `${req}`, `${res}`)
    log(typeof Object.getPrototypeOf(req).setTimeout, typeof Object.getPrototypeOf(res).writeProcessing)
    res.end()
  })
  await talk(await listen(server), message('GET /'))
})
