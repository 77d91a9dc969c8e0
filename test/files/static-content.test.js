'use strict'

// Goal: what serve-static does not have: header fields by a table, compressed siblings, several ranges. Method: requests to one folder.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { needs } = require('../helpers/capabilities')
const { backend } = require('../helpers/backend')
const { kModified, makeSite, serveFolder, write } = require('./static-kit')

const options = { ...needs('servesFiles'), ...(backend === 'node' && { skip: 'node:http serves no folders' }) }

const kNewer = new Date(kModified.getTime() + 1000)
const kOlder = new Date(kModified.getTime() - 1000)

test('fields of the table are added to the files that a pattern names, and replace those of the server', options, async (t) => {
  const root = makeSite(t)
  const { ask } = await serveFolder(t, root, {
    headers: {
      '.css': { 'X-Extension': 'css', 'Cache-Control': 'no-cache' },
      '*.txt': { 'X-Glob': 'txt', 'Content-Type': 'text/x-special', 'Content-Language': 'en' },
      'a.*': { 'X-Name': 'a' },
      'sub/**/*.json': { 'X-Deep': 'yes', ETag: '"fixed"', 'Last-Modified': kNewer.toUTCString() },
      noext: { 'X-Bare': 'yes' },
      '*': { 'X-Last': 'first' },
      '**/*.html': { 'X-Last': 'second' }
    }
  })
  const own = async (/** @type {string} */ path) => {
    const { status, headers } = await ask({ path })
    return { status, ...Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-'))) }
  }
  assert.deepEqual(await own('/a.css'), { status: 200, 'x-extension': 'css', 'x-name': 'a', 'x-last': 'first' })
  assert.deepEqual(await own('/a.txt'), { status: 200, 'x-glob': 'txt', 'x-name': 'a', 'x-last': 'first' })
  assert.deepEqual(await own('/sub/deep/b.json'), { status: 200, 'x-deep': 'yes', 'x-last': 'first' })
  assert.deepEqual(await own('/noext'), { status: 200, 'x-bare': 'yes', 'x-last': 'first' })
  assert.deepEqual(await own('/'), { status: 200, 'x-last': 'second' })
  assert.deepEqual(await own('/none'), { status: 404, 'x-content-type-options': 'nosniff' })
  assert.equal((await ask({ path: '/a.css' })).headers['cache-control'], 'no-cache')
  const text = await ask({ path: '/a.txt' })
  assert.deepEqual([text.headers['content-type'], text.headers['content-language']], ['text/x-special', 'en'])
  // Preconditions go by the fields that the client has seen.
  const json = await ask({ path: '/sub/deep/b.json', headers: { 'if-none-match': '"fixed"' } })
  assert.deepEqual([json.status, json.headers.etag, json.headers['x-deep'], json.body], [304, '"fixed"', 'yes', ''])
  assert.equal((await ask({ path: '/sub/deep/b.json', headers: { 'if-match': '"fixed"' } })).status, 200)
  assert.equal((await ask({ path: '/sub/deep/b.json', headers: { 'if-range': '"fixed"', range: 'bytes=0-0' } })).status, 206)
  const notModified = await ask({ path: '/a.txt', headers: { 'if-modified-since': kModified.toUTCString() } })
  assert.deepEqual([notModified.status, notModified.headers['content-type'], notModified.headers['content-language'], notModified.headers['x-glob']],
    [304, undefined, undefined, 'txt'])
})

test('a file whose time says nothing about its content has no validators, so that a deployment of the same size is seen', options, async (t) => {
  for (const seconds of [0, 1]) {
    const root = makeSite(t, {})
    const file = path.join(root, 'a.txt')
    const deploy = (/** @type {string} */ content) => {
      write(`${file}.new`, content, new Date(seconds * 1000))
      fs.renameSync(`${file}.new`, file)
    }
    deploy('first')
    const { ask } = await serveFolder(t, root)
    const first = await ask({ path: '/a.txt' })
    assert.deepEqual([first.status, first.body, first.headers.etag, first.headers['last-modified']], [200, 'first', undefined, undefined])
    deploy('other')
    const size = Number(5).toString(16)
    for (const [name, value] of [['If-None-Match', `W/"${size}-${(seconds * 1000).toString(16)}"`], ['If-Modified-Since', new Date(1000).toUTCString()]]) {
      const asked = await ask({ path: '/a.txt', headers: { [name]: value } })
      assert.deepEqual([asked.status, asked.body], [200, 'other'], `${name} of a file of ${seconds} s`)
    }
  }
})

test('the Last-Modified of a file from the future is not later than Date', options, async (t) => {
  const root = makeSite(t, {})
  write(path.join(root, 'a.txt'), 'text', new Date(Date.now() + 86_400_000))
  const { ask } = await serveFolder(t, root)
  const { status, headers } = await ask({ path: '/a.txt' })
  assert.equal(status, 200)
  assert.ok(Date.parse(headers['last-modified']) <= Date.parse(headers.date), `${headers['last-modified']}, ${headers.date}`)
  assert.equal((await ask({ path: '/a.txt', headers: { 'If-None-Match': headers.etag } })).status, 304)
})

/** @param {string} root */
function writeSiblings (root) {
  write(path.join(root, 'app.js.br'), 'br')
  write(path.join(root, 'app.js.zst'), 'zst', kNewer)
  write(path.join(root, 'app.js.gz'), 'gzip of it')
  write(path.join(root, 'a.css.gz'), 'older', kOlder)
  write(path.join(root, 'index.html.gz'), 'gzip of index')
  fs.mkdirSync(path.join(root, 'a.txt.br'))
}

/** Accept-Encoding, and which body comes. @type {[string | undefined, string][]} */
const kEncodings = [
  [undefined, 'app()'], ['', 'app()'], ['br', 'br'], ['gzip', 'gzip of it'], ['x-gzip', 'gzip of it'], ['zstd', 'zst'], ['gzip, deflate, br, zstd', 'br'], ['gzip, zstd', 'zst'],
  ['gzip;q=1, br;q=0.5', 'gzip of it'], ['br;q=0, *', 'zst'], ['*', 'br'], ['*;q=0', 'app()'], ['identity', 'app()'], ['identity;q=1, gzip;q=0.5', 'app()'],
  ['identity;q=0.5, gzip;q=1', 'gzip of it'], ['deflate', 'app()'], ['BR', 'br'], ['br;q=nonsense, gzip', 'gzip of it']
]

test('a compressed sibling is sent to clients that take it, as the client prefers', options, async (t) => {
  const root = makeSite(t)
  writeSiblings(root)
  const { ask } = await serveFolder(t, root, { precompressed: true })
  const names = new Map([['br', 'br'], ['zst', 'zstd'], ['gzip of it', 'gzip'], ['app()', undefined]])
  const tags = new Set()
  for (const [accepted, body] of kEncodings) {
    const answer = await ask({ path: '/app.js', headers: accepted === undefined ? {} : { 'accept-encoding': accepted } })
    const { headers } = answer
    assert.deepEqual([answer.status, answer.body, headers['content-encoding'], headers['content-length'], headers['content-type'], headers.vary],
      [200, body, names.get(body), String(body.length), 'text/javascript; charset=utf-8', 'Accept-Encoding'], String(accepted))
    tags.add(headers.etag)
  }
  assert.equal(tags.size, 4)
  const index = await ask({ path: '/', headers: { 'accept-encoding': 'gzip' } })
  assert.deepEqual([index.body, index.headers['content-encoding'], index.headers['content-type']], ['gzip of index', 'gzip', 'text/html; charset=utf-8'])
})

test('siblings that are older, folders, and codings that are not wanted are not sent', options, async (t) => {
  const root = makeSite(t)
  writeSiblings(root)
  const all = { 'accept-encoding': 'br, zstd, gzip' }
  const { ask } = await serveFolder(t, root, { precompressed: ['gzip'] })
  const older = await ask({ path: '/a.css', headers: all })
  assert.deepEqual([older.body, older.headers.vary, older.headers['content-encoding']], ['p {}', undefined, undefined])
  assert.equal((await ask({ path: '/app.js', headers: all })).headers['content-encoding'], 'gzip')
  const others = await serveFolder(t, root, { precompressed: ['br', 'zstd'] })
  assert.deepEqual([(await others.ask({ path: '/a.txt', headers: all })).headers.vary, (await others.ask({ path: '/app.js', headers: all })).body], [undefined, 'br'])
  const none = await serveFolder(t, root)
  const plain = await none.ask({ path: '/app.js', headers: all })
  assert.deepEqual([plain.body, plain.headers.vary], ['app()', undefined])
  // Asked for by its own name, a sibling is a file like others.
  const itself = await ask({ path: '/app.js.gz', headers: all })
  assert.deepEqual([itself.status, itself.headers['content-type'], itself.headers['content-encoding']], [200, 'application/gzip', undefined])
})

test('conditions, ranges and HEAD are about the representation that is chosen', options, async (t) => {
  const root = makeSite(t)
  writeSiblings(root)
  const { ask } = await serveFolder(t, root, { precompressed: true })
  const gzip = { 'accept-encoding': 'gzip' }
  const whole = await ask({ path: '/app.js', headers: gzip })
  const plain = await ask({ path: '/app.js' })
  const same = await ask({ path: '/app.js', headers: { ...gzip, 'if-none-match': whole.headers.etag } })
  assert.deepEqual([same.status, same.headers.etag, same.headers.vary, same.headers['content-encoding']], [304, whole.headers.etag, 'Accept-Encoding', undefined])
  assert.equal((await ask({ path: '/app.js', headers: { ...gzip, 'if-none-match': plain.headers.etag } })).status, 200)
  const part = await ask({ path: '/app.js', headers: { ...gzip, range: 'bytes=0-3' } })
  assert.deepEqual([part.status, part.body, part.headers['content-range'], part.headers['content-encoding'], part.headers.vary],
    [206, 'gzip', 'bytes 0-3/10', 'gzip', 'Accept-Encoding'])
  const beyond = await ask({ path: '/app.js', headers: { ...gzip, range: 'bytes=10-' } })
  assert.deepEqual([beyond.status, beyond.headers['content-range'], beyond.headers.vary, beyond.headers['content-encoding']], [416, 'bytes */10', 'Accept-Encoding', undefined])
  const head = await ask({ method: 'HEAD', path: '/app.js', headers: gzip })
  assert.deepEqual([head.status, head.body, head.headers['content-length'], head.headers['content-encoding'], head.headers.vary], [200, '', '10', 'gzip', 'Accept-Encoding'])
})

/** @param {import('./static-kit').Answer} answer @returns {{ range: string, type: string, body: string }[]} */
function partsOf ({ headers, body }) {
  const [, boundary] = /^multipart\/byteranges; boundary="?([^"]+)"?$/.exec(headers['content-type']) ?? assert.fail(headers['content-type'])
  const pieces = body.split(`--${boundary}`)
  assert.match(pieces.shift() ?? '', /^(\r\n)?$/)
  assert.match(pieces.pop() ?? '', /^--\r\n$/)
  return pieces.map((piece) => {
    const [head, ...rest] = piece.split('\r\n\r\n')
    const fields = new Map(head.trim().split('\r\n').map((line) => /** @type {[string, string]} */ ([line.split(': ')[0].toLowerCase(), line.split(': ')[1]])))
    return { range: fields.get('content-range') ?? '', type: fields.get('content-type') ?? '', body: rest.join('\r\n\r\n').replace(/\r\n$/, '') }
  })
}

