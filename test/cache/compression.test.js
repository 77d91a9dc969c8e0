'use strict'

// Goal: a stored answer that is asked for again gets compressed variants, which go to clients that accept them, never to somebody with
// credentials, and never longer than their plain answer. Method: bodies that are decoded again, over every protocol, and handlers that count.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const zlib = require('node:zlib')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { backend, http } = require('../helpers/backend')
const { freePort } = require('../helpers/free-port')
const { until } = require('../helpers/waiting')
const { connect, kSkip, member } = require('../sharing/kit')
const { kProtocols, ofCache, serveCached } = require('./protocols-kit')

/** @typedef {import('./protocols-kit').Answer} Answer */
/** @typedef {import('./protocols-kit').Ask} Ask */

const kBody = '<p>The same words again and again, as pages have them.</p>\n'.repeat(100)
const hasZstd = backend === 'engine' && (loadBinding().capabilities.cacheCodings & 2) !== 0
const kCodings = hasZstd ? ['br', 'zstd', 'gzip'] : ['br', 'gzip']
/** @type {Record<string, (bytes: Buffer) => Buffer>} */
const kDecoders = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync, zstd: /** @type {any} */ (zlib).zstdDecompressSync }

/** @param {any} res @param {Record<string, any>} [headers] @param {string | Buffer} [body] */
function page (res, headers = {}, body = kBody) {
  res.writeHead(200, { 'Cache-Control': 'max-age=600', 'Content-Type': 'text/html', ETag: '"one"', ...headers })
  res.end(body)
}

/** @param {Answer} answer @returns {string} the body, decoded */
function decode ({ headers, body }) {
  const bytes = Buffer.from(body, 'latin1')
  assert.equal(Number(headers['content-length']), bytes.length)
  const coding = headers['content-encoding']
  return (coding === undefined ? bytes : kDecoders[coding](bytes)).toString()
}

/** @param {string} coding @param {Record<string, string>} [headers] */
const accepting = (coding, headers = {}) => ({ 'accept-encoding': coding, ...headers })

/**
 * Asks until the answer is the one that is wanted.
 *
 * @param {() => Promise<Answer>} look @param {(answer: Answer) => boolean} isWanted @param {string} what
 * @returns {Promise<Answer>}
 */
async function askUntil (look, isWanted, what) {
  /** @type {Answer | undefined} */
  let answer
  await until(async () => {
    answer = await look()
    return isWanted(answer)
  }, what)
  return /** @type {Answer} */ (/** @type {unknown} */ (answer))
}

/**
 * Asks until the answer is compressed.
 *
 * @param {Ask} ask @param {string} [path] @param {string} [coding]
 * @returns {Promise<Answer>}
 */
function warm (ask, path = '/', coding = 'br') {
  return askUntil(() => ask(path, accepting(coding)), ({ headers }) => headers['content-encoding'] === coding, `an answer in ${coding}`)
}

/**
 * Asks often enough for a variant, and waits until one that is certain to be made later is there: nothing can be on its way.
 *
 * @param {Ask} ask of a server that compresses /known
 * @param {string} path @param {Record<string, string>} [headers]
 * @returns {Promise<Answer>} the last answer
 */
async function plain (ask, path, headers = accepting('br')) {
  for (let i = 0; i < 4; i++) await ask(path, headers)
  await warm(ask, '/known')
  const answer = await ask(path, headers)
  assert.equal(answer.headers['content-encoding'], undefined)
  return answer
}

