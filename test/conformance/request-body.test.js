'use strict'

// Goal: a request body is the stream that node:http makes of it: every byte once, its end, its errors.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Writable, finished, pipeline } = require('node:stream')
const { http } = require('../helpers/backend')
const { dial, serve } = require('../helpers/client')
const { bytewise, compare, message } = require('../helpers/differential')

/** @typedef {import('../helpers/differential').Handler} Handler */

/** @type {Handler} */
function echo (req, res, log) {
  /** @type {Buffer[]} */
  const pieces = []
  req.on('data', (/** @type {Buffer} */ piece) => pieces.push(piece))
  for (const event of ['end', 'close', 'error', 'aborted']) req.on(event, (/** @type {any} */ error) => log(event, error?.code, req.complete, req.readableEnded))
  req.on('end', () => res.end(Buffer.concat(pieces)))
}

/** @param {string} body @param {string[]} [headers] */
function post (body, headers = ['Connection: close']) {
  return message('POST /', [...headers, `Content-Length: ${Buffer.byteLength(body, 'latin1')}`], body)
}

/** @param {string} chunks @param {string[]} [headers] */
function chunked (chunks, headers = ['Connection: close']) {
  return message('POST /', [...headers, 'Transfer-Encoding: chunked'], chunks)
}

/** @param {string} text */
function bodyOf (text) {
  return text.slice(text.indexOf('\r\n\r\n') + 4)
}

test('a body with Content-Length arrives whole, at every size', async (t) => {
  for (const size of [1, 2, 1000, 16_383, 16_384, 65_535, 65_536, 65_537, 131_072, 131_073, 300_000, 2_000_000]) {
    const body = Array.from({ length: Math.ceil(size / 7) }, (_, i) => String(i).padStart(7)).join('').slice(0, size)
    const { text } = await compare(t, echo, post(body))
    assert.ok(bodyOf(text) === body, `${size} bytes`)
  }
})

test('every byte value passes through a body', async (t) => {
  const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i)).toString('latin1')
  assert.equal(bodyOf((await compare(t, echo, post(all))).text), all)
  assert.equal(bodyOf((await compare(t, echo, chunked(`100\r\n${all}\r\n0\r\n\r\n`))).text), all)
})

test('a body may come with any method', async (t) => {
  for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'REPORT']) {
    const { text } = await compare(t, echo, message(`${method} /`, ['Content-Length: 3', 'Connection: close'], 'abc'))
    assert.equal(bodyOf(text), 'abc')
  }
})

test('chunks of every form of size line are decoded', async (t) => {
  const forms = [
    '3\r\nabc\r\n0\r\n\r\n', '003\r\nabc\r\n000\r\n\r\n', 'A\r\n0123456789\r\n0\r\n\r\n', 'a\r\n0123456789\r\n0\r\n\r\n', '1\r\na\r\n1\r\nb\r\n1\r\nc\r\n0\r\n\r\n', '0\r\n\r\n',
    '3;x\r\nabc\r\n0\r\n\r\n', '3;x=y;z="q;r"\r\nabc\r\n0;end\r\n\r\n', '3 ;x\r\nabc\r\n0\r\n\r\n', '3; x = y\r\nabc\r\n0\r\n\r\n', '3;\r\nabc\r\n0\r\n\r\n', '3;x="\\""\r\nabc\r\n0\r\n\r\n',
    '3\r\nabc\r\n0\r\nTrailer: 1\r\n\r\n', '3\nabc\n0\n\n', '3\r\nabc\n0\r\n\r\n', '3 \r\nabc\r\n0\r\n\r\n', ' 3\r\nabc\r\n0\r\n\r\n', '0x3\r\nabc\r\n0\r\n\r\n', '3\r\nabcd\r\n0\r\n\r\n', '\r\n', '-1\r\n',
    'g\r\n', '3\r\nab', '10000000000000000\r\n', 'fffffffffffffff\r\na', '3\r\nabc\r\n0\r\nX\r\n\r\n', '1_0\r\n', '3\r\nabc\r\n\r\n', '3;x=\x01\r\nabc\r\n0\r\n\r\n', '+3\r\nabc\r\n0\r\n\r\n'
  ]
  for (const form of forms) await compare(t, echo, [chunked(form), null])
  assert.equal(bodyOf((await compare(t, echo, chunked(forms[7]))).text), 'abc')
})

