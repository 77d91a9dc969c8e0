'use strict'

// Goal: `npm run compat -- wire` cannot be green by mistake. How fixtures are read and how outcomes are
// judged is tested here, with fixtures of our own.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { decodeBlock, parseFixtures } = require('../../tools/compat/wire/fixtures')
const { executeWire } = require('../../tools/compat/wire/execute')
const { isEarlier, kClasses, judge, statuses } = require('../../tools/compat/wire/judge')
const { kKnown, kPage } = require('../../tools/compat')

const kFixtures = `
# Examples

Text with an http word.

## First

<!-- meta={"type": "request"} -->
\`\`\`http
POST /a HTTP/1.1
Content-Length: 3

# b
\`\`\`

\`\`\`log
off=0 message begin
\`\`\`

### Below
\`\`\`http
GET /b HTTP/1.1


\`\`\`
\`\`\`http
rubbish
\`\`\`

### Closing
\`\`\`http
GET /d HTTP/1.1
Connection: close

GET /e HTTP/1.1


\`\`\`

## Second
\`\`\`http
GET /c HTTP/2.0


\`\`\`
`

test('a block becomes bytes: CRLF for line ends, escapes for everything else', () => {
  const decode = (/** @type {string} */ block) => decodeBlock(block).toString('latin1')
  assert.equal(decode('GET / HTTP/1.1\nA: b\n\n\n'), 'GET / HTTP/1.1\r\nA: b\r\n\r\n')
  assert.equal(decode('a\\r\\n\\t\\fb\n'), 'a\r\n\t\fb')
  assert.equal(decode('a\\n\\\nb\n'), 'a\nb')
  assert.equal(decode('\\033\\x41\n'), '\x1bA')
  assert.equal(decode('/\u03b4\n'), '/\xce\xb4')
  // eslint-disable-next-line no-template-curly-in-string
  assert.throws(() => decode('${"a".repeat(3)}\n'), /expression/)
})

test('fixtures are named by their file and the headings above them', () => {
  assert.deepEqual(parseFixtures('x.md', kFixtures).map(({ name, bytes }) => [name, bytes.toString('latin1')]), [
    ['x.md: Examples > First', 'POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\n# b'],
    ['x.md: Examples > First > Below', 'GET /b HTTP/1.1\r\n\r\n'],
    ['x.md: Examples > First > Below (2)', 'rubbish'],
    ['x.md: Examples > First > Closing', 'GET /d HTTP/1.1\r\nConnection: close\r\n\r\nGET /e HTTP/1.1\r\n\r\n'],
    ['x.md: Examples > Second', 'GET /c HTTP/2.0\r\n\r\n'],
  ])
})