for (const [protocol, serve] of Object.entries(kProtocols)) {
  test(`${protocol}: an answer that is asked for again is compressed as each client accepts`, ofCache, async (t) => {
    let calls = 0
    const { ask, server } = await serve(t, { cache: { compress: true } }, (req, res) => {
      calls++
      page(res)
    })
    const first = await ask('/', accepting('br, gzip'))
    const second = await ask('/', accepting('br, gzip'))
    for (const { headers, body } of [first, second]) {
      assert.deepEqual([headers['content-encoding'], headers.vary, headers.etag, body], [undefined, 'Accept-Encoding', '"one"', kBody])
    }
    for (const coding of kCodings) {
      const { status, headers, body } = await warm(ask, '/', coding)
      assert.equal(decode({ status, headers, body }), kBody)
      assert.ok(body.length < kBody.length / 4)
      assert.deepEqual([status, headers.vary, headers.etag, headers['content-type'], headers['cache-control']],
        [200, 'Accept-Encoding', 'W/"one"', 'text/html', 'max-age=600'])
      assert.match(String(headers.age), /^\d+$/)
      const head = await ask('/', accepting(coding), 'HEAD')
      assert.deepEqual([head.status, head.body, head.headers['content-encoding'], head.headers['content-length']],
        [200, '', coding, String(body.length)])
    }
    const { headers, body } = await ask('/')
    assert.deepEqual([headers['content-encoding'], headers.etag, headers.vary, body], [undefined, '"one"', 'Accept-Encoding', kBody])
    assert.equal(calls, 1)
    assert.ok(server.cache.stats().compressed >= kCodings.length)
    assert.equal(server.cache.stats().entries, 1)
  })

  test(`${protocol}: a compressed answer has a weak tag that makes 304, and ranges are those of the plain body`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: { compress: ['br'] } }, (req, res) => {
      calls++
      page(res, { 'Accept-Ranges': 'bytes' })
    })
    await ask('/')
    assert.equal((await warm(ask)).headers['accept-ranges'], undefined)
    for (const tag of ['W/"one"', '"one"']) {
      const { status, headers, body } = await ask('/', accepting('br', { 'if-none-match': tag }))
      assert.deepEqual([status, headers.etag, headers.vary, body], [304, 'W/"one"', 'Accept-Encoding', ''])
      assert.equal((await ask('/', { 'if-none-match': tag })).headers.etag, '"one"')
    }
    assert.equal((await ask('/', accepting('br', { 'if-none-match': '"two"' }))).headers['content-encoding'], 'br')
    const part = await ask('/', accepting('br', { range: 'bytes=3-7' }))
    assert.deepEqual([part.status, part.body, part.headers['content-encoding'], part.headers.etag, part.headers.vary],
      [206, kBody.slice(3, 8), undefined, '"one"', 'Accept-Encoding'])
    assert.equal(part.headers['content-range'], `bytes 3-7/${kBody.length}`)
    assert.equal((await ask('/', accepting('br', { range: 'bytes=3-7', 'if-range': '"one"' }))).status, 206)
    // A part of a compressed body is never put together with one of the plain body.
    const whole = await ask('/', accepting('br', { range: 'bytes=3-7', 'if-range': 'W/"one"' }))
    assert.deepEqual([whole.status, whole.body], [200, kBody])
    assert.equal(calls, 1)
  })
}

test('somebody with credentials gets the plain answer, and what was stored for somebody with a cookie is never compressed', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res) => page(res, { 'Cache-Control': 'public, max-age=600' }), { compress: true })
  await warm(ask)
  const { headers, body } = await ask('/', accepting('br', { cookie: 'session=1' }))
  assert.deepEqual([headers['content-encoding'], headers.vary, body], [undefined, 'Accept-Encoding', kBody])
  assert.match(String(headers.age), /^\d+$/)
  const before = calls()
  assert.equal((await ask('/', accepting('br', { authorization: 'Basic eDp5' }))).headers['content-encoding'], undefined)
  assert.equal(calls(), before + 1)
  await ask('/personal', accepting('br', { cookie: 'session=1' }))
  assert.equal((await plain(ask, '/personal')).headers.vary, undefined)
})

test('what must not be compressed, is short, or does not become smaller, stays as it is', ofCache, async (t) => {
  /** @type {Record<string, [Record<string, any>, (string | Buffer)?]>} */
  const pages = {
    '/no-transform': [{ 'Cache-Control': 'max-age=600, no-transform' }],
    '/coded': [{ 'Content-Encoding': 'x-own' }],
    '/digest': [{ 'Repr-Digest': 'sha-256=:AAAA:' }],
    '/image': [{ 'Content-Type': 'image/png' }],
    '/short': [{}, 'a'.repeat(1023)],
    '/known': [{}]
  }
  const { ask } = await serveCached(t, (req, res) => page(res, ...pages[req.url]), { compress: true })
  for (const path of Object.keys(pages)) {
    if (path === '/known') continue
    for (let i = 0; i < 4; i++) await ask(path, accepting('br'))
    await warm(ask, '/known')
    const { headers, body } = await ask(path, accepting('br'))
    assert.match(String(headers.age), /^\d+$/, path)
    assert.equal(headers['content-encoding'], pages[path][0]['Content-Encoding'], path)
    assert.equal(headers.vary, undefined, path)
    assert.equal(body, pages[path][1] ?? kBody, path)
  }
  pages['/noise'] = [{}, crypto.randomBytes(2000)]
  await plain(ask, '/noise', accepting('gzip, br;q=0.1'))
  const stopped = await ask('/known', accepting('br', { 'cache-control': 'no-transform' }))
  assert.deepEqual([stopped.headers['content-encoding'], stopped.body], [undefined, kBody])
})

