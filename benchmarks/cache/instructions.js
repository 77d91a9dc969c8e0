'use strict'

// Measures the price of a cache for a server whose answers say nothing of caches: instructions in user mode per request, counted by callgrind.

const { CountedServer } = require('../lib/callgrind')
const { runWrk } = require('../lib/load')
const { against, drawTable, range } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { ratioOf, spread } = require('../lib/statistics')
const { kSmallBytes } = require('./content')
const { kProgram } = require('./servers')

/** @typedef {import('./measure').Context} Context */

const kSides = [{ name: 'no cache', cache: false }, { name: 'an empty one', cache: true }]
const kTarget = 1.01
const kConnections = 32
/** V8 must have optimized everything: the load is several times slower under valgrind. */
const kWarmFactor = 8
const kFactor = 4

/** @param {CountedServer} server @param {number} cpu @param {number} seconds @returns {Promise<number>} requests */
async function load (server, cpu, seconds) {
  return (await runWrk({ connections: kConnections, load: ['get'] }, server.port, { cpu, seconds }).summary).requests
}

/** @param {Context} context @returns {Promise<{ figures: object[], text: string }>} */
async function compareInstructions ({ plan: { cpus, rounds, seconds, warmUp } }) {
  const all = await inRounds(kSides, { rounds, seconds: Math.ceil(seconds * kFactor), warmUp: Math.ceil(warmUp * kWarmFactor) }, {
    start: ({ name, cache }) => CountedServer.start(name, cpus.server, [kProgram, 'httpsys', JSON.stringify({ bytes: kSmallBytes, silent: true, cache })]),
    async warmUp (server, _side, duration) {
      await load(server, cpus.client, duration)
      await server.begin(() => load(server, cpus.client, duration))
    },
    measure: (server, _side, duration) => server.measure(() => load(server, cpus.client, duration)),
    describe: ({ name }, instructions) => `${name.padEnd(12)} ${Math.round(instructions)} instructions`,
  })
  const [without, empty] = all.map(spread)
  const ratio = ratioOf(empty, without)
  return {
    figures: [{ part: 'instructions', without, empty, ratio, target: kTarget }],
    text: `${drawTable(['server', 'instructions per request', 'to no cache, target'], [
      ['no cache', range(without), ''],
      ['an empty cache', range(empty), against(ratio, kTarget)],
    ])}

* instructions in user mode of all threads; the answers say nothing of caches`,
  }
}

module.exports = { compareInstructions }
