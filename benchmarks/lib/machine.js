'use strict'

const { execFileSync } = require('node:child_process')
const os = require('node:os')
const { busyShare, coreTimes } = require('./cpu')

/** @param {string} program @param {string[]} args */
function firstLine (program, args) {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0].trim()
  } catch (error) {
    // wrk prints its version and exits with 1.
    const output = /** @type {{ stdout?: string }} */ (error).stdout
    return output === undefined ? 'unknown' : output.split('\n')[0].trim()
  }
}

/** Share of the time, in percent, above which other programs disturb a measurement. */
const kBackgroundPercentMax = 5

/**
 * @param {number[]} cpus
 * @returns {Promise<number>} how busy the busiest of them is with other programs, in percent
 */
async function backgroundPercent (cpus) {
  const before = cpus.map(coreTimes)
  await new Promise((resolve) => setTimeout(resolve, 1000))
  const after = cpus.map(coreTimes)
  return 100 * Math.max(...cpus.map((_, index) => busyShare(before[index], after[index])))
}

/** @param {{ server: number, client: number, siblings: boolean }} cpus */
function describeMachine (cpus) {
  return {
    date: new Date().toISOString(),
    commit: firstLine('git', ['describe', '--always', '--dirty']),
    cpu: os.cpus()[0].model,
    cpus: os.cpus().length,
    serverCpu: cpus.server,
    clientCpu: cpus.client,
    sameCore: cpus.siblings,
    memoryGb: Math.round(os.totalmem() / 2 ** 30),
    kernel: `${os.type()} ${os.release()}`,
    node: process.version,
    wrk: firstLine('wrk', ['-v']).replace(/ Copyright.*/, ''),
  }
}

module.exports = { backgroundPercent, describeMachine, kBackgroundPercentMax }