test('without the option nothing is compressed and nothing varies', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res) => page(res))
  for (let i = 0; i < 5; i++) {
    const { headers } = await ask('/', accepting('br'))
    assert.deepEqual([headers['content-encoding'], headers.vary], [undefined, undefined])
  }
})

test('a response that says itself how it varies keeps its field, and each of its variants is compressed for itself', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res) => {
    page(res, { Vary: req.url === '/own' ? 'Accept-Encoding' : 'Accept-Language' }, `${req.headers['accept-language'] ?? ''}${kBody}`)
  }, { compress: true })
  assert.equal((await warm(ask, '/own')).headers.vary, 'Accept-Encoding')
  for (const language of ['de', 'en']) {
    const { headers, body } = await askUntil(() => ask('/', accepting('br', { 'accept-language': language })),
      (answer) => answer.headers['content-encoding'] === 'br', 'a compressed answer')
    assert.equal(decode({ status: 200, headers, body }), language + kBody)
    assert.equal(headers.vary, 'Accept-Language, Accept-Encoding')
  }
})

test('a streamed answer is compressed, too', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res) => {
    res.writeHead(200, { 'Cache-Control': 'max-age=600', 'Content-Type': 'text/plain' })
    res.write(kBody)
    setImmediate(() => res.end(kBody))
  }, { compress: true })
  assert.equal((await ask('/', accepting('br'))).body, kBody + kBody)
  const { headers, body } = await warm(ask)
  assert.equal(decode({ status: 200, headers, body }), kBody + kBody)
  assert.equal(headers.vary, 'Accept-Encoding')
})

test('a variant is gone with its plain answer: flushed, invalidated, replaced, confirmed', ofCache, async (t) => {
  let version = 0
  const { ask, server, port } = await serveCached(t, (req, res) => {
    if (req.method === 'POST') return res.end()
    if (req.headers['if-none-match'] === `"${version}"`) {
      res.writeHead(304, { 'Cache-Control': 'max-age=600', 'X-Confirmed': 'yes' })
      return res.end()
    }
    page(res, { ETag: `"${version}"` }, `${version}${kBody}`)
  }, { compress: true })
  /** @param {() => Promise<any> | any} change */
  const changes = async (change) => {
    assert.equal(decode(await warm(ask)), version + kBody)
    version++
    await change()
    const { headers, body } = await ask('/', accepting('br'))
    assert.deepEqual([headers['content-encoding'], body], [undefined, version + kBody])
    assert.equal(decode(await warm(ask)), version + kBody)
  }
  await changes(() => server.cache.flush(`http://127.0.0.1:${port}/`))
  await changes(() => server.cache.flush())
  await changes(() => ask('/', {}, 'POST'))
  await changes(() => ask('/', { 'cache-control': 'no-cache' }))
  // The same response with other fields.
  await warm(ask)
  assert.equal((await ask('/', { 'cache-control': 'no-cache' })).headers['x-confirmed'], 'yes')
  const { headers, body } = await ask('/', accepting('br'))
  assert.deepEqual([headers['content-encoding'], headers['x-confirmed'], headers.vary, body], [undefined, 'yes', 'Accept-Encoding', version + kBody])
  const again = await warm(ask)
  assert.deepEqual([again.headers['x-confirmed'], decode(again)], ['yes', version + kBody])
})