test('long chunk extensions are refused', async (t) => {
  for (const length of [100, 16_000, 17_000, 40_000]) await compare(t, echo, [chunked(`3;${'x'.repeat(length)}\r\nabc\r\n0\r\n\r\n`), null])
})

test('Transfer-Encoding and Content-Length together, twice or malformed are decided as by Node', async (t) => {
  for (const headers of [
    ['Content-Length: 5', 'Transfer-Encoding: chunked'], ['Transfer-Encoding: chunked', 'Content-Length: 5'], ['Content-Length: 5', 'Content-Length: 5'], ['Content-Length: 5', 'Content-Length: 6'],
    ['Content-Length: 5, 5'], ['Content-Length: +5'], ['Content-Length: -5'], ['Content-Length: 5 6'], ['Content-Length: 0x5'], ['Content-Length: 5.0'], ['Content-Length:'], ['Content-Length: 99999999999999999999'],
    ['Content-Length: 05'], ['Content-Length:  5  '], ['Transfer-Encoding: CHUNKED'], ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], ['Transfer-Encoding: chunked, chunked']
  ]) await compare(t, echo, [message('POST /', [...headers, 'Connection: close'], '0\r\n\r\n'), null])
})

test('a request without a body and one of length 0 end at once', async (t) => {
  for (const request of [message('GET /'), message('POST /'), post(''), chunked('0\r\n\r\n'), 'POST / HTTP/1.0\r\n\r\n', 'POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n']) {
    const { events } = await compare(t, echo, request)
    assert.deepEqual(events, ['end undefined true true', 'close undefined true true'])
  }
})

test('a body in single bytes is the same body', async (t) => {
  for (const request of [post('0123456789'), chunked('3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n')]) {
    const whole = await compare(t, echo, request)
    const cut = await compare(t, echo, bytewise(request))
    assert.deepEqual(cut, whole)
  }
})

test('single bytes in flowing mode are as many data events', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    req.on('data', (/** @type {Buffer} */ piece) => log('data', piece.toString(), Buffer.isBuffer(piece)))
    req.on('end', () => res.end())
    log('ready')
  }, [message('POST /', ['Content-Length: 3', 'Connection: close']), { event: 'ready' }, 'a', { event: 'data a true' }, 'b', { event: 'data b true' }, 'c'])
  assert.deepEqual(events, ['ready', 'data a true', 'data b true', 'data c true'])
})

test('setEncoding() decodes characters that TCP cut', async (t) => {
  const text = 'aä€\u{1F600}b'
  const bytes = Buffer.from(text).toString('latin1')
  for (const [encoding, expected] of /** @type {[BufferEncoding, string][]} */ ([['utf8', text], ['latin1', bytes], ['hex', Buffer.from(text).toString('hex')], ['base64', Buffer.from(text).toString('base64')], ['utf16le', Buffer.from(text).toString('utf16le')]])) {
    const { events } = await compare(t, (req, res, log) => {
      req.setEncoding(encoding)
      let whole = ''
      req.on('data', (/** @type {string} */ piece) => {
        whole += piece
        if (typeof piece !== 'string') log('not text')
      })
      req.on('end', () => {
        log(whole, req.readableEncoding)
        res.end()
      })
    }, [message('POST /', ['Connection: close', `Content-Length: ${bytes.length}`]), ...bytewise(bytes)])
    assert.deepEqual(events, [`${expected} ${encoding}`])
  }
})

