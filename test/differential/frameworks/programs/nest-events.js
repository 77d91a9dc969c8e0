'use strict'
// A Nest route of server-sent events: its observable is unsubscribed when the browser has left.
// covers: 20, 31, 38
// breaks: socket-close-unheard

require('reflect-metadata')
const { Controller, Module, Sse } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')
const { ExpressAdapter } = require('@nestjs/platform-express')
const { Observable } = require('rxjs')
const { answer, dial, listening, log, logged, message, play, program, within } = require('../../kit')

class Events {
  stream () {
    return new Observable((subscriber) => {
      subscriber.next({ data: { n: 1 } })
      subscriber.next({ data: 'two', type: 'named', id: '7', retry: 5 })
      return () => log('unsubscribed')
    })
  }
}
Controller()(Events)
Sse('events')(Events.prototype, 'stream', Object.getOwnPropertyDescriptor(Events.prototype, 'stream'))
class App {}
Module({ controllers: [Events] })(App)

program(async () => {
  const app = await NestFactory.create(App, new ExpressAdapter(), { logger: false })
  await app.listen(0, '127.0.0.1')
  const wire = await dial(listening(app.getHttpServer()))
  await play(wire, [message('GET /events', ['Accept: text/event-stream']), /two\n\n/])
  answer(wire.text)
  wire.destroy()
  await within(logged('unsubscribed'))
})
