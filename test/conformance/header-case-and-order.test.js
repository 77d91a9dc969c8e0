'use strict'

// Goal: header names keep their case, lines their order and values their bytes, in both directions, through
// every method that sets or reads them.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { compare, message } = require('../helpers/differential')

/** What sets headers besides the one at hand. @typedef {(res: any, log: import('../helpers/differential').Log) => void} Setter */

/** @param {import('node:test').TestContext} t @param {Setter} set @param {import('../helpers/differential').Options} [options] */
function answer (t, set, options) {
  return compare(t, (req, res, log) => {
    set(res, log)
    if (!res.writableEnded) res.end('x')
  }, message('GET /'), options)
}

/** @param {() => void} act @param {import('../helpers/differential').Log} log */
function attempt (act, log) {
  try {
    act()
    log('done')
  } catch (error) {
    const { name, code, message } = /** @type {any} */ (error)
    log(name, code, message)
  }
}

test('names go out as they were written and lines in the order of their first setting', async (t) => {
  const { text } = await answer(t, (res) => {
    res.setHeader('x-lower', 1)
    res.setHeader('X-UPPER', '2')
    res.setHeader('X-MiXeD', 'three')
    res.setHeader('x-upper', 'again')
    res.setHeader('X-Zero', 0)
    res.setHeader('X-False', false)
    res.setHeader('X-Empty', '')
  })
  assert.match(text, /\r\nx-lower: 1\r\nx-upper: again\r\nX-MiXeD: three\r\nX-Zero: 0\r\nX-False: false\r\nX-Empty: \r\nDate: now\r\n/)
})

test('setHeader() with an array writes a line for each value', async (t) => {
  const { text } = await answer(t, (res) => {
    res.setHeader('X-List', ['a', 'b', 3])
    res.setHeader('Set-Cookie', ['a=1', 'b=2; Path=/'])
    res.setHeader('X-None', [])
    res.setHeader('X-One', ['1'])
    res.setHeader('Vary', ['a', 'b'])
  })
  assert.match(text, /X-List: a\r\nX-List: b\r\nX-List: 3\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2; Path=\/\r\nX-One: 1\r\nVary: a\r\nVary: b\r\n/)
})

test('Cookie given as an array is one line', async (t) => {
  const { text } = await answer(t, (res) => res.setHeader('Cookie', ['a=1', 'b=2']))
  assert.match(text, /Cookie: a=1; b=2\r\n/)
})

test('appendHeader() adds values to what is there', async (t) => {
  await answer(t, (res, log) => {
    res.appendHeader('X-A', '1')
    res.appendHeader('x-a', '2')
    res.appendHeader('X-B', ['1', '2'])
    res.appendHeader('X-B', ['3'])
    res.setHeader('X-C', '1')
    res.appendHeader('X-C', '2')
    res.appendHeader('Set-Cookie', 'a=1')
    res.appendHeader('Set-Cookie', 'b=2')
    log(res.getHeader('x-a'), res.getHeader('X-B'), res.getHeader('x-c'), res.getHeaders())
  })
})

test('setHeaders() takes a Headers or a Map', async (t) => {
  await answer(t, (res, log) => {
    res.setHeaders(new Map([['X-Map', '1'], ['Y-Map', '2']]))
    res.setHeaders(new Headers([['X-Headers', '1'], ['Set-Cookie', 'a=1'], ['Set-Cookie', 'b=2'], ['X-Headers', '2']]))
    log(res.getHeaderNames())
    for (const wrong of [{}, [], null, undefined, 'x']) attempt(() => res.setHeaders(wrong), log)
    res.flushHeaders()
    attempt(() => res.setHeaders(new Map()), log)
  })
})