test('a paused body waits, and goes on where it was', async (t) => {
  const body = 'p'.repeat(500_000)
  const { text } = await compare(t, (req, res, log) => {
    let length = 0
    let pauses = 0
    req.on('data', (/** @type {Buffer} */ piece) => {
      length += piece.length
      if (pauses++ % 3 !== 0) return
      req.pause()
      if (!req.isPaused()) log('not paused')
      const before = length
      // Silence: nothing may come meanwhile.
      setTimeout(() => {
        if (length !== before) log('data while paused')
        req.resume()
      }, 1)
    })
    req.on('end', () => res.end(String(length)))
  }, post(body))
  assert.equal(bodyOf(text), '500000')
})

test('listeners may come later than the body', async (t) => {
  /** @type {((listen: () => void) => void)[]} */
  const whens = [(listen) => process.nextTick(listen), (listen) => setImmediate(listen), (listen) => setTimeout(listen, 20), (listen) => { Promise.resolve().then(listen) }]
  for (const when of whens) {
    for (const request of [post('late'), post('l'.repeat(200_000)), message('GET /'), chunked('4\r\nlate\r\n0\r\nT: 1\r\n\r\n')]) {
      const { events } = await compare(t, (req, res, log) => when(() => echo(req, res, log)), request)
      assert.deepEqual(events, ['end undefined true true', 'close undefined true true'])
    }
  }
})

test('listeners after the response has finished find the request dumped', async (t) => {
  for (const request of [message('GET /', []), post('body', [])]) {
    await compare(t, (req, res, log) => {
      if (req.url === '/last') return res.end()
      res.on('finish', () => setImmediate(() => {
        log(req.complete, req.destroyed, req.readableEnded, req.closed, req.readable)
        req.on('data', () => log('data'))
        req.on('end', () => log('end'))
      }))
      res.end('done')
    }, [request, /done/, message('GET /last')])
  }
})

test('readable and read() give the body', async (t) => {
  const { text } = await compare(t, (req, res) => {
    let body = ''
    req.on('readable', () => {
      for (let piece = req.read(); piece !== null; piece = req.read()) body += piece
    })
    req.on('end', () => res.end(body))
  }, post('readable'))
  assert.equal(bodyOf(text), 'readable')
  const { events } = await compare(t, (req, res, log) => {
    const look = () => {
      if (req.readableLength < 8) return setImmediate(look)
      log(req.read(3)?.toString(), req.read(2)?.toString(), req.readableLength, req.read(100)?.toString(), req.read())
      req.on('end', () => res.end())
    }
    req.on('readable', () => {})
    look()
  }, post('abcdefgh'))
  assert.deepEqual(events, ['abc de 3 fgh null'])
})

test('for await reads a body', async (t) => {
  for (const request of [post('a'.repeat(300_000)), chunked('3\r\nabc\r\n0\r\n\r\n'), message('GET /')]) {
    await compare(t, async (req, res, log) => {
      let length = 0
      for await (const piece of req) length += piece.length
      log(length, req.readableEnded, req.destroyed)
      res.end(String(length))
    }, request)
  }
})

test('leaving for await early destroys the request', async (t) => {
  const { events } = await compare(t, async (req, res, log) => {
    const { socket } = req
    for (const event of ['close', 'error', 'aborted', 'end']) req.on(event, (/** @type {any} */ error) => log(event, error?.code))
    res.on('close', () => log('res close', res.writableFinished))
    for await (const piece of req) {
      log('piece', piece.length > 0)
      if (piece.length > 0) break
    }
    log('after', req.destroyed, req.aborted, req.complete, socket.destroyed)
    res.end('left')
  }, message('POST /', ['Content-Length: 10'], '01234'), { until: /left/ })
  assert.equal(events[0], 'piece true')
})

test('a client that leaves in the middle ends the body with an error', async (t) => {
  for (const request of [message('POST /', ['Content-Length: 10'], '012'), chunked('5\r\nab', [])]) {
    for (const half of [false, true]) {
      const { events } = await compare(t, (req, res, log) => {
        for (const event of ['close', 'error', 'aborted', 'end']) req.on(event, (/** @type {any} */ error) => log(event, error?.code, error?.message, req.aborted, req.complete, req.destroyed))
        for (const event of ['close', 'finish']) res.on(event, () => log('res', event))
        req.on('data', (/** @type {Buffer} */ piece) => res.write(piece.toString().toUpperCase()))
        res.write('ready')
      }, half ? [request, /ready/, null] : [request, /ready/], half ? {} : { until: /ready/ })
      assert.ok(events.includes('error ECONNRESET aborted true false true'))
    }
  }
})

