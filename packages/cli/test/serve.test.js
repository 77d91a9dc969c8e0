'use strict'

// Goal: `httpsys serve` serves a folder until it is told to end, and says what to do about what it cannot do.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const nodeHttp = require('node:http')
const path = require('node:path')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const { text } = require('node:stream/consumers')
const { test } = require('node:test')
const { needs } = require('../../../test/helpers/capabilities')
const { run } = require('../lib/program')
const { httpsys, kBin, makeFolder } = require('./support')

const kOptions = { ...needs('servesFiles'), ...(process.env.HTTPSYS_BACKEND === 'node' && { skip: 'the backend does not serve files' }) }

/** A port that nobody has. */
async function freePort () {
  const server = net.createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

function makeSite (t) {
  const folder = makeFolder(t)
  fs.writeFileSync(path.join(folder, 'index.html'), '<p>start')
  fs.writeFileSync(path.join(folder, 'other.html'), '<p>other')
  fs.writeFileSync(path.join(folder, 'a.js'), 'a()')
  fs.writeFileSync(path.join(folder, 'a.js.br'), 'compressed')
  fs.writeFileSync(path.join(folder, '.hidden'), 'hidden')
  fs.symlinkSync('a.js', path.join(folder, 'link.js'))
  return folder
}

/** @returns {Promise<{ status: number, headers: object, body: string }>} */
async function get (port, target, headers = {}, method = 'GET') {
  const req = nodeHttp.request({ host: '127.0.0.1', port, path: target, headers, method, agent: false }).end()
  const [res] = await once(req, 'response')
  return { status: res.statusCode, headers: res.headers, body: await text(res) }
}

/** Runs the command in this process, and uses what it serves. */
async function withServed (args, use) {
  const said = { out: '', err: '' }
  let stop
  const stopped = new Promise((resolve) => { stop = resolve })
  let started
  const isServing = new Promise((resolve) => { started = resolve })
  const done = run(args, {
    out: (piece) => {
      said.out += piece
      started()
    },
    err: (piece) => { said.err += piece },
    untilStopped: () => stopped
  })
  await Promise.race([isServing, done])
  try {
    await use(said)
  } finally {
    stop()
  }
  return { code: await done, ...said }
}

test('a folder is served at a prefix, and everything else answered by the command itself', kOptions, async (t) => {
  const folder = makeSite(t)
  const port = await freePort()
  const result = await withServed(['serve', folder, `http://*:${port}/docs`], async ({ out }) => {
    assert.equal(out, `Serving ${folder} at http://*:${port}/docs/ (here: http://localhost:${port}/docs/). Ctrl+C ends it.\n`)
    const start = await get(port, '/docs/')
    assert.deepEqual([start.status, start.body, start.headers['content-type']], [200, '<p>start', 'text/html; charset=utf-8'])
    assert.equal((await get(port, '/docs/a.js')).body, 'a()')
    assert.equal((await get(port, '/docs/none')).status, 404)
    assert.equal((await get(port, '/docs/.hidden')).status, 404)
    assert.equal((await get(port, '/docs/link.js')).status, 404)
    const refused = await get(port, '/docs/a.js', {}, 'DELETE')
    assert.deepEqual([refused.status, refused.headers.allow], [405, 'GET, HEAD'])
  })
  assert.deepEqual([result.code, result.err], [0, ''])
  await assert.rejects(get(port, '/docs/'), { code: 'ECONNREFUSED' })
})

test('options are those of serveFiles()', kOptions, async (t) => {
  const folder = makeSite(t)
  const port = await freePort()
  const prefix = `http://127.0.0.1:${port}/`
  await withServed(['serve', folder, prefix, '--index', 'none.html, other.html', '--dotfiles', 'allow', '--extensions', 'js', '--max-age', '1h', '--immutable',
    '--precompressed', '--symlinks', '--header', '.js X-A: b: c', '--header', '*.html X-B: d', '--no-etag', '--no-last-modified', '--no-ranges'], async ({ out }) => {
    assert.equal(out, `Serving ${folder} at ${prefix}. Ctrl+C ends it.\n`)
    const start = await get(port, '/')
    assert.deepEqual([start.body, start.headers['x-b'], start.headers['cache-control']], ['<p>other', 'd', 'public, max-age=3600, immutable'])
    for (const name of ['etag', 'last-modified', 'accept-ranges', 'x-a']) assert.equal(start.headers[name], undefined, name)
    assert.equal((await get(port, '/.hidden')).body, 'hidden')
    const script = await get(port, '/a', { 'Accept-Encoding': 'br' })
    assert.deepEqual([script.body, script.headers['content-encoding'], script.headers.vary, script.headers['x-a']], ['compressed', 'br', 'Accept-Encoding', 'b: c'])
    assert.equal((await get(port, '/link.js')).body, 'a()')
  })
  await withServed(['serve', folder, prefix, '--no-index', '--no-cache-control', '--dotfiles', 'deny', '--precompressed', 'gzip'], async () => {
    assert.equal((await get(port, '/')).status, 404)
    assert.equal((await get(port, '/.hidden')).status, 403)
    const script = await get(port, '/a.js', { 'Accept-Encoding': 'br, gzip' })
    assert.deepEqual([script.body, script.headers['cache-control']], ['a()', undefined])
  })
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  test(`${signal} ends the command with 0`, { ...kOptions, ...(process.platform === 'win32' && { skip: 'Windows ends a process without asking it' }) }, async (t) => {
    const port = await freePort()
    const child = spawn(process.execPath, [kBin, 'serve', makeSite(t), `http://127.0.0.1:${port}/`], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    // A client that stays does not keep it.
    const client = net.connect(port, '127.0.0.1')
    client.on('error', () => {})
    await once(client, 'connect')
    const ended = once(child, 'exit')
    child.kill(signal)
    assert.deepEqual(await ended, [0, null])
  })
}

test('what fails says what to do', kOptions, async (t) => {
  const folder = makeSite(t)
  const taken = net.createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.after(() => taken.close())
  const { port } = taken.address()
  const failures = [
    [[path.join(folder, 'none')], 1, /^httpsys: .*none does not exist; \S+ does\n$/],
    [[path.join(folder, 'a.js')], 1, /^httpsys: .*a\.js is no folder\. Name the folder that it is in\n$/],
    [[folder, `http://127.0.0.1:${port}/`], 1, /^httpsys: listen EADDRINUSE: .*\. Name another prefix, such as http:\/\/\*:8081\/, behind the folder\n$/],
    [[folder, 'https://no.example:1/'], 1, /^httpsys: "https:\/\/no\.example:1\/" needs a certificate: none was given, and none is bound to its host and port\. Give --dev-cert to try it, bind one with "httpsys add sslcert", or name an http:\/\/ prefix\n$/],
    [[folder, '8080'], 2, /^httpsys: "8080" is not a URL prefix; did you mean http:\/\/\*:8080\/\?\n$/],
    [[folder, 'localhost:8080'], 2, /^httpsys: "localhost:8080" is not a URL prefix: it must begin with/],
    [[folder, 'http://*:1/', '--max-age', 'soon'], 2, /maxAge' must be .*"7d"/],
    [[folder, 'http://*:1/', '--dotfiles', 'alow'], 2, /did you mean 'allow'\?/],
    [[folder, 'http://*:1/', '--precompressed', 'gz'], 2, /did you mean 'gzip'\?/],
    [[folder, 'http://*:1/', '--header', 'X-A: b'], 2, /must be like "\.woff2 Access-Control-Allow-Origin: \*"/],
    [[folder, 'http://*:1/', '--header', '.js Content-Length: 3'], 2, /that the server does not set by itself/],
    [[folder, 'http://*:1/', '--no-cache-control', '--max-age', '1d'], 2, /^httpsys: --max-age has no effect beside --no-cache-control\n$/],
    [[folder, 'http://*:1/', '--no-cache-control', '--immutable'], 2, /^httpsys: --immutable has no effect beside --no-cache-control\n$/],
    [[folder, 'http://*:1/', '--dev-cert'], 2, /^httpsys: --dev-cert needs an https:\/\/ prefix, and http:\/\/\*:1\/ is none\n$/],
    [[], 2, /missing required argument 'folder'/]
  ]
  for (const [args, expected, message] of failures) {
    const { code, out, err } = await httpsys(['serve', ...args])
    assert.deepEqual([code, out], [expected, ''], args.join(' ') + err)
    assert.match(err, message)
  }
})

test('a prefix in use is reported without options that the command does not have', kOptions, async (t) => {
  const folder = makeSite(t)
  const port = await freePort()
  await withServed(['serve', folder, `http://*:${port}/docs/`], async () => {
    const { code, err } = await httpsys(['serve', folder, `http://*:${port}/docs/`])
    assert.equal(code, 1)
    assert.match(err, new RegExp(`^httpsys: listen EADDRINUSE: http://\\*:${port}/docs/ is already registered by process ${process.pid}\\. Choose another prefix\n$`))
  })
})

test('a backend that cannot serve files is an error', async (t) => {
  const { code, err } = await httpsys(['serve', makeSite(t)], { HTTPSYS_BACKEND: 'node' })
  assert.equal(code, 1)
  assert.match(err, /^httpsys: Serving a folder needs "servesFiles", which the backend "node" does not have/)
})
