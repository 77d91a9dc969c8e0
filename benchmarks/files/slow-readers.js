'use strict'

// Memory and descriptors for clients that read the first bytes of a large file and then stand still.

const fs = require('node:fs')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { connectionsPossible } = require('../lib/idle-memory')
const { LineProgram, built, pinned } = require('../lib/processes')
const { drawTable, range } = require('../lib/report')
const { spreads } = require('../lib/statistics')
const { kSparse } = require('./folder')
const { kNginx, nodeSide } = require('./servers')

/** @typedef {import('./measure').Context} Context */
/** @typedef {import('./servers').Side} Side */
/** @typedef {{ connections: number, answers: number, problem?: string }} Report of the load */

const kConnections = 10_000
/** Bytes per connection above an idle one. */
const kTarget = { plain: 4 * 1024, tls: 24 * 1024 }
/** Above the number of files. */
const kDescriptorsTarget = 64
/** Until a server has done what it does for clients that do not read. */
const kStandMs = 3000
/** So many of the connections read so much more in the end: a server that has dropped its requests needs no memory. */
const kReadOn = { connections: 50, bytes: 2 ** 20 }
/** The limit on open files, where the benchmark may raise it: connections, and a file for each. */
const kDescriptors = 32_768
/** Becomes a command with as many descriptors as it may have. */
const kRaised = ['sh', '-c', `ulimit -Hn ${kDescriptors} 2>/dev/null || true; ulimit -Sn "$(ulimit -Hn)"; exec "$@"`, 'sh']

/** @type {Side[]} */
const kSides = [
  nodeSide('node', 'express.static'),
  nodeSide('httpsys', 'express.static'),
  nodeSide('httpsys', 'sendFile', { name: 'httpsys, sendFile' }),
  nodeSide('httpsys', 'folder', { name: 'httpsys, folder' }),
  kNginx,
]

/** @param {number} pid @returns {number} bytes */
function residentBytes (pid) {
  return Number(/VmRSS:\s*(\d+) kB/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024
}

/** @param {import('./servers').Live} server after its garbage was collected */
async function look (server) {
  await server.ask?.('collect')
  return { bytes: residentBytes(server.pid), descriptors: fs.readdirSync(`/proc/${server.pid}/fd`).length }
}

/** @param {Side} side @param {boolean} isSecure @param {number} connections @param {Context} context */
async function measureSide (side, isSecure, connections, { plan, files, tls }) {
  const program = await built(path.join(__dirname, 'load', 'main.go'), 'files-load')
  const server = await side.start({ cpu: plan.cpus.server, wrap: kRaised }, { folder: files.folder, ...isSecure && { tls } })
  const load = new LineProgram(pinned(plan.cpus.client, [...kRaised, program, 'stand', String(server.port), String(connections), isSecure ? 'tls' : 'plain', '/13.txt'],
    ['pipe', 'pipe', 'inherit']))
  try {
    /** @type {Report} */
    const idle = await load.answer()
    if (idle.answers < connections) throw new Error(`files, ${side.name}: ${idle.answers} of ${connections} connections had an answer (${idle.problem})`)
    const before = await look(server)
    /** @type {Report} */
    const begun = await load.ask(`begin /${kSparse}`)
    await sleep(kStandMs)
    const after = await look(server)
    /** @type {Report} */
    const further = await load.ask(`read ${kReadOn.bytes} ${kReadOn.connections}`)
    return {
      // A connection without an answer needs no memory.
      bytes: (after.bytes - before.bytes) / begun.answers,
      descriptors: after.descriptors - before.descriptors,
      answers: begun.answers,
      problem: begun.problem,
      isAlive: further.answers === Math.min(kReadOn.connections, begun.answers),
    }
  } finally {
    await load.stop()
    await server.stop()
  }
}

/** @param {boolean} isSecure @param {number} connections @param {Context} context */
async function compareSides (isSecure, connections, context) {
  /** @type {Awaited<ReturnType<typeof measureSide>>[][]} */
  const rounds = kSides.map(() => [])
  for (let round = 0; round < context.plan.rounds; round++) {
    for (const [index, side] of kSides.entries()) {
      const result = await measureSide(side, isSecure, connections, context)
      rounds[index].push(result)
      console.log(`  process ${round + 1}/${context.plan.rounds} ${isSecure ? 'TLS, ' : ''}${side.name.padEnd(18)} ${result.bytes.toFixed(0)} bytes per connection, ` +
        `${result.descriptors} descriptors, ${result.answers} answers${result.problem === undefined ? '' : ` (${result.problem})`}${result.isAlive ? '' : ', DOES NOT GO ON'}`)
    }
  }
  return kSides.map(({ name }, index) => {
    const figures = rounds[index].map(({ bytes, descriptors, answers }) => ({ bytes, descriptors, answers }))
    return { name, isSecure, connections, ...spreads(figures), isAlive: rounds[index].every(({ isAlive }) => isAlive) }
  })
}

/** @param {number} value @param {number} most */
const atMost = (value, most) => value <= most ? ` ≤ ${most}` : ` > ! ${most}`

/** @param {Context} context @param {string[]} notes */
async function measureSlowReaders (context, notes) {
  const connections = connectionsPossible(kConnections)
  if (connections < kConnections) notes.push(`files: ${connections} slow readers instead of ${kConnections}: the limit on open files (ulimit -n) allows no more`)
  const sides = [...await compareSides(false, connections, context), ...await compareSides(true, connections, context)]
  const columns = ['slow readers', 'bytes each above an idle one, target', 'descriptors above idle, target', 'answers, target', 'go on when they are read']
  const lines = sides.map(({ name, isSecure, bytes, descriptors, answers, isAlive }) => {
    const isOurs = name.startsWith('httpsys')
    return [
      `${isSecure ? 'TLS, ' : ''}${name}`,
      `${range(bytes)}${isOurs ? atMost(bytes.median, isSecure ? kTarget.tls : kTarget.plain) : ''}`,
      `${descriptors.median}${isOurs ? atMost(descriptors.median, 1 + kDescriptorsTarget) : ''}`,
      `${answers.low}${answers.low < connections ? ' < !' : ' ≥'} ${connections}`,
      isAlive ? 'yes' : 'NO',
    ]
  })
  return {
    figures: [{ part: 'slow readers', target: kTarget, descriptorsTarget: 1 + kDescriptorsTarget, sides }],
    text: `${drawTable(columns, lines)}\n\n* slow readers: ${connections} connections that have read the first bytes of one file of 1 GiB, and stand still`,
  }
}

module.exports = { measureSlowReaders }
