'use strict'

// Instructions in user mode per request of "staying", counted by callgrind.

const path = require('node:path')
const { CountedServer } = require('../lib/callgrind')
const { runWrk } = require('../lib/load')
const { Server } = require('../lib/processes')
const { freePort } = require('../../test/helpers/free-port')
const { inRounds } = require('../lib/rounds')
const { spread } = require('../lib/statistics')

/** @typedef {import('../lib/types').SuitePlan} SuitePlan */
/** @typedef {{ server: CountedServer, stop (): Promise<void> }} Live */

const kProgram = path.join(__dirname, 'server.js')
const kSides = ['shared', 'alone']
const kConnections = 32
/** V8 must have optimized everything: the load is several times slower under valgrind. */
const kWarmFactor = 8
const kFactor = 4

/** @param {string} side @param {number} cpu @returns {Promise<Live>} */
async function start (side, cpu) {
  const port = await freePort()
  const neighbour = side === 'shared' ? await Server.node('the neighbour', cpu, [kProgram, 'httpsys', `http://*:${port}/p2/`]) : null
  try {
    const server = await CountedServer.start(side, cpu, [kProgram, 'httpsys', `http://*:${port}/p1/`])
    const stop = async () => {
      await server.stop()
      await neighbour?.stop()
    }
    return { server, stop }
  } catch (error) {
    await neighbour?.stop()
    throw error
  }
}

/** @param {number} port @param {number} cpu @param {number} seconds @returns {Promise<number>} requests */
async function load (port, cpu, seconds) {
  const { summary } = runWrk({ connections: kConnections, load: ['prefixes', '1', '1', 'keep', '1'] }, port, { cpu, seconds })
  return (await summary).requests
}

/** @param {SuitePlan} plan @returns {Promise<{ name: string, instructions: import('../lib/statistics').Spread }[]>} */
async function compareInstructions ({ cpus, rounds, seconds, warmUp }) {
  const all = await inRounds(kSides, { rounds, seconds: Math.ceil(seconds * kFactor), warmUp: Math.ceil(warmUp * kWarmFactor) }, {
    start: (side) => start(side, cpus.server),
    async warmUp ({ server }, _side, duration) {
      await load(server.port, cpus.client, duration)
      await server.begin(() => load(server.port, cpus.client, duration))
    },
    measure: ({ server }, _side, duration) => server.measure(() => load(server.port, cpus.client, duration)),
    describe: (side, instructions) => `${side.padEnd(8)} ${Math.round(instructions)} instructions`,
  })
  return kSides.map((name, index) => ({ name, instructions: spread(all[index]) }))
}

module.exports = { compareInstructions }
