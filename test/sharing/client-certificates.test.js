'use strict'

// Servers of one port that ask clients for certificates by different rules, in one process and in two: all pairs of rules,
// whatever the client names in its hello and in its requests, against a small model. A handler that needs a certificate
// never runs without the right one. In worker threads and in workers of node:cluster some pairs do.

const assert = require('node:assert/strict')
const cluster = require('node:cluster')
const http2 = require('node:http2')
const path = require('node:path')
const tls = require('node:tls')
const { fork } = require('node:child_process')
const { constants } = require('node:crypto')
const { once } = require('node:events')
const { after, before, describe, it } = require('node:test')
const { Worker } = require('node:worker_threads')
const { serve } = require('../fixtures/client-certificate-rules')
const { certificate, revocationList } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { kIsThorough, someOf } = require('../helpers/thorough')
const { Stranger, kSkip, kSkipStranger, meetingPlace, member } = require('./kit')

/** @typedef {import('../fixtures/client-certificate-rules').Rules} Rules */
/** @typedef {typeof kPlaces[number]} Place where two servers are */

/** @type {Rules[]} */
const kRules = ['none', 'one', 'two', 'optional', 'list', 'callback', 'context']
const kHosts = { a: 'a.pair.test', b: 'b.pair.test' }
const kPlaces = /** @type {const} */ (['one process', 'two processes', 'two worker threads', 'two cluster workers'])
// With a cache (test/cache/client-certificates.test.js) those in which processes differ.
const kPlacesHere = process.env.HTTPSYS_CACHE ? kPlaces.slice(0, 2) : kPlaces
const kProtocols = /** @type {const} */ (['host', 'absolute', 'pipelined', 'upgrade', 'http2', 'connect'])
// Ends what hangs; nothing here takes a hundredth of it on an idle machine.
const kAnswerMs = 60_000

// -- The model.

// Whom a client's certificate has to come from, when it asks for this name.
/** @param {Rules} rules @param {string} name @param {string} contextHost */
function trustOf (rules, name, contextHost) {
  if (rules === 'two') return 'two'
  if (rules === 'list') return 'one but for what was taken back'
  return rules === 'context' && name === contextHost ? 'two' : 'one'
}

/** @type {Record<string, string[]>} Clients by who finds them good. */
const kGood = { one: ['good', 'revoked'], two: ['stranger'], 'one but for what was taken back': ['good'] }

/** @typedef {{ name: string, rules: Rules, host: string }} Side */
/** @typedef {Side & { prefix: string | number }} ListeningSide with an argument of listen() */

// What becomes of a handshake: null when the client is sent away.
/** @param {Side} server @param {string} servername @param {string} client */
function handshake ({ rules, host }, servername, client) {
  if (rules === 'none') return { isAsked: false, isVerified: false, trust: '' }
  const trust = trustOf(rules, servername, host)
  const isVerified = kGood[trust].includes(client)
  return !isVerified && rules !== 'optional' ? null : { isAsked: true, isVerified, trust }
}

// Whether the owner of a request takes it from this connection.
/** @param {Side} owner @param {string} host @param {NonNullable<ReturnType<typeof handshake>>} shaken */
function admits ({ rules, host: contextHost }, host, { isAsked, isVerified, trust }) {
  if (rules === 'none') return true
  return rules !== 'callback' && isAsked && trust === trustOf(rules, host, contextHost) && (isVerified || rules === 'optional')
}

// Whether two servers may have one host.
/** @param {Side} one @param {Side} other @param {string} host */
function agree (one, other, host) {
  const asks = (/** @type {Side} */ { rules }) => rules !== 'none'
  if (!asks(one) && !asks(other)) return true
  if (asks(one) !== asks(other) || one.rules === 'callback' || other.rules === 'callback') return false
  return (one.rules === 'optional') === (other.rules === 'optional') && trustOf(one.rules, host, one.host) === trustOf(other.rules, host, other.host)
}

