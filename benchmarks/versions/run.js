'use strict'

// Compares the working tree with an earlier commit, request by request: instructions, system calls and CPU time, and memory
// per idle connection, beside what two builds of that commit differ by in the same run.
//
//   npm run bench:versions -- --help

const path = require('node:path')
const { parseArgs } = require('node:util')
const { main } = require('../../tools/lib/project')
const { setup } = require('../../tools/setup')
const { CountedServer } = require('../lib/callgrind')
const { choosePair } = require('../lib/cpu')
const { connectionsPossible, measureIdleMemory } = require('../lib/idle-memory')
const { costOf } = require('../lib/load')
const { Server } = require('../lib/processes')
const { drawTable } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { spread } = require('../lib/statistics')
const { checkOut, commitOf, workingTree } = require('./checkout')
const { countSystemCalls } = require('./system-calls')

/** @typedef {import('./cases').Case} Case */
/** @typedef {{ name: string, folder: string }} Version */
/** @typedef {{ cpus: { server: number, client: number }, rounds: number, seconds: number }} Plan */

const kKinds = ['instructions', 'calls', 'time', 'memory']
/** The case that memory of idle connections is measured for. */
const kMemoryCase = 'hello'
/** Rounds of memory, each in a process of its own. */
const kMemoryRounds = 3
/** Rounds of counts of system calls, which differ less than times do. */
const kCountRounds = 3
/** Rounds of instructions. V8 compiles and collects garbage now and then, which only adds to a round: the lowest ones are compared. */
const kInstructionRounds = 6
/** V8 must have optimized everything before instructions are counted, and runs several times slower there. */
const kCallgrindWarmUp = 20
/** The same while instructions are counted, before the first round. */
const kCountedWarmUp = 16
const kCallgrindSeconds = 4
const kWarmUp = 3
const kConnections = 64
/** Under callgrind: a handshake takes millions of instructions there, which few requests have to share. */
const kCountedConnections = 8
const kInstructionsMax = 1.02

const kUsage = `npm run bench:versions -- <commit> [case ...] [options]

  --kinds <list>   of ${kKinds.join(',')} (all)
  --rounds <n>     pairs of measurements of CPU time (9)
  --seconds <n>    of one of them (2)

Cases: hello, express5, staying, tls, http2, ws, websocket`