test('getHeader, hasHeader, getHeaders, getHeaderNames, getRawHeaderNames and removeHeader agree', async (t) => {
  await answer(t, (res, log) => {
    res.setHeader('X-One', 'a')
    res.setHeader('X-TWO', ['b', 'c'])
    res.setHeader('x-three', 3)
    const look = () => log(res.getHeader('x-one'), res.getHeader('X-Two'), res.getHeader('X-THREE'), res.getHeader('none'), res.hasHeader('X-ONE'),
      res.getHeaders(), Object.getPrototypeOf(res.getHeaders()) === null, res.getHeaderNames(), res.getRawHeaderNames())
    look()
    res.removeHeader('X-ONE')
    res.removeHeader('x-none')
    look()
    res.setHeader('X-One', 'last')
    look()
    res.end('x')
    look()
  })
})

test('names and values that cannot be sent are refused, with Node\'s errors', async (t) => {
  await answer(t, (res, log) => {
    for (const name of ['', ' ', 'a b', 'a:', 'ä', 'a\n', '@', 'x/y', undefined, null, 1, {}]) attempt(() => res.setHeader(name, 'v'), log)
    for (const value of ['a\nb', 'a\r\nb: c', 'a\0', 'a\x7f', '\u{1F600}', 'ŝ', undefined, null, {}, ['a', 'b\n'], [undefined], Symbol.iterator.description]) {
      attempt(() => res.setHeader('X-V', value), log)
    }
    attempt(() => res.appendHeader('X V', 'v'), log)
    attempt(() => res.appendHeader('X-V2', 'a\n'), log)
    attempt(() => res.setHeader('Only-Name'), log)
    attempt(() => res.getHeader(1), log)
    attempt(() => res.hasHeader(), log)
    attempt(() => res.removeHeader({}), log)
    attempt(() => res.writeHead(200, { 'X\n': '1' }), log)
    attempt(() => res.writeHead(200, ['X-Odd']), log)
    attempt(() => res.writeHead(200, 'bad\nmessage'), log)
    res.statusMessage = 'Fine'
    attempt(() => res.writeHead(99), log)
    attempt(() => res.writeHead(1000), log)
    attempt(() => res.writeHead('abc'), log)
  })
})

test('nothing of the head can change after it was sent', async (t) => {
  await answer(t, (res, log) => {
    res.write('1')
    attempt(() => res.setHeader('X-A', '1'), log)
    attempt(() => res.appendHeader('X-A', '1'), log)
    attempt(() => res.removeHeader('X-A'), log)
    attempt(() => res.writeHead(200), log)
    attempt(() => res.flushHeaders(), log)
    res.end('2')
    attempt(() => res.setHeader('X-A', '1'), log)
    attempt(() => res.writeHead(200), log)
    attempt(() => res.flushHeaders(), log)
    attempt(() => res.writeContinue(), log)
    log(res.headersSent, res.statusCode)
  })
})

test('Latin-1 characters of a head are one byte each, unless Node joins the head with a UTF-8 text', async (t) => {
  /** @type {((res: any) => void)[]} */
  const bodies = [
    (res) => res.end(),
    (res) => res.end(Buffer.from([0xe4])),
    (res) => res.end('ä', 'latin1'),
    (res) => res.end('ä€'),
    (res) => { res.flushHeaders(); res.end('€') },
    (res) => res.write('ä', () => res.end('ö')),
    (res) => res.end('w'.repeat(100_000))
  ]
  for (const [i, finish] of bodies.entries()) {
    const { text } = await compare(t, (req, res) => {
      res.setHeader('X-Latin', 'h\xe4\xff\x80')
      res.statusMessage = 'f\xfcr'
      finish(res)
    }, message('GET /'))
    if (i < 3) assert.match(text, /^HTTP\/1\.1 200 f\xfcr\r\nX-Latin: h\xe4\xff\x80\r\n/)
  }
})

test('header bytes of a request are Latin-1 and can be sent back unchanged', async (t) => {
  const { text } = await compare(t, (req, res) => {
    res.setHeader('X-Back', req.headers['x-in'])
    res.end()
  }, message('GET /', ['X-In: \xc3\xa4 \xff', 'Connection: close']))
  assert.match(text, /X-Back: \xc3\xa4 \xff\r\n/)
})

