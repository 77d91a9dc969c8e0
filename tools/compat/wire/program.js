'use strict'

// Sends the bytes of a list of jobs to two servers of node:http, which is ours when it is preloaded, and
// writes a line of JSON for each job at once, so that a run that hangs keeps its results.
//
//   node program.js <file of jobs>

const fs = require('node:fs')
const http = require('node:http')
const { bytewise, exchange, startSide, stopSide } = require('./exchange')

/**
 * @typedef {object} Job
 * @property {string} key
 * @property {string} bytes Latin-1
 * @property {boolean} listens which of the two servers
 * @property {boolean} split each byte in a segment of its own
 * @property {number} holdMs
 */

const kConcurrent = 32

/** @param {Job[]} jobs */
async function work (jobs) {
  const results = fs.openSync(/** @type {string} */ (process.env.HTTPSYS_COMPAT_RESULTS), 'a')
  const [quiet, listening] = [await startSide(http, false), await startSide(http, true)]
  const queue = jobs[Symbol.iterator]()
  await Promise.all(Array.from({ length: kConcurrent }, async () => {
    for (const { key, bytes, listens, split, holdMs } of queue) {
      const buffer = Buffer.from(bytes, 'latin1')
      const outcome = await exchange(listens ? listening : quiet, split ? bytewise(buffer) : [buffer], { holdMs })
      fs.writeSync(results, `${JSON.stringify({ key, outcome })}\n`)
    }
  }))
  stopSide(quiet)
  stopSide(listening)
}

work(JSON.parse(fs.readFileSync(process.argv[2], 'utf8')))
