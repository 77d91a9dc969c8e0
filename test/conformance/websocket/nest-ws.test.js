'use strict'

// Goal: gateways of Nest with @nestjs/platform-ws work on our server, below the application's own HTTP.

require('reflect-metadata')
const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Controller, Get, Module } = require('@nestjs/common')
const { NestFactory } = require('@nestjs/core')
const { ExpressAdapter } = require('@nestjs/platform-express')
const { WsAdapter } = require('@nestjs/platform-ws')
const { ConnectedSocket, MessageBody, SubscribeMessage, WebSocketGateway, WebSocketServer } = require('@nestjs/websockets')
const express = require('express')
const { from, map } = require('rxjs')
const { http } = require('../../helpers/backend')
const { listen, request } = require('../../helpers/client')
const { dial, open } = require('./kit')

/** A class with decorators, as the compiler of TypeScript applies them. */
function gateway (/** @type {string} */ path) {
  class Gateway {
    /** @type {any} */ server

    handleConnection (/** @type {any} */ client, /** @type {any} */ req) {
      client.send(JSON.stringify({ event: 'hello', data: `${path} ${req.socket.remoteAddress}` }))
    }

    echo (/** @type {any} */ data) { return { event: 'echo', data } }

    count (/** @type {number} */ n) { return from(Array.from({ length: n }, (_, i) => i)).pipe(map((data) => ({ event: 'count', data }))) }

    all (/** @type {any} */ client, /** @type {any} */ data) {
      for (const each of this.server.clients) if (each !== client) each.send(JSON.stringify({ event: 'all', data }))
    }
  }
  const { prototype } = Gateway
  const subscribe = (/** @type {'echo' | 'count' | 'all'} */ name) =>
    SubscribeMessage(name)(prototype, name, /** @type {any} */ (Object.getOwnPropertyDescriptor(prototype, name)))
  for (const name of /** @type {const} */ (['echo', 'count', 'all'])) subscribe(name)
  MessageBody()(prototype, 'echo', 0)
  MessageBody()(prototype, 'count', 0)
  ConnectedSocket()(prototype, 'all', 0)
  MessageBody()(prototype, 'all', 1)
  WebSocketServer()(prototype, 'server')
  WebSocketGateway({ path })(Gateway)
  return Gateway
}

class PageController {
  page () { return 'page' }
}
Get('page')(PageController.prototype, 'page', /** @type {any} */ (Object.getOwnPropertyDescriptor(PageController.prototype, 'page')))
Controller()(PageController)

class AppModule {}
Module({ controllers: [PageController], providers: [gateway('/one'), gateway('/two')] })(AppModule)

/** The two ways to give Nest a server. @type {Record<string, () => Promise<{ app: any, server: any }>>} */
const kWays = {
  'an ExpressAdapter whose server is ours': async () => {
    class OurAdapter extends ExpressAdapter {
      initHttpServer () { this.httpServer = http.createServer(this.getInstance()) }
    }
    const app = await NestFactory.create(AppModule, new OurAdapter(), { logger: false })
    app.useWebSocketAdapter(new WsAdapter(app))
    await app.init()
    return { app, server: app.getHttpServer() }
  },
  'a server around the Express application': async () => {
    const instance = express()
    const server = http.createServer(instance)
    const app = await NestFactory.create(AppModule, new ExpressAdapter(instance), { logger: false })
    app.useWebSocketAdapter(new WsAdapter(server))
    await app.init()
    return { app, server }
  }
}

/** @param {any} client @param {string} event @param {any} data */
async function ask (client, event, data) {
  const answer = once(client, 'message')
  client.send(JSON.stringify({ event, data }))
  return JSON.parse((await answer)[0].toString())
}

for (const [way, make] of Object.entries(kWays)) {
  test(`${way}: gateways by path, answers, streams of answers and broadcast`, async (t) => {
    const { app, server } = await make()
    const port = await listen(server)
    t.after(async () => {
      await app.close()
      server.close()
      server.closeAllConnections()
    })
    const clients = []
    for (const path of ['/one', '/two', '/one']) {
      const client = dial(t, port, path)
      assert.deepEqual(JSON.parse((await once(client, 'message'))[0].toString()), { event: 'hello', data: `${path} 127.0.0.1` })
      clients.push(client)
    }
    assert.deepEqual(await ask(clients[0], 'echo', { deep: [1] }), { event: 'echo', data: { deep: [1] } })
    const counted = /** @type {number[]} */ ([])
    const all = new Promise((resolve) => clients[1].on('message', (/** @type {any} */ text) => {
      counted.push(JSON.parse(text).data)
      if (counted.length === 5) resolve(null)
    }))
    clients[1].send(JSON.stringify({ event: 'count', data: 5 }))
    await all
    assert.deepEqual(counted, [0, 1, 2, 3, 4])
    const heard = once(clients[2], 'message')
    clients[0].send(JSON.stringify({ event: 'all', data: 'to the others' }))
    assert.deepEqual(JSON.parse((await heard)[0].toString()), { event: 'all', data: 'to the others' })
    assert.equal((await request({ port, path: '/page' })).body, 'page')
    // Nest destroys the socket of a path that no gateway has.
    await assert.rejects(open(t, port, '/three'), /socket hang up/)
    const closed = once(clients[0], 'close')
    await app.close()
    assert.equal((await closed)[0], 1006)
  })
}
