'use strict'

// Goal: a response has the same length, chunks, head and end as from node:http, whichever way it was written.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { compare, message } = require('../helpers/differential')

/** @typedef {import('../helpers/differential').Handler} Handler */

const kNext = message('GET /next')
const [kMajor, kMinor] = process.versions.node.split('.').map(Number)
/** Node 26, and 24 from 24.22 at the latest, make one chunk of what is written in one tick. */
const kJoinsWrites = kMajor >= 26 || (kMajor === 24 && kMinor >= 22)

/**
 * Runs a handler for GET and HEAD over HTTP/1.1 and 1.0, kept alive and closed; a request behind it proves
 * that the first response ended where it should.
 *
 * @param {import('node:test').TestContext} t
 * @param {Handler} handler
 * @param {object} [server] options
 */
async function inEveryFrame (t, handler, server = {}) {
  /** @type {Handler} */
  const withNext = (req, res, log) => {
    if (req.url === '/next') {
      res.end('next')
      return
    }
    res.on('finish', () => log('finish'))
    res.on('close', () => log('close'))
    handler(req, res, log)
  }
  /** @type {Record<string, string>} */
  const texts = {}
  for (const method of ['GET', 'HEAD']) {
    for (const [name, head] of [
      ['1.1', `${method} / HTTP/1.1\r\nHost: a\r\n\r\n`],
      ['1.1 close', `${method} / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`],
      ['1.0', `${method} / HTTP/1.0\r\n\r\n`],
      ['1.0 keep-alive', `${method} / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`]
    ]) {
      const { text } = await compare(t, withNext, name === '1.1' ? head + kNext : [head, { event: 'close' }, null], { server })
      texts[`${method} ${name}`] = text
    }
  }
  return texts
}

test('end() with a string, a Buffer, a Uint8Array or nothing has a Content-Length', async (t) => {
  for (const body of ['text', 'ä€\u{1F600}', Buffer.from([0, 255, 13, 10]), new Uint8Array([1, 2]), '', undefined, null, Buffer.alloc(0)]) {
    const texts = await inEveryFrame(t, (req, res) => res.end(body))
    assert.match(texts['GET 1.1'], new RegExp(`Content-Length: ${body ? Buffer.byteLength(body) : 0}\r\n`))
  }
})

test('end() with each encoding sends its bytes and counts them', async (t) => {
  for (const encoding of ['utf8', 'utf-8', 'latin1', 'binary', 'ascii', 'hex', 'base64', 'base64url', 'ucs2', 'utf16le']) {
    await inEveryFrame(t, (req, res) => res.end('c3a4ff', encoding))
    await inEveryFrame(t, (req, res) => {
      res.write('c3a4ff', encoding)
      res.end('00aa', encoding)
    })
  }
})

test('write() before the end makes chunks, each with its own size', async (t) => {
  const texts = await inEveryFrame(t, (req, res) => {
    res.write('one')
    res.write(Buffer.from('second'))
    res.write(new Uint8Array([51]))
    res.write('ä'.repeat(200))
    res.end('last')
  })
  assert.match(texts['GET 1.1'], kJoinsWrites
    ? /Transfer-Encoding: chunked\r\n\r\n19e\r\nonesecond3/
    : /Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n6\r\nsecond\r\n1\r\n3\r\n190\r\n/)
  assert.doesNotMatch(texts['GET 1.0'], /Transfer-Encoding/)
})

test('empty writes send no empty chunk', async (t) => {
  const texts = await inEveryFrame(t, (req, res) => {
    res.write('')
    res.write('a')
    res.write(Buffer.alloc(0))
    res.write('')
    res.write('b')
    res.end('')
  })
  assert.match(texts['GET 1.1'], kJoinsWrites ? /2\r\nab\r\n0\r\n\r\nHTTP/ : /1\r\na\r\n1\r\nb\r\n0\r\n\r\nHTTP/)
})

test('writes in later ticks and turns end like writes at once', async (t) => {
  await inEveryFrame(t, (req, res) => {
    res.write('1')
    process.nextTick(() => {
      res.write('2')
      setImmediate(() => {
        res.write('3')
        setTimeout(() => res.end('4'), 1)
      })
    })
  })
})

test('a Content-Length of the handler is sent and there are no chunks', async (t) => {
  const texts = await inEveryFrame(t, (req, res) => {
    res.setHeader('Content-Length', 6)
    res.write('abc')
    res.end('def')
  })
  assert.match(texts['GET 1.1'], /Content-Length: 6\r\n.*\r\n\r\nabcdefHTTP/s)
  await inEveryFrame(t, (req, res) => {
    res.writeHead(200, { 'content-length': '3' })
    res.end('abc')
  })
})