test('several ranges are parts, in the order of the request', options, async (t) => {
  const root = makeSite(t)
  const bytes = Array.from({ length: 600_000 }, (_, i) => String.fromCharCode(97 + i % 23)).join('')
  write(path.join(root, 'large.txt'), bytes)
  const { ask } = await serveFolder(t, root)
  const ranges = [[500_000, 599_999], [0, 0], [1000, 300_999], [400_000, 400_009]]
  const answer = await ask({ path: '/large.txt', headers: { range: `bytes=${ranges.map((range) => range.join('-')).join(', ')}` } })
  assert.equal(answer.status, 206)
  assert.equal(answer.headers['content-length'], String(answer.body.length))
  assert.equal(answer.headers['content-range'], undefined)
  assert.deepEqual(partsOf(answer), ranges.map(([first, last]) => ({
    range: `bytes ${first}-${last}/600000`, type: 'text/plain; charset=utf-8', body: bytes.slice(first, last + 1)
  })))
  const again = await ask({ path: '/large.txt', headers: { range: 'bytes=0-0, 1000-1000' } })
  assert.notEqual(answer.headers['content-type'], again.headers['content-type'])
})

/** Ranges of 600,000 bytes, and what comes. @type {[string, number, number?][]} */
const kLists = [
  ['0-0, 599999-599999, 700000-', 206, 2],
  ['700000-, 0-0', 206, 1],
  ['700000-, 800000-', 416],
  ['0-0, 50-50', 206, 1],
  ['0-9, x', 200],
  [Array.from({ length: 8 }, (_, i) => `${i * 1000}-${i * 1000}`).join(','), 206, 8],
  [Array.from({ length: 9 }, (_, i) => `${i * 1000}-${i * 1000}`).join(','), 200],
  ['0-, 0-', 200],
  ['0-,'.repeat(200), 200],
  ['-1, 0-0', 206, 2]
]

test('lists that would cost more than the file are answered with the file', options, async (t) => {
  const root = makeSite(t)
  write(path.join(root, 'large.txt'), 'x'.repeat(600_000))
  const { ask } = await serveFolder(t, root)
  for (const [list, status, parts] of kLists) {
    const answer = await ask({ path: '/large.txt', headers: { range: `bytes=${list}` } })
    assert.equal(answer.status, status, list)
    if (status === 200) assert.equal(answer.body.length, 600_000, list)
    if (status === 206) assert.equal(parts === 1 ? Number(answer.headers['content-range'] !== undefined) : partsOf(answer).length, parts, list)
  }
})