function options () {
  const { values, positionals: [commit, ...names] } = parseArgs({
    allowPositionals: true,
    options: {
      kinds: { type: 'string', default: kKinds.join(',') },
      rounds: { type: 'string', default: '9' },
      seconds: { type: 'string', default: '2' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help || commit === undefined) {
    console.log(kUsage)
    process.exit(values.help ? 0 : 2)
  }
  const kinds = values.kinds.split(',')
  const unknown = kinds.filter((kind) => !kKinds.includes(kind))
  if (unknown.length > 0) throw new Error(`--kinds takes ${kKinds.join(', ')}, not ${unknown.join(', ')}`)
  return { commit, names, kinds, rounds: Number(values.rounds), seconds: Number(values.seconds) }
}

/** @param {Case} what @param {number} port @param {number} cpu @param {number} seconds @param {number} [connections] @returns {Promise<number>} requests */
async function requestsOf (what, port, cpu, seconds, connections = kConnections) {
  const load = await what.clients(port, cpu, connections)
  const { requests } = await load(seconds).summary
  if (requests === 0) throw new Error(`${what.name}: no request was answered in ${seconds} s, so that there is nothing to divide by. Stop what else runs on this machine, and start again`)
  return requests
}

/** @param {Version[]} versions @param {Case} what @param {Plan} plan */
async function instructions (versions, what, { cpus }) {
  const { startCase } = require('./cases')
  return inRounds(versions, { rounds: kInstructionRounds, seconds: kCallgrindSeconds, warmUp: kCallgrindWarmUp }, {
    start: ({ name, folder }) => startCase(what, folder, cpus.server, (args) => CountedServer.start(name, cpus.server, args)),
    async warmUp ({ server }, _version, seconds) {
      await requestsOf(what, server.port, cpus.client, seconds, kCountedConnections)
      await server.begin(() => requestsOf(what, server.port, cpus.client, kCountedWarmUp, kCountedConnections))
    },
    measure: ({ server }, _version, seconds) => server.measure(() => requestsOf(what, server.port, cpus.client, seconds, kCountedConnections)),
    describe: ({ name }, count) => `${what.name} ${name}: ${Math.round(count)} instructions`,
  })
}

/** @param {Version[]} versions @param {Case} what @param {Plan} plan */
async function systemCalls (versions, what, { cpus, seconds }) {
  const { startCase } = require('./cases')
  return inRounds(versions, { rounds: kCountRounds, seconds, warmUp: kWarmUp }, {
    start: ({ name, folder }) => startCase(what, folder, cpus.server, (args) => Server.node(name, cpus.server, args)),
    warmUp: ({ server }, _version, duration) => requestsOf(what, server.port, cpus.client, duration),
    measure: ({ server }, _version, duration) => countSystemCalls(server.pid, () => requestsOf(what, server.port, cpus.client, duration)),
    describe: ({ name }, { calls, wakes }) => `${what.name} ${name}: ${calls.toFixed(3)} system calls, ${wakes.toFixed(3)} of them wakes`,
  })
}

/** @param {Version[]} versions @param {Case} what @param {Plan} plan */
async function times (versions, what, { cpus, rounds, seconds }) {
  const { startCase } = require('./cases')
  return inRounds(versions, { rounds, seconds, warmUp: kWarmUp }, {
    start: ({ name, folder }) => startCase(what, folder, cpus.server, (args) => Server.node(name, cpus.server, ['--no-memory-reducer', ...args])),
    warmUp: ({ server }, _version, duration) => requestsOf(what, server.port, cpus.client, duration),
    async measure ({ server }, _version, duration) {
      const load = await what.clients(server.port, cpus.client, kConnections)
      const { summary, whole } = await costOf(server.pid, { cpus, seconds: duration }, () => load(duration))
      return whole * 1e6 / summary.requests
    },
    describe: ({ name }, cost) => `${what.name} ${name}: ${cost.toFixed(2)} µs of CPU`,
  })
}

/** @param {Version[]} versions @param {Plan} plan */
async function memory (versions, { cpus }) {
  const scenario = require('../scenarios/idle-memory')
  const connections = connectionsPossible(scenario.connections)
  return inRounds(versions, { rounds: kMemoryRounds, seconds: 0, warmUp: 0 }, {
    start: async () => ({ async stop () {} }),
    measure: (_live, { folder }) => measureIdleMemory(scenario, 'httpsys', { cpus, connections, program: path.join(folder, 'server.js') }),
    describe: ({ name }, bytes) => `${name}: ${bytes.toFixed(0)} bytes per idle connection, of ${connections}`,
  })
}

/** @param {number[][]} figures of the base, its second build, and the working tree, by round */
function ratiosOf ([base, again, now]) {
  const by = (/** @type {number[]} */ values) => spread(values.map((value, round) => value / base[round]))
  return { again: by(again), now: by(now) }
}

/** @param {number} value */
const three = (value) => value.toFixed(3)

/** @param {string} name @param {string} kind @param {number[][]} figures @param {(again: { low: number, high: number }) => number} most */
function row (name, kind, figures, most) {
  const { again, now } = ratiosOf(figures)
  const limit = most(again)
  return [name, kind, spread(figures[0]).median.toPrecision(4), spread(figures[2]).median.toPrecision(4),
    three(now.median), `${three(again.low)}–${three(again.high)}`, now.median <= limit ? `≤ ${three(limit)}` : `> ! ${three(limit)}`]
}

/** @param {string} name @param {number[][]} counts of the base, its second build, and the working tree, by round */
function instructionsRow (name, counts) {
  const [base, again, now] = counts.map((values) => spread(values).low)
  const ratio = now / base
  return [name, 'instructions, lowest', base.toFixed(0), now.toFixed(0), three(ratio), three(again / base), ratio <= kInstructionsMax ? `≤ ${three(kInstructionsMax)}` : `> ! ${three(kInstructionsMax)}`]
}

async function compareVersions () {
  const { commit, names, kinds, rounds, seconds } = options()
  await setup('bench')
  const base = commitOf(commit)
  const versions = [
    { name: 'before', folder: await checkOut(base, 'one build') },
    { name: 'before again', folder: await checkOut(base, 'another build') },
    { name: 'now', folder: await checkOut(workingTree(), 'one build') },
  ]
  const all = require('./cases').cases()
  const unknown = names.filter((name) => !all.some((item) => item.name === name))
  if (unknown.length > 0) throw new Error(`No such case: ${unknown.join(', ')}. There are ${all.map(({ name }) => name).join(', ')}`)
  const plan = { cpus: choosePair(), rounds, seconds }
  /** @type {string[][]} */
  const rows = []
  for (const what of all.filter(({ name }) => names.length === 0 || names.includes(name))) {
    console.log(`\n${what.name}: ${what.title}`)
    if (kinds.includes('instructions')) rows.push(instructionsRow(what.name, await instructions(versions, what, plan)))
    if (kinds.includes('calls')) {
      const counted = await systemCalls(versions, what, plan)
      for (const kind of /** @type {const} */ (['calls', 'wakes'])) {
        rows.push(row(what.name, kind === 'calls' ? 'system calls' : 'wakes', counted.map((side) => side.map((count) => count[kind])), ({ low, high }) => Math.max(high, 1 / low)))
      }
    }
    if (kinds.includes('memory') && what.name === kMemoryCase) {
      rows.push(row(what.name, 'bytes per idle connection', await memory(versions, plan), ({ low, high }) => Math.max(high, 1 / low)))
    }
    if (kinds.includes('time')) rows.push(row(what.name, 'CPU µs', await times(versions, what, plan), ({ low, high }) => Math.max(high, 1 / low)))
  }
  console.log(`\n${drawTable(['case', 'per request', 'before', 'now', 'ratio', 'two builds of before', 'at most'], rows)}`)
}

main(compareVersions())
