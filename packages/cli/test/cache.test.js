'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { spawn } = require('node:child_process')
const net = require('node:net')
const { test } = require('node:test')
const http = require('@httpsys/core-native')
const { readCacheState } = require('../../core-native/lib/backend/service-state')
const { run } = require('../lib/program')
const { httpsys } = require('./support')

const kEntry = { url: 'http://shop.example:8080/news', status: 200, policy: 'rfc9111', created: 1795642802000, seconds: 10, hits: 3, headBytes: 141, bodyBytes: 4096, varies: false }
const kMember = { pid: 4711, thread: 0, program: 'server.js', flushed: 0, entries: [kEntry] }

/** The command in this process, with ports and answers of our own. */
async function runWith (args, { own = [], answers = {} }) {
  const said = { out: '', err: '' }
  /** @type {any[]} */
  const asked = []
  const answer = async (port, options) => {
    asked.push([port, options])
    if (answers[port] instanceof Error) throw answers[port]
    return answers[port]
  }
  const code = await run(args, {
    out: (text) => { said.out += text },
    err: (text) => { said.err += text },
    portsInUse: () => ({ own, others: [] }),
    readCacheState: answer,
    flushCaches: answer
  })
  return { code, asked, ...said }
}

const failure = (code) => Object.assign(new Error(`it says ${code}`), { code })

test('what is stored is a table whose columns stand below their titles', async () => {
  const worker = { ...kMember, pid: 4712, thread: 1, entries: [{ ...kEntry, url: 'http://a:8080/', policy: 'userInvalidates', seconds: 0 }] }
  const { code, out, err } = await runWith(['show', 'cachestate'], { own: [8080], answers: { 8080: [kMember, worker] } })
  assert.deepEqual([code, err], [0, ''])
  assert.equal(out, `\
URL                            STATUS  POLICY           CREATED               SECONDS  HITS  HEAD  BODY     PID  PROGRAM
http://shop.example:8080/news     200  header           2026-11-25T21:40:02Z       10     3   141  4096    4711  server.js
http://a:8080/                    200  userInvalidates  2026-11-25T21:40:02Z              3   141  4096  4712/1  server.js
`)
})

test('a URL names its port, and --port another one', async () => {
  for (const [args, port] of /** @type {[string[], number][]} */ ([
    [['http://*:8080/news/'], 8080], [['https://shop.example/'], 443], [['http://shop.example'], 80], [['http://[::1]:81/a?b'], 81],
    [['http://*/', '--port', '8080'], 8080]
  ])) {
    const { code, asked } = await runWith(['show', 'cachestate', ...args], { own: [1], answers: { [port]: [] } })
    assert.deepEqual([code, asked], [0, [[port, { url: args[0] }]]])
  }
})

test('what is no URL is not understood', async () => {
  for (const url of ['news', 'ftp://a/', 'http://', 'http://a:0/', 'http://a:65536/', 'http://a:b/']) {
    const { code, asked, err } = await runWith(['delete', 'cache', url], {})
    assert.deepEqual([code, asked], [2, []])
    assert.match(err, /is no URL such as/)
  }
})

test('delete says how many there were, and asks for what is below only if it is told to', async () => {
  const answers = { 8080: [{ ...kMember, flushed: 2 }, { ...kMember, flushed: 0 }] }
  const { code, out, asked } = await runWith(['delete', 'cache', 'http://*:8080/news'], { answers })
  assert.deepEqual([code, out], [0, 'Deleted 2 responses of 2 members.\n'])
  assert.deepEqual(asked, [[8080, { url: 'http://*:8080/news', recursive: false }]])
  const { asked: below } = await runWith(['delete', 'cache', 'http://*:8080/news', '--recursive'], { answers })
  assert.deepEqual(below, [[8080, { url: 'http://*:8080/news', recursive: true }]])
})

test('a port that does not answer is told beside the others, and exits with 1', async () => {
  const answers = { 1: failure('ERR_HTTPSYS_SERVICE_STATE'), 2: failure('ECONNREFUSED'), 3: [kMember] }
  const { code, out, err } = await runWith(['show', 'cachestate', '--json'], { own: [1, 2, 3], answers })
  assert.deepEqual([code, err], [1, ''])
  const { members, problems } = JSON.parse(out)
  assert.deepEqual(members, [{ port: 3, pid: 4711, thread: 0, program: 'server.js', entries: [kEntry] }])
  assert.deepEqual(problems, [{ port: 1, code: 'ERR_HTTPSYS_SERVICE_STATE', message: 'it says ERR_HTTPSYS_SERVICE_STATE' }])
  const { code: named, err: gone } = await runWith(['show', 'cachestate', '-p', '2'], { answers })
  assert.deepEqual([named, gone], [1, 'httpsys: No process of this user has registered a URL prefix on port 2\n'])
})

