'use strict'

// Measures the server sides of a part against each other.

const { mainThreadSeconds, processSeconds } = require('../lib/cpu')
const { connectionsPossible } = require('../lib/idle-memory')
const { watchCpus } = require('../lib/load')
const { saturation } = require('../lib/report')
const { spread } = require('../lib/statistics')
const { Clients, Server } = require('./processes')

/** @typedef {import('./parts').Part} Part */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */
/** @typedef {import('../lib/statistics').Spread} Spread */

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

/** What the run before left undone is not the next one's. */
const kPauseMs = 250
/** How busy the CPUs are is looked at inside the run, away from its start and end. */
const kEdgeMs = 100
/** Fresh processes per side, however many rounds the others take. */
const kMemoryRounds = 3
/** After messages a WebSocket is idle when it has done nothing for so long. */
const kIdleMs = 5000
/** Connections before the first look at memory, so that code and pools do not count. */
const kWarmConnections = 500

/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {Server} server @param {Clients} clients @param {Part} part @param {SuitePlan['cpus']} cpus @param {number} seconds */
async function measure (server, clients, { unit }, cpus, seconds) {
  await sleep(kPauseMs)
  const processBefore = processSeconds(server.pid)
  const threadBefore = mainThreadSeconds(server.pid)
  const answer = clients.ask(`run ${seconds}`)
  answer.catch(() => {}) // Reported where it is awaited.
  await sleep(kEdgeMs)
  const { busy: [serverBusy, clientBusy], disturbed } = await watchCpus(
    [{ cpu: cpus.server, pid: server.pid }, { cpu: cpus.client, pid: clients.pid }], seconds * 1000 - 2 * kEdgeMs)
  const { messages, bytes, seconds: taken } = await answer
  const thread = mainThreadSeconds(server.pid) - threadBefore
  const whole = processSeconds(server.pid) - processBefore
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

/**
 * Alternating rounds of several sides, which all live meanwhile, with their clients.
 *
 * @param {Part} part
 * @param {string[]} sides
 * @param {SuitePlan} plan
 * @returns {Promise<Measured[]>}
 */
async function compareLoad (part, sides, plan) {
  const live = []
  try {
    for (const name of sides) {
      const server = await Server.start(name, part, plan.cpus.server)
      /** @type {{ name: string, server: Server, clients: Clients | null, rounds: Awaited<ReturnType<typeof measure>>[] }} */
      const side = { name, server, clients: null, rounds: [] }
      live.push(side)
      side.clients = await Clients.start(part, server.port, { cpu: plan.cpus.client })
      if (plan.warmUp > 0) await measure(server, side.clients, part, plan.cpus, plan.warmUp)
    }
    for (let round = 0; round < plan.rounds; round++) {
      for (const { name, server, clients, rounds } of live) {
        const result = await measure(server, /** @type {Clients} */ (clients), part, plan.cpus, plan.seconds)
        rounds.push(result)
        const factor = part.unit === 'byte' ? 2 ** 20 : 1
        console.log(`  round ${round + 1}/${plan.rounds} ${name.padEnd(18)} ${(result.process * factor).toFixed(2)} µs ` +
          `(JavaScript ${(result.thread * factor).toFixed(2)}), ${Math.round(result.messagesPerSecond)} messages/s, ` +
          `CPUs busy ${(result.serverBusy * 100).toFixed(0)} % (server) ${(result.clientBusy * 100).toFixed(0)} % (load)`)
      }
    }
  } finally {
    for (const { server, clients } of live) {
      await clients?.stop()
      await server.stop()
    }
  }
  return live.map(({ name, rounds }) => {
    const of = (/** @type {(round: typeof rounds[0]) => number} */ value) => spread(rounds.map(value))
    const serverBusy = of((round) => round.serverBusy)
    const clientBusy = of((round) => round.clientBusy)
    return {
      name,
      process: of((round) => round.process),
      thread: of((round) => round.thread),
      messagesPerSecond: of((round) => round.messagesPerSecond),
      serverBusy,
      clientBusy,
      disturbed: of((round) => round.disturbed),
      saturated: saturation(serverBusy, clientBusy),
    }
  })
}

/** @param {string} name @param {Part} part @param {SuitePlan} plan @param {number} connections @returns {Promise<number>} bytes per connection */
async function measureMemory (name, part, { cpus }, connections) {
  const server = await Server.start(name, part, cpus.server)
  let clients
  try {
    const warm = await Clients.start(part, server.port, { cpu: cpus.client, connections: kWarmConnections })
    await warm.ask('once')
    await warm.stop()
    // Longer, and V8 gives its young generation back, or does not.
    const idleMs = part.used ? kIdleMs : kPauseMs
    await sleep(idleMs)
    const before = await server.collect()
    clients = await Clients.start(part, server.port, { cpu: cpus.client, connections })
    if (part.used) await clients.ask('once')
    await sleep(idleMs)
    return (await server.collect() - before) / connections
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
