'use strict'

// Names of implied queues, for servers without `queueName`: one per node:cluster, and one per process whose ports HTTPSYS_LISTEN maps.

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster'))) // Cast as in node-internals.js.
const fs = require('node:fs')

/** Start of the names of implied queues. listen() refuses it in `queueName`. */
const kStart = 'httpsys:'

/** @returns {string} the queue's name, the same in all workers of a cluster or in all threads of a process */
function impliedQueue () {
  return `${kStart}${cluster.isWorker ? `cluster ${process.ppid}` : `process ${process.pid}`}${processNamespace()}`
}

/** @param {string} queue of any process @returns {boolean} */
function isImpliedQueue (queue) {
  return queue.startsWith(kStart)
}

// Distinguishes equal process ids in containers that share a network, and so share ports.
function processNamespace () {
  try {
    return ` ${fs.readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return '' // Other systems, and sandboxes without /proc, have no PID namespace to name.
  }
}

module.exports = { impliedQueue, isImpliedQueue }
