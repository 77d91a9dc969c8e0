'use strict'

// Goal: on a port that servers and processes share, the files of a server go to those who its handler would see, whoever made the handshake and
// has the connection. Method: pairs of servers; a file and a handler of each are asked for in the same way, and both answers compared.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const http2 = require('node:http2')
const tls = require('node:tls')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { serve } = require('../fixtures/client-certificate-rules')
const { needs } = require('../helpers/capabilities')
const { backend } = require('../helpers/backend')
const { certificate, revocationList } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { someOf } = require('../helpers/thorough')
const { Client, member } = require('../sharing/kit')
const { makeSite } = require('./static-kit')

const options = { ...needs('servesFiles'), timeout: 240_000, ...(backend === 'node' && { skip: 'node:http serves no folders' }) }

/** Ends what hangs; nothing here takes a tenth of it on a busy machine. */
const kAnswerMs = 20_000

// -- Client certificates.

/** @typedef {import('../fixtures/client-certificate-rules').Rules} Rules */

/** @type {Rules[]} */
const kRules = ['none', 'one', 'two', 'optional', 'list', 'callback', 'context']
const kHosts = { a: 'a.pair.test', b: 'b.pair.test' }

function makeMaterial () {
  const authorities = { one: certificate('authority one', { isCa: true }).cert, two: certificate('authority two', { isCa: true }).cert }
  const clients = {
    nobody: {},
    good: certificate('good client', { issuer: 'authority one' }),
    revoked: certificate('revoked client', { issuer: 'authority one' }),
    stranger: certificate('stranger', { issuer: 'authority two' })
  }
  return { material: { own: certificate('*.pair.test'), authorities, list: revocationList('authority one', ['revoked client']) }, clients }
}