// -- The servers.

/** @type {import('../fixtures/client-certificate-rules').Material} */
let material
/** @type {Record<string, { key?: string, cert?: string }>} */
let clients
/** @type {Record<Place, Peer[]>} none: the process of the test */
const peers = { 'one process': [], 'two processes': [], 'two worker threads': [], 'two cluster workers': [] }

const kFixture = path.join(__dirname, '..', 'fixtures', 'client-certificate-rules.js')
const kEnvironment = { NODE_TEST_CONTEXT: undefined }

// A process or a thread with servers of its own.
class Peer {
  #waiting = /** @type {Map<number, (answer: any) => void>} */ (new Map())
  #last = 0
  #send

  /** @param {import('node:events').EventEmitter} from what emits its messages @param {(message: any) => void} send @param {number} pid
   * @param {() => Promise<unknown>} end */
  constructor (from, send, pid, end) {
    this.#send = send
    this.pid = pid
    this.end = end
    from.on('message', (/** @type {any} */ answer) => {
      this.#waiting.get(answer.id)?.(answer)
      this.#waiting.delete(answer.id)
    })
    this.ready = new Promise((resolve) => this.#waiting.set(0, resolve))
  }

  /** @param {import('node:child_process').ChildProcess} child */
  static ofProcess (child) {
    return new Peer(child, (message) => child.send(message), child.pid ?? 0, () => {
      child.kill('SIGKILL')
      return once(child, 'close')
    })
  }

  static inThread () {
    const thread = new Worker(kFixture)
    return new Peer(thread, (message) => thread.postMessage(message), process.pid, () => thread.terminate())
  }

  /** @param {string} command @param {any} [args] */
  async tell (command, args) {
    await this.ready
    const id = ++this.#last
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve))
    this.#send({ id, command, args })
    const { error } = /** @type {any} */ (await answer)
    if (error !== undefined) throw Object.assign(new Error(error.message), error)
  }

  close () { return this.tell('close') }
}

// What a peer is to others, in the process of the test.
function here () {
  /** @type {(() => Promise<void>)[]} */
  const open = []
  return {
    pid: process.pid,
    /** @param {string} command @param {any} wanted */
    tell: async (command, wanted) => { open.push((await serve(wanted)).close) },
    close: () => Promise.all(open.splice(0).map((close) => close()))
  }
}

before(async () => {
  const authorities = { one: certificate('authority one', { isCa: true }).cert, two: certificate('authority two', { isCa: true }).cert }
  const good = certificate('good client', { issuer: 'authority one' })
  const revoked = certificate('revoked client', { issuer: 'authority one' })
  const stranger = certificate('stranger', { issuer: 'authority two' })
  material = { own: certificate('*.pair.test'), authorities, list: revocationList('authority one', ['revoked client']) }
  clients = { nobody: {}, good, revoked, stranger }
  if (kSkip) return
  cluster.setupPrimary({ exec: kFixture })
  for (let i = 0; i < 2; i++) {
    peers['two processes'].push(Peer.ofProcess(fork(kFixture, [], { env: { ...process.env, ...kEnvironment } })))
    peers['two worker threads'].push(Peer.inThread())
    peers['two cluster workers'].push(Peer.ofProcess(cluster.fork(kEnvironment).process))
  }
  await Promise.all(Object.values(peers).flat().map(({ ready }) => ready))
})

after(() => Promise.all(Object.values(peers).flat().map((peer) => peer.end())))

/**
 * Both servers, in the order in which they listen; calls `use` and closes them.
 *
 * @param {ListeningSide[]} sides
 * @param {Place} place
 * @param {(pids: (number | undefined)[]) => Promise<void>} use after the first one listens
 */
