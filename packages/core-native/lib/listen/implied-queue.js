'use strict'

// Queues that nobody has named: that of a cluster's workers, and that of a process that HTTPSYS_LISTEN maps.

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster'))) // As in node-internals.js.
const fs = require('node:fs')

/** What the names of these queues begin with, and those that programs give do not. */
const kStart = 'httpsys:'

/** @returns {string} the same in all workers of a cluster, and in all threads of a process */
function impliedQueue () {
  return `${kStart}${cluster.isWorker ? `cluster ${process.ppid}` : `process ${process.pid}`}${processNamespace()}`
}

/** @param {string} queue of any process @returns {boolean} */
function isImpliedQueue (queue) {
  return queue.startsWith(kStart)
}

// Containers that share a network, and with it their ports, each have a process 1.
function processNamespace () {
  try {
    return ` ${fs.readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return '' // Not Linux, or no /proc.
  }
}

module.exports = { impliedQueue, isImpliedQueue }
