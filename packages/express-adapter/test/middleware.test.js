'use strict'

// Middleware that patches or reads deep into requests and responses, unmodified.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const compression = require('compression')
const helmet = require('helmet')
const morgan = require('morgan')
const multer = require('multer')
const onHeaders = require('on-headers')
const passport = require('passport')
const session = require('express-session')
const supertest = require('supertest')
const { createAdapter } = require('..')

const frameworks = { 'Express 5': require('express'), 'Express 4': require('express4') }

for (const [name, express] of Object.entries(frameworks)) {
  function serve (t, app) {
    const adapter = createAdapter(app)
    t.after(() => adapter.uninstall())
    return adapter.server
  }

  test(`${name}: compression compresses whole, streamed and small answers as it should`, async (t) => {
    const app = express()
    app.use(compression({ threshold: 100 }))
    app.get('/whole', (req, res) => res.send('abc'.repeat(1000)))
    app.get('/small', (req, res) => res.send('abc'))
    app.get('/stream', (req, res) => {
      res.type('txt')
      for (let i = 0; i < 100; i++) res.write(`line ${i}\n`)
      res.end()
    })
    const server = serve(t, app)
    const whole = await supertest(server).get('/whole')
    assert.equal(whole.headers['content-encoding'], 'gzip')
    assert.equal(whole.headers['content-length'], undefined)
    assert.equal(whole.text, 'abc'.repeat(1000))
    const stream = await supertest(server).get('/stream').set('Accept-Encoding', 'deflate').expect('content-encoding', 'deflate')
    assert.match(stream.text, /line 99/)
    assert.equal((await supertest(server).get('/small')).headers['content-encoding'], undefined)
  })

  test(`${name}: express-session sets its cookie and finds the session again`, async (t) => {
    const app = express()
    app.use(session({ secret: 's', resave: false, saveUninitialized: true }))
    app.get('/', (req, res) => {
      req.session.count = (req.session.count ?? 0) + 1
      res.send(String(req.session.count))
    })
    const agent = supertest.agent(serve(t, app))
    assert.match((await agent.get('/').expect(200, '1')).headers['set-cookie'][0], /^connect\.sid=/)
    await agent.get('/').expect(200, '2')
  })

  test(`${name}: morgan logs after the answer with its status and length`, async (t) => {
    const lines = []
    const app = express()
    app.use(morgan(':method :url :status :res[content-length]', { stream: { write: (line) => lines.push(line.trim()) } }))
    app.get('/', (req, res) => res.status(202).send('12345'))
    const server = serve(t, app)
    await supertest(server).get('/?a=b').expect(202)
    await supertest(server).get('/gone').expect(404)
    assert.deepEqual(lines.map((line) => line.split(' ').slice(0, 3).join(' ')), ['GET /?a=b 202', 'GET /gone 404'])
    assert.match(lines[0], / 5$/)
  })

  test(`${name}: on-headers runs before the head of implicit and explicit heads`, async (t) => {
    const app = express()
    app.use((req, res, next) => {
      onHeaders(res, function () { this.setHeader('X-Late', String(this.statusCode)) })
      next()
    })
    app.get('/implicit', (req, res) => res.end('a'))
    app.get('/explicit', (req, res) => { res.writeHead(203, { 'X-Now': '1' }); res.end() })
    const server = serve(t, app)
    await supertest(server).get('/implicit').expect('x-late', '200')
    await supertest(server).get('/explicit').expect(203).expect('x-late', '203').expect('x-now', '1')
  })

  test(`${name}: helmet sets its headers and removes X-Powered-By`, async (t) => {
    const app = express()
    app.use(helmet())
    app.get('/', (req, res) => res.send('ok'))
    const { headers } = await supertest(serve(t, app)).get('/').expect(200)
    assert.equal(headers['x-powered-by'], undefined)
    assert.equal(headers['x-content-type-options'], 'nosniff')
  })

  test(`${name}: multer takes files and fields, and refuses too large ones`, async (t) => {
    const app = express()
    const upload = multer({ storage: multer.memoryStorage(), limits: { fileSize: 100_000 } })
    app.post('/', upload.single('file'), (req, res) => res.json({
      bytes: req.file.size, name: req.file.originalname, note: req.body.note
    }))
    app.use((error, req, res, next) => res.status(413).send(error.code))
    const server = serve(t, app)
    await supertest(server).post('/').field('note', 'n').attach('file', Buffer.alloc(90_000), 'a.bin')
      .expect(200, { bytes: 90_000, name: 'a.bin', note: 'n' })
    await supertest(server).post('/').attach('file', Buffer.alloc(200_000), 'a.bin').expect(413, 'LIMIT_FILE_SIZE')
  })

  test(`${name}: passport adds to the request`, async (t) => {
    const app = express()
    const authority = new passport.Passport()
    authority.use('header', Object.assign(new passport.Strategy(), {
      authenticate (req) {
        if (req.headers['x-user']) this.success({ name: req.headers['x-user'] })
        else this.fail(401)
      }
    }))
    app.use(authority.initialize())
    app.get('/', authority.authenticate('header', { session: false }), (req, res) => {
      res.json({ name: req.user.name, authenticated: req.isAuthenticated() })
    })
    const server = serve(t, app)
    await supertest(server).get('/').set('X-User', 'ada').expect(200, { name: 'ada', authenticated: true })
    await supertest(server).get('/').expect(401)
  })
}
