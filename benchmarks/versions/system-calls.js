'use strict'

// System calls of a server, counted by strace while a load runs.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')

/** A thread that sleeps is woken by one of these. */
const kWakes = ['futex', 'write']

/**
 * @param {number} pid
 * @param {() => Promise<number>} load tells how many requests it made
 * @returns {Promise<{ calls: number, wakes: number, byName: Record<string, number> }>} per request
 */
async function countSystemCalls (pid, load) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-strace-'))
  const file = path.join(folder, 'counts')
  try {
    const strace = spawn('strace', ['-f', '-c', '-o', file, '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
    const closed = once(strace, 'close')
    // strace says "attached" on its standard error, once for each call.
    await Promise.race([once(strace.stderr, 'data'), closed.then(() => { throw new Error('strace could not attach') })])
    const requests = await load()
    strace.kill('SIGINT')
    await closed
    /** @type {Record<string, number>} */
    const byName = {}
    for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
      const found = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/.exec(line)
      if (found !== null && found[2] !== 'total') byName[found[2]] = Number(found[1]) / requests
    }
    const sum = (/** @type {string[]} */ names) => names.reduce((all, name) => all + (byName[name] ?? 0), 0)
    return { calls: sum(Object.keys(byName)), wakes: sum(kWakes), byName }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

module.exports = { countSystemCalls }
