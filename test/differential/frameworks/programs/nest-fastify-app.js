'use strict'
// A Nest application on Fastify: the server's keepAliveTimeout is in its answers; inject() answers without a socket.
// covers: 28, 29, 2
// breaks: keep-alive-of-the-default

require('reflect-metadata')
const { Controller, Get, Header, Module, Param } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')
const { FastifyAdapter } = require('@nestjs/platform-fastify')
const { answer, dial, listening, message, play, program } = require('../../kit')

class Dogs {
  find (id) { return { id } }
  text () { return 'w\u00f6f' }
}
Controller('dogs')(Dogs)
Get(':id')(Dogs.prototype, 'find', Object.getOwnPropertyDescriptor(Dogs.prototype, 'find'))
Param('id')(Dogs.prototype, 'find', 0)
Get('')(Dogs.prototype, 'text', Object.getOwnPropertyDescriptor(Dogs.prototype, 'text'))
Header('X-Case', 'Kept')(Dogs.prototype, 'text', Object.getOwnPropertyDescriptor(Dogs.prototype, 'text'))
class App {}
Module({ controllers: [Dogs] })(App)

program(async () => {
  const app = await NestFactory.create(App, new FastifyAdapter({ keepAliveTimeout: 7000, maxRequestsPerSocket: 3 }), { logger: false })
  await app.init()
  const { statusCode, headers, payload } = await app.inject({ method: 'GET', url: '/dogs/injected' })
  answer(statusCode, { ...headers, date: undefined }, payload)
  await app.listen(0, '127.0.0.1')
  const wire = await dial(listening(app.getHttpServer()))
  await play(wire, [message('GET /dogs', []), /w\S+f$/, message('GET /dogs/7', []), /"7"\}/, message('GET /none')])
  answer(await wire.untilClosed())
  await app.close()
})
