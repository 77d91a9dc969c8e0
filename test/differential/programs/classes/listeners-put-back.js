'use strict'
// terminus and development servers put another handler before the application's while serving, and the
// application's back later.
// covers: 6
// breaks: listeners-kept

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const application = (req, res) => res.end('application')
  const server = http.createServer(application)
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /1', []), /application/])
  server.removeAllListeners('request')
  server.on('request', (req, res) => {
    res.statusCode = 503
    res.end('maintenance')
  })
  await play(wire, [message('GET /2', []), /maintenance/])
  server.removeAllListeners('request').once('request', (req, res) => res.end('once')).on('request', (req, res) => {
    log(req.url, res.writableEnded)
    if (!res.writableEnded) application(req, res)
  })
  await play(wire, [message('GET /3', []), /once/])
  await talk(wire, message('GET /4'))
})
