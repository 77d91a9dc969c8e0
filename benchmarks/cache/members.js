'use strict'

// A hit for the URL of another process on the port, beside a hit for a URL of the process that has the connection.

const http = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')
const { freePort } = require('../../test/helpers/free-port')
const { checkBody } = require('../files/check')
const { hashOf } = require('../files/content')
const { processSeconds } = require('../lib/cpu')
const { runWrk } = require('../lib/load')
const { Server } = require('../lib/processes')
const { against, drawTable, percent, range } = require('../lib/report')
const { inRounds } = require('../lib/rounds')
const { ratioOf, spread } = require('../lib/statistics')
const { bodyOf, kSmallBytes } = require('./content')
const { kProgram } = require('./servers')

/** @typedef {import('./measure').Context} Context */

const kTarget = 1.15
const kConnections = 64
/** Connections are accepted by either, and move at their first request. Less of the CPU of both processes means that the process with the connection did not answer by itself. */
const kShareMin = 0.7
/** The process that has the URL, and the one that may have the connection. */
const kOwner = '/owner/'
const kNeighbour = '/neighbour/'
/** A request that no cache answers takes the connection to the process that has its URL. */
const kUncached = 'uncached'
const kSides = [{ name: 'own', first: kOwner + kUncached, answers: 0 }, { name: 'another\'s', first: kNeighbour + kUncached, answers: 1 }]

/** The neighbour learns of the owner's cache when it is asked for the URL, and answers soon after. */
const kMeetings = 20
const kMeetingMs = 20

/** @param {number} port @returns {Promise<void>} once requests for both URLs have come over one connection often */
async function introduce (port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  const ask = (/** @type {string} */ path) => new Promise((resolve, reject) => {
    http.get({ host: '127.0.0.1', port, path, agent }, (res) => res.resume().on('end', resolve)).on('error', reject)
  })
  for (let meeting = 0; meeting < kMeetings; meeting++) {
    for (const path of [kNeighbour + kUncached, kOwner]) await ask(path)
    await sleep(kMeetingMs)
  }
  agent.destroy()
}

/** Two members of a port, each with a prefix. @param {number} cpu */
async function startMembers (cpu) {
  const port = await freePort()
  /** @type {Server[]} */
  const members = []
  const stop = async () => { for (const member of members) await member.stop() }
  try {
    for (const path of [kOwner, kNeighbour]) {
      const setup = { bytes: kSmallBytes, cache: true, prefix: `http://*:${port}${path}` }
      members.push(await Server.node(`cache, members, ${path}`, cpu, [kProgram, 'httpsys', JSON.stringify(setup)]))
      await checkBody(path, { port, path }, { bytes: kSmallBytes, hash: hashOf(bodyOf(kSmallBytes)) })
    }
    await introduce(port)
  } catch (error) {
    await stop()
    throw error
  }
  return { port, members, stop }
}

/** @param {Awaited<ReturnType<typeof startMembers>>} live @param {typeof kSides[0]} side @param {number} cpu @param {number} seconds */
async function measure ({ port, members }, { name, first, answers }, cpu, seconds) {
  const look = () => members.map(({ pid }) => processSeconds(pid))
  const [{ calls: before }, cpuBefore] = [await members[0].ask('count'), look()]
  // A connection goes to the process whose URL comes first, and stays there while it is answered there.
  const { requests } = await runWrk({ connections: kConnections, threads: kConnections, load: ['behind', first], path: kOwner }, port, { cpu, seconds }).summary
  const costs = look().map((value, index) => value - cpuBefore[index])
  const calls = (await members[0].ask('count')).calls - before
  if (calls > 0) throw new Error(`cache, members, ${name}: the handler ran ${calls} times for ${requests} requests, which were to be hits`)
  const whole = costs[0] + costs[1]
  const share = costs[answers] / whole
  if (share < kShareMin) throw new Error(`cache, members, ${name}: the process with the connections had ${(share * 100).toFixed(0)} % of the CPU of both`)
  return { process: whole * 1e6 / requests, share, requestsPerSecond: requests / seconds }
}

/** @param {Context} context @returns {Promise<{ figures: object[], text: string }>} */
async function compareMembers ({ plan }) {
  const { server, client } = plan.cpus
  const members = await startMembers(server)
  try {
    const all = await inRounds(kSides, plan, {
      start: async () => ({ stop: async () => {} }),
      measure: (_live, side, seconds) => measure(members, side, client, seconds),
      describe: ({ name }, { process, requestsPerSecond }) => `${name.padEnd(10)} ${process.toFixed(2)} µs, ${Math.round(requestsPerSecond)} req/s`,
    })
    const [own, others] = all.map((rounds) => ({
      process: spread(rounds.map(({ process }) => process)), share: spread(rounds.map(({ share }) => share)), requestsPerSecond: spread(rounds.map((round) => round.requestsPerSecond)),
    }))
    const ratio = ratioOf(others.process, own.process)
    return {
      figures: [{ part: 'members', own, others, ratio, target: kTarget }],
      text: `${drawTable(['a hit on 64 connections of one process', 'CPU µs of both', 'to its own, target', 'its part', 'req/s'], [
        ['for its own URL', range(own.process), '', percent(own.share), range(own.requestsPerSecond)],
        ['for the URL of another process', range(others.process), against(ratio, kTarget), percent(others.share), range(others.requestsPerSecond)],
      ])}`,
    }
  } finally {
    await members.stop()
  }
}

module.exports = { compareMembers }
