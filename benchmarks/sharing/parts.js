'use strict'

// What is measured, against what, and the ratios that the project wants to reach.

const { execFileSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const { run } = require('../../tools/lib/project')
const { spread } = require('../lib/statistics')
const { Group } = require('./group')

/** @typedef {import('../lib/types').SuitePlan} SuitePlan */
/** @typedef {import('./load').Case} Case */

/**
 * @typedef {object} Ratio of the costs of two cases
 * @property {string} of
 * @property {string} to
 * @property {number} [target]
 * @property {'user'} [what] time in user mode only
 *
 * @typedef {object} Part
 * @property {string} name
 * @property {string} title
 * @property {(plan: SuitePlan) => Case[]} cases
 * @property {Ratio[]} ratios
 */

const kConnections = 64
const kBusyConnections = 512
const kMany = 50
const kSome = 8
const kPrefixesOfMany = 20
const kJoins = 5
const kJoinTargetMs = 100

/** @param {number} first @param {number} last @param {string} connection @param {number} [depth] */
const turns = (first, last, connection, depth = 1) => ['prefixes', String(first), String(last), connection, String(depth)]

/** A thread per connection, so that each connection takes its turns by itself. */
const kOfTheirOwn = { connections: kConnections / 2, threads: kConnections / 2 }

const kKeepingToOne = [1, 2].map((number) => ({ connections: kConnections / 2, load: turns(number, number, 'keep') }))

/** @param {{ cpus: { server: number } }} plan @param {import('./load').Load[]} loads @returns {Record<'httpsys' | 'nginx' | 'httpxy', Case>} */
const twoApplications = ({ cpus: { server: cpu } }, loads) => ({
  httpsys: { name: 'httpsys', start: () => Group.httpsys({ cpu, members: 2 }), loads, prefixes: 2 },
  nginx: { name: 'nginx', start: () => Group.nginx({ cpu, applications: 2 }), loads, prefixes: 2 },
  httpxy: { name: 'httpxy', start: () => Group.httpxy({ cpu, applications: 2 }), loads, prefixes: 2 },
})

/**
 * With as many clients as here processes each has about one at a time, and works for one at a time; a busy machine
 * has several for each.
 *
 * @param {string} name @param {string} clients @param {(members: number) => number} clientsOf @returns {Part}
 */
const aConnectionEach = (name, clients, clientsOf) => ({
  name,
  title: `a connection per request, ${clients}, prefixes in turn; 1, ${kSome} and ${kMany} processes with a prefix each; nginx before ${kSome} node:http processes; apart: ${kSome} and ${kMany} processes on as many ports, which is what so many processes cost that share nothing`,
  cases: ({ cpus: { server: cpu } }) => {
    const load = (/** @type {number} */ count) => [{ connections: clientsOf(count), load: turns(1, count, 'close') }]
    return [
      ...[1, kSome, kMany].map((members) => ({
        name: `httpsys, ${members}`, start: () => Group.httpsys({ cpu, members }), loads: load(members), prefixes: members,
      })),
      ...[kSome, kMany].map((members) => ({
        name: `apart, ${members}`,
        start: () => Group.apart({ cpu, members }),
        loads: Array.from({ length: members }, (_, index) => ({ connections: Math.floor(clientsOf(members) / members), load: turns(index + 1, index + 1, 'close') })),
        prefixes: members,
      })),
      { name: `nginx, ${kSome}`, start: () => Group.nginx({ cpu, applications: kSome }), loads: load(kSome), prefixes: kSome },
    ]
  },
  ratios: [
    { of: `httpsys, ${kSome}`, to: 'httpsys, 1', target: 1.5 },
    { of: `httpsys, ${kMany}`, to: 'httpsys, 1', target: 2 },
    { of: `httpsys, ${kSome}`, to: `nginx, ${kSome}`, target: 0.6 },
    { of: `httpsys, ${kSome}`, to: `apart, ${kSome}` },
    { of: `apart, ${kSome}`, to: 'httpsys, 1' },
    { of: `httpsys, ${kMany}`, to: `apart, ${kMany}` },
    { of: `apart, ${kMany}`, to: 'httpsys, 1' },
  ],
})

/** @type {Part[]} */
const kParts = [
  {
    name: 'two applications',
    title: 'two processes on two prefixes, each client keeps to one; nginx and httpxy before two node:http processes',
    cases: (plan) => Object.values(twoApplications(plan, kKeepingToOne)),
    ratios: [{ of: 'httpsys', to: 'nginx', target: 0.30 }, { of: 'httpsys', to: 'httpxy', target: 0.10 }],
  },
  aConnectionEach('Connection: close', `${kConnections} clients`, () => kConnections),
  aConnectionEach('Connection: close (busy)', `${kBusyConnections} clients`, () => kBusyConnections),
  aConnectionEach('Connection: close (all busy)', `${kConnections} clients for each process`, (members) => kConnections * members),
  {
    name: 'alternating',
    title: 'two processes on two prefixes, each connection changes the prefix with every request',
    cases: (plan) => {
      const { httpsys, nginx } = twoApplications(plan, [{ ...kOfTheirOwn, load: turns(1, 2, 'keep') }])
      return [httpsys, nginx]
    },
    ratios: [{ of: 'httpsys', to: 'nginx', target: 0.8 }],
  },
  {
    name: 'pipelined mix',
    title: 'the same, eight requests at a time, for both prefixes in turn',
    cases: (plan) => {
      const { httpsys, nginx } = twoApplications(plan, [{ ...kOfTheirOwn, load: turns(1, 2, 'keep', 8) }])
      return [httpsys, nginx]
    },
    ratios: [{ of: 'httpsys', to: 'nginx', target: 1 }],
  },
  {
    name: 'staying',
    title: 'requests on connections that stay with their owner: a process that shares its port with another, and one alone on it',
    cases: ({ cpus: { server: cpu } }) => ['shared', 'alone'].map((name, index) => ({
      name,
      start: () => Group.httpsys({ cpu, members: 2 - index }),
      loads: [{ connections: kConnections, load: turns(1, 1, 'keep') }],
      prefixes: 1,
      firstOnly: true,
    })),
    ratios: [{ of: 'shared', to: 'alone', what: 'user' }],
  },
]

/** Joining happens on all CPUs, as it does in life. */
async function measureJoining () {
  const group = await Group.httpsys({ members: kMany, prefixes: kPrefixesOfMany })
  const values = []
  try {
    for (let join = 1; join <= kJoins; join++) values.push(await group.join(kMany + join))
  } finally {
    await group.stop()
  }
  return {
    title: `from listen() to 'listening' on a port with ${kMany} processes and ${kMany * kPrefixesOfMany} prefixes`,
    milliseconds: spread(values),
    target: kJoinTargetMs,
  }
}

/** @param {number} cpu @returns {Promise<{ prefixes: number, nanoseconds: number }[]>} of one look-up */
async function measureRouting (cpu) {
  const source = path.join(__dirname, 'routing.cc')
  const program = path.join(__dirname, '..', 'build', 'routing')
  const ours = path.join(__dirname, '..', '..', 'packages', 'core-native', 'src')
  fs.mkdirSync(path.dirname(program), { recursive: true })
  const sources = ['url_path', 'url_prefix', 'url_prefix_table'].map((name) => path.join(ours, 'url', `${name}.cc`))
  await run(process.env.CXX ?? 'c++', ['-O2', '-std=c++20', '-I', ours, '-o', program, source, ...sources])
  return JSON.parse(execFileSync('taskset', ['-c', String(cpu), program], { encoding: 'utf8' }))
}

module.exports = { kParts, measureJoining, measureRouting }
