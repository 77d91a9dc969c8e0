'use strict'

// Goal: the cache takes the head of a response for its head, and nothing else, in whichever pieces the response leaves. Method: failures, early
// hints and bodies that have the form of a head, over every protocol.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { kProtocols, ofCache } = require('./protocols-kit')

const kOld = { 'Cache-Control': 'max-age=5, stale-if-error=60', Age: '10', ETag: '"one"' }
const kLong = 'x'.repeat(50_000)

for (const [protocol, serve] of Object.entries(kProtocols)) {
  test(`${protocol}: stale-if-error answers for a failure whose head leaves in one piece with a long text`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      if (++calls === 1) return res.writeHead(200, kOld).end('body')
      res.statusCode = 503
      res.end(kLong)
    })
    for (let i = 0; i < 20; i++) {
      const { status, body } = await ask('/')
      assert.deepEqual([status, body], [200, 'body'])
    }
    assert.equal(calls, 20)
  })

  test(`${protocol}: a body that has the form of a head is a body while an answer is revalidated`, ofCache, async (t) => {
    let calls = 0
    const inner = `HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=60\r\n\r\n${'y'.repeat(3000)}`
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      if (++calls === 1) return res.writeHead(200, kOld).end('body')
      const body = inner + inner
      res.writeHead(200, { 'Cache-Control': 'max-age=60', 'Content-Length': body.length })
      res.flushHeaders()
      res.write(inner)
      setImmediate(() => res.end(inner))
    })
    await ask('/')
    for (let i = 0; i < 2; i++) {
      const { status, body } = await ask('/')
      assert.equal(status, 200)
      assert.ok(body === inner + inner, JSON.stringify(body.slice(0, 100)))
    }
    assert.equal(calls, 2)
  })

  test(`${protocol}: an unsafe request whose answer stands behind early hints makes what is stored obsolete`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      calls++
      if (req.method === 'GET') return res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(`<${calls}>`)
      res.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
      setImmediate(() => res.end('done'))
    })
    assert.equal((await ask('/')).body, '<1>')
    assert.equal((await ask('/', {}, 'POST')).body, 'done')
    assert.equal((await ask('/')).body, '<3>')
  })
}
