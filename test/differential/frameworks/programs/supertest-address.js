'use strict'
// supertest listens without waiting and asks for the port at once; an agent of superagent keeps the session's cookie.
// covers: 25, 26, 5
// breaks: port-known-later

const express = require('express')
const http = require('node:http')
const session = require('express-session')
const request = require('supertest')
const superagent = require('superagent')
const { answer, program } = require('../../kit')

program(async () => {
  const app = express()
  app.use(session({ secret: 's', resave: false, saveUninitialized: true, genid: () => 'fixed' }))
  app.get('/count', (req, res) => {
    req.session.count = (req.session.count ?? 0) + 1
    res.json({ count: req.session.count })
  })
  app.post('/echo', express.json(), (req, res) => res.status(201).send(req.body))
  await request(app).get('/count').expect(200).expect('Content-Type', /json/).then(({ body }) => answer('alone', body))
  const agent = request.agent(app)
  for (let i = 0; i < 3; i++) answer('agent', (await agent.get('/count')).body)
  answer('post', (await request(http.createServer(app)).post('/echo').send({ a: 1 })).text)
  // What older ones do, and many test files.
  const server = app.listen(0)
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  answer('at once', typeof address.port, address.family, server.listening)
  if (address.port > 0) answer('superagent', (await superagent.get(`http://localhost:${address.port}/count`)).body)
  await new Promise((resolve) => server.close(resolve))
  answer('after', server.address(), server.listening)
})
