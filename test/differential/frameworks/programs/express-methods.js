'use strict'
// Express has a function for every method that Node knows.
// covers: 30
// breaks: unusual-method-as-get

const express = require('express')
const http = require('node:http')
const { answer, listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  const methods = http.METHODS.filter((method) => method !== 'CONNECT')
  for (const method of methods) app[method.toLowerCase()]?.('/', (req, res) => res.set('X-Method', req.method).end())
  app.all('/all', (req, res) => res.send(req.method))
  const port = await listen(http.createServer(app))
  answer(methods)
  for (const method of methods) await talk(port, message(`${method} /`))
  await talk(port, message('PURGE /all'))
  await talk(port, message('OPTIONS /'))
})
