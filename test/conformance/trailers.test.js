'use strict'

// Goal: trailers go out behind a chunked response and come in behind a chunked request, as with node:http.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { bytewise, compare, message } = require('../helpers/differential')

/** @param {any} req @param {any} res @param {import('../helpers/differential').Log} log */
function reader (req, res, log) {
  log('before', req.trailers, req.rawTrailers, req.trailersDistinct, req.complete)
  let body = ''
  req.on('data', (/** @type {Buffer} */ piece) => { body += piece })
  req.on('end', () => {
    log('end', body, req.trailers, req.rawTrailers, req.trailersDistinct, req.complete, req.rawHeaders, Object.keys(req.headers))
    res.end(body)
  })
}

/** @param {string[]} trailers @param {string[]} [headers] */
function chunked (trailers, headers = ['Connection: close']) {
  return message('POST /', [...headers, 'Transfer-Encoding: chunked'], `3\r\nabc\r\n0\r\n${trailers.map((line) => `${line}\r\n`).join('')}\r\n`)
}

test('trailers of a request are there when its body has ended, apart from the headers', async (t) => {
  const { events } = await compare(t, reader, chunked(['X-Sum: 1', 'x-sum: 2', 'Empty:', 'Latin: \xe4', 'Set-Cookie: a', 'Cookie: b']))
  const whole = await compare(t, reader, bytewise(chunked(['X-Sum: 1', 'x-sum: 2', 'Empty:', 'Latin: \xe4', 'Set-Cookie: a', 'Cookie: b'])))
  assert.deepEqual(whole.events, events)
  assert.match(events[1], /^end abc \{"x-sum":"1, 2","empty":"","latin":"ä",/)
  assert.match(events[1], /\["X-Sum","1","x-sum","2","Empty","","Latin","ä"/)
})

test('a request without trailers has none', async (t) => {
  const { events } = await compare(t, reader, chunked([]))
  assert.match(events[1], /^end abc \{\} \[\] \{\} true /)
})

test('trailers belong to their own request of a connection', async (t) => {
  const { events } = await compare(t, reader, [chunked(['T: 1'], []), chunked([], []) + chunked(['T: 2', 'U: 3'], []), chunked(['V: 4'])])
  assert.deepEqual(events.filter((line) => line.startsWith('end')).map((line) => line.match(/\[[^\]]*\]/)?.[0]), ['["T","1"]', '[]', '["T","2","U","3"]', '["V","4"]'])
})

test('framing and connection headers in trailers have no effect', async (t) => {
  await compare(t, reader, [chunked(['Connection: x', 'Host: b', 'Upgrade: x', 'Expect: 100-continue', 'Trailer: X'], []), message('GET /')])
})

test('trailers that Node refuses are refused', async (t) => {
  for (const line of ['Content-Length: 3', 'Transfer-Encoding: chunked', 'X Y: 1', ': 1', 'NoColon', 'A: b\x01', 'A : b', 'A: 1\r\n 2']) {
    await compare(t, reader, [chunked([line]), null])
  }
})

test('many and long trailers arrive up to the limits of a head', async (t) => {
  const many = Array.from({ length: 200 }, (_, i) => `T${i}: ${i}`)
  await compare(t, reader, chunked(many))
  await compare(t, reader, chunked(many), { prepare: (server) => { server.maxHeadersCount = 40 } })
  await compare(t, reader, chunked([`Long: ${'v'.repeat(10_000)}`]))
  await compare(t, reader, [chunked([`Long: ${'v'.repeat(20_000)}`]), null])
})

test('a request that is not read keeps its trailers, and the next one is served', async (t) => {
  await compare(t, (req, res, log) => {
    res.on('close', () => setImmediate(() => log(req.url, req.trailers, req.complete)))
    res.end()
  }, [chunked(['T: 1'], []), message('GET /next')])
})

test('addTrailers() sends trailers behind the chunks', async (t) => {
  /** @type {((res: any) => void)[]} */
  const forms = [
    (res) => res.addTrailers({ 'X-Sum': 'abc', 'x-n': 1 }),
    (res) => res.addTrailers([['X-Sum', 'abc'], ['X-Sum', 'def']]),
    (res) => { res.addTrailers({ A: '1' }); res.addTrailers({ B: '2' }) },
    (res) => res.addTrailers({ Latin: '\xe4\xff' }),
    (res) => res.addTrailers({ Long: 'v'.repeat(70_000) }),
    (res) => res.addTrailers({ List: ['a', 'b'] }),
    (res) => res.addTrailers({})
  ]
  for (const add of forms) {
    const texts = []
    for (const last of ['', 'end', Buffer.from('end')]) {
      texts.push((await compare(t, (req, res) => {
        res.writeHead(200, { Trailer: 'X-Sum' })
        res.write('body')
        add(res)
        res.end(last)
      }, [message('GET /', []), /\r\n0\r\n(?:.+\r\n)*\r\n$/, message('GET /')])).text)
    }
    assert.match(texts[0], /4\r\nbody\r\n0\r\n/)
  }
  const { text } = await compare(t, (req, res) => {
    res.writeHead(200, { Trailer: 'X-Sum' })
    res.addTrailers({ 'X-Sum': 'abc' })
    res.end('body')
  }, message('GET /'))
  assert.match(text, /\r\n4\r\nbody\r\n0\r\nX-Sum: abc\r\n\r\n$/)
})

test('trailers are left out where the response has no chunks', async (t) => {
  for (const head of ['GET / HTTP/1.0\r\n\r\n', message('HEAD /'), message('GET /')]) {
    await compare(t, (req, res) => {
      if (req.httpVersion === '1.1') res.setHeader('Content-Length', 4)
      res.write('body')
      res.addTrailers({ 'X-Sum': 'abc' })
      res.end()
    }, head)
  }
  for (const status of [204, 304]) {
    await compare(t, (req, res) => {
      res.statusCode = status
      res.addTrailers({ 'X-Sum': 'abc' })
      res.end()
    }, message('GET /'))
  }
  await compare(t, (req, res) => {
    res.addTrailers({ 'X-Sum': 'abc' })
    res.end('whole')
  }, message('GET /'))
})

test('a Trailer header without chunks is an error', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    try {
      res.writeHead(200, { Trailer: 'X-Sum', 'Content-Length': 3 })
      res.end('abc')
    } catch (error) {
      log(/** @type {any} */ (error).code)
      res.destroy()
    }
  }, message('GET /'))
  assert.deepEqual(events, ['ERR_HTTP_TRAILER_INVALID'])
})

test('names and values that cannot be sent are refused', async (t) => {
  await compare(t, (req, res, log) => {
    for (const trailers of [{ 'a b': '1' }, { a: 'b\n' }, { a: '\u{1F600}' }, [['', 'x']]]) {
      try {
        res.addTrailers(trailers)
        log('took')
      } catch (error) {
        const { code, message } = /** @type {any} */ (error)
        log(code, message)
      }
    }
    res.end()
  }, message('GET /'))
})
