'use strict'

// Goal: no request gets a byte from outside of a served folder, or of a file in it that is not to be served. Method: generated targets, sent as
// they are, because clients change them; a secret lies outside, beside and behind links, and may be in no answer.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const net = require('node:net')
const path = require('node:path')
const { Buffer } = require('node:buffer')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')
const { needs } = require('../helpers/capabilities')
const { backend, http } = require('../helpers/backend')
const { listen, stop } = require('../helpers/client')
const { kIsThorough } = require('../helpers/thorough')
const { temporaryFolder } = require('./static-kit')

const options = { ...needs('servesFiles'), timeout: 240_000, ...(backend === 'node' && { skip: 'node:http serves no folders' }) }

/** Requests that are pipelined on one connection. */
const kBatch = 100
/** Files of the folder that is exchanged while it is read. */
const kRaced = 3000

// -- Targets.

/** A dot, as one reader or another might take it. */
const kDots = ['.', '%2e', '%2E', '%252e', '%c0%ae', '%C0%2E', '%e0%80%ae', '%f0%80%80%ae', '%u002e', '%uff0e', '%ef%bc%8e', '\u00c0\u00ae']
/** A separator, in the same way. */
const kSeparators = ['/', '//', '/./', '%2f', '%2F', '%252f', '\\', '%5c', '%255c', '/\\', '%c0%af', '%u2215', ';/', '/;/', '%00/']
const kDepths = [1, 2, 3, 4, 5, 6, 7, 8]
/** What the climb begins with: nothing, a folder that is there, one that is not, a file, a link. */
const kBeginnings = ['', 'sub', 'sub/deep', 'none', 'a.txt', 'out', '.', '%2e']
/** What it ends at, for each depth. */
const kEnds = ['secret.txt', 'outside/secret.txt']

/** @returns {Generator<string>} targets below '/' */
function * climbs () {
  for (const dot of kDots) {
    for (const separator of kSeparators) {
      for (const depth of kDepths) {
        for (const beginning of kBeginnings) {
          const up = Array(depth).fill(dot + dot).join(separator)
          for (const end of kEnds) yield [...beginning === '' ? [] : [beginning], up, end].join(separator)
        }
      }
    }
  }
}

/** @returns {Generator<string>} other ways to what is not to be served */
function * others () {
  const names = [
    '.env', '.hidden/secret.txt', 'out/secret.txt', 'out-file', 'out-absolute', 'up/secret.txt', 'up/outside/secret.txt', 'system/etc/passwd', 'process/cwd',
    'sub/.env', 'loop', 'loop/secret.txt', 'pipe'
  ]
  const disguises = [
    (/** @type {string} */ name) => name, (/** @type {string} */ name) => name.replaceAll('.', '%2e'), (/** @type {string} */ name) => name.replaceAll('/', '//'),
    (/** @type {string} */ name) => name.replaceAll('/', '/./'), (/** @type {string} */ name) => name.replaceAll('/', '%2f'), (/** @type {string} */ name) => `sub/../${name}`,
    (/** @type {string} */ name) => `sub/%2e%2e/${name}`, (/** @type {string} */ name) => `./${name}`, (/** @type {string} */ name) => `/${name}`, (/** @type {string} */ name) => `${name}/`,
    (/** @type {string} */ name) => `${name}%00`, (/** @type {string} */ name) => `${name}%00.txt`, (/** @type {string} */ name) => `${name}?x=/`, (/** @type {string} */ name) => `${name};x`,
    (/** @type {string} */ name) => Array.from(name, (letter) => `%${letter.charCodeAt(0).toString(16)}`).join(''), (/** @type {string} */ name) => `${name}.`,
    (/** @type {string} */ name) => `${name}%20`, (/** @type {string} */ name) => `${name}::$DATA`, (/** @type {string} */ name) => name.toUpperCase(), (/** @type {string} */ name) => `${name}/.`,
    (/** @type {string} */ name) => `${name}/..`, (/** @type {string} */ name) => `none/../${name}`, (/** @type {string} */ name) => `${name}/none/..`
  ]
  for (const name of names) for (const disguise of disguises) yield disguise(name)
}

/** @param {string} absolute the path of the secret @returns {Generator<string>} absolute paths, and targets that are no paths */
function * absolutes (absolute) {
  for (const name of [absolute, '/etc/passwd', '/proc/self/environ']) {
    yield * [name, `/${name}`, `//${name}`, name.replaceAll('/', '%2f'), `file://${name}`, `%2e${name}`, `.${name}`, `C:${name}`, `~${name}`]
  }
}

