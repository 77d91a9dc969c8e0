'use strict'
// OpenTelemetry wraps emit() of http.Server's prototype to open a span for each request.
// covers: 4, 12
// breaks: handler-called-directly, connection-past-emit

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

const { emit } = http.Server.prototype
http.Server.prototype.emit = function (event, ...args) {
  log('emit', event, event === 'request' ? args[0].url : args.length)
  if (event !== 'request') return emit.call(this, event, ...args)
  const [req, res] = args
  res.on('close', () => log('span', req.method, req.url, res.statusCode))
  return emit.call(this, event, ...args)
}

program(async () => {
  const server = http.createServer((req, res) => {
    res.statusCode = 202
    res.end()
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /a', []), { event: 'span GET /a' }])
  await talk(wire, message('GET /b'))
  await logged('span GET /b')
})