test('a stale variant is given while JavaScript makes a new answer', ofCache, async (t) => {
  let calls = 0
  const { ask } = await serveCached(t, (req, res) => {
    page(res, { 'Cache-Control': 'max-age=2, stale-while-revalidate=600' }, `${++calls}${kBody}`)
  }, { compress: true })
  await warm(ask)
  const stale = await askUntil(() => ask('/', accepting('br')),
    ({ headers }) => Number(headers.age) >= 2 && headers['content-encoding'] === 'br', 'a stale answer in br')
  assert.match(decode(stale), /^\d+<p>/)
})

test('the rules of HTTP.SYS compress, too', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res) => {
    res.cacheDuration = 600
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(kBody))
  }, { rules: 'httpsys', compress: true })
  const { headers, body } = await warm(ask)
  assert.equal(decode({ status: 200, headers, body }), JSON.stringify(kBody))
  assert.deepEqual([headers.age, headers.vary], [undefined, 'Accept-Encoding'])
})

test('variants are among the bytes of a server, without being entries, and leave with a flush', ofCache, async (t) => {
  const { ask, server } = await serveCached(t, (req, res) => page(res), { compress: true })
  await ask('/')
  const { bytes } = server.cache.stats()
  assert.ok(bytes > kBody.length)
  let variants = 0
  for (const coding of kCodings) variants += (await warm(ask, '/', coding)).body.length
  const after = server.cache.stats()
  assert.ok(after.bytes > bytes + variants, `${after.bytes} ${bytes} ${variants}`)
  assert.equal(after.entries, 1)
  assert.equal(server.cache.entries().length, 1)
  assert.equal(server.cache.flush(), 1)
  assert.equal(server.cache.stats().bytes, 0)
})

test('variants take their room from the other entries', ofCache, async (t) => {
  // Four characters for three bytes: gzip takes a quarter off.
  const body = crypto.randomBytes(600_000).toString('base64')
  const { ask, server } = await serveCached(t, (req, res) => page(res, {}, body), { compress: ['gzip'] })
  // 1.4 MB each, and 32 MiB for all of them.
  for (let i = 0; i < 40; i++) assert.equal(decode(await warm(ask, `/${i}`, 'gzip')), body)
  const { bytes, memoryBytes, evicted } = server.cache.stats()
  assert.ok(memoryBytes <= 32 * 2 ** 20, String(memoryBytes))
  assert.ok(bytes <= memoryBytes)
  assert.ok(evicted > 0)
})

test('a list with a coding that the running Node lacks is refused', { skip: /** @type {any} */ (ofCache).skip || hasZstd }, () => {
  assert.throws(() => http.createServer(/** @type {any} */ ({ cache: { compress: ['zstd'] } })), { code: 'ERR_HTTPSYS_CAPABILITY' })
})

test('another process of the port gives variants, which their owner makes, and none after a flush', { skip: kSkip }, async (t) => {
  const port = await freePort()
  await member(t, 'a', `http://*:${port}/a/`)
  const b = await member(t)
  await b.tell('listen', { name: 'b', on: [`http://*:${port}/b/`], options: { cache: { compress: ['gzip'] } } })
  const client = await connect(t, port)
  const target = `/b/page?type=text%2Fplain&cc=${encodeURIComponent('public, max-age=600')}`
  // The member that has /a/ routes the second request.
  const askThere = async (/** @type {string[]} */ headers = []) => {
    assert.equal((await client.request('/a/')).owner, 'a')
    return client.request(target, { headers: ['Accept-Encoding: gzip', ...headers] })
  }
  await until(async () => (await askThere()).headers['content-encoding'] === 'gzip', 'a compressed answer')
  await b.standStill()
  for (let i = 0; i < 5; i++) {
    const { status, headers } = await askThere()
    assert.deepEqual([status, headers['content-encoding'], headers.vary], [200, 'gzip', 'Accept-Encoding'])
    const plain = await askThere(['Cookie: session=1'])
    assert.deepEqual([plain.status, plain.headers['content-encoding'], plain.body.length], [200, undefined, 4096])
  }
  b.process.kill('SIGCONT')
  await b.tell('cache', { name: 'b', call: 'flush' })
  const { headers } = await askThere()
  assert.deepEqual([headers['content-encoding'], headers.age], [undefined, undefined])
  await until(async () => (await askThere()).headers['content-encoding'] === 'gzip', 'another compressed answer')
})
