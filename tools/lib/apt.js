'use strict'

// Runs apt-get, one of which at a time may change a machine: it waits for others, and says so.

const { setTimeout: sleep } = require('node:timers/promises')
const { CommandError, run } = require('./project')

/** What apt and dpkg say when another program has one of their locks. */
const kLocked = /Could not get lock|Unable to (?:acquire|lock)|Resource temporarily unavailable/
/** How long it waits for them, ms: what another set-up of this kind needs on a slow machine. */
const kWaitMs = 300_000
const kLookMs = 2000

/**
 * @param {string[]} args
 * @param {object} [options]
 * @param {string} [options.program] by which apt-get is started
 * @param {NodeJS.ProcessEnv} [options.env]
 * @param {string} [options.cwd]
 * @param {number} [options.waitMs]
 * @param {number} [options.lookMs]
 * @returns {Promise<string>} what it printed
 * @throws {CommandError} when it fails, or the lock does not become free
 */
async function apt (args, { program = 'apt-get', env, cwd, waitMs = kWaitMs, lookMs = kLookMs } = {}) {
  const deadline = performance.now() + waitMs
  for (let isWaiting = false; ; isWaiting = true) {
    try {
      return await run(program, args, { env: { LC_ALL: 'C', ...env }, cwd, silent: true })
    } catch (error) {
      const output = error instanceof CommandError ? error.output : ''
      if (!kLocked.test(output) || performance.now() > deadline) {
        process.stdout.write(output)
        throw error
      }
      if (!isWaiting) console.log(`Another program is installing packages: waiting for it, ${waitMs / 1000} s at most.\n  ${output.trim().split('\n')[0]}`)
      await sleep(lookMs)
    }
  }
}

module.exports = { apt }