test('1xx, 204 and 304 have no body and no framing', async (t) => {
  for (const status of [204, 304]) {
    for (const write of [false, true]) {
      const texts = await inEveryFrame(t, (req, res, log) => {
        res.statusCode = status
        if (write) log(res.write('dropped'))
        res.end('dropped')
      })
      assert.doesNotMatch(texts['GET 1.1'], /dropped|Content-Length: 7/)
    }
    await inEveryFrame(t, (req, res) => {
      res.writeHead(status, { 'Content-Length': 5 })
      res.end()
    })
    await inEveryFrame(t, (req, res) => {
      res.writeHead(status, { 'Transfer-Encoding': 'chunked' })
      res.end()
    })
  }
})

test('the answer to HEAD announces what GET would send, without it', async (t) => {
  const texts = await inEveryFrame(t, (req, res) => {
    res.setHeader('Content-Length', 1000)
    res.end(req.method === 'HEAD' ? undefined : 'x'.repeat(1000))
  })
  assert.match(texts['HEAD 1.1'], /Content-Length: 1000\r\n.*\r\n\r\nHTTP\/1\.1 200 OK/s)
})

test('every status has its phrase, and an own statusMessage replaces it', async (t) => {
  for (const status of [100, 101, 102, 103, 199, 200, 202, 206, 299, 301, 307, 308, 400, 404, 418, 425, 451, 499, 500, 503, 511, 599, 600, 999]) {
    await compare(t, (req, res, log) => {
      res.on('close', () => log('close'))
      res.writeHead(status)
      res.end(status < 200 ? undefined : 'b')
    }, [message('GET /'), { event: 'close' }, null])
  }
  await inEveryFrame(t, (req, res, log) => {
    res.statusMessage = 'My own words'
    log(res.statusMessage)
    res.end()
  })
  await inEveryFrame(t, (req, res) => {
    res.statusCode = 404
    res.statusMessage = ''
    res.end()
  })
})

/** @type {[string, (res: any) => void][]} */
const kHeads = [
  ['status', (res) => res.writeHead(202)],
  ['status, message', (res) => res.writeHead(202, 'Words')],
  ['status, message, object', (res) => res.writeHead(202, 'Words', { 'X-A': 'b' })],
  ['status, object', (res) => res.writeHead(202, { 'X-A': ['b', 'c'], 'x-n': 1 })],
  ['status, array', (res) => res.writeHead(202, ['X-A', 'b', 'x-a', 'c'])],
  ['status, undefined, object', (res) => res.writeHead(202, undefined, { 'X-A': 'b' })],
  ['string status', (res) => res.writeHead('202')],
  ['Content-Length', (res) => res.writeHead(202, { 'Content-Length': 4 })],
  ['chained', (res) => res.writeHead(202).setTimeout(0)],
  ['Connection: close', (res) => res.writeHead(202, { Connection: 'close' })],
  ['chunked', (res) => res.writeHead(202, { 'Transfer-Encoding': 'chunked' })],
  ['over setHeader', (res) => { res.setHeader('X-S', 's'); res.writeHead(202, { 'X-A': 'b' }) }],
  ['array over setHeader', (res) => { res.setHeader('X-A', 's'); res.writeHead(202, ['X-A', 'b', 'X-A', 'c']) }],
  ['over statusCode', (res) => { res.statusCode = 500; res.statusMessage = 'no'; res.writeHead(202) }]
]

for (const [name, head] of kHeads) {
  test(`writeHead with ${name}`, async (t) => {
    await inEveryFrame(t, (req, res, log) => {
      log(res.headersSent)
      head(res)
      log(res.headersSent, res.statusCode, res.statusMessage, res._header.replace(/Date: .*\r\n/, ''))
      res.end('body')
      log(res.headersSent, res.finished, res.writableEnded, res.writableFinished)
    })
    await inEveryFrame(t, (req, res) => {
      head(res)
      res.write('bo')
      res.end('dy')
    })
  })
}

test('flushHeaders() sends the head before there is a body', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    res.setHeader('X-A', 'b')
    log(res.headersSent)
    res.flushHeaders()
    log(res.headersSent)
    res.flushHeaders()
    req.socket.once('body now', () => res.end('body'))
    log('flushed')
    setImmediate(() => req.socket.emit('body now'))
  }, message('GET /'))
  assert.deepEqual(events, ['false', 'true', 'flushed'])
  await compare(t, (req, res, log) => {
    res.flushHeaders()
    log('flushed')
    res.on('close', () => log('close'))
  }, [message('GET /'), /Transfer-Encoding: chunked\r\nConnection: close|Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n/], { until: /\r\n\r\n/ })
})

