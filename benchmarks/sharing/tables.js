'use strict'

// The costs of a change of a prefix, on a port with few prefixes and with as many as a port can have; and how much longer others' requests
// take meanwhile.

const http = require('node:http')
const { ratioOf, spread } = require('../lib/statistics')
const { Group } = require('./group')

/** @typedef {import('../lib/statistics').Spread} Spread */

const kFew = 100
/** A port takes 16,384. */
const kMany = 16_000
/** Sockets: a process needs two descriptors for each. */
const kManySockets = 4000
const kChanges = 1000
const kRounds = 5
const kCostTarget = 2
/** The members: one that coordinates, one that only hears of changes, and one that makes them. */
const kWho = ['coordinator', 'member', 'who changes']
const kHolders = [
  { title: 'the coordinator has the other prefixes', countsOf: (/** @type {number} */ all) => [all - 2, 1, 1] },
  { title: 'who changes has the other prefixes', countsOf: (/** @type {number} */ all) => [1, 1, all - 2] },
]

const kChangesPerSecond = 1000
const kDelaySeconds = 10
const kDelayRounds = 5
const kConnections = 16
const kRequestsPerSecond = 2000
const kDelayTargetMs = 5

/** @param {Group} group @param {number} members the last of which makes changes @returns {Promise<number[]>} µs of CPU per change, of each member */
async function costOf (group, members) {
  const before = Array.from({ length: members }, (_, index) => group.times(index))
  await group.change(members - 1, { changes: kChanges })
  return before.map(({ user, system }, index) => {
    const after = group.times(index)
    return (after.user + after.system - user - system) / kChanges * 1e6
  })
}

/** @param {string} title @param {number} many @param {string[]} members @param {(all: number) => Promise<Group>} start */
async function compareCosts (title, many, members, start) {
  const groups = []
  /** @type {number[][][]} by size, round, member */
  const costs = [[], []]
  try {
    for (const all of [kFew, many]) groups.push(await start(all))
    for (const group of groups) await costOf(group, members.length)
    for (let round = 0; round < kRounds; round++) {
      for (const [index, group] of groups.entries()) costs[index].push(await costOf(group, members.length))
    }
  } finally {
    for (const group of groups) await group.stop()
  }
  const ratios = members.map((who, member) => {
    const [small, large] = costs.map((rounds) => spread(rounds.map((round) => round[member])))
    return { who, small, large, ratio: ratioOf(large, small) }
  })
  for (const { who, small, large, ratio } of ratios) {
    console.log(`  ${title}, ${who}: ${small.median.toFixed(0)} µs with ${kFew}, ${large.median.toFixed(0)} µs with ${many}, ${ratio.toFixed(2)}`)
  }
  return { title: `CPU per change with ${kFew} and ${many} prefixes, ${title}`, ratios }
}

/** @param {number} port @returns {Promise<number>} the 999th of 1000 times, ms */
async function delayOf (port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: kConnections })
  const times = /** @type {number[]} */ ([])
  const ask = () => new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
    const began = performance.now()
    http.get({ port, host: '127.0.0.1', path: '/t2/0/', agent }, (res) => {
      if (res.statusCode !== 200) reject(new Error(`large tables: answered ${res.statusCode}`))
      res.resume().on('end', () => {
        times.push(performance.now() - began)
        resolve()
      })
    }).on('error', reject)
  })
  const began = performance.now()
  const underWay = []
  for (let sent = 0; sent < kRequestsPerSecond * kDelaySeconds;) {
    const due = Math.min((performance.now() - began) / 1000, kDelaySeconds) * kRequestsPerSecond
    while (sent < due) {
      underWay.push(ask())
      sent++
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(underWay)
  agent.destroy()
  times.sort((a, b) => a - b)
  return times[Math.floor(times.length * 0.999)]
}

/** The first member has nearly all prefixes, the second one is asked, the third one changes. */
async function measureDelay () {
  const group = await Group.tables({ counts: kHolders[0].countsOf(kMany) })
  /** @type {number[]} */
  const quiet = []
  /** @type {number[]} */
  const busy = []
  try {
    await delayOf(group.port)
    for (let round = 0; round < kDelayRounds; round++) {
      quiet.push(await delayOf(group.port))
      const changing = group.change(2, { changes: kChangesPerSecond * kDelaySeconds, perSecond: kChangesPerSecond })
      busy.push(await delayOf(group.port))
      const began = performance.now()
      await changing
      console.log(`  p99.9 ${quiet[round].toFixed(1)} ms, with changes ${busy[round].toFixed(1)} ms; the last changes took ${(performance.now() - began).toFixed(0)} ms more`)
    }
  } finally {
    await group.stop()
  }
  return { quiet: spread(quiet), busy: spread(busy), delay: spread(busy.map((ms, round) => ms - quiet[round])).median }
}

/** On all CPUs. */
async function measureTables () {
  const costs = []
  for (const { title, countsOf } of kHolders) costs.push(await compareCosts(title, kMany, kWho, (all) => Group.tables({ counts: countsOf(all) })))
  costs.push(await compareCosts('each at an address and on a socket of its own', kManySockets, ['who changes'], (count) => Group.addresses({ count })))
  return {
    costs,
    costTarget: kCostTarget,
    delayTitle: `p99.9 of ${kRequestsPerSecond} requests/s to one member of a port with ${kMany} prefixes, while another makes ${kChangesPerSecond} changes/s`,
    ...await measureDelay(),
    delayTarget: kDelayTargetMs,
  }
}

module.exports = { measureTables }
