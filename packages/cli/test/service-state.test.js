'use strict'

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')
const http = require('@httpsys/core-native')
const { readServiceState } = require('@httpsys/core-native/service-state')
const { freePort } = require('../../../test/helpers/free-port')
const { run } = require('../lib/program')
const { httpsys, makeFolder } = require('./support')

const counters = { requests: 0, queued: 0, queueLimit: 1000, refused: 0 }
const kShop = {
  port: 8080,
  protocol: 1,
  coordinator: 4711,
  members: [
    {
      pid: 4711,
      id: '00112233aabbccdd',
      thread: 0,
      program: 'server.js',
      protocol: 1,
      registrations: [
        { ...counters, prefix: 'http://*:8080/shop/', queue: 'shop', requests: 12345, queued: 3 },
        { ...counters, prefix: 'http://*:8080/shop/admin/', queue: '', requests: 17 }
      ],
      connections: 12,
      handedOver: 5,
      received: 7,
      cacheAnswers: 3
    },
    {
      pid: 4712,
      id: '00112233aabbccde',
      thread: 1,
      program: 'caf\u00e9.js',
      protocol: 1,
      registrations: [{ ...counters, prefix: 'http://*:8080/chat/', queue: '', requests: 8000, refused: 2 }],
      connections: 900,
      handedOver: 0,
      received: 0
    },
    { pid: 4713, id: '00112233aabbccdf', thread: 0, program: 'new.js', protocol: 1, registrations: [], connections: 0, handedOver: 0, received: 0 }
  ],
  sockets: ['[::]:8080', '127.0.0.1:8080']
}

/** The command in this process, with ports and answers of our own. */
async function show (args, { own = [], others = [], answers = {} }) {
  const said = { out: '', err: '' }
  const code = await run(['show', 'servicestate', ...args], {
    out: (text) => { said.out += text },
    err: (text) => { said.err += text },
    portsInUse: () => ({ own, others }),
    readServiceState: async (port) => {
      if (answers[port] instanceof Error) throw answers[port]
      return answers[port]
    }
  })
  return { code, ...said }
}

const failure = (code) => Object.assign(new Error(`it says ${code}`), { code })

test('the state is a table whose columns stand below their titles', async () => {
  const { code, out, err } = await show([], { own: [8080], answers: { 8080: kShop } })
  assert.deepEqual([code, err], [0, ''])
  assert.equal(out, `\
PORT  PREFIX                        PID  PROGRAM    QUEUE  REQUESTS  QUEUED  REFUSED  CONNECTIONS  HANDED OVER
8080  http://*:8080/shop/          4711  server.js  shop      12345  3/1000        0           12            5
8080  http://*:8080/shop/admin/    4711  server.js               17  0/1000        0
8080  http://*:8080/chat/        4712/1  caf\u00e9.js               8000  0/1000        2          900            0
8080  -                            4713  new.js                                                 0            0

Port 8080: [::]:8080, 127.0.0.1:8080; coordinator 4711
`)
})

test('with --json the state is whole', async () => {
  const { code, out } = await show(['--json'], { own: [8080], others: [{ port: 1, uid: 2 }], answers: { 8080: kShop } })
  assert.equal(code, 0)
  assert.deepEqual(JSON.parse(out), { version: 1, ports: [kShop], problems: [], otherUsers: [{ port: 1, uid: 2 }] })
})

test('when nothing listens a line says so', async () => {
  assert.deepEqual(await show([], {}),
    { code: 0, out: 'Nothing listens: no process of this user has registered a URL prefix.\n', err: '' })
  assert.deepEqual(JSON.parse((await show(['--json'], {})).out), { version: 1, ports: [], problems: [], otherUsers: [] })
})

test('ports of other users are named', async () => {
  const { out } = await show([], { others: [{ port: 80, uid: 0 }, { port: 81, uid: 7 }] })
  assert.match(out, /^Nothing listens.*\nPorts of other users or versions, which only they can ask: 80 \(uid 0\), 81 \(uid 7\)\n$/)
})

