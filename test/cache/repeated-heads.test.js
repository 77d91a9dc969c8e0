'use strict'

// Goal: of pipelined requests, one whose head has the bytes of the one before it gets what it would have got alone, and each other one, too.
// Method: every order of a few heads that differ in what decides about an answer, at random, beside the answers to each of them alone.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { dial } = require('../helpers/client')
const { counting } = require('./kit')
const { ofCache } = require('./protocols-kit')

const kSequences = 400
const kRequestsMax = 24

/** @param {string} line @param {...string} more */
const head = (line, ...more) => [`${line} HTTP/1.1`, 'Host: a', ...more, '', ''].join('\r\n')

const kHeads = [
  head('GET /one'),
  head('GET /one', 'Accept: text/html'),
  head('GET /one', 'Range: bytes=1-3'),
  head('GET /one', 'If-None-Match: "/one"'),
  head('GET /one', 'Cookie: user=x'),
  head('GET /one', 'Authorization: Basic eDp5'),
  head('GET /one', 'Cache-Control: no-cache'),
  head('HEAD /one'),
  head('GET /two'),
  head('GET /two', 'X-Forwarded-Host: b'),
  head('GET /refused'),
  head('GET /long'),
]
const kLast = head('GET /last', 'Connection: close')

/** A generator of small numbers, the same ones in each run. @param {number} seed @returns {(below: number) => number} */
function numbers (seed) {
  let state = seed
  return (below) => {
    state = Math.imul(state, 1664525) + 1013904223 >>> 0
    return Math.floor(state / 2 ** 32 * below)
  }
}

/** @param {string} text */
const withoutTimes = (text) => text.replace(/^(Date|Age): .*\r\n/gim, '')

/** Bytes of the bodies that are not short. @type {Record<string, number>} */
const kLengths = { '/long': 100_000, '/larger': 500_000 }

/** @param {import('node:test').TestContext} t */
async function start (t) {
  const { server, port, counted } = await counting(t, true, (req, res) => {
    const { cookie = '', authorization = '', accept = '' } = req.headers
    if (req.method === 'POST') return res.end('changed')
    const isPublic = cookie === '' && authorization === '' && req.url !== '/refused'
    res.writeHead(200, { ETag: `"${req.url}"`, Vary: 'Accept', ...isPublic && { 'Cache-Control': 'max-age=60' } })
    res.end(`${req.url} ${accept} ${cookie} ${authorization} ${req.headers['x-forwarded-host'] ?? ''} ${'.'.repeat(kLengths[req.url] ?? 100)}`)
  })
  /** @param {string[]} heads @returns {Promise<string>} the answers, without what changes by the second */
  const ask = async (heads) => {
    const wire = await dial(t, port)
    wire.write(heads.join('') + kLast)
    const text = await wire.untilClosed()
    return withoutTimes(text)
  }
  // The first answer to the last request is stored, and the others are made of it.
  await ask([])
  const last = await ask([])
  const isWhole = (/** @type {string} */ text) => assert.ok(text.endsWith(last), 'the connection ended early')
  return {
    server,
    port,
    counted,
    /** @param {string[]} heads */
    async answers (heads) {
      const text = await ask(heads)
      isWhole(text)
      return text.slice(0, text.length - last.length)
    }
  }
}

test('pipelined requests get what each of them gets alone', ofCache, async (t) => {
  const { answers, counted } = await start(t)
  for (const one of kHeads) await answers([one])
  const alone = new Map()
  for (const one of kHeads) alone.set(one, await answers([one]))
  const next = numbers(20261128)
  const before = counted.count
  let asked = 0
  for (let sequence = 0; sequence < kSequences; sequence++) {
    const heads = []
    while (heads.length < kRequestsMax) {
      const one = kHeads[next(kHeads.length)]
      for (let times = 1 + next(4); times > 0; times--) heads.push(one)
    }
    asked += heads.length
    assert.equal(await answers(heads), heads.map((one) => alone.get(one)).join(''), JSON.stringify(heads))
  }
  // Only requests with credentials, and those that the cache may not answer, come to the handler.
  assert.ok(counted.count - before < asked / 2, `${counted.count - before} of ${asked}`)
})

test('each of many same requests is counted as a hit', ofCache, async (t) => {
  const { answers, counted, server } = await start(t)
  await answers([kHeads[0]])
  const { hits } = server.cache.stats()
  const before = counted.count
  await answers(Array(30).fill(kHeads[0]))
  assert.equal(server.cache.stats().hits - hits, 31, 'and that of the last one')
  assert.equal(counted.count, before)
})

test('a head that comes in pieces is not mistaken for the one behind it', ofCache, async (t) => {
  const { answers, counted, port } = await start(t)
  const kPart = 'GET /two HTTP/1.1\r\nHost: a\r\n'
  for (const second of [kHeads[0], kHeads[4], kHeads[7], head('POST /one', 'Content-Length: 0')]) {
    // The first answers are those of the handler.
    for (const one of [head('GET /two'), kHeads[0], kHeads[7]]) await answers([one])
    const [other, pieces, alone] = [await dial(t, port), await dial(t, port), await dial(t, port)]
    await alone.write(head('GET /two') + second + kLast).untilClosed()
    const before = counted.count
    pieces.write(kPart)
    // The I/O thread has read the beginning when it has answered another connection.
    await other.write(second + second).until('HTTP/1.1 200 OK', 2)
    const between = counted.count
    await pieces.write(`\r\n${second}${kLast}`).untilClosed()
    assert.equal(withoutTimes(pieces.text), withoutTimes(alone.text), second)
    assert.equal(counted.count - between, (between - before) / 2, 'the handler runs as often as for one alone')
  }
})

test('a small answer is repeated whole behind the look-up of a large one', ofCache, async (t) => {
  const { answers } = await start(t)
  const kLarge = head('GET /larger')
  const ones = kHeads.slice(0, 2)
  for (const one of [...ones, kLarge]) await answers([one])
  const alone = await answers([ones[0]])
  for (const looked of [head('GET /larger', 'Cache-Control: no-cache'), head('GET /larger', 'Cookie: user=x')]) {
    await answers([looked])
    assert.equal(await answers(Array(3).fill(ones[0])), alone.repeat(3))
  }
})

test('a change between two same requests of a pipeline is seen', ofCache, async (t) => {
  const { answers, counted } = await start(t)
  await answers([kHeads[0]])
  const before = counted.count
  const change = head('POST /one', 'Content-Length: 0')
  const text = await answers([kHeads[0], kHeads[0], change, kHeads[0], kHeads[0]])
  assert.match(text, /changed/)
  assert.ok(counted.count - before >= 2, 'the handler was asked again')
})
