'use strict'

// Starts every example as its reader would, and probes it.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { createHash, randomBytes } = require('node:crypto')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const path = require('node:path')
const { test } = require('node:test')
const { io: connectTo } = require('socket.io-client')
const { WebSocket } = require('ws')
const { freePort } = require('./helpers/free-port')
const { complaintsOf, systemd } = require('./helpers/systemd')

const kExamples = path.join(__dirname, '..', 'examples')
const onNode = process.env.HTTPSYS_BACKEND === 'node'

/** Runs an example until it has printed something that matches. */
async function start (t, file, args, ready = /Listening on|Ctrl\+C/) {
  const child = spawn(process.execPath, [path.join(kExamples, file), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const run = { child, exited, output: '' }
  await new Promise((resolve, reject) => {
    const onData = (chunk) => {
      run.output += chunk
      if (ready.test(run.output)) resolve()
    }
    child.stdout.on('data', onData)
    child.stderr.on('data', onData)
    child.on('close', () => reject(new Error(`${file} ended: ${run.output}`)))
  })
  return run
}

async function endsOnSignal ({ child, exited }, signal) {
  child.kill(signal)
  assert.deepEqual(await exited, [0, null])
}

/** fetch() without keep-alive, so that a closing server has nothing to wait for. */
function get (url, options = {}) {
  return fetch(url, { ...options, headers: { connection: 'close', ...options.headers } })
}

async function probeApplication (base) {
  assert.equal(await (await get(`${base}text`)).text(), 'Hello from Express.\n')
  const json = await (await get(`${base}json?a=1`)).json()
  assert.deepEqual([json.url, json.query], [`${new URL(base).pathname}json?a=1`, { a: '1' }])

  const form = await get(`${base}form`, { method: 'POST', body: new URLSearchParams({ name: 'Ada', colour: 'blue' }) })
  assert.deepEqual((await form.json()).received, { name: 'Ada', colour: 'blue' })
  const posted = await get(`${base}form`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"n":[1]}' })
  assert.deepEqual((await posted.json()).received, { n: [1] })
  const broken = await get(`${base}form`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{' })
  assert.equal(broken.status, 400)

  const content = randomBytes(1_000_000)
  const upload = (bytes) => {
    const data = new FormData()
    data.set('file', new Blob([bytes]), 'photo.bin')
    return get(`${base}upload`, { method: 'POST', body: data })
  }
  const uploaded = await (await upload(content)).json()
  assert.deepEqual([uploaded.name, uploaded.bytes, uploaded.sha256],
    ['photo.bin', content.length, createHash('sha256').update(content).digest('hex')])
  assert.equal((await upload(Buffer.alloc(10 * 1024 * 1024 + 1))).status, 413)

  const lines = (await (await get(`${base}stream?lines=3`)).text()).trimEnd().split('\n')
  assert.deepEqual(lines.map((line) => Number(line.slice(0, 4))), [1, 2, 3])

  const page = await get(base)
  assert.match(page.headers.get('content-type'), /^text\/html/)
  const html = await page.text()
  for (const [, link] of html.matchAll(/(?:href|src)="([^":]+)"/g)) {
    assert.equal((await get(new URL(link, base))).status, 200, link)
  }
  for (const [, action] of html.matchAll(/(?:action|data-get|data-stream)="([^"]+)"/g)) assert.doesNotMatch(action, /^\//)
  assert.equal((await get(`${base}nothing`)).status, 404)
}

test('main.js serves every route, prints how to try it and ends on SIGINT', async (t) => {
  const port = await freePort()
  const run = await start(t, 'main.js', [`http://*:${port}/`])
  assert.match(run.output, new RegExp(`http://localhost:${port}/`))
  for (const route of ['text', 'json', 'form', 'upload', 'stream']) {
    assert.match(run.output, new RegExp(`curl .*http://localhost:${port}/${route}`))
  }
  await probeApplication(`http://127.0.0.1:${port}/`)
  await endsOnSignal(run, 'SIGINT')
})

test('main.js serves https with a certificate for development', async (t) => {
  const port = await freePort()
  const run = await start(t, 'main.js', ['--dev-cert', `https://*:${port}/`])
  assert.match(run.output, new RegExp(`https://localhost:${port}/`))
  const [res] = await once(https.get({ port, path: '/text', rejectUnauthorized: false, agent: false }), 'response')
  assert.equal(String(await res.setEncoding('utf8').toArray()), 'Hello from Express.\n')
  await endsOnSignal(run, 'SIGINT')
})

test('104-https.js answers with and without TLS', async (t) => {
  const [port, securePort] = [await freePort(), await freePort()]
  const run = await start(t, '104-https.js', [String(port), String(securePort)])
  assert.match(await (await get(`http://localhost:${port}/`)).text(), /everybody can read this/)
  const [res] = await once(https.get({ port: securePort, rejectUnauthorized: false, agent: false }), 'response')
  assert.match(String(await res.setEncoding('utf8').toArray()), /^Hello, this is TLSv1\.3 with /)
  await endsOnSignal(run, 'SIGTERM')
})

test('main.js works behind the path of a prefix', async (t) => {
  const port = await freePort()
  const run = await start(t, 'main.js', [`http://*:${port}/shop/`])
  await probeApplication(`http://127.0.0.1:${port}/shop/`)
  const redirect = await get(`http://127.0.0.1:${port}/shop`, { redirect: 'manual' })
  assert.deepEqual([redirect.status, redirect.headers.get('location')], [301, '/shop/'])
  assert.equal((await get(`http://127.0.0.1:${port}/text`)).status, 404)
  await endsOnSignal(run, 'SIGTERM')
})

test('main.js serves several prefixes and mounts each path', async (t) => {
  const [first, second] = [await freePort(), await freePort()]
  await start(t, 'main.js', [`http://127.0.0.1:${first}/a(b)+/`, `http://127.0.0.1:${second}`])
  assert.equal((await get(`http://127.0.0.1:${first}/a(b)+/text`)).status, 200)
  assert.equal((await get(`http://127.0.0.1:${second}/text`)).status, 200)
})

test('main.js finishes what it is answering before it ends', async (t) => {
  const port = await freePort()
  const run = await start(t, 'main.js', [String(port)])
  const response = await get(`http://127.0.0.1:${port}/stream?lines=5`)
  run.child.kill('SIGTERM')
  assert.equal((await response.text()).trimEnd().split('\n').length, 5)
  assert.deepEqual(await run.exited, [0, null])
})

test('main.js says what to do when the port is taken', async (t) => {
  const holder = http.createServer().listen(0)
  await once(holder, 'listening')
  t.after(() => holder.close())
  const { port } = holder.address()
  const { output, exited } = await start(t, 'main.js', [`http://*:${port}/`], /npm start -- .*\n/)
  assert.deepEqual(await exited, [1, null])
  assert.match(output, new RegExp(`Port ${port} is in use by another program`))
  assert.match(output, /use another port: npm start -- http:\/\/\*:9000\//)
})

test('main.js refuses what is no prefix with one sentence', async (t) => {
  const { output, exited } = await start(t, 'main.js', ['http://*:0/'], /\n/)
  assert.deepEqual(await exited, [1, null])
  assert.match(output, /^"http:\/\/\*:0\/" is not a URL prefix: "0" is not a port.*\n$/)
})

test('101-hello.js greets', async (t) => {
  const port = await freePort()
  const run = await start(t, '101-hello.js', [`http://127.0.0.1:${port}/`])
  assert.equal(await (await get(`http://127.0.0.1:${port}/`)).text(), 'Hello, 127.0.0.1!\n')
  await endsOnSignal(run, 'SIGTERM')
})

test('102-prefix.js answers below its prefixes, and the engine elsewhere', async (t) => {
  const port = await freePort()
  const run = await start(t, '102-prefix.js', [String(port)])
  const base = `http://localhost:${port}`
  assert.equal(await (await get(`${base}/shop/shoes?x`)).text(), 'shop: /shoes\n')
  assert.equal(await (await get(`${base}/admin`)).text(), 'admin: /\n')
  // Stock Node routes by port only.
  if (!onNode) assert.equal((await get(`${base}/elsewhere`)).status, 404)
  await endsOnSignal(run, 'SIGTERM')
})

test('201-ws.js echoes, refuses elsewhere and says goodbye', async (t) => {
  const port = await freePort()
  const run = await start(t, '201-ws.js', [String(port)])
  assert.equal(await (await get(`http://localhost:${port}/`)).text(), 'There is a WebSocket at /echo.\n')
  const refused = new WebSocket(`ws://localhost:${port}/other`)
  const [error] = await once(refused, 'error', { signal: AbortSignal.timeout(5000) })
  assert.match(error.message, /404/)
  const socket = new WebSocket(`ws://localhost:${port}/echo`)
  await once(socket, 'open')
  socket.send('hello')
  assert.equal((await once(socket, 'message'))[0].toString(), 'hello')
  const closed = once(socket, 'close')
  run.child.kill('SIGTERM')
  assert.equal((await closed)[0], 1001)
  assert.deepEqual(await run.exited, [0, null])
})

test('202-broadcast.js tells everybody else, and says goodbye', async (t) => {
  const port = await freePort()
  const run = await start(t, '202-broadcast.js', [String(port)])
  const page = await (await get(`http://localhost:${port}/`)).text()
  assert.match(page, /<canvas>/)
  const sockets = await Promise.all(Array.from({ length: 3 }, async () => {
    const socket = new WebSocket(`ws://localhost:${port}/board`)
    await once(socket, 'open')
    return socket
  }))
  sockets[0].on('message', () => assert.fail('told to itself'))
  const heard = Promise.all(sockets.slice(1).map((socket) => once(socket, 'message')))
  sockets[0].send('["#e11d48",0,0,1,1]')
  for (const [data, isBinary] of await heard) assert.deepEqual([data.toString(), isBinary], ['["#e11d48",0,0,1,1]', false])
  const refused = new WebSocket(`ws://localhost:${port}/other`)
  assert.match((await once(refused, 'error'))[0].message, /400/)
  const closed = Promise.all(sockets.map((socket) => once(socket, 'close')))
  run.child.kill('SIGTERM')
  assert.deepEqual((await closed).map(([code]) => code), [1001, 1001, 1001])
  assert.deepEqual(await run.exited, [0, null])
})

test('203-socket-io.js chats by polling and by WebSocket', async (t) => {
  const port = await freePort()
  const run = await start(t, '203-socket-io.js', [String(port)])
  const page = await (await get(`http://localhost:${port}/`)).text()
  for (const [, link] of page.matchAll(/(?:href|src)="([^":]+)"/g)) assert.equal((await get(`http://localhost:${port}/${link}`)).status, 200, link)
  const [ada, bob] = [['polling'], ['websocket']].map((transports, i) => {
    const socket = connectTo(`http://localhost:${port}`, { transports, auth: { name: ['Ada', 'Bob'][i] }, forceNew: true, reconnection: false })
    t.after(() => socket.disconnect())
    return socket
  })
  await Promise.all([once(ada, 'connect'), once(bob, 'connect')])
  const heard = Promise.all([once(ada, 'message'), once(bob, 'message')])
  assert.deepEqual(await ada.emitWithAck('say', 'Hello'), {})
  for (const [{ from, text }] of await heard) assert.deepEqual([from, text], ['Ada', 'Hello'])
  assert.match((await bob.emitWithAck('say', '')).error, /characters/)
  const people = once(ada, 'people')
  bob.emit('rename', 'Robert')
  assert.deepEqual((await people)[0], ['Ada', 'Robert'])
  const gone = Promise.all([once(ada, 'disconnect'), once(bob, 'disconnect')])
  run.child.kill('SIGTERM')
  await gone
  assert.deepEqual(await run.exited, [0, null])
})

const sharing = { skip: onNode && 'two processes on one port are the engine\'s work' }

test('103-two-prefixes.js started twice shares a port, and refuses what is taken', sharing, async (t) => {
  const port = await freePort()
  const base = `http://localhost:${port}`
  const shop = await start(t, '103-two-prefixes.js', ['shop', String(port)])
  const blog = await start(t, '103-two-prefixes.js', ['blog', String(port)])
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  for (let round = 0; round < 3; round++) {
    // On one connection, which changes hands.
    assert.equal(await text(agent, `${base}/shop/shoes`), `shop, process ${shop.child.pid}: /shop/shoes\n`)
    assert.equal(await text(agent, `${base}/blog/today`), `blog, process ${blog.child.pid}: /blog/today\n`)
  }
  const { output, exited } = await start(t, '103-two-prefixes.js', ['shop', String(port)], /\n/)
  assert.deepEqual(await exited, [1, null])
  assert.match(output, new RegExp(`http://\\*:${port}/shop/ is already registered by process ${shop.child.pid}`))
  await endsOnSignal(shop, 'SIGTERM')
  assert.equal((await get(`${base}/shop/`)).status, 404)
  assert.equal((await get(`${base}/blog/`)).status, 200)
  await endsOnSignal(blog, 'SIGINT')
})

/** The body of a GET on a connection of the agent's. */
function text (agent, url) {
  return new Promise((resolve, reject) => {
    http.get(url, { agent }, (res) => {
      let body = ''
      res.setEncoding('utf8').on('data', (piece) => { body += piece }).on('end', () => resolve(body)).on('error', reject)
    }).on('error', reject)
  })
}

/** What a WebSocket hears, in order: every message as it came, parsed. */
class Ear {
  #heard = []
  #wake = () => {}

  constructor (url) {
    this.socket = new WebSocket(url)
    this.closed = new Promise((resolve) => this.socket.on('close', resolve))
    this.socket.on('message', (data) => {
      this.#heard.push(JSON.parse(data.toString()))
      this.#wake()
    })
  }

  /** The next event of a type; others before it are dropped. */
  async next (type) {
    for (;;) {
      for (let event = this.#heard.shift(); event !== undefined; event = this.#heard.shift()) if (event.type === type) return event
      await new Promise((resolve, reject) => {
        this.#wake = resolve
        this.socket.on('error', reject)
        this.closed.then((code) => reject(new Error(`closed with ${code} before "${type}"`)))
      })
    }
  }

  say (text) {
    this.socket.send(JSON.stringify({ text }))
  }
}

test('303-one-port/start.js serves Express, koa and socket.io on one port, each at its prefix', sharing, async (t) => {
  const port = await freePort()
  const run = await start(t, '303-one-port/start.js', [String(port)], /^(?=[^]*^shop:)(?=[^]*^news:)(?=[^]*^chat:)/m)
  try {
    for (const name of ['shop', 'news', 'chat']) assert.match(await (await get(`http://localhost:${port}/${name}/`)).text(), new RegExp(`^The ${name}, process \\d+\n$`))
    assert.deepEqual(await (await get(`http://localhost:${port}/shop/cart`)).json(), { items: 0 })
    for (const transport of ['polling', 'websocket']) {
      const client = connectTo(`http://localhost:${port}`, { path: '/chat/socket.io', transports: [transport] })
      t.after(() => client.close())
      client.on('connect', () => client.emit('say', transport))
      assert.equal((await once(client, 'said', { signal: t.signal }))[0], transport)
      client.close()
    }
  } finally {
    await endsOnSignal(run, 'SIGTERM')
  }
})

test('301-megachat.js keeps each room in the process that its address names', sharing, async (t) => {
  const port = await freePort()
  const base = `http://localhost:${port}`
  const first = await start(t, '301-megachat.js', ['1', String(port)])
  const second = await start(t, '301-megachat.js', ['2', String(port)])
  const say = (room, from, text) => get(`${base}/${room}/messages`, { method: 'POST', body: new URLSearchParams({ from, text }) })

  const page = await (await get(`${base}/1/lobby`)).text()
  for (const [, link] of page.matchAll(/(?:href|src)="([^":]+)"/g)) assert.equal((await get(new URL(link, `${base}/1/lobby`))).status, 200, link)
  assert.equal((await get(`${base}/1/lobby/`)).url, `${base}/1/lobby`)
  const events = await get(`${base}/1/lobby/events`)
  assert.match(events.headers.get('content-type'), /^text\/event-stream/)
  assert.equal((await say('1/lobby', 'Ada', 'Hello')).status, 201)
  assert.equal((await say('2/lobby', 'Bob', 'elsewhere')).status, 201)
  assert.equal((await say('1/lobby', 'Ada', '')).status, 400)
  const messages = async (room) => (await (await get(`${base}/${room}/messages`)).json()).map(({ from, text }) => [from, text])
  assert.deepEqual(await messages('1/lobby'), [['Ada', 'Hello']])
  assert.deepEqual(await messages('2/lobby'), [['Bob', 'elsewhere']])
  assert.deepEqual(await (await get(`${base}/2/`)).json(), { process: second.child.pid, rooms: ['/2/lobby'] })
  assert.equal((await get(`${base}/1/no%20room`)).status, 404)

  // A process that ends closes its event streams, and answers nothing of the other's.
  const heard = events.text()
  await endsOnSignal(first, 'SIGTERM')
  assert.match(await heard, /^: welcome\n\nid: 1\ndata: {.*"from":"Ada","text":"Hello"}\n\n$/)
  assert.equal((await get(`${base}/1/lobby`)).status, 404)
  assert.equal((await get(`${base}/2/lobby`)).status, 200)
  await endsOnSignal(second, 'SIGTERM')
})

test('301-megachat.js speaks by WebSocket, each room with its process, and again after a crash', sharing, async (t) => {
  const port = await freePort()
  const base = `ws://localhost:${port}`
  const first = await start(t, '301-megachat.js', ['1', String(port)])
  const second = await start(t, '301-megachat.js', ['2', String(port)])
  const join = (room, query) => new Ear(`${base}/${room}?${new URLSearchParams(query)}`)

  const ada = join('1/lobby', { name: 'Ada' })
  const hello = await ada.next('hello')
  assert.equal(hello.process, first.child.pid)
  const bob = join('1/lobby', { name: 'Bob' })
  const eve = join('2/lobby', { name: 'Eve' })
  assert.equal((await eve.next('hello')).process, second.child.pid)
  assert.deepEqual((await bob.next('people')).names, ['Ada', 'Bob'])
  ada.say('Hello')
  eve.say('elsewhere')
  for (const ear of [ada, bob]) assert.deepEqual((({ id, from, text }) => [id, from, text])(await ear.next('message')), [1, 'Ada', 'Hello'])
  assert.equal((await eve.next('message')).text, 'elsewhere')
  // Said by plain HTTP, heard by WebSocket; who was away gets what it has not seen.
  await get(`http://localhost:${port}/1/lobby/messages`, { method: 'POST', body: new URLSearchParams({ from: 'curl', text: 'posted' }) })
  assert.equal((await bob.next('message')).from, 'curl')
  assert.equal((await join('1/lobby', { name: 'Cleo', born: hello.born, seen: 1 }).next('message')).text, 'posted')

  const strange = join('1/lobby', {})
  await strange.next('hello')
  strange.socket.send('no JSON')
  assert.equal(await strange.closed, 1007)
  const nowhere = new WebSocket(`${base}/1/no%20room`)
  assert.match((await once(nowhere, 'error'))[0].message, /404/)

  first.child.kill('SIGKILL')
  assert.equal(await ada.closed, 1006)
  const again = await start(t, '301-megachat.js', ['1', String(port)])
  const back = join('1/lobby', { name: 'Ada', born: hello.born, seen: 2 })
  const { process, born } = await back.next('hello')
  assert.equal(process, again.child.pid)
  assert.notEqual(born, hello.born)
  back.say('anew')
  assert.equal((await back.next('message')).id, 1)
  eve.say('undisturbed')
  assert.equal((await eve.next('message')).text, 'undisturbed')

  const goodbye = back.closed
  await endsOnSignal(again, 'SIGTERM')
  assert.equal(await goodbye, 1001)
  eve.socket.close()
  await endsOnSignal(second, 'SIGTERM')
})

/** Replaces version 1 by version 2 under load. @returns {Promise<{ after: Set<string>, failures: string[] }>} */
async function replaceUnderLoad (t) {
  const port = await freePort()
  const file = '302-zero-drop-restart/app.js'
  const old = await start(t, file, ['1', `http://*:${port}/`])
  const agents = [new http.Agent({ keepAlive: true }), new http.Agent({ keepAlive: false })]
  t.after(() => agents.forEach((agent) => agent.destroy()))
  const run = { isOver: false, after: new Set(), failures: [] }
  const client = async (agent) => {
    while (!run.isOver) {
      const answer = await text(agent, `http://localhost:${port}/`).catch((error) => `failed: ${error.message}`)
      const [, version] = /^version (\d)/.exec(answer) ?? []
      if (version === undefined) run.failures.push(answer)
      else run.after.add(version)
    }
  }
  const clients = Promise.all(agents.flatMap((agent) => Array.from({ length: 8 }, () => client(agent))))
  const fresh = await start(t, file, ['2', `http://*:${port}/`])
  // The load does not end before the old one does.
  await endsOnSignal(old, 'SIGTERM')
  run.after.clear()
  await text(agents[1], `http://localhost:${port}/`)
  run.isOver = true
  await clients
  await endsOnSignal(fresh, 'SIGTERM')
  return run
}

test('302-zero-drop-restart/app.js is replaced under load without a failed request', sharing, async (t) => {
  const { after, failures } = await replaceUnderLoad(t)
  assert.deepEqual(failures, [])
  assert.deepEqual([...after], ['2'])
})

test('the units of 302-zero-drop-restart are as systemd wants them', systemd, (t) => {
  // As its reader installs it.
  const text = fs.readFileSync(path.join(kExamples, '302-zero-drop-restart', 'app@.service'), 'utf8')
  assert.match(text, /^ExecStart=\/usr\/bin\/node /m)
  const unit = text.replace('/usr/bin/node', process.execPath)
  assert.equal(complaintsOf(t, 'app@.service', unit), '')
  for (const [right, wrong] of [['Type=notify', 'Type=notified'], ['KillMode', 'KilMode'], [process.execPath, '/nowhere/node']]) {
    assert.notEqual(complaintsOf(t, 'app@.service', unit.replace(right, wrong)), '', wrong)
  }
})

test('every example file is tested here', () => {
  const text = fs.readFileSync(__filename, 'utf8')
  for (const file of fs.readdirSync(kExamples).filter((name) => /^\d/.test(name) || name.endsWith('.js'))) {
    assert.ok(text.includes(`'${file}'`) || text.includes(`'${file}/app.js'`) || text.includes(`'${file}/start.js'`), file)
  }
})
