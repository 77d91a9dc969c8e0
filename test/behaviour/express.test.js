'use strict'

// Goal: unmodified Express applications, asked by supertest, on every backend.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const supertest = require('supertest')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { serve } = require('../helpers/client')

for (const name of ['express4', 'express']) {
  const express = require(name)

  /** @param {import('node:test').TestContext} t */
  const start = async (t) => {
    const app = express()
    app.use(express.json())
    app.get('/', (/** @type {any} */ req, /** @type {any} */ res) => res.send('hello'))
    app.get('/users/:id', (/** @type {any} */ req, /** @type {any} */ res) => res.json({ id: req.params.id, query: req.query }))
    app.post('/echo', (/** @type {any} */ req, /** @type {any} */ res) => res.status(201).json(req.body))
    app.get('/cookie', (/** @type {any} */ req, /** @type {any} */ res) => res.cookie('a', '1').cookie('b', '2').redirect('/'))
    app.get('/file', (/** @type {any} */ req, /** @type {any} */ res) => res.sendFile(__filename))
    app.get('/fail', () => { throw new Error('of a route') })
    app.use((/** @type {any} */ error, /** @type {any} */ req, /** @type {any} */ res, /** @type {any} */ next) => res.status(500).send(error.message))
    const server = http.createServer(app)
    await serve(t, server)
    return supertest(server)
  }

  test(`${name}: send() with ETag, and 304 for it`, needs(), async (t) => {
    const agent = await start(t)
    const { headers } = await agent.get('/').expect(200, 'hello').expect('content-type', /text\/html/)
    await agent.get('/').set('If-None-Match', headers.etag).expect(304, '')
  })

  test(`${name}: parameters, query and JSON`, needs(), async (t) => {
    const agent = await start(t)
    await agent.get('/users/7?a=b').expect(200, { id: '7', query: { a: 'b' } })
    await agent.post('/echo').send({ some: ['json', 1, null] }).expect(201, { some: ['json', 1, null] })
  })

  test(`${name}: cookies, a redirect, an unknown path and an error`, needs(), async (t) => {
    const agent = await start(t)
    const { headers } = await agent.get('/cookie').expect(302).expect('location', '/')
    assert.deepEqual(headers['set-cookie'], ['a=1; Path=/', 'b=2; Path=/'])
    await agent.get('/nowhere').expect(404)
    await agent.get('/fail').expect(500, 'of a route')
  })

  test(`${name}: sendFile() with a range`, needs(), async (t) => {
    const agent = await start(t)
    await agent.get('/file').expect(200).expect('accept-ranges', 'bytes')
    await agent.get('/file').set('Range', 'bytes=0-11').expect(206).expect('content-length', '12')
  })
}
