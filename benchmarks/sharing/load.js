'use strict'

// Load on a group of processes, and what it cost all of them.

const { busyShare, coreTimes } = require('../lib/cpu')
const { runWrk } = require('../lib/load')
const { inRounds } = require('../lib/rounds')
const { spreads } = require('../lib/statistics')
const { inTurns } = require('./group')

/** @typedef {import('./group').Group} Group */
/** @typedef {import('../lib/types').SuitePlan} SuitePlan */
/** @typedef {import('../lib/statistics').Spread} Spread */

/**
 * @typedef {object} Load one run of wrk
 * @property {number} connections
 * @property {number} [threads] of wrk (1)
 * @property {string[]} load mode, first and last prefix, and further arguments of load.lua
 *
 * @typedef {object} Case one server side of a part
 * @property {string} name
 * @property {() => Promise<Group>} start
 * @property {Load[]} loads at the same time
 * @property {number} prefixes that are probed
 * @property {boolean} [firstOnly] only the first process' CPU counts
 *
 * @typedef {object} Round
 * @property {number} cost µs of CPU per request, all processes
 * @property {number} user the part of it in user mode
 * @property {number} requestsPerSecond
 * @property {number} serverBusy
 * @property {number} clientBusy
 *
 * @typedef {object} Measured
 * @property {string} name
 * @property {Spread} cost
 * @property {Spread} user
 * @property {Spread} requestsPerSecond
 * @property {Spread} serverBusy
 * @property {Spread} clientBusy
 */

/** What the run before left unread is not the next one's. */
const kPauseMs = 250
const kWarmConnections = 4
const kWarmAtATime = 8
/** Of each process: V8 optimizes what ran so often, and small functions last. */
const kWarmRequests = 20_000
const kWarmPassesMax = 16

/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** @param {Group} group @param {Case} test @param {SuitePlan} plan @param {number} seconds @returns {Promise<Round>} */
async function measure (group, { loads, firstOnly }, { cpus }, seconds) {
  await sleep(kPauseMs)
  const which = firstOnly ? 0 : undefined
  const look = () => ({ times: group.times(which), server: coreTimes(cpus.server), client: coreTimes(cpus.client) })
  const before = look()
  const results = await Promise.all(loads.map(({ connections, threads, load }) =>
    runWrk({ connections, threads, load }, group.portOf(Number(load[1])), { cpu: cpus.client, seconds }).summary))
  const after = look()
  const requests = results.reduce((sum, result) => sum + result.requests, 0)
  const user = (after.times.user - before.times.user) * 1e6 / requests
  return {
    cost: user + (after.times.system - before.times.system) * 1e6 / requests,
    user,
    requestsPerSecond: results.reduce((sum, result) => sum + result.requests / result.seconds, 0),
    serverBusy: busyShare(before.server, after.server),
    clientBusy: busyShare(before.client, after.client),
  }
}

/**
 * Every process gets thousands of requests, so that V8 has optimized its JavaScript: spread over many processes
 * the load itself would take minutes for that.
 *
 * @param {Group} group @param {Case} test @param {SuitePlan} plan
 */
async function warmUp (group, test, plan) {
  const [{ load: [mode, , , connection] }] = test.loads
  for (let pass = 0, requests = 0; pass < kWarmPassesMax && requests < kWarmRequests * test.prefixes; pass++) {
    await inTurns(test.prefixes, async (index) => {
      const { summary } = runWrk({ connections: kWarmConnections, load: [mode, String(index + 1), String(index + 1), connection, '1'] },
        group.portOf(index + 1), { cpu: plan.cpus.client, seconds: 1 })
      requests += (await summary).requests
    }, kWarmAtATime)
  }
  await measure(group, test, plan, plan.warmUp)
}

/**
 * @param {Case[]} cases
 * @param {SuitePlan} plan
 * @returns {Promise<Measured[]>}
 */
async function compare (cases, plan) {
  const all = await inRounds(cases, plan, {
    start: async (test) => {
      const group = await test.start()
      try {
        await group.probe(test.prefixes)
      } catch (error) {
        await group.stop()
        throw error
      }
      return group
    },
    warmUp: (group, test) => warmUp(group, test, plan),
    measure: (group, test, seconds) => measure(group, test, plan, seconds),
    describe: ({ name }, { cost, user, requestsPerSecond }) =>
      `${name.padEnd(24)} ${cost.toFixed(2)} µs (user ${user.toFixed(2)}), ${Math.round(requestsPerSecond)} req/s`,
  })
  return cases.map(({ name }, index) => ({
    name,
    ...spreads(all[index]),
  }))
}

module.exports = { compare }
