'use strict'

// Goal: every way to ask for a cache leads to one: an adapter's option, the environment below register, workers of node:cluster and threads.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { createAdapter } = require('@httpsys/express-adapter')
const { backend } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const { until } = require('../helpers/waiting')

const options = { ...(backend === 'node' ? { skip: 'stock Node keeps no responses' } : needs('cacheRules')), timeout: 60_000 }
const kRegister = path.join(__dirname, '../../packages/core-native/register.js')

for (const name of ['express', 'express4']) {
  test(`an adapter of ${name} needs one option, and no change of its routes; middleware does not run for a hit`, options, async (t) => {
    const express = require(name)
    const app = express()
    let ran = 0
    app.use((/** @type {any} */ req, /** @type {any} */ res, /** @type {() => void} */ next) => {
      ran++
      next()
    })
    app.get('/news', (/** @type {any} */ req, /** @type {any} */ res) => res.set('Cache-Control', 'public, max-age=60').send('news'))
    app.get('/me', (/** @type {any} */ req, /** @type {any} */ res) => res.send('mine'))
    const adapter = createAdapter(app, { cache: true })
    t.after(() => adapter.uninstall())
    const port = await serve(t, adapter.server)
    const first = await request({ port, path: '/news' })
    const second = await request({ port, path: '/news' })
    assert.deepEqual([first.body, second.body, ran], ['news', 'news', 1])
    assert.equal(second.headers.etag, first.headers.etag)
    assert.equal((await request({ port, path: '/news', headers: { 'If-None-Match': first.headers.etag } })).status, 304)
    await request({ port, path: '/me' })
    await request({ port, path: '/me' })
    assert.equal(ran, 3)
    assert.deepEqual(adapter.server.cache?.entries().map(({ url, status, policy }) => [new URL(url).pathname, status, policy]), [['/news', 200, 'rfc9111']])
    assert.equal(adapter.server.cache?.flush(), 1)
    assert.equal((await request({ port, path: '/news' })).body, 'news')
    assert.equal(ran, 4)
  })
}

/**
 * A program that knows node:http alone, in a process of its own; it prints its port. Its answers count.
 *
 * @param {import('node:test').TestContext} t
 * @param {NodeJS.ProcessEnv} env
 * @param {string} program
 */
async function start (t, env, program) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-cache-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'program.js')
  fs.writeFileSync(file, program)
  const child = spawn(process.execPath, ['--require', kRegister, file], {
    stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env }
  })
  t.after(() => child.kill('SIGKILL'))
  let [out, err] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece) => { out += piece })
  child.stderr.setEncoding('utf8').on('data', (piece) => { err += piece })
  const closed = once(child, 'close')
  while (!out.includes('\n')) {
    if (await Promise.race([once(child.stdout, 'data'), closed.then(() => null)]) === null) throw new Error(err)
  }
  return Number(out)
}

const kPlain = `
  let count = 0
  require('node:http').createServer((req, res) => {
    res.setHeader('Content-Type', 'text/plain')
    if (req.url === '/header') res.setHeader('Cache-Control', 'max-age=60')
    if (req.url === '/property') res.cacheDuration = 60
    res.end(String(++count))
  }).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

/** Which of the paths are answered from the cache. @param {number} port */
async function stored (port) {
  const found = []
  for (const path of ['/header', '/property', '/silent']) {
    const [first, second] = [await request({ port, path }), await request({ port, path })]
    if (first.body === second.body) found.push(path)
  }
  return found
}

for (const [env, expected] of /** @type {[Record<string, string>, string[]][]} */ ([
  [{}, []],
  [{ HTTPSYS_CACHE: 'rfc9111' }, ['/header']],
  [{ HTTPSYS_CACHE: 'httpsys' }, ['/property']],
  [{ HTTPSYS_CACHE_DURATION: '-1' }, []],
  [{ HTTPSYS_CACHE_DURATION: '0' }, ['/property']],
  [{ HTTPSYS_CACHE_DURATION: '60' }, ['/header', '/property', '/silent']]
])) {
  test(`below register the environment ${JSON.stringify(env)} stores ${expected.join(', ') || 'nothing'}`, options, async (t) => {
    assert.deepEqual(await stored(await start(t, env, kPlain)), expected)
  })
}

test('a variable that cannot be read ends the program with its name', options, async (t) => {
  await assert.rejects(start(t, { HTTPSYS_CACHE: 'yes' }, kPlain), /ERR_HTTPSYS_ENVIRONMENT[^]*HTTPSYS_CACHE|HTTPSYS_CACHE[^]*ERR_HTTPSYS_ENVIRONMENT/)
})

test('workers of a cluster have caches, and each URL is made by few of them', options, async (t) => {
  const port = await start(t, { HTTPSYS_CACHE: 'rfc9111' }, `
    const cluster = require('node:cluster')
    if (cluster.isPrimary) {
      let ready = 0
      for (let i = 0; i < 2; i++) cluster.fork().on('listening', ({ port }) => { if (++ready === 2) console.log(port) })
    } else {
      require('node:http').createServer((req, res) => {
        res.setHeader('Cache-Control', 'max-age=60')
        res.end(process.pid + ' ' + Math.random())
      }).listen(0, '127.0.0.1')
    }`)
  const bodiesOf = async (/** @type {string} */ path) => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => request({ port, path })))
    return [...new Set(answers.map(({ body }) => body))]
  }
  // A worker stores nothing before it follows what the other one makes obsolete. Requests for a new URL do not wait for each other.
  let tries = 0
  await until(async () => {
    const path = `/${tries++}`
    await bodiesOf(path)
    return (await bodiesOf(path)).length <= 2
  }, 'the workers store answers')
})

test('threads have caches', options, async (t) => {
  const port = await start(t, { HTTPSYS_CACHE: 'rfc9111' }, `
    const { Worker } = require('node:worker_threads')
    new Worker(${JSON.stringify(kPlain)}, { eval: true, execArgv: ['--require', ${JSON.stringify(kRegister)}] })`)
  assert.deepEqual(await stored(port), ['/header'])
})
