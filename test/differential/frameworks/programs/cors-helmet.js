'use strict'
// cors and helmet in front of a connect application: what they set, in which order and case; a preflight.
// covers: 10, 29
// breaks: first-header-in-lower-case

const connect = require('connect')
const cors = require('cors')
const helmet = require('helmet')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = connect()
  app.use(helmet())
  app.use(cors({ origin: ['http://one.example', /two/], credentials: true, exposedHeaders: ['X-Total'], maxAge: 60 }))
  app.use((req, res) => res.setHeader('X-Total', '3').end('content'))
  const port = await listen(http.createServer(app))
  const close = 'Connection: close'
  await talk(port, message('OPTIONS /', ['Origin: http://one.example', 'Access-Control-Request-Method: PUT', 'Access-Control-Request-Headers: x-a, X-B', close]))
  await talk(port, message('GET /', ['Origin: http://two.example', close]))
  await talk(port, message('GET /', ['Origin: http://three.example', close]))
})
