'use strict'
// A Nest application whose port is taken: listen() rejects with EADDRINUSE, and works on another port.
// covers: 26, 25
// breaks: address-in-use-ignored

require('reflect-metadata')
const { Controller, Get, Module } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')
const { ExpressAdapter } = require('@nestjs/platform-express')
const net = require('node:net')
const { listen, listening, log, message, program, talk } = require('../../kit')

class Root { get () { return 'here' } }
Controller()(Root)
Get()(Root.prototype, 'get', Object.getOwnPropertyDescriptor(Root.prototype, 'get'))
class App {}
Module({ controllers: [Root] })(App)

program(async () => {
  const taken = await listen(net.createServer())
  const app = await NestFactory.create(App, new ExpressAdapter(), { logger: false })
  const result = await app.listen(taken, '127.0.0.1').then(() => 'listening', ({ code, syscall, address, port }) => ({ code, syscall, address, port }))
  log(result, app.getHttpServer().listening)
  if (result !== 'listening') await app.listen(0, '127.0.0.1')
  await talk(listening(app.getHttpServer()), message('GET /'))
})