const kRepeated = [
  'Accept: a', 'Accept: b', 'X-Any: 1', 'x-any: 2', 'X-ANY: 3', 'Set-Cookie: s1', 'Set-Cookie: s2', 'Cookie: c=1', 'Cookie: d=2', 'Age: 1', 'Age: 2',
  'Authorization: u', 'Authorization: v', 'Content-Type: t', 'Content-Type: u', 'ETag: 1', 'ETag: 2', 'Expires: 1', 'Expires: 2', 'From: f', 'From: g',
  'If-Modified-Since: 1', 'If-Modified-Since: 2', 'If-Unmodified-Since: 1', 'If-Unmodified-Since: 2', 'Last-Modified: 1', 'Last-Modified: 2',
  'Location: 1', 'Location: 2', 'Max-Forwards: 1', 'Max-Forwards: 2', 'Proxy-Authorization: 1', 'Proxy-Authorization: 2', 'Referer: 1', 'Referer: 2',
  'Retry-After: 1', 'Retry-After: 2', 'Server: 1', 'Server: 2', 'User-Agent: 1', 'User-Agent: 2', 'Vary: a', 'Vary: b', 'Via: 1', 'Via: 2', 'Date: 1', 'Date: 2',
  'Origin: 1', 'Origin: 2', 'Keep-Alive: 1', 'Keep-Alive: 2', 'Content-Encoding: 1', 'Content-Encoding: 2', 'X-Forwarded-For: 1', 'X-Forwarded-For: 2',
  'Connection: close'
]

for (const joinDuplicateHeaders of [false, true]) {
  test(`repeated request headers are joined, kept or dropped by name, with joinDuplicateHeaders ${joinDuplicateHeaders}`, async (t) => {
    const { events } = await compare(t, (req, res, log) => {
      log(req.joinDuplicateHeaders, req.headers)
      log(req.headersDistinct)
      log(req.rawHeaders)
      res.end()
    }, message('GET /', kRepeated), { server: { joinDuplicateHeaders } })
    const headers = JSON.parse(events[0].slice(events[0].indexOf('{')))
    assert.equal(headers['user-agent'], joinDuplicateHeaders ? '1, 2' : '1')
    assert.equal(headers['x-any'], '1, 2, 3')
    assert.equal(headers.cookie, 'c=1; d=2')
    assert.deepEqual(headers['set-cookie'], ['s1', 's2'])
    assert.deepEqual(JSON.parse(events[1])['user-agent'], ['1', '2'])
  })
}

test('one Set-Cookie is an array, too', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    log(req.headers['set-cookie'], req.headersDistinct['set-cookie'])
    res.end()
  }, message('GET /', ['Set-Cookie: a', 'Connection: close']))
  assert.deepEqual(events, ['["a"] ["a"]'])
})

test('rawHeaders keeps case, order and repetitions, the same for the second request of a connection', async (t) => {
  const lines = ['hOST-x: 1', 'ACCEPT: */*', 'accept: text/html', 'X-A: B', 'x-a: b']
  const { events } = await compare(t, (req, res, log) => {
    log(req.rawHeaders)
    res.end()
  }, message('GET /', lines) + message('GET /', [...lines].reverse()) + message('GET /', [...lines, 'connection: CLOSE']))
  assert.deepEqual(JSON.parse(events[0]), ['Host', 'a', 'hOST-x', '1', 'ACCEPT', '*/*', 'accept', 'text/html', 'X-A', 'B', 'x-a', 'b'])
  assert.equal(events.length, 3)
})

