'use strict'

// Goal: a request is answered in the same way whichever way it comes. The same generated requests are sent over HTTP/1.1, pipelined, over HTTP/2,
// with TLS, and to a member of a shared port that has to pass them on. Status, fields and bodies are compared, and what JavaScript was given.
// A body limit, a strict URL, a full queue or a stored response that counts in one protocol only makes it fail.
//
//   HTTPSYS_WAYS_SEED      the seed (the clock); a failure names its own
//   HTTPSYS_WAYS_REQUESTS  how many requests are sent each way (10,000)

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { after, before, describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { kIsThorough } = require('../helpers/thorough')
const { kSkip, stateOf } = require('../sharing/kit')
const { Connection, Http1Client, Http2Client } = require('./clients')
const { batchesOf, kUncovered, simple } = require('./requests')
const { kQueueLimit, makeFiles } = require('./resources')

/** @typedef {import('./requests').Request} Request */
/** @typedef {import('./clients').Answer} Answer */
/** @typedef {import('./clients').Where} Where */

const kSeed = Number(process.env.HTTPSYS_WAYS_SEED ?? (kIsThorough ? Math.floor(Math.random() * 2 ** 31) : 43))
const kRequests = Number(process.env.HTTPSYS_WAYS_REQUESTS ?? 10_000)
/** All ways together take a twentieth of it. */
const kTimeoutMs = 600_000
/** Batches for which a client keeps its connections: HTTP/2 ends one with many malformed requests. */
const kBatchesOfClient = 30
/** Differences that a message shows. */
const kShown = 8

/**
 * @typedef {object} Way
 * @property {boolean} [isHttp2]
 * @property {boolean} [isPipelined]
 * @property {boolean} [isSecure] with TLS
 * @property {boolean} [isShared] a member of the port that does not own the prefixes has the connection before each request
 * @property {boolean} [isExtra] `npm test` sends a tenth of the requests
 */

/** @type {Record<string, Way>} */
const kWays = {
  'HTTP/1.1': {},
  'HTTP/1.1, pipelined': { isPipelined: true },
  'HTTP/2': { isHttp2: true },
  TLS: { isSecure: true },
  'handed over': { isShared: true },
  'HTTP/2 with TLS': { isHttp2: true, isSecure: true, isExtra: true },
  'pipelined behind another member': { isPipelined: true, isShared: true, isExtra: true },
  'relayed with TLS': { isSecure: true, isShared: true, isExtra: true },
  'relayed over HTTP/2': { isHttp2: true, isSecure: true, isShared: true, isExtra: true }
}
const [kReference, ...kOthers] = Object.keys(kWays)

/** Fields that are not compared, with the reason. @type {Record<string, string>} */
const kOwnFields = {
  date: 'the time of the answer',
  connection: 'HTTP/2 has no such field (RFC 9113, section 8.2.2)',
  'keep-alive': 'the same',
  'transfer-encoding': 'the same'
}

/** Parts of fields and bodies that differ from run to run. @type {[string, RegExp][]} */
const kOwnParts = [
  ['seconds that have passed', /(?<=^age: )\d+/],
  ['the same', /(?<=; ttl=)-?\d+/],
  ['a random boundary between ranges', /(?<=boundary=|--)[0-9a-f]{32}/g]
]

/**
 * Answers that may differ, by the name of the reason.
 *
 * @typedef {{ request: Request, batch: import('./requests').Batch, way: Way, expected: Answer, actual: Answer, isSame: (left: Answer, right: Answer) => boolean }} Difference
 */

/** @param {import('./requests').Batch} batch @returns {boolean} whether it has a malformed message */
const endsConnection = ({ requests }) => requests.some(({ method }) => method === 'FOO')

/** Differences that are right. @type {Record<string, (difference: Difference) => boolean>} */
const kExceptions = {
  'RFC 9110, section 7.4: the certificate of the connection does not cover the host': ({ request, way, actual }) =>
    way.isSecure === true && request.host === kUncovered && actual.status === 421,
  'RFC 9113, section 8.3.1: a stream with a malformed or empty authority is malformed': ({ request, way, expected, actual }) =>
    way.isHttp2 === true && (request.host === null || expected.status === 400) && actual.status === 'reset',
  'a connection that is reset behind TLS or another member may seem to be closed': ({ way, expected, actual }) =>
    (way.isSecure === true || way.isShared === true) && expected.status === 'reset' && actual.status === 'closed',
  'libuv reports an end, not a reset, to a client that gets answers and the reset at once': ({ way, expected, actual }) =>
    way.isPipelined === true && expected.status === 'reset' && actual.status === 'closed',
  'as with node:http, a malformed message ends the connection and the answers before it': ({ way, batch, actual }) =>
    way.isPipelined === true && endsConnection(batch) && (actual.status === 400 || String(actual.status).startsWith('closed')),
  'HTTP/1.1 refuses a malformed message in the words of node:http, without Server; HTTP/2 in its own words': ({ request, way, expected, actual, isSame }) =>
    way.isHttp2 === true && request.method === 'FOO' && actual.status === 400 &&
    isSame(expected, { ...actual, fields: actual.fields.filter(([name]) => name !== 'server') })
}

/** Kinds of answers that have to occur, as often as a thousandth of the requests of one way. Files have no name behind the status. */
const kOutcomes = ['200', '200 of JavaScript', '200 of the cache', '204 of JavaScript', '206', '206 of the cache', '301', '304', '304 of JavaScript', '304 of the cache', '400', '404', '404 of JavaScript', '404 of the cache',
  '405', '412', '413', '416', '417', '421', '500 of JavaScript', '503', '503 ConnLimit', '503 QueueFull', '504', 'reset']

/** @param {Answer} answer @returns {string} the kind of the answer: its status and who gave it */
function outcomeOf ({ status, fields, body }) {
  const fieldOf = (/** @type {string} */ wanted) => fields.find(([name]) => name === wanted)?.[1] ?? ''
  if (/; hit/.test(fieldOf('cache-status'))) return `${status} of the cache`
  if (fieldOf('x-by') !== '') return `${status} of JavaScript`
  const [, reason = ''] = /<p>(\w+)<\/p>|<h1>(Invalid \w+)/.exec(body.toString('latin1'))?.filter((part) => part !== undefined) ?? []
  return `${status} ${reason}`.trim()
}

/** A process of the program. */
class Program {
  #said = ''

  /** @param {any} given */
  constructor (given) {
    this.child = fork(path.join(__dirname, 'program.js'), [JSON.stringify(given)], {
      stdio: ['pipe', 'pipe', 'inherit', 'ipc'],
      // One I/O thread: with two it would not be certain which request finds the queue full.
      env: { ...process.env, HTTPSYS_IO_THREADS: '1', HTTPSYS_REFUSAL_LINES: '0', NODE_TEST_CONTEXT: undefined }
    })
    this.child.stdout?.on('data', (piece) => { this.#said += piece })
    this.ready = this.message()
  }

  /** @returns {Promise<any>} */
  async message () {
    const [said] = await Promise.race([once(this.child, 'message'), once(this.child, 'exit')])
    assert.equal(typeof said, 'object', `the program has ended: ${said}`)
    return said
  }

  async standStill () {
    this.child.send('stop')
    while (!this.#said.includes('still')) await once(/** @type {any} */ (this.child.stdout), 'data')
    this.#said = ''
  }

  goOn () { this.child.stdin?.write('.') }
}

/**
 * Fills the queues of a program that stands still.
 *
 * @param {Http2Client} client
 * @returns {Promise<() => Promise<void>>} waits until they are empty again
 */
async function fillQueues (client) {
  /** @type {(number | string)[]} */
  const statuses = []
  /** @type {Promise<void>[]} */
  const all = []
  // Of each queue exactly one is refused, at once, and then the others wait.
  await Promise.all(['/shop/fill', '/strict/fill', '/basic/fill'].map((target) => new Promise((resolve) => {
    const requests = Array.from({ length: kQueueLimit + 1 }, () => simple(target))
    all.push(client.play(requests, (_, { status }) => {
      statuses.push(status)
      resolve(null)
    }))
  })))
  return async () => {
    await Promise.all(all)
    const refused = statuses.filter((status) => status !== 200).sort().join()
    assert.match(refused, /^503,503,(reset|closed)$/)
  }
}

/**
 * Sends the requests one way, to servers of their own.
 *
 * @param {Way} way @param {import('./requests').Batch[]} batches @param {string} folder of the files
 * @returns {Promise<{ answers: Map<number, Answer>, seen: string[], received: number, again: Set<number> }>} seen: ids of those that JavaScript got; received: how
 *   many requests came from the other member; again: ids of requests that
 *   the servers may have had twice
 */
async function play (way, batches, folder) {
  const port = await freePort()
  const given = { port, folder, tls: way.isSecure ? certificate('*.one.test') : null }
  const owner = new Program({ ...given, role: 'owner' })
  const programs = [owner]
  try {
    await owner.ready
    if (way.isShared) programs.push(new Program({ ...given, role: 'other' }))
    await programs.at(-1)?.ready
    // The server name selects the member that has the connection.
    /** @type {Where} */
    const where = { port, secure: way.isSecure ? { rejectUnauthorized: false, servername: way.isShared ? 'front.one.test' : 'a.one.test' } : null }
    // The only connection that /few/ may have.
    const holder = new Connection(where)
    assert.equal((await holder.send(simple('/few/'), false)).status, 200)
    const filler = new Http2Client(where)
    const client = way.isHttp2
      ? new Http2Client(where)
      : new Http1Client(where, { isPipelined: way.isPipelined, isMoved: way.isShared && !way.isSecure })
    /** @type {Map<number, Answer>} */
    const answers = new Map()
    for (const [number, { requests, isHeld }] of batches.entries()) {
      // Connections whose last answer came from JavaScript may wait for it before they go to another member.
      if (isHeld || number % kBatchesOfClient === 0) client.close()
      if (isHeld) await owner.standStill()
      const settle = isHeld ? await fillQueues(filler) : null
      await client.play(requests, ({ id }, answer) => answers.set(id, answer))
      if (isHeld) owner.goOn()
      await settle?.()
    }
    const { members } = way.isShared ? await stateOf(port) : { members: [{ pid: owner.child.pid, received: 0 }] }
    const { received } = members.find((/** @type {any} */ { pid }) => pid === owner.child.pid)
    for (const one of [client, filler, holder]) one.close()
    owner.child.send('seen')
    const { seen } = await owner.message()
    return { answers, seen, received, again: client instanceof Http1Client ? client.again : new Set() }
  } finally {
    for (const { child } of programs) child.kill('SIGKILL')
  }
}

/** @param {string} text */
const settled = (text) => kOwnParts.reduce((rest, [, part]) => rest.replace(part, 'OWN'), text)

/** What is compared. @param {Answer} answer */
const comparable = ({ status, fields, body }) => ({
  status,
  fields: fields.filter(([name]) => !(name in kOwnFields)).map(([name, value]) => settled(`${name}: ${value}`)).sort(),
  body: settled(body.toString('latin1'))
})

/** @param {Answer} left @param {Answer} right */
const isSame = (left, right) => JSON.stringify(comparable(left)) === JSON.stringify(comparable(right))

/** @param {Request} request @param {Answer} expected @param {Answer} actual */
function show ({ body, ...request }, expected, actual) {
  const [left, right] = [expected, actual].map((answer) => {
    const { status, fields, body } = comparable(answer)
    return `${status} ${fields.join(' | ')} ${JSON.stringify(body.slice(0, 200))}`
  })
  return `${JSON.stringify({ ...request, body: body?.length ?? null })}\n  ${kReference}: ${left}\n  this way: ${right}`
}

describe(`the same ${kRequests} requests (HTTPSYS_WAYS_SEED=${kSeed})`, { skip: kSkip, timeout: kTimeoutMs }, () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-one-way-'))
  after(() => fs.rmSync(folder, { recursive: true }))
  const batches = batchesOf(kSeed, kRequests)
  /** @type {Awaited<ReturnType<typeof play>>} */
  let reference
  /** @type {Map<string, number>} */
  const outcomes = new Map()
  const count = (/** @type {Answer} */ answer) => outcomes.set(outcomeOf(answer), (outcomes.get(outcomeOf(answer)) ?? 0) + 1)

  before(async () => {
    makeFiles(folder)
    reference = await play(kWays[kReference], batches, folder)
  })

  for (const name of kOthers) {
    it(`are answered alike ${name}`, async () => {
      const way = kWays[name]
      const part = way.isExtra && !kIsThorough ? batches.slice(0, Math.ceil(batches.length / 10)) : batches
      const { answers, seen, received, again } = await play(way, part, folder)
      /** @type {string[]} */
      const wrong = []
      /** Ids of requests whose answers differ by right. @type {Set<string>} */
      const excused = new Set()
      /** Targets whose stored answer differs, so that later answers do, too. @type {Set<string>} */
      const stale = new Set()
      for (const batch of part) {
        for (const request of batch.requests) {
          const [expected, actual] = [reference, { answers }].map((one) => /** @type {Answer} */ (one.answers.get(request.id)))
          count(actual)
          // A response whose connection is destroyed might not be stored, although the client has it.
          if (again.has(request.id) || (way.isPipelined && endsConnection(batch))) stale.add(request.target)
          if (isSame(expected, actual)) continue
          excused.add(String(request.id))
          if (stale.has(request.target)) continue
          const difference = { request, batch, way, expected, actual, isSame }
          const isRight = Object.values(kExceptions).some((exception) => exception(difference))
          if (!isRight) wrong.push(show(request, expected, actual))
          if (!isRight || way.isPipelined) stale.add(request.target)
        }
      }
      const sent = part.flatMap(({ requests }) => requests)
      assert.ok(wrong.length === 0, `${wrong.length} answers differ, seed ${kSeed}:\n${wrong.slice(0, kShown).join('\n')}`)
      const ids = new Set(sent.map(({ id }) => String(id)))
      const comparableIds = (/** @type {string[]} */ all) => {
        const left = all.filter((id) => ids.has(id) && !excused.has(id))
        // A pipelined request that was not answered is sent again.
        return (way.isPipelined ? [...new Set(left)] : left).sort()
      }
      assert.deepEqual(comparableIds(seen), comparableIds(reference.seen), `JavaScript was given other requests, seed ${kSeed}`)
      if (way.isShared) assert.ok(received > (way.isPipelined ? 0 : 0.05 * sent.length), `the other member had ${received} of ${sent.length} requests: the test tests nothing`)
    })
  }

  it('have every kind of answer', () => {
    for (const answer of reference.answers.values()) count(answer)
    const rare = kOutcomes.filter((outcome) => (outcomes.get(outcome) ?? 0) < kRequests / 1000)
    assert.deepEqual(rare, [], `the test tests nothing of them, seed ${kSeed}`)
  })
})
