'use strict'

// Goal: what changes in a folder is noticed within a second, also the folder itself, and a request never mixes two folders. Method: files are
// changed as deployments change them, while they are asked for.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { needs } = require('../helpers/capabilities')
const { backend } = require('../helpers/backend')
const { dial, get } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { kModified, makeSite, serveFolder, temporaryFolder, write } = require('./static-kit')

const options = { ...needs('servesFiles'), ...(backend === 'node' && { skip: 'node:http serves no folders' }) }

/** Within a second, and what a busy machine adds. */
const kNoticedMs = 1000
const kBusyMs = 1500

/**
 * Asks again and again until the answer is as wanted.
 *
 * @param {() => Promise<import('./static-kit').Answer>} ask
 * @param {(answer: import('./static-kit').Answer) => boolean} isWanted
 */
async function noticed (ask, isWanted) {
  const changed = performance.now()
  for (;;) {
    const asked = performance.now()
    const answer = await ask()
    if (isWanted(answer)) return answer
    assert.ok(asked - changed < kNoticedMs + kBusyMs, `not noticed after ${asked - changed} ms: ${answer.status} ${answer.body.slice(0, 100)}`)
    await sleep(20)
  }
}

/** @type {Record<string, (file: string) => void>} */
const kChanges = {
  'written in place': (file) => fs.writeFileSync(file, 'second, longer'),
  'replaced by rename': (file) => {
    fs.writeFileSync(`${file}.new`, 'second, longer')
    fs.renameSync(`${file}.new`, file)
  },
  'removed and created': (file) => {
    fs.rmSync(file)
    fs.writeFileSync(file, 'second, longer')
  }
}

for (const [how, change] of Object.entries(kChanges)) {
  test(`a file that is ${how} is sent as it is within a second`, options, async (t) => {
    const root = makeSite(t)
    const { ask } = await serveFolder(t, root)
    const before = await ask({ path: '/a.txt' })
    change(path.join(root, 'a.txt'))
    const after = await noticed(() => ask({ path: '/a.txt' }), ({ body }) => body === 'second, longer')
    assert.notEqual(after.headers.etag, before.headers.etag)
    assert.equal(after.headers['content-length'], '14')
  })
}

test('files that come and go are noticed, as are siblings, folders and index files', options, async (t) => {
  const root = makeSite(t)
  const { ask } = await serveFolder(t, root, { precompressed: true })
  const paths = ['/a.txt', '/new.txt', '/emptydir/', '/sub/deep', '/app.js']
  const statuses = async () => (await Promise.all(paths.map((path) => ask({ path })))).map(({ status }) => status)
  assert.deepEqual(await statuses(), [200, 404, 404, 301, 200])
  fs.rmSync(path.join(root, 'a.txt'))
  fs.writeFileSync(path.join(root, 'new.txt'), 'new')
  fs.writeFileSync(path.join(root, 'emptydir/index.html'), 'not empty')
  fs.rmSync(path.join(root, 'sub/deep'), { recursive: true })
  write(path.join(root, 'app.js.br'), 'br', kModified)
  await until(async () => (await statuses()).join() === '404,200,200,404,200', 'every change is noticed')
  await noticed(() => ask({ path: '/app.js', headers: { 'accept-encoding': 'br' } }), ({ body }) => body === 'br')
  fs.writeFileSync(path.join(root, 'app.js'), 'newer than its sibling')
  await noticed(() => ask({ path: '/app.js', headers: { 'accept-encoding': 'br' } }), ({ body }) => body === 'newer than its sibling')
})

/** Two releases whose files say which one they are. @param {import('node:test').TestContext} t */
function makeReleases (t) {
  const parent = temporaryFolder(t)
  for (const release of ['one', 'two']) {
    for (let i = 0; i < 20; ++i) write(path.join(parent, release, `${i}.txt`), release)
    write(path.join(parent, release, `only-${release}.txt`), release)
  }
  return parent
}

/** @type {Record<string, { begin (parent: string): void, flip (parent: string): void }>} */
const kFlips = {
  'a link that is replaced': {
    begin: (parent) => fs.symlinkSync('one', path.join(parent, 'current')),
    flip: (parent) => {
      fs.symlinkSync('two', path.join(parent, 'next'))
      fs.renameSync(path.join(parent, 'next'), path.join(parent, 'current'))
    }
  },
  'a folder that is renamed': {
    begin: (parent) => fs.renameSync(path.join(parent, 'one'), path.join(parent, 'current')),
    flip: (parent) => {
      fs.renameSync(path.join(parent, 'current'), path.join(parent, 'old'))
      fs.renameSync(path.join(parent, 'two'), path.join(parent, 'current'))
    }
  }
}

