'use strict'
// A Nest application on Express: parameters through pipes, an interceptor, exceptions, redirects; close() with forceCloseConnections.
// covers: 15, 16, 27, 36
// breaks: connection-event-missing

require('reflect-metadata')
const { Body, Controller, Get, Header, HttpCode, Ip, Module, NotFoundException, Param, ParseIntPipe, Post, Query, Redirect, UseInterceptors } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')
const { ExpressAdapter } = require('@nestjs/platform-express')
const { map } = require('rxjs')
const { answer, dial, listening, log, message, play, program, talk, within } = require('../../kit')

class Wrapped { intercept (context, next) { return next.handle().pipe(map((data) => ({ data, by: context.getHandler().name }))) } }
class Cats {
  find (id, full, ip) {
    if (id === 404) throw new NotFoundException('no such cat')
    return { id, full, ip }
  }

  make (cat) { return cat }
  away () {}
  never () { log('never'); return new Promise(() => {}) }
}
const method = (name, ...decorators) => { for (const decorate of decorators) decorate(Cats.prototype, name, Object.getOwnPropertyDescriptor(Cats.prototype, name)) }
const parameter = (name, index, decorate) => decorate(Cats.prototype, name, index)
Controller('cats')(Cats)
method('find', Get(':id'), UseInterceptors(Wrapped))
parameter('find', 0, Param('id', ParseIntPipe))
parameter('find', 1, Query('full'))
parameter('find', 2, Ip())
method('make', Post(), HttpCode(202), Header('X-Made', 'yes'))
parameter('make', 0, Body())
method('away', Get('to/away'), Redirect('/elsewhere', 307))
method('never', Get('to/never'))
class App {}
Module({ controllers: [Cats] })(App)

program(async () => {
  const app = await NestFactory.create(App, new ExpressAdapter(), { logger: false, forceCloseConnections: true })
  await app.listen(0, '127.0.0.1')
  const port = listening(app.getHttpServer())
  for (const path of ['7?full=1', 'x', '404', 'to/away']) await talk(port, message(`GET /cats/${path}`))
  await talk(port, message('POST /cats', ['Content-Type: application/json', 'Content-Length: 7', 'Connection: close'], '{"a":1}'))
  const wire = await dial(port)
  await play(wire, [message('GET /cats/to/never'), { event: 'never' }])
  answer(await within(app.close().then(() => 'closed'), 'still open'), await within(wire.untilClosed(), 'still open'))
  wire.destroy()
})