/** @param {string} base where the folder is @param {string} secret @returns {string[]} every target, as it stands in a request line */
function targetsFor (base, secret) {
  return [...climbs(), ...others(), ...absolutes(secret)].flatMap((target, i) => {
    const own = `${base}${target}`
    return i % 10 === 0 ? [own, `http://a${own}`, target.startsWith('/') ? target : `/${target}`] : [own]
  }).map((target) => target.replaceAll(' ', '%20'))
}

// -- The folder.

/** @param {import('node:test').TestContext} t */
function makeFolders (t) {
  const outer = temporaryFolder(t)
  const canary = `canary-${randomBytes(12).toString('hex')}`
  const root = path.join(outer, 'site')
  const write = (/** @type {string} */ name, content = canary) => {
    fs.mkdirSync(path.dirname(path.join(outer, name)), { recursive: true })
    fs.writeFileSync(path.join(outer, name), content)
  }
  for (const name of ['secret.txt', 'outside/secret.txt', 'site/.env', 'site/.hidden/secret.txt', 'site/sub/.env', 'site-neighbour/secret.txt']) write(name)
  for (const name of ['site/a.txt', 'site/sub/b.txt', 'site/sub/deep/c.txt']) write(name, 'public')
  const link = (/** @type {string} */ to, /** @type {string} */ name) => fs.symlinkSync(to, path.join(root, name))
  link('../outside', 'out')
  link('../secret.txt', 'out-file')
  link(path.join(outer, 'secret.txt'), 'out-absolute')
  link('..', 'up')
  link('/', 'system')
  link('/proc/self', 'process')
  link('loop', 'loop')
  link('sub', 'within')
  return { outer, root, canary, secret: path.join(outer, 'secret.txt') }
}

/** What is not to be in any answer. @param {string} canary */
function leakOf (canary) {
  const passwd = fs.readFileSync('/etc/passwd', 'latin1').split('\n')[0]
  return (/** @type {string} */ text) => text.includes(canary) || (passwd !== '' && text.includes(passwd)) || /(?:^|\0)PATH=\//.test(text)
}

// -- Clients.

/** @param {number} port @param {string[]} targets @returns {Promise<string>} all that came back */
function exchange (port, targets) {
  return new Promise((resolve, reject) => {
    const pieces = /** @type {Buffer[]} */ ([])
    const socket = net.connect(port, '127.0.0.1')
    socket.on('data', (piece) => pieces.push(piece)).on('close', () => resolve(Buffer.concat(pieces).toString('latin1')))
    socket.on('error', (error) => /** @type {NodeJS.ErrnoException} */ (error).code === 'ECONNRESET' ? undefined : reject(error))
    const requests = targets.map((target, i) => `GET ${target} HTTP/1.1\r\nHost: a\r\n${i + 1 === targets.length ? 'Connection: close\r\n' : ''}\r\n`)
    socket.write(Buffer.from(requests.join(''), 'latin1'))
  })
}