test('destroying a request in the middle closes its connection', async (t) => {
  for (const error of [undefined, new Error('mine')]) {
    await compare(t, (req, res, log) => {
      for (const event of ['close', 'error', 'aborted', 'end']) req.on(event, (/** @type {any} */ error) => log(event, error?.code, error?.message, req.aborted, req.complete))
      for (const event of ['close', 'finish', 'error']) res.on(event, () => log('res', event))
      req.once('data', () => {
        req.destroy(error)
        log(req.destroyed, req.socket.destroyed, res.destroyed)
      })
    }, message('POST /', ['Content-Length: 10'], '012'))
  }
})

test('destroying a request that is complete leaves its response alone', async (t) => {
  for (const request of [message('GET /'), post('abc')]) {
    const { text } = await compare(t, (req, res, log) => {
      for (const event of ['close', 'error', 'aborted']) req.on(event, (/** @type {any} */ error) => log(event, error?.code))
      req.resume()
      req.on('end', () => {
        req.destroy()
        setImmediate(() => {
          log(req.destroyed, req.aborted, req.socket.destroyed)
          res.end('answered')
        })
      })
    }, request)
    assert.equal(bodyOf(text), 'answered')
  }
})

test('a body that nobody reads is dropped, and the next request is served', async (t) => {
  for (const size of [1, 1000, 100_000, 1_500_000]) {
    for (const request of [post('d'.repeat(size), []), chunked(`${size.toString(16)}\r\n${'d'.repeat(size)}\r\n0\r\nT: 1\r\n\r\n`, [])]) {
      const { text } = await compare(t, (req, res, log) => {
        log(req.url)
        res.on('finish', () => log('finish'))
        res.end(req.url)
      }, request + message('GET /next'))
      assert.ok(text.endsWith('/next'))
    }
  }
})

test('a body that stays paused after its response holds the connection for keepAliveTimeout only', async (t) => {
  for (const request of [post('h'.repeat(400_000), []), message('POST /', ['Content-Length: 1000'], 'part'), chunked('4\r\npart\r\n', [])]) {
    const { text } = await compare(t, (req, res, log) => {
      req.once('data', () => {
        req.pause()
        res.end('enough')
      })
      res.on('close', () => log('close'))
    }, request, { server: { keepAliveTimeout: 1 } })
    assert.ok(text.endsWith('enough'))
  }
})

test('a body that goes on slowly after its response outlives keepAliveTimeout', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    if (req.url === '/next') return res.end('next')
    let length = 0
    req.on('data', (/** @type {Buffer} */ piece) => {
      length += piece.length
      setTimeout(() => log(length), 600)
    })
    req.on('end', () => log('end'))
    res.end('early')
  }, [message('POST /', ['Content-Length: 4']), /early/, 'a', { event: '1' }, 'b', { event: '2' }, 'c', { event: '3' }, 'd', message('GET /next'), /next/, { event: '4' }], { server: { keepAliveTimeout: 400 } })
  assert.deepEqual(events, ['1', '2', '3', 'end', '4'])
})

test('a body arrives whole although its pieces are transferred to somebody else', async (t) => {
  const kBytes = 4 * 1024 * 1024
  const { text } = await compare(t, (req, res) => {
    let bytes = 0
    req.on('data', (/** @type {Buffer} */ piece) => {
      bytes += piece.length
      const memory = /** @type {ArrayBuffer} */ (piece.buffer)
      // A small piece may share its memory with others.
      if (piece.length >= 16 * 1024) structuredClone(memory, { transfer: [memory] })
    })
    req.on('end', () => res.end(String(bytes)))
  }, post('x'.repeat(kBytes)))
  assert.equal(bodyOf(text), String(kBytes))
})

test('resume() without listeners ends the body', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    req.resume()
    req.on('end', () => {
      log('end', req.complete)
      res.end()
    })
  }, post('r'.repeat(100_000)))
  assert.deepEqual(events, ['end true'])
})