async function withServers (sides, place, use) {
  const there = peers[place]
  /** @type {(() => Promise<void>)[]} */
  const open = []
  const listen = async (/** @type {ListeningSide} */ side, /** @type {number} */ i) => {
    if (there.length === 0) open.push((await serve({ ...side, material })).close)
    else await there[i].tell('serve', { ...side, material })
  }
  try {
    await listen(sides[0], 0)
    let refusal = null
    await listen(sides[1], 1).catch((error) => { refusal = error })
    const pids = there.length === 0 ? [process.pid, process.pid] : there.map(({ pid }) => pid)
    if (refusal !== null) throw Object.assign(refusal, { pids })
    await use(pids)
  } finally {
    await Promise.all([...open.map((close) => close()), ...there.map((peer) => peer.close())])
  }
}

/** @type {[Rules, Rules][]} */
const kFewPairs = [['none', 'one'], ['one', 'none'], ['one', 'two'], ['optional', 'one']]

/** @param {Place} place @returns {[Rules, Rules][]} what two servers there have */
function pairsFor (place) {
  if (place.includes('worker')) return kFewPairs
  const all = kRules.flatMap((one) => kRules.map((other) => /** @type {[Rules, Rules]} */ ([one, other])))
  // A third of them, with 'none' and 'one' among those of one process. Half of them would all have the same order of listen().
  return someOf(all, 3, 2 - kPlaces.indexOf(place))
}

// -- The clients.

/** @typedef {{ status: number, owner?: string, isAuthorized?: boolean, subject?: string | null, hasSession?: boolean }} Seen */

/** @param {string} text of an answer's body */
function parsed (text) {
  return text.startsWith('{') ? JSON.parse(text) : {}
}

/**
 * All requests to both hosts over connections that name `servername`: [protocol, host] → what was seen; null when the
 * handshake fails.
 *
 * @param {number} port @param {string} servername @param {string} client
 * @returns {Promise<Map<string, Seen> | null>}
 */
async function askAll (port, servername, client) {
  const secure = { port, host: '127.0.0.1', servername, rejectUnauthorized: false, ...clients[client] }
  /** @type {Map<string, Seen>} */
  const seen = new Map()
  for (const [i, host] of Object.values(kHosts).entries()) {
    const other = Object.values(kHosts)[1 - i]
    const text = await converse(secure, `GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n` +
      `GET https://${host}:${port}/ HTTP/1.1\r\nHost: ${other}\r\n\r\n` +
      `GET / HTTP/1.1\r\nHost: ${other}\r\n\r\nGET / HTTP/1.1\r\nHost: ${host}\r\n\r\n` +
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    if (text === null) return null
    const answers = text.split(/(?=HTTP\/1\.1 \d{3} )/).map(answerOf)
    assert.equal(answers.length, 5, text)
    seen.set(`host ${host}`, answers[0]).set(`absolute ${host}`, answers[1]).set(`pipelined ${host}`, answers[3]).set(`upgrade ${host}`, answers[4])
  }
  const session = http2.connect(`https://127.0.0.1:${port}`, secure)
  session.on('error', () => {})
  try {
    // Whether it takes an extended CONNECT.
    await once(session, 'remoteSettings')
    for (const host of Object.values(kHosts)) {
      seen.set(`http2 ${host}`, await ask(session, { ':authority': host }))
      seen.set(`connect ${host}`, await ask(session, { ':authority': host, ':method': 'CONNECT', ':protocol': 'websocket' }))
    }
  } finally {
    session.destroy()
  }
  return seen
}

/** @param {string} answer @returns {Seen} */
function answerOf (answer) {
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(answer) ?? assert.fail(`no answer: ${answer}`)
  return { status: status === '101' ? 200 : Number(status), ...parsed(answer.slice(answer.indexOf('{') < 0 ? answer.length : answer.indexOf('{'), answer.lastIndexOf('}') + 1)) }
}

/** @param {tls.ConnectionOptions} secure @param {string} requests @returns {Promise<string | null>} null: no byte came */
function converse (secure, requests) {
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ ...secure, ALPNProtocols: ['http/1.1'] })
    const timer = setTimeout(() => reject(new Error(`no answer to ${requests}`)), kAnswerMs)
    let text = ''
    socket.on('data', (piece) => { text += piece.toString('latin1') }).on('error', () => {}).on('close', () => {
      clearTimeout(timer)
      resolve(text === '' ? null : text)
    })
    socket.write(requests)
  })
}