test('cork() and uncork() send the same bytes as no cork', async (t) => {
  await inEveryFrame(t, (req, res, log) => {
    res.cork()
    res.write('a')
    res.write('b')
    log(res.writableCorked, res.writableLength > 0)
    res.uncork()
    res.write('c')
    res.cork()
    res.cork()
    res.write('d')
    res.uncork()
    res.write('e')
    res.uncork()
    res.end('f')
  })
  await inEveryFrame(t, (req, res) => {
    res.cork()
    res.write('a')
    res.end('b')
  })
  await inEveryFrame(t, (req, res) => {
    req.socket.cork()
    res.write('a')
    res.end('b')
    process.nextTick(() => req.socket.uncork())
  })
})

for (const name of ['Transfer-Encoding', 'Date', 'Connection', 'Content-Length', 'Keep-Alive']) {
  test(`removeHeader('${name}') keeps Node from adding it`, async (t) => {
    await inEveryFrame(t, (req, res) => {
      res.removeHeader(name)
      res.end('body')
    })
    await inEveryFrame(t, (req, res) => {
      res.removeHeader(name)
      res.write('bo')
      res.end('dy')
    })
    await inEveryFrame(t, (req, res) => {
      res.setHeader(name, name === 'Content-Length' ? '4' : 'x')
      res.removeHeader(name)
      res.end('body')
    })
  })
}

test('sendDate false leaves the Date line out', async (t) => {
  const texts = await inEveryFrame(t, (req, res) => {
    res.sendDate = false
    res.end('x')
  })
  assert.doesNotMatch(texts['GET 1.0'], /Date/)
})

test('useChunkedEncodingByDefault false ends the body with the connection', async (t) => {
  await inEveryFrame(t, (req, res) => {
    res.useChunkedEncodingByDefault = false
    res.write('a')
    res.end('b')
  })
})

test('strictContentLength refuses bodies of another length', async (t) => {
  const bodies = [
    (/** @type {any} */ res) => res.end('1234'),
    (/** @type {any} */ res) => res.end('123'),
    (/** @type {any} */ res) => res.end('12345'),
    (/** @type {any} */ res) => { res.write('12'); res.end('34') },
    (/** @type {any} */ res) => { res.write('123'); res.write('45') },
    (/** @type {any} */ res) => { res.write('1'); res.end() }
  ]
  for (const body of bodies) {
    const { events } = await compare(t, (req, res, log) => {
      res.strictContentLength = true
      res.setHeader('Content-Length', 4)
      try {
        body(res)
        log('sent')
      } catch (error) {
        log(/** @type {any} */ (error).code)
        res.destroy()
      }
    }, message('GET /'))
    assert.equal(events.length, 1)
  }
})

test('callbacks and events of writes come in Node\'s order', async (t) => {
  await inEveryFrame(t, (req, res, log) => {
    res.on('prefinish', () => log('prefinish'))
    res.write('a', () => log('wrote a'))
    res.write('b', 'latin1', () => log('wrote b'))
    res.end('c', () => log('ended'))
    process.nextTick(() => log('tick'))
  })
  await inEveryFrame(t, (req, res, log) => {
    res.end(() => log('ended'))
    log(res.writableEnded, res.finished)
  })
  await inEveryFrame(t, (req, res, log) => {
    res.end('a', 'utf8', () => log('ended'))
    process.nextTick(() => log('tick'))
    Promise.resolve().then(() => log('microtask'))
  })
})

test('write after end and a second end are errors, not bytes', async (t) => {
  await inEveryFrame(t, (req, res, log) => {
    res.on('error', (/** @type {any} */ error) => log('error', error.code))
    res.end('done')
    log(res.write('more', (/** @type {any} */ error) => log('write', error?.code)))
    log(res.end('again', (/** @type {any} */ error) => log('end', error?.code)) === res)
    res.end((/** @type {any} */ error) => log('end 2', error?.code))
  })
})

test('write() refuses what is neither text nor bytes', async (t) => {
  await compare(t, (req, res, log) => {
    for (const wrong of [null, undefined, 1, true, {}, [], Symbol.iterator, new Uint16Array(2)]) {
      try {
        log('took', res.write(wrong))
      } catch (error) {
        const { code, message } = /** @type {any} */ (error)
        log(code, message)
      }
    }
    for (const wrong of [1, true, {}, [1]]) {
      try {
        res.end(wrong)
        log('took')
      } catch (error) {
        const { code, message } = /** @type {any} */ (error)
        log(code, message)
      }
    }
    res.end()
  }, message('GET /'))
})

