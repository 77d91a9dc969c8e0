'use strict'

// Measures the time from the start of a server's process to its first answer, and the memory of the process by then.

const fs = require('node:fs')
const { probe } = require('../lib/load')
const { drawTable, range } = require('../lib/report')
const { startServer } = require('../lib/server-process')
const { ratioOf, spreads } = require('../lib/statistics')

/** Starts of each server for one round of the other scenarios: a start takes a part of a second. */
const kStartsPerRound = 4
const kServers = ['node', 'httpsys']

/** @param {string} implementation @param {number} cpu @returns {Promise<{ milliseconds: number, mebibytes: number }>} */
async function startOnce (implementation, cpu) {
  const scenario = require('./express5')
  const since = performance.now()
  const server = await startServer({ scenario: scenario.name, implementation, cpu })
  try {
    await probe(scenario, server.port)
    const milliseconds = performance.now() - since
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(fs.readFileSync(`/proc/${server.pid}/status`, 'utf8')) ?? []
    return { milliseconds, mebibytes: Number(kibibytes) / 1024 }
  } finally {
    await server.stop()
  }
}

/** @type {import('../lib/types').Suite} */
module.exports = {
  name: 'start',
  title: 'Express 5: from the start of the process to its first answer, and the memory that it has by then',
  async run ({ cpus, rounds }) {
    /** @type {Record<string, { milliseconds: number, mebibytes: number }[]>} */
    const starts = Object.fromEntries(kServers.map((name) => [name, []]))
    for (let round = 0; round < rounds * kStartsPerRound; round++) {
      for (const name of kServers) starts[name].push(await startOnce(name, cpus.server))
    }
    const [node, ours] = kServers.map((name) => spreads(starts[name]))
    const figures = [
      { name: 'node', ...node },
      { name: 'httpsys', ...ours, ratio: { milliseconds: ratioOf(ours.milliseconds, node.milliseconds), mebibytes: ratioOf(ours.mebibytes, node.mebibytes) } },
    ]
    const lines = figures.map(({ name, milliseconds, mebibytes }) => [name, `${range(milliseconds)} ms`, `${range(mebibytes)} MiB`])
    return { figures, text: `## Start\n\n${drawTable(['server', 'to the first answer', 'resident memory'], lines)}` }
  },
}
