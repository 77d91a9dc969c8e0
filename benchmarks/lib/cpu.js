'use strict'

// CPU time as Linux counts it.

const fs = require('node:fs')
const { execFileSync } = require('node:child_process')

const kTicksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))

/**
 * User and system time of a whole process, ended threads included. Exact to a clock tick (10 ms).
 *
 * @param {number} pid
 * @returns {number} seconds
 */
function processSeconds (pid) {
  const { user, system } = processTimes(pid)
  return user + system
}

/** @param {number} pid @returns {{ user: number, system: number }} seconds */
function processTimes (pid) {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The second field is the program's name in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { user: Number(fields[11]) / kTicksPerSecond, system: Number(fields[12]) / kTicksPerSecond }
}

/**
 * CPU time of a process's main thread, which in Node is the one that runs JavaScript.
 *
 * @param {number} pid
 * @returns {number} seconds
 */
function mainThreadSeconds (pid) {
  return Number(fs.readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e9
}

/** @param {number} pid @returns {number[]} processes that it has started */
function childrenOf (pid) {
  const text = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** @typedef {{ busy: number, total: number }} CoreTimes in ticks */

/** @param {number} core @returns {CoreTimes} */
function coreTimes (core) {
  const line = fs.readFileSync('/proc/stat', 'utf8').split('\n').find((text) => text.startsWith(`cpu${core} `))
  if (line === undefined) throw new Error(`There is no CPU ${core}`)
  const ticks = line.trim().split(/\s+/).slice(1, 9).map(Number) // Guest time is part of user time.
  const total = ticks.reduce((sum, value) => sum + value, 0)
  return { total, busy: total - ticks[3] - ticks[4] }
}

/** @param {CoreTimes} from @param {CoreTimes} to @returns {number} 0 to 1 */
function busyShare (from, to) {
  return to.total === from.total ? 0 : (to.busy - from.busy) / (to.total - from.total)
}

/** @param {string} text such as 0-2,5 @returns {number[]} */
function parseCpuList (text) {
  return text.trim().split(',').flatMap((part) => {
    const [first, last = first] = part.split('-').map(Number)
    return Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}

/**
 * Two CPUs that are different cores where the machine has them.
 *
 * @returns {{ server: number, client: number, siblings: boolean }}
 */
function choosePair () {
  const status = fs.readFileSync('/proc/self/status', 'utf8')
  const allowed = parseCpuList(/Cpus_allowed_list:\s*(.*)/.exec(status)?.[1] ?? '0')
  if (allowed.length < 2) throw new Error('The benchmark needs two CPUs: one for the server, one for the load')
  const [server] = allowed
  let siblings = [server]
  try {
    siblings = parseCpuList(fs.readFileSync(`/sys/devices/system/cpu/cpu${server}/topology/thread_siblings_list`, 'utf8'))
  } catch {}
  const other = allowed.find((cpu) => !siblings.includes(cpu))
  return { server, client: other ?? allowed[1], siblings: other === undefined }
}

module.exports = { busyShare, childrenOf, choosePair, coreTimes, mainThreadSeconds, processSeconds, processTimes }