const kRefused = { text: 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n', seen: [], errors: [], open: false }
/** @param {string} url @param {object} [more] */
const seen = (url, more = {}) => ({ head: ['GET', url, '1.1', []], body: '', trailers: [], end: 'end', ...more })
/** @param {...string} urls */
const served = (...urls) => ({ text: urls.map((url) => `HTTP/1.1 200 OK\r\n\r\n{"url":"${url}"}`).join(''), seen: urls.map((url) => seen(url)), errors: [], open: true })

test('the statuses of answers are those of answers, whatever bodies say', () => {
  assert.deepEqual(statuses({ ...served('/a', '/b') }), [200, 200])
  assert.deepEqual(statuses({ ...kRefused, text: `{"body":"HTTP/1.1 500 x"}${kRefused.text}` }), [400])
})

test('a difference has a name only when the input is of that kind and ours is stricter', () => {
  const odd = Buffer.from('GET /a HTTP/2.0\r\n\r\n')
  assert.equal(judge(odd, served('/a'), served('/a')), null)
  assert.equal(judge(odd, served('/a'), kRefused), 'version-other-than-1.0-or-1.1')
  assert.equal(judge(Buffer.from('GET /a HTTP/1.1\r\n\r\n'), served('/a'), kRefused), 'different')
  // Laxer, or otherwise: never.
  assert.equal(judge(odd, kRefused, served('/a')), 'different')
  assert.equal(judge(odd, served('/a'), served('/a', '/poison')), 'different')
  assert.equal(judge(odd, served('/a'), { ...kRefused, seen: [seen('/poison')] }), 'different')
  assert.equal(judge(odd, served('/a'), { ...kRefused, seen: [seen('/a', { body: 'x', end: 'ECONNRESET' })] }), 'different')
  assert.equal(judge(odd, served('/a'), { ...kRefused, open: true }), 'different')
  assert.equal(judge(odd, served('/a'), { ...kRefused, late: true }), 'different')
})

test('another segmentation, a close that was announced and one that was asked for are told apart', () => {
  const pipeline = Buffer.from('GET /a HTTP/1.1\r\nConnection: close\r\n\r\nGET /b HTTP/1.1\r\n\r\n')
  const closed = { ...served('/a'), open: false }
  assert.equal(judge(pipeline, kRefused, closed, [closed]), 'as-in-other-segments')
  assert.equal(judge(pipeline, kRefused, { ...closed, errors: ['HPE_CLOSED_CONNECTION'] }, [closed]), 'behind-a-close')
  assert.equal(judge(pipeline, served('/a'), closed), 'close-as-asked')
  assert.equal(judge(Buffer.from('GET /a HTTP/1.1\r\n\r\n'), served('/a'), closed), 'different')
  assert.equal(judge(pipeline, closed, served('/a'), [closed]), 'different')
})

test('what ours does only once is not forgiven; an outcome that was looked at too soon is', () => {
  const first = served('/a')
  assert.ok(isEarlier(first, first))
  assert.ok(isEarlier({ ...first, open: true }, { ...first, open: false }))
  assert.ok(isEarlier({ text: '', seen: [seen('/a', { end: 'open' })], errors: [] }, first))
  assert.ok(isEarlier({ text: '', seen: [], errors: [] }, first))
  assert.ok(!isEarlier({ ...first, late: true }, first))
  assert.ok(!isEarlier({ ...first, open: false }, { ...first, open: true }))
  assert.ok(!isEarlier(served('/a', '/poison'), first))
  assert.ok(!isEarlier({ ...first, text: `${first.text}x` }, first))
  assert.ok(!isEarlier({ ...first, errors: ['HPE_INVALID_METHOD'] }, first))
  assert.ok(!isEarlier({ ...first, seen: [seen('/a', { body: 'x', end: 'open' })] }, first))
})

test('every named difference is a row of the page, and what is listed is a named difference', () => {
  const page = fs.readFileSync(kPage, 'utf8')
  for (const name of kClasses) assert.ok(page.includes(`\`${name}\``), name)
  for (const { test } of JSON.parse(fs.readFileSync(kKnown, 'utf8')).wire) assert.ok(kClasses.includes(test), test)
})

test('fixtures go to both servers whole, byte by byte and cut off; what differs counts against its name', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-wire-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  fs.writeFileSync(path.join(folder, 'x.md'), kFixtures)
  const suite = /** @type {const} */ ({
    name: 'example', source: { kind: 'pypi', name: 'example', version: '1', sha256: '', members: [] }, runner: 'wire', files: ['*.md'], limitSeconds: 60
  })
  const stock = await executeWire({ ...suite, source: { ...suite.source, members: [] }, files: [...suite.files] }, folder, 'stock', path.join(folder, 'run-stock'))
  const ours = await executeWire({ ...suite, source: { ...suite.source, members: [] }, files: [...suite.files] }, folder, 'ours', path.join(folder, 'run-ours'))
  assert.equal(stock.tests.size, 5 * 3 + kClasses.length)
  assert.deepEqual([...stock.tests.values()].filter(({ result }) => result !== 'pass'), [])
  const lost = [...ours.tests].filter(([, { result }]) => result !== 'pass')
  assert.deepEqual(lost.map(([name]) => name), ['version-other-than-1.0-or-1.1', 'as-in-other-segments', 'behind-a-close'], JSON.stringify(lost))
  assert.match(lost[0][1].error ?? '', /GET \/c HTTP\/2\.0/)
  assert.ok(ours.requests > 0)
  assert.equal(stock.requests, 0)
})