/** @param {http2.ClientHttp2Session} session @param {http2.OutgoingHttpHeaders} headers @returns {Promise<Seen>} */
async function ask (session, headers) {
  const stream = session.request({ ':path': '/', ...headers }, { endStream: headers[':method'] !== 'CONNECT' })
  stream.on('error', () => {})
  let text = ''
  stream.setEncoding('latin1').on('data', (piece) => { text += piece })
  const [answer] = await once(stream, 'response')
  if (!stream.readableEnded) await Promise.race([once(stream, 'end'), once(stream, 'close')])
  stream.destroy()
  return { status: Number(answer[':status']), ...parsed(text) }
}

// -- The comparison.

/**
 * @param {string} what for messages
 * @param {Side} server that makes the handshake
 * @param {Side[]} owners of kHosts
 * @param {string} servername @param {string} client @param {Map<string, Seen> | null} seen
 */
function compare (what, server, owners, servername, client, seen) {
  const shaken = handshake(server, servername, client)
  const subject = { nobody: null, good: 'good client', revoked: 'revoked client', stranger: 'stranger' }[client]
  if (shaken === null) return assert.equal(seen, null, `${what}: the client is let in`)
  assert.ok(seen !== null, `${what}: the client is not let in`)
  for (const protocol of kProtocols) {
    Object.values(kHosts).forEach((host, i) => {
      const owner = owners[i]
      const { status, ...facts } = /** @type {Seen} */ (seen.get(`${protocol} ${host}`))
      const where = `${what}: ${protocol} to ${host}`
      const isTaken = owner === server || admits(owner, host, shaken)
      assert.equal(status, isTaken ? 200 : 421, where)
      if (!isTaken) return
      const asks = owner.rules !== 'none'
      assert.deepEqual([facts.owner, facts.isAuthorized, facts.subject],
        [owner.name, asks && shaken.isVerified, asks ? subject : null], where)
      if (asks && owner.rules !== 'optional') assert.equal(facts.isAuthorized, true, where)
      if (!asks && shaken.isAsked) assert.equal(facts.hasSession, false, `${where}: a session has the certificate in it`)
    })
  }
}

// Those that some rule of the two tells apart.
/** @param {Rules[]} rules */
function clientsFor (...rules) {
  const has = (/** @type {Rules[]} */ ...some) => some.some((one) => rules.includes(one))
  return ['nobody', 'good', ...(has('two', 'context') ? ['stranger'] : []), ...(has('list') ? ['revoked'] : [])]
}

/**
 * Two servers, of which one has a host and the other one all others, so that every hello has one answer. Thorough: both
 * orders of listen() for each pair. Otherwise one, which is the other one for the next pair and for the pair's mirror image.
 *
 * @param {Place} place @param {[Rules, Rules][]} pairs
 * @param {(port: number) => string | number | Promise<number>} everywhere what the server of all other hosts listens on
 * @param {boolean[] | null} [orders] of listen(), true: the server of the one host is first
 */
