'use strict'

// What the kernel may hold of a TCP connection between two processes of this machine.

const fs = require('node:fs')

const kMiB = 1024 * 1024
/** Where nothing tells: what the systems that we know hold by default. */
const kUsualBytes = 16 * kMiB

/** @param {string} name of a setting with a smallest, a first and a largest size @returns {number | null} the largest */
function largest (name) {
  try {
    return Number(fs.readFileSync(`/proc/sys/net/ipv4/${name}`, 'utf8').trim().split(/\s+/)[2])
  } catch {
    return null
  }
}

/** Bytes that are written on one side and not read on the other, at most. */
const kKernelBytesMax = (largest('tcp_wmem') ?? kUsualBytes / 2) + (largest('tcp_rmem') ?? kUsualBytes / 2)

module.exports = { kKernelBytesMax }
