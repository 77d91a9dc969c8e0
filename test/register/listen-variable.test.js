'use strict'

// HTTPSYS_LISTEN gives an unmodified program URL prefixes in the place of the port that it asks for.

const assert = require('node:assert/strict')
const { spawn, spawnSync } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const os = require('node:os')
const path = require('node:path')
const readline = require('node:readline')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { request } = require('../helpers/tls')

const kRoot = path.resolve(__dirname, '..', '..')
const kRegister = '@httpsys/core-native/register'
const kProgram = path.join(kRoot, 'test', 'fixtures', 'mapped-program.js')
const kSkip = process.env.HTTPSYS_BACKEND === 'node' && 'prefixes are the engine\'s'

/** @param {NodeJS.ProcessEnv} env */
const environment = (env) => ({ ...process.env, NODE_TEST_CONTEXT: undefined, HTTPSYS_BACKEND: '', PORT: '', ...env })

/**
 * Starts a program below register.
 *
 * @param {import('node:test').TestContext} t
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {AsyncIterator<any>} what it tells
 */
function start (t, args, env) {
  // Children of the program inherit the option.
  const child = spawn(process.execPath, args, { cwd: kRoot, stdio: ['ignore', 'pipe', 'inherit'], env: environment({ NODE_OPTIONS: `--require ${kRegister}`, ...env }), detached: true })
  t.after(() => {
    try {
      process.kill(-(/** @type {number} */ (child.pid)), 'SIGKILL')
    } catch {} // It has ended, and so have its children.
  })
  return (async function * () {
    for await (const line of readline.createInterface({ input: child.stdout })) yield JSON.parse(line)
  })()
}

/** @param {AsyncIterator<any>} told @param {number} count @returns {Promise<any[]>} */
async function take (told, count) {
  const all = []
  for (let i = 0; i < count; i++) all.push((await told.next()).value)
  return all
}

/** @param {number} port @param {string} path @param {http.OutgoingHttpHeaders} [headers] @returns {Promise<any>} */
async function ask (port, path, headers) {
  const [res] = await once(http.get({ port, host: '127.0.0.1', path, headers, agent: false }), 'response')
  let text = ''
  for await (const piece of res.setEncoding('utf8')) text += piece
  return res.statusCode === 200 ? JSON.parse(text) : res.statusCode
}

/** @param {number} asked @param {object} entry */
const table = (asked, entry) => ({ HTTPSYS_LISTEN: JSON.stringify({ [asked]: entry }) })

