'use strict'
// morgan logs status and length behind the answer and notes the time when the head is written.
// covers: 7, 8
// breaks: header-forgotten, saved-implicit-header

const http = require('node:http')
const morgan = require('morgan')
const connect = require('connect')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  morgan.token('timed', (req, res) => String(/^\d+\.\d+$/.test(morgan['response-time'](req, res) ?? '')))
  const stream = { write: (line) => log(line.trim()) }
  const app = connect().use(morgan(':method :url HTTP/:http-version :status :res[content-length] :timed', { stream }))
  app.use((req, res) => {
    res.statusCode = 203
    if (req.url === '/empty') res.end()
    else if (req.url === '/pieces') {
      res.write('a')
      res.end('b')
    } else {
      res.setHeader('Content-Length', 4)
      res.end('text')
    }
  })
  const port = await listen(http.createServer(app))
  for (const path of ['/text', '/empty', '/pieces']) await talk(port, message(`GET ${path}`))
  await logged('GET /pieces')
})
