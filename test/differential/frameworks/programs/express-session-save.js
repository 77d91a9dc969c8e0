'use strict'
// express-session holds back the end of an answer until the store has saved, and sets its cookie before the head;
// a secure cookie is not set on a plain connection.
// covers: 7, 9, 18
// breaks: plain-said-encrypted

const connect = require('connect')
const http = require('node:http')
const session = require('express-session')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  class Store extends session.MemoryStore {
    set (id, data, done) {
      log('saving', id, data.n)
      setImmediate(() => super.set(id, data, done))
    }
  }
  for (const secure of [false, true]) {
    const app = connect()
    app.use(session({ secret: 'x', resave: true, saveUninitialized: true, genid: () => 'id', store: new Store(), cookie: { secure } }))
    app.use((req, res) => {
      watch('res', res, ['finish', 'close'])
      req.session.n = (req.session.n ?? 0) + 1
      if (req.url === '/pieces') res.write('pieces of ')
      res.end(`visit ${req.session.n}`)
      log('ended', res.headersSent, res.writableEnded)
    })
    const port = await listen(http.createServer(app))
    const cookie = /connect.sid=[^;]+/.exec(await talk(port, message('GET /')))?.[0] ?? ''
    await talk(port, message('GET /pieces', [`Cookie: ${cookie}`, 'Connection: close']))
    await talk(port, message('HEAD /', [`Cookie: ${cookie}`, 'Connection: close']))
  }
})