describe('A program that HTTPSYS_LISTEN gives a prefix', { skip: kSkip }, () => {
  it('sees what is below it, as behind a proxy that strips, in every form of listen() and over TLS', async (t) => {
    const [port, secure] = [await freePort(), await freePort()]
    /** @type {Record<string, number>} */
    const asked = {}
    for (const form of ['port', 'text', 'host', 'backlog', 'object', 'class', 'secure']) asked[form] = await freePort()
    const entries = Object.entries(asked).map(([form, own]) => {
      const prefixes = [`http://127.0.0.1:${port}/${form}/`, ...form === 'secure' ? [`https://*:${secure}/shop/`] : []]
      return [own, { prefixes, stripPrefix: true }]
    })
    const told = start(t, [kProgram, JSON.stringify(asked)], { HTTPSYS_LISTEN: JSON.stringify(Object.fromEntries(entries)) })
    for (const { form, address } of await take(told, entries.length)) {
      assert.equal(address.port, port, 'address() says where it listens')
      const { pid, ...seen } = await ask(port, `/${form}/cart?a=b`, { 'x-forwarded-prefix': '/theirs' })
      assert.deepEqual(seen, { url: '/cart?a=b', urlPrefixPath: `/${form}`, forwarded: '/theirs' })
    }
    assert.equal(await ask(port, '/other'), 404)
    const { body } = await request(secure, { path: '/shop/cart', rejectUnauthorized: false })
    assert.equal(JSON.parse(body).url, '/cart')
    const client = http2.connect(`https://localhost:${secure}`, { rejectUnauthorized: false })
    t.after(() => client.destroy())
    client.on('error', () => {})
    const stream = client.request({ ':path': '/SHOP/cart', 'x-forwarded-prefix': '/theirs' }).setEncoding('utf8')
    let text = ''
    for await (const piece of stream) text += piece
    assert.deepEqual([JSON.parse(text).url, JSON.parse(text).urlPrefixPath], ['/cart', '/SHOP'])
  })

  it('sees what is below one of its prefixes, and the whole path of another', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const prefixes = [`strip:http://127.0.0.1:${port}/chat/`, `http://127.0.0.1:${port}/socket.io/`]
    await take(start(t, [kProgram, JSON.stringify({ port: asked })], table(asked, { prefixes })), 1)
    assert.equal((await ask(port, '/chat/main.js')).url, '/main.js')
    assert.equal((await ask(port, '/socket.io/?EIO=4')).url, '/socket.io/?EIO=4')
  })

  it('sees the whole path without "strip:", and takes the port of PORT without a number', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const told = start(t, [kProgram, JSON.stringify({ port: asked })], { PORT: String(asked), HTTPSYS_LISTEN: `http://127.0.0.1:${port}/shop/` })
    await take(told, 1)
    const { pid, ...seen } = await ask(port, '/SHOP/cart')
    assert.deepEqual(seen, { url: '/SHOP/cart', urlPrefixPath: '/SHOP' })
  })

  it('hears its prefix in X-Forwarded-Prefix by option, whatever the client says', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const prefixes = [`http://127.0.0.1:${port}/shop/`, `http://127.0.0.1:${port}/caf\u00e9/a%20b/`]
    await take(start(t, [kProgram, JSON.stringify({ port: asked })], table(asked, { prefixes, stripPrefix: true, forwardedPrefix: true })), 1)
    assert.equal((await ask(port, '/shop/', { 'X-FORWARDED-Prefix': ['/theirs', 'twice'] })).forwarded, '/shop')
    assert.equal((await ask(port, '/caf%C3%A9/a b/x'.replace(' ', '%20'))).forwarded, '/caf%C3%A9/a%20b')
  })

  for (const place of ['cluster', 'threads']) {
    it(`shares it between its ${place === 'cluster' ? 'workers' : place}`, async (t) => {
      const [asked, port] = [await freePort(), await freePort()]
      const told = start(t, [kProgram, JSON.stringify({ port: asked }), place], { HTTPSYS_LISTEN: `${asked}=http://127.0.0.1:${port}/shop/` })
      for (const { address } of await take(told, 2)) assert.equal(address.port, port)
      assert.equal((await ask(port, '/shop/cart')).url, '/shop/cart')
    })
  }

  it('is to the primary of its cluster a worker that listens, and closes when the primary disconnects it', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const told = start(t, [kProgram, JSON.stringify({ port: asked }), 'disconnected'], { HTTPSYS_LISTEN: `${asked}=http://*:${port}/shop/` })
    const all = await take(told, 4)
    assert.deepEqual(all.find(({ primaryHears }) => primaryHears !== undefined)?.primaryHears, { addressType: 4, address: null, port })
    assert.ok(all.some(({ closed }) => closed === true))
    assert.deepEqual(all.at(-1), { code: 0 })
  })

  it('shares it with other processes if the queue has a name, and otherwise they hear EADDRINUSE', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const prefix = `http://127.0.0.1:${port}/shop/`
    const shared = await take(start(t, [kProgram, JSON.stringify({ port: asked }), 'children'], table(asked, { prefix, queueName: 'shop' })), 2)
    assert.deepEqual(shared.map(({ address }) => address.port), [port, port])
    const [{ code, prefix: taken }] = await take(start(t, [kProgram, JSON.stringify({ port: asked })], table(asked, { prefix })), 1)
    assert.deepEqual([code, taken], ['EADDRINUSE', prefix])
    const unnamed = `http://127.0.0.1:${port}/unnamed/`
    await take(start(t, [kProgram, JSON.stringify({ port: asked })], table(asked, { prefix: unnamed })), 1)
    const [{ message }] = await take(start(t, [kProgram, JSON.stringify({ port: asked })], table(asked, { prefix: unnamed })), 1)
    assert.match(message, /is already registered by process \d+, which names no queue\. Choose another prefix, or give both servers the same queueName$/)
  })

  it('listens as ever on everything that is not the port', async (t) => {
    const asked = await freePort()
    const [told] = await take(start(t, [kProgram, JSON.stringify({ port: asked }), 'others'], { HTTPSYS_LISTEN: `${asked}=http://127.0.0.1:${await freePort()}/shop/` }), 1)
    assert.equal(told.net, asked)
    assert.notEqual(told.any, asked)
  })

  it('may listen on several addresses of the port, as Fastify does for "localhost"', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const program = `
      const app = require('fastify')()
      app.get('/cart', (req) => ({ url: req.url }))
      app.listen({ port: ${asked} }).then(() => console.log(JSON.stringify(app.addresses())))`
    const [addresses] = await take(start(t, ['-e', program], { HTTPSYS_LISTEN: `${asked}=strip:http://*:${port}/shop/` }), 1)
    assert.ok(addresses.every((/** @type {{ port: number }} */ address) => address.port === port))
    for (const host of ['127.0.0.1', 'localhost', 'other.test']) assert.deepEqual(await ask(port, '/shop/cart', { host: `${host}:${port}` }), { url: '/cart' })
    assert.equal(await ask(port, '/cart'), 404)
  })
})