/** Statuses, of as many answers as there are requests: what malformed ones have cut off is asked again. @param {number} port @param {string[]} targets */
async function attack (port, targets, /** @type {(text: string) => boolean} */ isLeak) {
  /** @type {Map<string, number>} */
  const statuses = new Map()
  for (let at = 0; at < targets.length;) {
    const batch = targets.slice(at, at + kBatch)
    const text = await exchange(port, batch)
    if (isLeak(text)) {
      for (const target of batch) assert.equal(isLeak(await exchange(port, [target])), false, target)
      assert.fail(`one of ${batch.join('\n')}`)
    }
    const answers = [...text.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => status)
    assert.ok(answers.length > 0 && answers.length <= batch.length, `${answers.length} answers to ${batch[0]} …`)
    for (const status of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    at += answers.length
  }
  return statuses
}

/** @type {Record<string, { where: (port: number) => string, base: string, options: object }>} */
const kServers = {
  'at the root': { where: () => '/', base: '/', options: {} },
  'at the root, with links followed': { where: () => '/', base: '/', options: { symlinks: true } },
  'at the root, misses being JavaScript\'s': { where: () => '/', base: '/', options: { fallthrough: true, extensions: ['txt', 'env'], index: ['secret.txt', 'index.html'] } },
  'below a path': { where: () => '/files/x/', base: '/files/x/', options: { symlinks: true, precompressed: true } },
  'at a prefix': { where: (port) => `http://127.0.0.1:${port}/files/`, base: '/files/', options: { symlinks: true, dotfiles: 'deny' } }
}

for (const [name, { where, base, options: given }] of Object.entries(kServers)) {
  test(`a folder ${name} gives nothing away over HTTP/1.1`, options, async (t) => {
    const { root, canary, secret } = makeFolders(t)
    const isLeak = leakOf(canary)
    const server = /** @type {any} */ (http.createServer((req, res) => { res.writeHead(299).end() }))
    t.after(() => stop(server))
    const port = await listen(server)
    await server.serveFiles(where(port), root, given)
    const targets = targetsFor(base, secret)
    assert.ok(targets.length > 20_000)
    const statuses = await attack(port, targets, isLeak)
    t.diagnostic(`${targets.length} targets: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`)
    // Some of them name a public file after all, or nothing could be said of the others.
    assert.match(await exchange(port, [`${base}sub/%2e%2e/a.txt`]), /public$/)
    assert.match(await exchange(port, [`${base}within/b.txt`]), 'symlinks' in given ? /public$/ : /^(?!.*public)/s)
  })
}

test('a folder gives nothing away over HTTP/2', options, async (t) => {
  const { root, canary, secret } = makeFolders(t)
  const isLeak = leakOf(canary)
  const server = /** @type {any} */ (http.createServer(/** @type {any} */ ({ http2: true })))
  t.after(() => stop(server))
  await server.serveFiles('/', root, { symlinks: true })
  const port = await listen(server)
  const client = http2.connect(`http://127.0.0.1:${port}`)
  client.on('error', () => {})
  t.after(() => client.destroy())
  await once(client, 'connect')
  const ask = (/** @type {string} */ target) => new Promise((resolve) => {
    let text = ''
    const stream = client.request({ ':path': target })
    stream.setEncoding('latin1').on('data', (piece) => { text += piece }).on('error', () => {}).on('close', () => resolve(text))
  })
  assert.equal(await ask('/sub/%2e%2e/a.txt'), 'public')
  const targets = targetsFor('/', secret).filter((target) => target.startsWith('/') && /^[\x21-\x7e]*$/.test(target)).filter((_, i) => kIsThorough || i % 4 === 0)
  assert.ok(targets.length > 1000)
  for (let at = 0; at < targets.length; at += 50) {
    const batch = targets.slice(at, at + 50)
    for (const [i, text] of (await Promise.all(batch.map(ask))).entries()) assert.equal(isLeak(/** @type {string} */ (text)), false, batch[i])
  }
})

test('the secret is found where it may be served, so that the tests above can fail', options, async (t) => {
  const { outer, canary } = makeFolders(t)
  const isLeak = leakOf(canary)
  const server = /** @type {any} */ (http.createServer())
  t.after(() => stop(server))
  await server.serveFiles('/', outer, { symlinks: true, dotfiles: 'allow' })
  const port = await listen(server)
  for (const target of ['/secret.txt', '/site/out/secret.txt', '/site/.env', '/site/sub/../../secret.txt', '//outside/./secret.txt']) {
    assert.equal(isLeak(await exchange(port, [target])), true, target)
  }
})

test('a folder that becomes a link out while it is asked for gives nothing away', options, async (t) => {
  const { outer, root, canary } = makeFolders(t)
  const isLeak = leakOf(canary)
  fs.mkdirSync(path.join(root, 'swapped'))
  const names = Array.from({ length: kRaced }, (_, i) => `${i}.txt`)
  for (const name of names) {
    fs.writeFileSync(path.join(root, 'swapped', name), 'public')
    fs.writeFileSync(path.join(outer, 'outside', name), canary)
  }
  fs.symlinkSync('../outside', path.join(root, 'swapped-link'))
  const server = /** @type {any} */ (http.createServer())
  t.after(() => stop(server))
  await server.serveFiles('/', root, { symlinks: true })
  const port = await listen(server)
  const rename = (/** @type {string} */ from, /** @type {string} */ to) => fs.renameSync(path.join(root, from), path.join(root, to))
  const swap = async () => {
    rename('swapped', 'swapped-away')
    rename('swapped-link', 'swapped')
    await turn()
    rename('swapped', 'swapped-link')
    rename('swapped-away', 'swapped')
    await turn()
  }
  /** @type {Record<string, number>} */
  const seen = { public: 0, 404: 0 }
  let at = 0
  for (const end = performance.now() + 3000; performance.now() < end;) {
    // Other names each time: what is known of a path counts for a second.
    const targets = Array.from({ length: kBatch }, () => `/swapped/${names[at++ % names.length]}`)
    const asked = exchange(port, targets)
    let isDone = false
    const swapping = (async () => { do await swap(); while (!isDone) })() // eslint-disable-line no-unmodified-loop-condition -- It is, below.
    const text = await asked
    isDone = true
    await swapping
    assert.equal(isLeak(text), false)
    seen.public += text.split('public').length - 1
    seen[404] += text.split(' 404 ').length - 1
  }
  // The requests met the folder, and what took its place.
  assert.ok(seen.public > 0 && seen[404] > 0, JSON.stringify(seen))
})