test('only the port that is named is asked, whether it was found or not', async () => {
  const { code, out } = await show(['--port', '8080'], { own: [1, 2], answers: { 8080: kShop } })
  assert.equal(code, 0)
  assert.match(out, /^PORT .*\n8080 {2}/)
})

test('a named port where nobody is exits with 1', async () => {
  assert.deepEqual(await show(['-p', '9'], { answers: { 9: failure('ECONNREFUSED') } }),
    { code: 1, out: '', err: 'httpsys: No process of this user has registered a URL prefix on port 9\n' })
})

test('a port that was left meanwhile is passed over; one that does not answer is told beside the others', async () => {
  const answers = { 1: failure('ECONNREFUSED'), 2: failure('ERR_HTTPSYS_SERVICE_STATE'), 8080: kShop }
  const { code, out, err } = await show([], { own: [1, 2, 8080], answers })
  assert.equal(code, 1)
  assert.match(out, /http:\/\/\*:8080\/chat\//)
  assert.equal(err, 'httpsys: it says ERR_HTTPSYS_SERVICE_STATE\n')
  const json = await show(['--json'], { own: [1, 2, 8080], answers })
  assert.equal(json.code, 1)
  assert.deepEqual(JSON.parse(json.out).problems,
    [{ port: 2, code: 'ERR_HTTPSYS_SERVICE_STATE', message: 'it says ERR_HTTPSYS_SERVICE_STATE' }])
})

test('a port that is no number is not understood', async () => {
  for (const port of ['0', '65536', '080', 'x', '-1', '1.5']) {
    const { code, err } = await show([`--port=${port}`], {})
    assert.equal(code, 2)
    assert.match(err, /is invalid\. It must be a number from 1 to 65535\./)
  }
})

/** The names of the fields of a value, and of the first element of a list. */
const fieldsOf = (value) => Array.isArray(value)
  ? [fieldsOf(value[0])]
  : typeof value === 'object' ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, fieldsOf(field)])) : typeof value

test('the example of docs/cli.md has the fields of a state', () => {
  const text = fs.readFileSync(path.join(__dirname, '../../../docs/cli.md'), 'utf8')
  const [, json] = /```json\n(.*?)```/s.exec(text) ?? []
  const { ports } = JSON.parse(json)
  assert.deepEqual(ports.map(fieldsOf), [fieldsOf(kShop)])
})

test('a state of the engine has the same fields', { skip: http.backend === 'node' && 'stock Node shares no ports' }, async (t) => {
  const port = await freePort()
  const server = http.createServer().listen(`http://127.0.0.1:${port}/`)
  t.after(() => server.close())
  await once(server, 'listening')
  const state = await readServiceState(port)
  assert.deepEqual(fieldsOf(state), fieldsOf(kShop))
  assert.equal(JSON.stringify(Object.keys(state.members[0])), JSON.stringify(Object.keys(kShop.members[0])), 'in the same order')
})

test('the real command finds a port by its socket and asks the addon', { skip: process.platform !== 'linux' && 'abstract sockets are Linux\'s' }, async (t) => {
  // A TCP port that nobody else takes meanwhile, and the name of its meeting place.
  const holder = net.createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (holder.address())
  const meeting = net.createServer().listen(`\0httpsys/1/${process.geteuid()}/${port}`)
  await once(meeting, 'listening')
  t.after(() => {
    holder.close()
    meeting.close()
  })
  const addon = path.join(makeFolder(t), 'addon.js')
  fs.writeFileSync(addon, `
    exports.serviceState = (port, answer) => setImmediate(answer, 0, { ...${JSON.stringify(kShop)}, port })
    setInterval(() => {}, 1000) // What an addon leaves open does not keep the command.`)
  const { code, out, err } = await httpsys(['show', 'servicestate', '--json'], { HTTPSYS_ADDON: addon })
  assert.deepEqual([code, err], [0, ''])
  assert.ok(JSON.parse(out).ports.some((state) => state.port === port))
})
