'use strict'

// Goal: 1xx answers before the real one: writeContinue(), writeProcessing(), writeEarlyHints().

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { request } = require('node:http')
const { http } = require('../helpers/backend')
const { dial, get, serve } = require('../helpers/client')

const kLink = '</a.css>; rel=preload; as=style'
const kSecond = '</b.js>; rel=preload; as=script'

/** @param {import('node:test').TestContext} t @param {(req: any, res: any) => any} listener returns true when it ends the answer itself @returns {Promise<string>} the bytes up to "over" */
async function answerTo (t, listener) {
  const server = http.createServer((req, res) => {
    if (listener(req, res) !== true) res.end('over')
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  return wire.until('over')
}

test('writeContinue() sends 100 and calls back', async (t) => {
  const text = await answerTo(t, (req, res) => {
    res.writeContinue(() => res.end('called over'))
    assert.equal(res.headersSent, false)
    return true
  })
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  assert.match(text, /called over$/)
})

test('writeProcessing() sends 102 as often as it is called', async (t) => {
  const text = await answerTo(t, (req, res) => {
    res.writeProcessing()
    res.writeProcessing()
    assert.equal(res.headersSent, false)
  })
  assert.ok(text.startsWith('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\n'), text)
})

/** @type {[string, any, string][]} */
const kHints = [
  ['one link', { link: kLink }, `Link: ${kLink}\r\n`],
  ['a list of links', { link: [kLink, kSecond] }, `Link: ${kLink}, ${kSecond}\r\n`],
  ['a link and other fields', { link: kLink, 'x-trace': 'id', 'X-Other': 'y' }, `Link: ${kLink}\r\nx-trace: id\r\nX-Other: y\r\n`],
  ['a link without parameters', { link: '</a.css>' }, 'Link: </a.css>\r\n'],
  ['a link with quoted parameters', { link: '</a.css>; rel="preload"; as="style"' }, 'Link: </a.css>; rel="preload"; as="style"\r\n']
]

for (const [name, hints, lines] of kHints) {
  test(`writeEarlyHints() sends 103 with ${name}`, async (t) => {
    const text = await answerTo(t, (req, res) => { res.writeEarlyHints(hints) })
    assert.ok(text.startsWith(`HTTP/1.1 103 Early Hints\r\n${lines}\r\nHTTP/1.1 200 OK\r\n`), text)
  })
}

for (const [name, hints] of /** @type {[string, any][]} */ ([['no link', { 'x-trace': 'id' }], ['an empty list', { link: [] }], ['nothing', {}], ['null for a link', { link: null }]])) {
  test(`writeEarlyHints() with ${name} sends nothing`, async (t) => {
    assert.match(await answerTo(t, (req, res) => { res.writeEarlyHints(hints) }), /^HTTP\/1\.1 200 OK\r\n/)
  })
}

test('writeEarlyHints() may be called several times and calls back', async (t) => {
  let called = 0
  const text = await answerTo(t, (req, res) => {
    res.writeEarlyHints({ link: kLink }, () => called++)
    res.writeEarlyHints({ link: kSecond }, () => called++)
  })
  assert.equal(text.match(/^HTTP\/1\.1 103 /gm)?.length, 2)
  await new Promise((resolve) => setImmediate(resolve))
  assert.equal(called, 2)
})

for (const [name, args, code] of /** @type {[string, any[], string][]} */ ([
  ['a string', ['bad'], 'ERR_INVALID_ARG_TYPE'],
  ['nothing at all', [], 'ERR_INVALID_ARG_TYPE'],
  ['null', [null], 'ERR_INVALID_ARG_TYPE'],
  ['an array', [['x']], 'ERR_INVALID_ARG_TYPE'],
  ['a link without angle brackets', [{ link: 'bad' }], 'ERR_INVALID_ARG_VALUE'],
  ['a link that is a number', [{ link: 5 }], 'ERR_INVALID_ARG_VALUE'],
  ['a list with a bad link', [{ link: [kLink, 'bad'] }], 'ERR_INVALID_ARG_VALUE']
])) {
  test(`writeEarlyHints() refuses ${name} with ${code} and sends nothing`, async (t) => {
    const text = await answerTo(t, (req, res) => { assert.throws(() => res.writeEarlyHints(...args), { code }) })
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  })
}

test('1xx answers of different kinds keep their order and the real answer is untouched', async (t) => {
  const text = await answerTo(t, (req, res) => {
    res.setHeader('X-Real', '1')
    res.writeContinue()
    res.writeEarlyHints({ link: kLink })
    res.writeProcessing()
    res.writeHead(201)
  })
  assert.deepEqual([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status), ['100', '103', '102', '201'])
  assert.equal(text.match(/X-Real/g)?.length, 1)
})

test('1xx answers leave before the real one is ready', async (t) => {
  const server = http.createServer((req, res) => {
    res.writeProcessing()
    server.once('go', () => res.end('over'))
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  await wire.until('102 Processing\r\n\r\n')
  assert.doesNotMatch(wire.text, /200/)
  server.emit('go')
  await wire.until('over')
})

test('a 1xx answer of a pipelined request waits for the answer before it', async (t) => {
  const server = http.createServer((req, res) => {
    if (req.url === '/2') {
      res.writeProcessing()
      res.end('second')
      server.emit('second')
    } else {
      server.once('second', () => setImmediate(() => res.end('first')))
    }
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(get('/1') + get('/2'))
  const text = await wire.until('second')
  assert.ok(text.indexOf('first') < text.indexOf('102 Processing'), text)
})

test('Node\'s client gets "information" with the headers of 103', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.writeEarlyHints({ link: kLink, 'x-trace': 'id' })
    res.end('over')
  }))
  const req = request({ port, host: '127.0.0.1', agent: false })
  req.end()
  const [[info], [res]] = await Promise.all([once(req, 'information'), once(req, 'response')])
  assert.equal(info.statusCode, 103)
  assert.deepEqual(info.headers, { link: kLink, 'x-trace': 'id' })
  assert.equal(res.statusCode, 200)
  res.resume()
})