async function compareOnOwnHosts (place, pairs, everywhere, orders = null) {
  for (const [one, other] of pairs) {
    const from = kRules.indexOf(one)
    const to = kRules.indexOf(other)
    const isLater = from === to ? from % 2 === 1 : (from + to) % 2 === (from < to ? 0 : 1)
    for (const isReversed of orders ?? (kIsThorough ? [false, true] : [isLater])) {
      const port = await freePort()
      const a = { name: 'a', rules: one, host: kHosts.a, prefix: await everywhere(port) }
      const b = { name: 'b', rules: other, host: kHosts.b, prefix: `https://${kHosts.b}:${port}/` }
      await withServers(isReversed ? [b, a] : [a, b], place, async () => {
        await Promise.all(clientsFor(one, other).flatMap((client) => [kHosts.a, kHosts.b, ''].map(async (servername) => {
          const server = servername === kHosts.b ? b : a
          const what = `${one} and ${other}, ${isReversed ? 'b' : 'a'} first, ${client} for '${servername}'`
          compare(what, server, [a, b], servername, client, await askAll(port, servername, client))
        })))
      })
    }
  }
}

describe('Servers that ask clients for certificates', { skip: kSkip }, () => {
  for (const place of kPlacesHere) {
    it(`on hosts of their own: who has not shown what an owner wants gets 421, whoever is first, in ${place}`, async () => {
      await compareOnOwnHosts(place, pairsFor(place), (port) => `https://*:${port}/`)
    })

    it(`cannot have what no ClientHello tells apart, whoever is first, in ${place}`, async () => {
      for (const [one, other] of pairsFor(place)) {
        for (const [first, second] of [[`${kHosts.a}:0/x/`, `${kHosts.a}:0/y/`], ['*:0/x/', '+:0/y/'], ['127.0.0.1:0/', '127.0.0.1:0/y/']]) {
          const port = await freePort()
          const at = (/** @type {string} */ text) => `https://${text.replace(':0', `:${port}`)}`
          const a = { name: 'a', rules: one, host: kHosts.a, prefix: at(first) }
          const b = { name: 'b', rules: other, host: kHosts.a, prefix: at(second) }
          const isNamed = first.startsWith(kHosts.a)
          // Without a name all rules for any name count.
          const hasSameRules = agree(a, b, kHosts.a) && (isNamed || agree(a, b, ''))
          const what = `${one} has ${a.prefix}, ${other} wants ${b.prefix}`
          if (hasSameRules) {
            await withServers([a, b], place, async () => {})
            continue
          }
          await assert.rejects(withServers([a, b], place, async () => {}), (/** @type {any} */ error) => {
            assert.equal(error.code, 'EADDRINUSE', what)
            assert.deepEqual([error.prefix, error.pid], [b.prefix, error.pids[0]], what)
            for (const part of [a.prefix, b.prefix, `process ${error.pids[0]}`]) assert.ok(error.message.includes(part), `${what}: ${error.message}`)
            return true
          }, what)
        }
      }
    })
  }

  for (const place of /** @type {Place[]} */ (['one process', 'two processes'])) {
    it(`on a plain port and on a host of it: who has not shown what an owner wants gets 421, in ${place}`, async () => {
      await compareOnOwnHosts(place, kFewPairs, (port) => port)
    })

    it(`cannot have one plain port twice, whatever their rules, in ${place}`, async () => {
      for (const [one, other] of [...kFewPairs, /** @type {const} */ (['one', 'one'])]) {
        const port = await freePort()
        const sides = [one, other].map((rules) => ({ name: rules, rules, host: kHosts.a, prefix: port }))
        await assert.rejects(withServers(sides, place, async () => {}), { code: 'EADDRINUSE' }, `${one} and ${other}`)
      }
    })
  }

  it('on a port that their process cannot share, and on hosts of it: the same holds', { skip: kSkipStranger }, async (t) => {
    // A program of this user is given a second to answer at each listen().
    const stranger = new Stranger(t, process.geteuid?.() === 0 ? { uid: 65534 } : {})
    const takeName = async (/** @type {number} */ port) => {
      await stranger.tell({ bind: meetingPlace(port) })
      return port
    }
    // A prefix would not be listened on first.
    await compareOnOwnHosts('one process', kFewPairs, takeName, [false])
    const port = await takeName(await freePort())
    const open = here()
    t.after(() => open.close())
    await open.tell('serve', { name: 'plain', prefix: port, rules: 'none', host: '', material })
    await open.tell('serve', { name: 'x', prefix: `https://${kHosts.a}:${port}/x/`, rules: 'one', host: '', material })
    const other = { name: 'y', prefix: `https://${kHosts.a}:${port}/y/`, host: '', material }
    await assert.rejects(open.tell('serve', { ...other, rules: 'two' }), { code: 'EADDRINUSE', pid: process.pid })
    await open.tell('serve', { ...other, rules: 'one' })
  })

  for (const place of /** @type {Place[]} */ (['one process', 'two processes'])) {
    it(`may change their rules while no prefix of others is in the way, and otherwise stay as they are, in ${place}`, async (t) => {
      const port = await freePort()
      const one = await serve({ name: 'one', prefix: `https://${kHosts.a}:${port}/`, rules: 'one', host: kHosts.a, material })
      const peer = place === 'one process' ? here() : peers[place][0]
      t.after(() => Promise.all([one.close(), peer.close()]))
      const secure = { ...material.own, ca: material.authorities.one }
      const other = { ...material.own, ca: material.authorities.two }
      const statusOf = async (/** @type {string} */ client) => (await askAll(port, kHosts.a, client))?.get(`host ${kHosts.a}`)?.status
      one.server.setSecureContext(other)
      assert.deepEqual([await statusOf('good'), await statusOf('stranger')], [undefined, 200])
      one.server.setSecureContext(secure)
      const second = { name: 'two', prefix: `https://${kHosts.a}:${port}/two/`, rules: 'one', host: kHosts.a, material }
      await assert.rejects(peer.tell('serve', { ...second, rules: 'two' }), { code: 'EADDRINUSE' })
      await peer.tell('serve', second)
      for (const change of [
        () => one.server.setSecureContext(other),
        () => one.server.setSecureContext({ ...secure, crl: material.list }),
        () => one.server.addContext(kHosts.a, other),
        () => one.server.addContext('*.pair.test', other)
      ]) {
        assert.throws(change, (/** @type {any} */ error) => {
          assert.deepEqual([error.code, error.prefix, error.pid], ['ERR_HTTPSYS_TLS_TERMS', second.prefix, peer.pid])
          for (const part of [`https://${kHosts.a}:${port}/ `, second.prefix, `process ${peer.pid}`]) assert.ok(error.message.includes(part), error.message)
          return true
        })
        assert.equal(one.server.ca, secure.ca)
        assert.equal(one.server._contexts.length, 0)
        assert.deepEqual([await statusOf('good'), await statusOf('stranger')], [200, undefined])
      }
      // Neither authorities that are given in another form nor other hosts change the rules.
      one.server.setSecureContext({ ...secure, ca: [material.authorities.one] })
      one.server.addContext('c.pair.test', other)
      one.server.addContext(kHosts.a, secure)
      assert.equal(await statusOf('good'), 200)
      await peer.close()
      one.server.setSecureContext(other)
      one.server.addContext(kHosts.a, other)
      assert.deepEqual([await statusOf('good'), await statusOf('stranger')], [undefined, 200])
      // Others know what it has changed to.
      await assert.rejects(peer.tell('serve', second), { code: 'EADDRINUSE' })
      await peer.tell('serve', { ...second, rules: 'two' })
    })
  }

  it('compare connections that were opened by earlier rules with their present ones', async (t) => {
    const port = await freePort()
    const a = await serve({ name: 'a', prefix: `https://${kHosts.a}:${port}/`, rules: 'one', host: kHosts.a, material })
    const b = await serve({ name: 'b', prefix: `https://${kHosts.b}:${port}/`, rules: 'one', host: kHosts.b, material })
    t.after(() => Promise.all([a.close(), b.close()]))
    const session = http2.connect(`https://127.0.0.1:${port}`, { servername: kHosts.a, rejectUnauthorized: false, ...clients.good })
    t.after(() => session.destroy())
    const statuses = async () => [(await ask(session, { ':authority': kHosts.a })).status, (await ask(session, { ':authority': kHosts.b })).status]
    assert.deepEqual(await statuses(), [200, 200])
    b.server.setSecureContext({ ...material.own, ca: material.authorities.two })
    assert.deepEqual(await statuses(), [200, 421])
    // The server that has made the handshake goes on with it, as on Node.
    a.server.setSecureContext({ ...material.own, ca: material.authorities.two })
    assert.deepEqual(await statuses(), [200, 421])
    b.server.setSecureContext({ ...material.own, ca: material.authorities.one })
    assert.deepEqual(await statuses(), [200, 200])
  })

  for (const place of /** @type {Place[]} */ (['one process', 'two processes'])) {
    it(`and those that do not take no request over a version or a cipher that they would not negotiate, in ${place}`, async (t) => {
      const port = await freePort()
      const kOptions = {
        a: {},
        b: { minVersion: 'TLSv1.3' },
        c: { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' },
        d: { secureOptions: constants.SSL_OP_NO_TLSv1_3 }
      }
      // The server of the handshake is `a`; where there are two processes, the owners of the other hosts are in the other one.
      const acceptor = await member(t)
      const owner = place === 'one process' ? acceptor : await member(t)
      for (const [name, options] of Object.entries(kOptions)) {
        await (name === 'a' ? acceptor : owner).listen(name, `https://${name}.pair.test:${port}/`, { ...material.own, ...options })
      }
      const statuses = async (/** @type {any} */ options) => {
        const session = http2.connect(`https://127.0.0.1:${port}`, { servername: kHosts.a, rejectUnauthorized: false, ...options })
        const answers = await Promise.all(Object.keys(kOptions).map((name) => ask(session, { ':authority': `${name}.pair.test` })))
        session.destroy()
        // Over HTTP/1.1 the connection, not a stream, would go to the owner.
        const text = await converse({ port, host: '127.0.0.1', servername: kHosts.a, rejectUnauthorized: false, ...options },
          Object.keys(kOptions).map((name, i) => `GET / HTTP/1.1\r\nHost: ${name}.pair.test\r\n${i === 3 ? 'Connection: close\r\n' : ''}\r\n`).join(''))
        assert.deepEqual([...String(text).matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)), answers.map(({ status }) => status))
        return answers.map(({ status }) => status)
      }
      assert.deepEqual(await statuses({}), [200, 200, 421, 421])
      assert.deepEqual(await statuses({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' }), [200, 421, 200, 200])
      assert.deepEqual(await statuses({ maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' }), [200, 421, 421, 200])
    })
  }

  it('count also when the server of the handshake has gone and its connections are left', async (t) => {
    const port = await freePort()
    const a = await serve({ name: 'a', prefix: `https://${kHosts.a}:${port}/`, rules: 'none', host: kHosts.a, material })
    const b = await serve({ name: 'b', prefix: `https://*:${port}/`, rules: 'context', host: kHosts.b, material })
    const c = await serve({ name: 'c', prefix: `https://c.pair.test:${port}/`, rules: 'none', host: '', material })
    t.after(() => Promise.all([a.close(), b.close(), c.close()]))
    const session = http2.connect(`https://127.0.0.1:${port}`, { servername: 'c.pair.test', rejectUnauthorized: false })
    t.after(() => session.destroy())
    const status = async (/** @type {string} */ host) => (await ask(session, { ':authority': host })).status
    assert.deepEqual([await status(kHosts.a), await status(kHosts.b)], [200, 421])
    const closed = once(c.server, 'close')
    c.server.close()
    await closed.catch(() => {})
    assert.ok(session.destroyed || await status(kHosts.b) === 421)
  })
})