for (const [how, { begin, flip }] of Object.entries(kFlips)) {
  test(`the folder is ${how}: within a second all files are those of the new one`, options, async (t) => {
    const parent = makeReleases(t)
    begin(parent)
    const { ask } = await serveFolder(t, path.join(parent, 'current'))
    const all = () => Promise.all(Array.from({ length: 20 }, (_, i) => ask({ path: `/${i}.txt` })))
    assert.ok((await all()).every(({ body }) => body === 'one'))
    assert.equal((await ask({ path: '/only-two.txt' })).status, 404)
    flip(parent)
    await noticed(() => ask({ path: '/0.txt' }), ({ body }) => body === 'two')
    // When one request has seen the new folder, all do.
    assert.ok((await all()).every(({ body }) => body === 'two'))
    assert.deepEqual([(await ask({ path: '/only-two.txt' })).status, (await ask({ path: '/only-one.txt' })).status], [200, 404])
  })
}

test('while folders are exchanged, every answer is wholly of one of them', options, async (t) => {
  const parent = makeReleases(t)
  const large = { one: '1'.repeat(100_000), two: '2'.repeat(120_000) }
  for (const release of /** @type {const} */ (['one', 'two'])) {
    // A file and its sibling: an answer that took one from each folder would have the wrong length, tag or bytes.
    write(path.join(parent, release, 'large.txt'), large[release])
    write(path.join(parent, release, 'large.txt.br'), large[release].slice(0, 50_000 + Number(release === 'two')))
  }
  fs.symlinkSync('one', path.join(parent, 'current'))
  const { ask } = await serveFolder(t, path.join(parent, 'current'), { precompressed: true })
  const seen = new Set()
  const end = performance.now() + 4000
  let release = 'one'
  const flipping = (async () => {
    while (performance.now() < end) {
      release = release === 'one' ? 'two' : 'one'
      fs.symlinkSync(release, path.join(parent, 'next'))
      fs.renameSync(path.join(parent, 'next'), path.join(parent, 'current'))
      await sleep(300)
    }
  })()
  while (performance.now() < end) {
    const coded = await ask({ path: '/large.txt', headers: { 'accept-encoding': 'br' } })
    const plain = await ask({ path: '/large.txt' })
    for (const { status, body, headers } of [coded, plain]) {
      const [digit] = body
      const release = digit === '1' ? 'one' : 'two'
      const bytes = headers['content-encoding'] === 'br' ? 50_000 + Number(release === 'two') : large[release].length
      assert.deepEqual([status, body.length, headers['content-length'], body === digit.repeat(bytes)], [200, bytes, String(bytes), true])
      assert.ok(headers.etag.startsWith(`W/"${bytes.toString(16)}-`), headers.etag)
      seen.add(release)
    }
  }
  await flipping
  assert.equal(seen.size, 2)
})

test('a folder that goes is 404, and is served when it is back', options, async (t) => {
  const root = makeSite(t)
  const { ask } = await serveFolder(t, root)
  assert.equal((await ask({ path: '/a.txt' })).status, 200)
  fs.renameSync(root, `${root}-away`)
  t.after(() => fs.rmSync(`${root}-away`, { recursive: true, force: true }))
  await noticed(() => ask({ path: '/a.txt' }), ({ status }) => status === 404)
  fs.renameSync(`${root}-away`, root)
  await noticed(() => ask({ path: '/a.txt' }), ({ status }) => status === 200)
})

test('a file that becomes shorter while it is sent ends the connection', options, async (t) => {
  const root = makeSite(t)
  const bytes = 60 * 1024 * 1024
  fs.writeFileSync(path.join(root, 'large.bin'), Buffer.alloc(bytes, 'x'))
  const { port } = await serveFolder(t, root)
  const wire = await dial(t, port)
  wire.write(get('/large.bin'))
  await wire.until('\r\n\r\n')
  wire.socket.pause()
  fs.truncateSync(path.join(root, 'large.bin'), 1000)
  wire.socket.resume()
  const text = await wire.untilClosed()
  assert.match(text, /content-length: 62914560/i)
  assert.ok(text.length < bytes)
})

test('files that are not served any more are not kept open', { ...options, ...(!fs.existsSync('/proc/self/fd') && { skip: 'there is no /proc' }) }, async (t) => {
  const root = makeSite(t)
  const { server, ask } = await serveFolder(t, root)
  const opened = () => fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(root)
    } catch {
      return false
    }
  }).length
  for (const name of ['a.txt', 'app.js', 'a.css', 'sub/', 'image.png']) assert.equal((await ask({ path: `/${name}` })).status, 200)
  assert.ok(opened() > 0)
  await server.removeFiles('/')
  await until(() => opened() === 0, 'nothing of the folder is open')
})