/** What comes for two requests of HTTP/1.1 on one connection. @param {tls.ConnectionOptions} secure @param {string} host @param {string[]} targets */
function askHttp1 (secure, host, targets) {
  return new Promise((resolve) => {
    const socket = tls.connect({ ...secure, ALPNProtocols: ['http/1.1'] })
    // Without an end there is an answer that nobody gave.
    const timer = setTimeout(() => socket.destroy(), kAnswerMs)
    let text = ''
    socket.on('data', (piece) => { text += piece.toString('latin1') }).on('error', () => {}).on('close', () => {
      clearTimeout(timer)
      resolve(text.split(/(?=HTTP\/1\.1 \d{3} )/).map((answer) => ({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0), isFile: answer.endsWith('0123456789') })))
    })
    socket.write(targets.map((target, i) => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${i + 1 === targets.length ? 'Connection: close\r\n' : ''}\r\n`).join(''))
  })
}

/** The same over HTTP/2. @param {tls.ConnectionOptions} secure @param {string} host @param {string[]} targets */
function askHttp2 (secure, host, targets) {
  return new Promise((resolve) => {
    const session = http2.connect(`https://127.0.0.1:${secure.port}`, /** @type {any} */ (secure))
    const settle = (/** @type {Seen} */ answers) => {
      clearTimeout(timer)
      resolve(answers)
      session.destroy()
    }
    const isCut = () => settle([{ status: 0, isFile: false }])
    const timer = setTimeout(isCut, kAnswerMs)
    session.on('error', isCut).on('close', isCut)
    const answered = targets.map((target) => new Promise((resolve) => {
      const stream = session.request({ ':path': target, ':authority': host })
      let [text, status] = ['', 0]
      stream.setEncoding('latin1').on('response', (fields) => { status = Number(fields[':status']) }).on('data', (piece) => { text += piece })
      // A session whose handshake fails may say so by its streams alone.
      stream.on('error', isCut).on('end', () => resolve({ status, isFile: text === '0123456789' }))
    }))
    Promise.all(answered).then(settle)
  })
}

/** @typedef {{ status: number, isFile: boolean }[]} Seen */

/**
 * @param {string} what for messages
 * @param {number} port
 * @param {Record<string, object>} clients
 * @returns {Promise<Record<string, number>>} how often a file came, and how often not
 */
async function compareAnswers (what, port, clients) {
  const seen = { files: 0, refused: 0, cut: 0 }
  const cases = Object.keys(clients).flatMap((client) => ['', kHosts.a, kHosts.b].flatMap((servername) => Object.values(kHosts).flatMap((host) =>
    [askHttp1, askHttp2].map((ask) => ({ client, servername, host, ask })))))
  await Promise.all(cases.map(async ({ client, servername, host, ask }) => {
    const secure = { port, host: '127.0.0.1', servername, rejectUnauthorized: false, ...Reflect.get(clients, client) }
    // In both orders: the first request of a connection is another case than later ones.
    for (const targets of [['/handler', '/a.txt'], ['/a.txt', '/handler']]) {
      const answers = /** @type {Seen} */ (await ask(secure, host, targets))
      const where = `${what}: ${client} for '${servername}', ${host}, ${targets[0]} first, ${ask.name}`
      if (answers.length === 1 && answers[0].status === 0) {
        seen.cut++
        continue
      }
      const [handler, file] = targets[0] === '/handler' ? answers : [...answers].reverse()
      // A connection of HTTP/1.1 may end with the first refusal.
      if (answers.length === 1) assert.deepEqual(answers[0], { status: 421, isFile: false }, where)
      else assert.deepEqual([file.status, file.isFile], [handler.status, handler.status === 200], where)
      if (answers.length > 1 && file.isFile) seen.files++
      else seen.refused++
    }
  }))
  return seen
}

for (const place of ['one process', 'two processes']) {
  test(`files go to those clients whom the handler beside them sees, in ${place}`, options, async (t) => {
    const { material, clients } = makeMaterial()
    const root = makeSite(t)
    const pairs = someOf(kRules.flatMap((one) => kRules.map((other) => /** @type {[Rules, Rules]} */ ([one, other]))), place === 'one process' ? 2 : 5)
    const total = { files: 0, refused: 0, cut: 0 }
    const child = place === 'one process' ? null : fork(require.resolve('../fixtures/client-certificate-rules'), [], { env: { ...process.env, NODE_TEST_CONTEXT: undefined } })
    if (child !== null) {
      t.after(() => child.kill('SIGKILL'))
      await once(child, 'message')
    }
    const tell = async (/** @type {string} */ command, /** @type {any} */ args) => {
      const answered = once(/** @type {any} */ (child), 'message')
      child?.send({ id: 1, command, args })
      const [{ error }] = await answered
      if (error !== undefined) throw Object.assign(new Error(error.message), error)
    }
    for (const [one, other] of pairs) {
      const port = await freePort()
      const a = { name: 'a', rules: one, host: kHosts.a, prefix: `https://*:${port}/`, material, root }
      const b = { name: 'b', rules: other, host: kHosts.b, prefix: `https://${kHosts.b}:${port}/`, material, root }
      const first = await serve(a)
      const second = child === null ? await serve(b) : await tell('serve', b)
      const seen = await compareAnswers(`${one} and ${other}`, port, clients)
      for (const name of /** @type {const} */ (['files', 'refused', 'cut'])) total[name] += seen[name]
      await first.close()
      if (child === null) await second?.close()
      else await tell('close', undefined)
    }
    t.diagnostic(`${pairs.length} pairs of rules: ${JSON.stringify(total)}`)
    assert.ok(total.files > 0 && total.refused > 0 && total.cut > 0, JSON.stringify(total))
  })
}

// -- Shared ports.

test('two processes serve a folder each at a prefix of one port, and each connection gets both', options, async (t) => {
  const [one, two] = [makeSite(t, { 'a.txt': 'one' }), makeSite(t, { 'a.txt': 'two', 'large.txt': 'x'.repeat(3_000_000) })]
  const port = await freePort()
  const [first, second] = await Promise.all([member(t), member(t)])
  await first.tell('serveFiles', { name: 'first', where: `http://127.0.0.1:${port}/one/`, root: one })
  await second.tell('serveFiles', { name: 'second', where: `http://127.0.0.1:${port}/two/`, root: two })
  const client = new Client(port)
  t.after(() => client.destroy())
  for (let round = 0; round < 20; ++round) {
    assert.equal((await client.request('/one/a.txt')).body, 'one')
    assert.equal((await client.request('/two/a.txt')).body, 'two')
  }
  // Pipelined, requests are relayed.
  const asked = Array.from({ length: 40 }, (_, i) => ['/one/a.txt', '/two/a.txt', '/two/large.txt', '/one/none', '/two/a.txt'][i % 5])
  const answers = await Promise.all(client.send(asked.map((target) => `GET ${target} HTTP/1.1\r\nHost: shared.test\r\n\r\n`).join(''), asked.length))
  for (const [i, { status, body }] of answers.entries()) {
    const expected = { '/one/a.txt': [200, 'one'], '/two/a.txt': [200, 'two'], '/two/large.txt': [200, 'x'.repeat(3_000_000)], '/one/none': [404, body] }[asked[i]] ?? []
    assert.deepEqual([status, body === expected[1]], [expected[0], true], asked[i])
  }
  const ranged = await client.request('/two/a.txt', { headers: ['Range: bytes=1-1'] })
  assert.deepEqual([ranged.status, ranged.body, ranged.headers['content-range']], [206, 'w', 'bytes 1-1/3'])
  // The same prefix is refused to the other process, and free when its owner ends.
  await assert.rejects(first.tell('serveFiles', { name: 'first', where: `http://127.0.0.1:${port}/two/`, root: one }), { code: 'EADDRINUSE', pid: second.pid })
  await second.kill()
  await first.tell('serveFiles', { name: 'first', where: `http://127.0.0.1:${port}/two/`, root: one })
  const later = new Client(port)
  t.after(() => later.destroy())
  assert.equal((await later.request('/two/a.txt')).body, 'one')
})

test('streams of HTTP/2 get files of the process that has their prefix', options, async (t) => {
  const [one, two] = [makeSite(t, { 'a.txt': 'one' }), makeSite(t, { 'a.txt': 'two', 'large.txt': 'x'.repeat(1_000_000) })]
  const port = await freePort()
  const [first, second] = await Promise.all([member(t), member(t)])
  await first.tell('listen', { name: 'first', on: [`http://127.0.0.1:${port}/one/`], options: { http2: true } })
  await first.tell('serveFiles', { name: 'first', where: '/files/', root: one })
  await second.tell('listen', { name: 'second', on: [`http://127.0.0.1:${port}/two/`], options: { http2: true } })
  await second.tell('serveFiles', { name: 'second', where: '/files/', root: two })
  const session = http2.connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  t.after(() => session.destroy())
  const bodyOf = (/** @type {string} */ target) => new Promise((resolve, reject) => {
    let text = ''
    session.request({ ':path': target, ':authority': 'shared.test' }).setEncoding('latin1').on('data', (piece) => { text += piece }).on('error', reject).on('end', () => resolve(text))
  })
  const targets = Array.from({ length: 30 }, (_, i) => ['/one/files/a.txt', '/two/files/a.txt', '/two/files/large.txt'][i % 3])
  const bodies = await Promise.all(targets.map(bodyOf))
  for (const [i, body] of bodies.entries()) assert.equal(body, ['one', 'two', 'x'.repeat(1_000_000)][i % 3])
  assert.match(/** @type {string} */ (await bodyOf('/two/other')), /^second /)
})
