'use strict'
// morgan logs a pipelined request whose client leaves before its turn is over: on-finished waits for the
// response's 'socket' event, which comes with its turn.
// covers: 35, 33
// breaks: socket-event-missing

const connect = require('connect')
const http = require('node:http')
const morgan = require('morgan')
const { dial, listen, log, logged, message, play, program, within } = require('../../kit')

program(async () => {
  const app = connect()
  let finishFirst
  app.use('/health', (req, res) => { finishFirst = () => res.end('healthy') })
  app.use('/api', morgan(':method :url :status :res[content-length]', { stream: { write: (line) => log('morgan', line.trim()) } }))
  app.use('/api', (req, res) => log('api'))
  const wire = await dial(await listen(http.createServer(app)))
  await play(wire, [message('GET /health', []), message('GET /api', []), { event: 'api' }])
  finishFirst?.()
  await play(wire, [/healthy/])
  wire.destroy()
  await within(logged('morgan'))
})