test('without a cache, and with an empty one, a line says so', async () => {
  assert.equal((await runWith(['show', 'cachestate'], {})).out, 'No process of this user has an output cache.\n')
  assert.equal((await runWith(['show', 'cachestate'], { own: [1], answers: { 1: [{ ...kMember, entries: [] }] } })).out, 'Nothing is stored.\n')
  assert.equal((await runWith(['delete', 'cache'], { own: [1], answers: { 1: [] } })).out, 'No process of this user has an output cache.\n')
})

test('a member without a cache is left out, and control characters are replaced', async () => {
  const { flushed, entries, ...member } = kMember
  // The addon has the policy as a number and times in seconds.
  const cache = { flushed, entries: [{ ...kEntry, policy: 0, created: kEntry.created / 1000, url: 'http://a/\x1b[2J' }] }
  const ask = (/** @type {number} */ port, /** @type {any} */ answer) => answer(0, { port, members: [{ ...member, id: '1', cache }, member] })
  assert.deepEqual(await readCacheState(1, { ask }), [{ ...kMember, entries: [{ ...kEntry, url: 'http://a/\ufffd[2J' }] }])
})

const kSkip = http.backend === 'node' ? 'stock Node keeps no responses' : process.platform !== 'linux' && 'members meet at abstract sockets'

test('the real command sees and empties the caches of all processes of a port', { skip: kSkip, timeout: 60_000 }, async (t) => {
  const free = net.createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (free.address())
  free.close()
  await once(free, 'close')
  const program = `
    const http = require(${JSON.stringify(require.resolve('@httpsys/core-native'))})
    let count = 0
    http.createServer({ cache: true }, (req, res) => {
      res.setHeader('Cache-Control', 'public, max-age=600')
      res.end(process.argv[1] + ' ' + ++count)
    }).listen('http://127.0.0.1:${port}/' + process.argv[1] + '/', () => console.log('listens'))`
  for (const name of ['one', 'two']) {
    const child = spawn(process.execPath, ['-e', program, name], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_TEST_CONTEXT: undefined } })
    t.after(() => child.kill('SIGKILL'))
    await once(/** @type {any} */ (child.stdout), 'data')
  }
  const base = `http://127.0.0.1:${port}`
  const bodyOf = async (/** @type {string} */ path) => (await fetch(base + path)).text()
  const ask = async () => [await bodyOf('/one/a'), await bodyOf('/one/b'), await bodyOf('/two/a')]
  assert.deepEqual(await ask(), ['one 1', 'one 2', 'two 1'])
  assert.deepEqual(await ask(), ['one 1', 'one 2', 'two 1'])
  const urls = async (/** @type {string[]} */ ...args) => {
    const { code, out, err } = await httpsys(['show', 'cachestate', ...args, '--json'])
    assert.deepEqual([code, err], [0, ''])
    return JSON.parse(out).members.flatMap(({ entries }) => entries.map(({ url }) => url)).sort()
  }
  assert.deepEqual(await urls(`http://*:${port}/`), [`${base}/one/a`, `${base}/one/b`, `${base}/two/a`])
  // readCacheState() gives entries in the form of server.cache.entries().
  const { out } = await httpsys(['show', 'cachestate', `${base}/one/a`, '--json'])
  const [{ policy, created }] = JSON.parse(out).members.flatMap(({ entries }) => entries)
  assert.equal(policy, 'rfc9111')
  assert.ok(Math.abs(created - Date.now()) < 60_000, `${created} ms`)
  assert.deepEqual(await urls(`${base}/one/`), [`${base}/one/a`, `${base}/one/b`])
  assert.match((await httpsys(['delete', 'cache', `${base}/one/a`])).out, /^Deleted 1 response of 2 members\.\n$/)
  assert.deepEqual(await ask(), ['one 3', 'one 2', 'two 1'])
  assert.match((await httpsys(['delete', 'cache', `http://*:${port}/`, '--recursive'])).out, /^Deleted 3 responses of 2 members\.\n$/)
  assert.deepEqual(await urls(`http://*:${port}/`), [])
  assert.deepEqual(await ask(), ['one 4', 'one 5', 'two 2'])
  assert.match((await httpsys(['delete', 'cache', '--port', String(port)])).out, /^Deleted 3 responses of 2 members\.\n$/)
})
