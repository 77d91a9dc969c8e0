'use strict'
// APM agents subscribe to diagnostics channels: the start of a request, the creation and the end of its response.
// covers: 37
// breaks: start-not-published, created-published-by-us, finish-not-published

const diagnostics = require('node:diagnostics_channel')
const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.url)
    res.on('finish', () => log('finish', req.url)).on('close', () => log('close', req.url))
    res.end(req.url)
  })
  const onMessage = (data, name) => {
    const { request, response, socket } = data
    log(name, Object.keys(data), request.url, response instanceof http.ServerResponse, response.req === request,
      response.headersSent, response.socket === request.socket, socket === undefined || socket === request.socket, data.server === undefined || data.server === server)
  }
  const names = ['http.server.request.start', 'http.server.response.created', 'http.server.response.finish']
  const port = await listen(server)
  await talk(port, message('GET /unseen'))
  for (const name of names) diagnostics.subscribe(name, onMessage)
  await talk(port, [message('GET /1', []), /\/1$/, message('GET /2')])
  for (const name of names) diagnostics.unsubscribe(name, onMessage)
  await talk(port, message('GET /unseen-again'))
  await logged('close /unseen-again')
})
