'use strict'
// express-session saves the session in a replaced end(), which writes all but the last piece before,
// and sets its cookie when the head is written.
// covers: 7, 8, 9
// breaks: saved-implicit-header
// clock: express-session

const http = require('node:http')
const connect = require('connect')
const session = require('express-session')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const store = new session.MemoryStore()
  store.touch = undefined
  const app = connect()
  app.use(session({ secret: 'secret', genid: () => 'fixed', resave: false, saveUninitialized: false, rolling: true, store }))
  app.use((req, res) => {
    if (req.url === '/set') req.session.count = (req.session.count ?? 0) + 1
    if (req.url === '/piece') {
      req.session.piece = true
      res.write('piece')
    }
    res.end(`count ${req.session.count}`)
  })
  const port = await listen(http.createServer(app))
  await talk(port, message('GET /none'))
  const text = await talk(port, message('GET /set'))
  const headers = ['Connection: close', `Cookie: ${/Set-Cookie: ([^;]*)/.exec(text)?.[1]}`]
  for (const path of ['/rolled', '/set', '/piece']) await talk(port, message(`GET ${path}`, headers))
})