test('headers, headersDistinct and rawHeaders are the request\'s own and may be changed', async (t) => {
  await compare(t, (req, res, log) => {
    const { headers, headersDistinct } = req
    log(headers === req.headers, headers, headersDistinct, headersDistinct === req.headersDistinct)
    req.headers['x-new'] = '1'
    delete req.headers.host
    req.rawHeaders.push('X-Raw', '1')
    log(req.headers, req.rawHeaders, req.headersDistinct)
    req.headers = { replaced: 'yes' }
    log(req.headers, req.headersDistinct)
    res.end()
  }, message('GET /1', ['X-A: 1']) + message('GET /2'))
})

test('uniqueHeaders joins lines of a response', async (t) => {
  const { text } = await answer(t, (res) => {
    res.setHeader('X-Unique', ['a', 'b'])
    res.setHeader('X-Other', ['a', 'b'])
    res.setHeader('x-pair', ['1', '2'])
  }, { server: { uniqueHeaders: ['x-unique', 'X-Pair'] } })
  assert.match(text, /X-Unique: a; b\r\nX-Other: a\r\nX-Other: b\r\nx-pair: 1; 2\r\n/)
})

test('what Node adds by itself comes after the handler\'s own lines', async (t) => {
  const { text } = await answer(t, (res) => {
    res.setHeader('X-First', '1')
    res.setHeader('content-LENGTH', '1')
    res.setHeader('X-Last', '2')
  })
  assert.equal(text, 'HTTP/1.1 200 OK\r\nX-First: 1\r\ncontent-LENGTH: 1\r\nX-Last: 2\r\nDate: now\r\nConnection: close\r\n\r\nx')
})

test('a Date, Connection, Keep-Alive or Transfer-Encoding of the handler stands where it was set', async (t) => {
  await answer(t, (res) => {
    res.setHeader('date', 'my time')
    res.setHeader('connection', 'X-Hop')
    res.setHeader('keep-alive', 'timeout=99')
    res.setHeader('transfer-encoding', 'chunked')
  }, { until: /\r\n0\r\n\r\n/ })
  await answer(t, (res) => {
    res.setHeader('Transfer-Encoding', 'gzip, chunked')
    res.write('a')
  })
})

test('writeHead() with headers merges into or replaces what was set', async (t) => {
  const forms = [
    (/** @type {any} */ res) => res.writeHead(201, { 'X-A': 'new', 'X-C': ['1', '2'] }),
    (/** @type {any} */ res) => res.writeHead(201, ['X-A', 'new', 'X-C', '1', 'X-C', '2']),
    (/** @type {any} */ res) => res.writeHead(201, [['X-A', 'new'], ['X-C', '1'], ['X-C', '2']]),
    (/** @type {any} */ res) => res.writeHead(201, 'Message', { 'x-a': 'new', 'x-c': 1 }),
    (/** @type {any} */ res) => res.writeHead(201, { 'x-b': undefined })
  ]
  for (const writeHead of forms) {
    for (const withHeaders of [true, false]) {
      await answer(t, (res, log) => {
        if (withHeaders) {
          res.setHeader('X-A', 'old')
          res.setHeader('X-B', 'kept')
        }
        attempt(() => writeHead(res), log)
        log(res.getHeaders(), res.getHeaderNames())
      })
    }
  }
})

test('a head of any size goes out whole, with any body', async (t) => {
  for (const length of [5000, 16_100, 16_384, 17_000, 65_000, 87_000, 262_000, 300_000]) {
    for (const value of ['v', '\xe4']) {
      for (const finish of [(/** @type {any} */ res) => res.end(), (/** @type {any} */ res) => res.end('b'.repeat(20_000)), (/** @type {any} */ res) => { res.write('b'); res.end('c') },
        (/** @type {any} */ res) => { res.flushHeaders(); res.end('b') }]) {
        const { text } = await answer(t, (res) => {
          res.setHeader('X-Large', value.repeat(length))
          finish(res)
        })
        assert.ok(text.length > length)
      }
    }
  }
  const { text } = await answer(t, (res) => {
    for (let i = 0; i < 300; i++) res.setHeader(`X-${i}`, 'v'.repeat(1000))
  })
  assert.ok(text.length > 300_000)
})
