'use strict'
// passport mixes its functions into each request and refuses with a bare end() and a challenge.
// covers: 12, 10
// breaks: first-header-in-lower-case

const connect = require('connect')
const http = require('node:http')
const passport = require('passport')
const { BasicStrategy } = require('passport-http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  passport.use(new BasicStrategy((name, word, done) => done(null, word === 'open' ? { name } : false)))
  const app = connect()
  app.use(passport.initialize())
  app.use(passport.authenticate('basic', { session: false }))
  app.use((req, res) => {
    log(req.isAuthenticated(), req.isUnauthenticated(), Object.keys(req).includes('login'), 'login' in http.IncomingMessage.prototype)
    res.end(`hello ${req.user.name}`)
  })
  const port = await listen(http.createServer(app))
  const basic = (text) => `Authorization: Basic ${Buffer.from(text).toString('base64')}`
  await talk(port, message('GET /'))
  await talk(port, message('GET /', [basic('me:shut'), 'Connection: close']))
  await talk(port, message('GET /', [basic('me:open'), 'Connection: close']))
})
