'use strict'

// Measures the server sides of a part against each other.

const { setTimeout: sleep } = require('node:timers/promises')
const { connectionsPossible } = require('../lib/idle-memory')
const { costOf } = require('../lib/load')
const { busyText, sideOf } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { spread } = require('../lib/statistics')
const { Clients, startServer } = require('./processes')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */
/** @typedef {import('../lib/statistics').Spread} Spread */
/** @typedef {{ server: import('../lib/processes').Server, clients: Clients, stop (): Promise<void> }} Live */

/**
 * @typedef {object} Measured one server side of a part
 * @property {string} name
 * @property {Spread} [process] µs of CPU per message or byte
 * @property {Spread} [thread] the part of it that is the JavaScript thread's
 * @property {Spread} [messagesPerSecond]
 * @property {Spread} [serverBusy]
 * @property {Spread} [clientBusy]
 * @property {Spread} [disturbed] share of a CPU that other programs had
 * @property {string} [saturated]
 * @property {Spread} [memory] bytes per connection
 */

/** Before memory is looked at. */
const kPauseMs = 250
/** Fresh processes per side, however many rounds the others take. */
const kMemoryRounds = 3
/** After messages a WebSocket is idle when it has done nothing for so long. */
const kIdleMs = 5000
/** Connections before the first look at memory, so that code and pools do not count. */
const kWarmConnections = 500

/** @param {Live} live @param {Part} part @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measure ({ server, clients }, { unit }, cpus, seconds) {
  const { summary: { messages, bytes, seconds: taken }, whole, thread, serverBusy, clientBusy, disturbed } = await costOf(server.pid, { cpus, seconds },
    () => ({ pid: clients.pid, summary: clients.ask(`run ${seconds}`) }))
  const units = unit === 'byte' ? bytes : messages
  return {
    process: whole * 1e6 / units,
    thread: thread * 1e6 / units,
    messagesPerSecond: messages / taken,
    serverBusy,
    clientBusy,
    disturbed,
  }
}

/** @param {string} name @param {Part} part @param {SuitePlan['cpus']} cpus @returns {Promise<Live>} a server with its clients */
async function startSide (name, part, cpus) {
  const server = await startServer(name, part, cpus.server)
  try {
    const clients = await Clients.start(part, server.port, { cpu: cpus.client })
    return {
      server,
      clients,
      stop: async () => {
        await clients.stop()
        await server.stop()
      },
    }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** @param {Part} part @param {string[]} sides @param {SuitePlan} plan @returns {Promise<Measured[]>} */
async function compareLoad (part, sides, plan) {
  const factor = part.unit === 'byte' ? 2 ** 20 : 1
  /** @type {Awaited<ReturnType<typeof measure>>[][]} */
  const rounds = sides.map(() => [])
  for (let start = 0; start < (part.starts ?? 1); start++) {
    const more = await inRounds(sides, plan, {
      start: (name) => startSide(name, part, plan.cpus),
      measure: (live, _name, seconds) => measure(live, part, plan.cpus, seconds),
      describe: (name, result) => `${name.padEnd(18)} ${(result.process * factor).toFixed(2)} µs (JavaScript ${(result.thread * factor).toFixed(2)}), ` +
        `${Math.round(result.messagesPerSecond)} messages/s, ${busyText(result.serverBusy, result.clientBusy)}`,
    })
    for (const [index, results] of more.entries()) rounds[index].push(...results)
  }
  return sides.map((name, index) => sideOf(name, rounds[index]))
}

/** @param {string} name @param {Part} part @param {SuitePlan} plan @param {number} connections @returns {Promise<number>} bytes per connection */
async function measureMemory (name, part, { cpus }, connections) {
  const server = await startServer(name, part, cpus.server)
  let clients
  try {
    const warm = await Clients.start(part, server.port, { cpu: cpus.client, connections: kWarmConnections })
    await warm.ask('once')
    await warm.stop()
    // Longer, and V8 gives its young generation back, or does not.
    const idleMs = part.used ? kIdleMs : kPauseMs
    await sleep(idleMs)
    const { rss: before } = await server.ask('collect')
    clients = await Clients.start(part, server.port, { cpu: cpus.client, connections })
    if (part.used) await clients.ask('once')
    await sleep(idleMs)
    return ((await server.ask('collect')).rss - before) / connections
  } finally {
    await clients?.stop()
    await server.stop()
  }
}

/** @param {Part} part @param {string[]} sides @param {SuitePlan} plan @param {string[]} notes @returns {Promise<Measured[]>} */
async function compareMemory (part, sides, plan, notes) {
  const connections = connectionsPossible(part.connections)
  if (connections < part.connections) {
    notes.push(`websocket: ${connections} sockets instead of ${part.connections}: the limit on open files (ulimit -n) allows no more`)
  }
  /** @type {Map<string, number[]>} */
  const bytes = new Map(sides.map((name) => [name, []]))
  for (let round = 0; round < kMemoryRounds; round++) {
    for (const [name, values] of bytes) {
      values.push(await measureMemory(name, part, plan, connections))
      console.log(`  process ${round + 1}/${kMemoryRounds} ${name.padEnd(18)} ${values.at(-1)?.toFixed(0)} bytes per WebSocket`)
    }
  }
  return [...bytes].map(([name, values]) => ({ name, memory: spread(values) }))
}

/** @param {Part} part @param {string[]} sides @param {SuitePlan} plan @param {string[]} notes @returns {Promise<Measured[]>} */
const compare = (part, sides, plan, notes) =>
  part.unit === 'connection' ? compareMemory(part, sides, plan, notes) : compareLoad(part, sides, plan)

module.exports = { compare }