describe('A server of a program that HTTPSYS_LISTEN gives a prefix', { skip: kSkip }, () => {
  const kListen = `
    const http = require('node:http')
    const handler = (name) => (req, res) => res.end(JSON.stringify(name))
    const listen = (handler, options) => new Promise((resolve) => http.createServer(handler).listen(options)
      .on('listening', function () { resolve(this.address().port) })
      .on('error', (error) => resolve(error.code)))
    const tell = (told) => process.stdout.write(JSON.stringify(told) + '\\n')
  `

  it('that asks for the port of address() has the prefix if its handler is the same, and is otherwise any server of the port', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const program = `${kListen}
      const mine = handler('mine')
      ;(async () => {
        tell([await listen(mine, { port: ${asked} }), await listen(mine, { port: ${port}, host: '::1' }), await listen(handler('other'), { port: ${port} })])
      })()`
    const [told] = await take(start(t, ['-e', program], { HTTPSYS_LISTEN: `${asked}=http://*:${port}/shop/` }), 1)
    assert.deepEqual(told, [port, port, port])
    for (let i = 0; i < 10; i++) assert.deepEqual([await ask(port, '/shop/'), await ask(port, '/')], ['mine', 'other'])
  })

  it('has the prefix for itself with exclusive, and other programs go on sharing the port', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const program = `${kListen}
      listen(handler(), { port: ${asked}, exclusive: true }).then(async (port) => tell([port, await listen(handler(), { port: ${asked} })]))`
    const env = (/** @type {string} */ name) => ({ HTTPSYS_LISTEN: `${asked}=http://*:${port}/${name}/` })
    for (const name of ['shop', 'blog']) assert.deepEqual(await take(start(t, ['-e', program], env(name)), 1), [[port, 'EADDRINUSE']])
  })

  it('is with exclusive in a worker of a cluster none that the primary knows of', async (t) => {
    const [asked, port] = [await freePort(), await freePort()]
    const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-exclusive-')), 'program.js')
    t.after(() => fs.rmSync(path.dirname(file), { recursive: true }))
    fs.writeFileSync(file, `${kListen}
      const cluster = require('node:cluster')
      if (cluster.isPrimary) {
        const worker = cluster.fork().on('listening', () => tell('listening')).on('message', (told) => { tell(told); worker.process.kill() })
      } else {
        listen(handler(), { port: ${asked}, exclusive: true }).then((port) => process.send(port))
      }`)
    assert.deepEqual(await take(start(t, [file], { HTTPSYS_LISTEN: `${asked}=http://*:${port}/shop/` }), 2), [port, undefined])
  })
})

describe('A value of HTTPSYS_LISTEN that cannot be used ends the process, and says where it is wrong:', { skip: kSkip }, () => {
  const { readListenVariable } = require('../../packages/core-native/lib/listen/listen-variable')
  const kWrong = /** @type {[string, RegExp, string?][]} */ ([
    ['http://*:8080/shop/', /PORT is not set\. .* "3000=http:\/\/\*:8080\/shop\/"/],
    ['strip:http://*:8080/shop/', /PORT is "http:\/\/\*:1\/"/, 'http://*:1/'],
    ['0=http://*:8080/', /"0" before "=" is no port/],
    ['web=http://*:8080/', /"web" before "=" is no port/],
    ['3000=localhost:8080', /"localhost:8080" is not a URL prefix.*write "http:\/\/localhost:8080\/"/],
    ['{"3000": {"prefix": "http://*:8080/"', /line 1, column 37: "," or "}" is expected, not the end$/],
    ['[]', /an object for each port/],
    ['{}', /an object for each port/],
    ['{"web": {}}', /"web" is no port/],
    ['{"3000": "http://*:8080/"}', /"3000" must be an object such as/],
    ['{"3000": {}}', /"3000" needs either "prefix" or "prefixes"/],
    ['{"3000": {"prefixes": ["http://*:8080/a/", "http://*:0/"]}}', /"3000"\.prefixes\[1\]: "http:\/\/\*:0\/" is not a URL prefix: "0" is not a port/],
    ['{"3000": {"prefix": 80}}', /"3000"\.prefix: a URL prefix is a string, not of type number/],
    ['{"3000": {"prefix": "http://*:8080/", "queueNam": "a"}}', /"3000": .*"queueNam"; did you mean "queueName"\?/],
    ['{"3000": {"prefix": "http://*:8080/", "queueMode": "attach"}}', /"3000": "queueMode" 'attach' needs a "queueName"$/],
    ['{"3000": {"prefix": "http://*:8080/", "stripPrefix": 1}}', /"3000": The "options\.stripPrefix" property must be of type boolean/],
    ['{"3000": {"prefix": "http://*:8080/", "forwardedPrefix": true}}', /"3000": listen\(\) without "stripPrefix: true" has no option "forwardedPrefix"/],
    ['{"3000": {"prefix": "http://*:8080/", "key": "a"}}', /"3000": .*"https:\/\/\*:8080\/", or leave key out/],
    ['{"3000": {"prefix": "http://*:8080/", "fd": 3}}', /"3000": "fd" cannot be said in a variable/]
  ])
  for (const [text, message, PORT] of kWrong) {
    it(text, () => {
      assert.throws(() => readListenVariable({ HTTPSYS_LISTEN: text, PORT }), (error) => {
        assert.deepEqual([error.code, error.variable], ['ERR_HTTPSYS_ENVIRONMENT', 'HTTPSYS_LISTEN'])
        assert.match(error.message, message)
        return true
      })
    })
  }

  it('before the program runs', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--require', kRegister, '-e', 'console.log("ran")'],
      { cwd: kRoot, encoding: 'utf8', env: environment({ HTTPSYS_LISTEN: '3000=shop' }) })
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr, /HTTPSYS_LISTEN cannot be used: "shop" is not a URL prefix/)
  })
})