test('pipe(), pipeline() and finished() see the body and its end', async (t) => {
  const body = 'q'.repeat(700_000)
  const piped = await compare(t, (req, res) => {
    // Chunks would show how TCP cut the body.
    res.setHeader('Content-Length', req.headers['content-length'])
    req.pipe(res)
  }, post(body))
  assert.ok(piped.text.endsWith(`\r\n\r\n${body}`))
  const { events } = await compare(t, (req, res, log) => {
    let length = 0
    const sink = new Writable({
      highWaterMark: 100,
      write (piece, _, callback) {
        length += piece.length
        setImmediate(callback)
      }
    })
    finished(req, (error) => log('finished', error?.code))
    pipeline(req, sink, (error) => {
      log('pipeline', error?.code, length)
      res.end('stored')
    })
  }, post(body))
  assert.deepEqual([...events].sort(), ['finished undefined', 'pipeline undefined 700000'])
})

test('pipeline() reports a client that leaves', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    pipeline(req, new Writable({ write: (piece, _, callback) => callback() }), (error) => log(/** @type {any} */ (error)?.code))
    res.write('ready')
  }, message('POST /', ['Content-Length: 10'], '012'), { until: /ready/ })
  assert.deepEqual(events, ['ECONNRESET'])
})

test('a response that ends before the body has ended is followed by the rest of the body', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    if (req.url === '/next') return res.end('next')
    req.on('data', (/** @type {Buffer} */ piece) => log('data', piece.toString()))
    req.on('end', () => log('end', req.complete))
    res.on('close', () => log('res close'))
    res.end('early')
  }, [message('POST /', ['Content-Length: 2']), /early/, 'a', { event: 'data a' }, 'b', { event: 'end true' }, message('GET /next')])
  assert.deepEqual(events, ['res close', 'data a', 'data b', 'end true'])
})

test('states of a request change when Node\'s do', async (t) => {
  await compare(t, (req, res, log) => {
    const look = (/** @type {string} */ where) => log(where, req.complete, req.readable, req.readableEnded, req.readableFlowing, req.destroyed, req.closed, req.aborted, req.errored, req.readableDidRead, req.readableAborted)
    look('start')
    req.on('data', () => look('data'))
    look('listening')
    req.on('end', () => {
      look('end')
      res.end()
    })
    req.on('close', () => look('close'))
    res.on('finish', () => look('finish'))
    res.on('close', () => look('res close'))
  }, post('abc'))
})

test('malformed chunks in the middle of a body end it with an error', async (t) => {
  const { text } = await compare(t, (req, res, log) => {
    for (const event of ['close', 'error', 'aborted', 'end']) req.on(event, (/** @type {any} */ error) => log(event, error?.code))
    req.on('data', (/** @type {Buffer} */ piece) => log('data', piece.toString()))
    res.on('close', () => log('res close'))
  }, [chunked('3\r\nabc\r\n', []), { event: 'data abc' }, 'nonsense\r\n'])
  assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n/)
})

test('a request whose connection the handler destroys ends only with all of its body', async (t) => {
  const server = http.createServer((req) => {
    let body = ''
    let isWhole = false
    req.on('data', (piece) => {
      body += piece
      req.socket.destroy()
    })
    req.on('end', () => { isWhole = true })
    req.on('error', () => {})
    req.on('close', () => server.emit('over', { body, isWhole, complete: req.complete }))
  })
  const port = await serve(t, server)
  // In one segment stock Node delivers the rest, which it has read; in segments of its own it never does.
  for (const steps of [['2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n'], ['2\r\nab\r\n', '2\r\ncd\r\n0\r\n\r\n']]) {
    const over = once(server, 'over')
    const wire = await dial(t, port)
    wire.write(chunked(''))
    for (const step of steps) wire.write(step)
    const [{ body, isWhole, complete }] = await over
    assert.equal(isWhole, body === 'abcd', body)
    assert.equal(complete, body === 'abcd', body)
  }
})