test('writes to a response without body pass silently, or throw with rejectNonStandardBodyWrites', async (t) => {
  for (const rejectNonStandardBodyWrites of [false, true]) {
    await inEveryFrame(t, (req, res, log) => {
      res.statusCode = 204
      for (const act of [() => res.write('a'), () => res.end('b')]) {
        try {
          log(typeof act())
        } catch (error) {
          log(/** @type {any} */ (error).code)
        }
      }
      if (!res.writableEnded) res.end()
    }, { rejectNonStandardBodyWrites })
  }
})

test('bodies of every size around the buffers arrive whole', async (t) => {
  for (const size of [1, 100, 4095, 4096, 16_383, 16_384, 16_385, 21_845, 21_846, 65_535, 65_536, 65_537, 262_143, 262_145, 1_000_000]) {
    const body = Buffer.alloc(size, 'abcdefghij')
    for (const finish of [
      (/** @type {any} */ res) => res.end(body),
      (/** @type {any} */ res) => res.end(body.toString()),
      (/** @type {any} */ res) => { res.write(body); res.end(body.toString('latin1'), 'latin1') },
      (/** @type {any} */ res) => { res.setHeader('Content-Length', size * 2); res.write(body.toString()); res.end(body) }
    ]) {
      const { text } = await compare(t, (req, res) => finish(res), message('GET /'))
      assert.ok(text.length > size)
    }
  }
})

test('a body of many pieces, larger than every buffer, is whole and in order', async (t) => {
  const { text } = await compare(t, (req, res) => {
    let next = 0
    const more = () => {
      while (next < 3000) if (!res.write(`${next++};`.repeat(500))) return res.once('drain', more)
      res.end()
    }
    more()
  }, message('GET /'), { unchunked: kJoinsWrites }) // What one tick writes depends on when the client reads.
  assert.ok(text.endsWith(';\r\n0\r\n\r\n'))
})

test('a response piped from a stream is whole', async (t) => {
  const { Readable } = require('node:stream')
  await inEveryFrame(t, (req, res) => {
    Readable.from(Array.from({ length: 50 }, (_, i) => `${i},`.repeat(i))).pipe(res)
  })
})

test('informational responses precede the final one', async (t) => {
  await compare(t, (req, res, log) => {
    res.writeProcessing()
    res.writeContinue(() => log('continued'))
    res.writeEarlyHints({ link: ['</a>; rel=preload', '</b>; rel=preload'], 'x-hint': '1' }, () => log('hinted'))
    res.writeEarlyHints({ link: '</c>; rel=preload' })
    try {
      res.writeEarlyHints({ link: 'nonsense' })
    } catch (error) {
      log(/** @type {any} */ (error).code)
    }
    log(res.headersSent)
    res.end('final')
  }, message('GET /'))
})

test('nothing waits in a response once its bytes were taken', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    const look = () => log(res.writableLength, res.writableCorked, res.writableNeedDrain)
    look()
    res.write('a')
    setImmediate(() => {
      look()
      res.end('b')
      setImmediate(look)
    })
  }, message('GET /'))
  assert.deepEqual(events, ['0 0 false', '0 0 false', '0 0 false'])
})

test('states of a response are Node\'s before, while and after it is written', async (t) => {
  await compare(t, (req, res, log) => {
    const look = () => log(res.headersSent, res.finished, res.writableEnded, res.writableFinished, res.writable, res.destroyed, res.closed, res.errored,
      res.writableHighWaterMark, res.writableNeedDrain, res.writableObjectMode, res.socket === null,
      res.chunkedEncoding, res.shouldKeepAlive, res.useChunkedEncodingByDefault, res.sendDate, res.strictContentLength, res._hasBody, res._contentLength,
      res._removedConnection, res.maxRequestsOnConnectionReached, res._keepAliveTimeout)
    look()
    res.writeHead(200)
    look()
    res.write('a')
    look()
    res.end()
    look()
    res.on('finish', look)
    res.on('close', look)
  }, message('GET /'))
})

test('what is written and destroyed in one tick never leaves', async (t) => {
  await compare(t, (req, res, log) => {
    log(res.write('piece'), res.headersSent)
    res.destroy()
  }, [message('GET /', [])])
})
