'use strict'

const { formatTable } = require('./table')

/** @typedef {import('./context').Context} Context */
/** @typedef {import('@httpsys/core-native/service-state').ServiceState} ServiceState */
/** @typedef {import('@httpsys/core-native/service-state').Member} Member */
/** @typedef {{ port: number, code: string | undefined, message: string }} Problem */

// Error codes that mean that no process listens on a port, or not any more.
const kGone = ['ECONNREFUSED', 'ENOENT']

const kColumns = [
  { title: 'PORT', right: true }, { title: 'PREFIX' }, { title: 'PID', right: true }, { title: 'PROGRAM' }, { title: 'QUEUE' },
  { title: 'REQUESTS', right: true }, { title: 'QUEUED', right: true }, { title: 'REFUSED', right: true },
  { title: 'CONNECTIONS', right: true }, { title: 'HANDED OVER', right: true }
]

/**
 * @param {Context} context
 * @param {{ port?: number, json?: boolean }} options
 * @returns {Promise<boolean>} false when a port could not be asked
 */
async function showServiceState (context, { port, json = false }) {
  const { own, others } = port === undefined ? findPorts(context) : { own: [port], others: [] }
  const { states, problems } = await askPorts(context, own, port !== undefined)
  if (json) {
    context.out(`${JSON.stringify({ version: 1, ports: states, problems, otherUsers: others }, null, 2)}\n`)
    return problems.length === 0
  }
  if (states.length > 0) context.out(describeStates(states))
  else if (problems.length === 0) context.out(kNothing)
  if (others.length > 0) context.out(describeOthers(others))
  for (const { message } of problems) context.err(`httpsys: ${message}\n`)
  return problems.length === 0
}

const kNothing = 'Nothing listens: no process of this user has registered a URL prefix.\n'

/** @param {Context} context */
function findPorts ({ portsInUse }) {
  try {
    return portsInUse()
  } catch (error) {
    // A wrong environment variable also affects --port, so do not advise that option.
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ERR_HTTPSYS_ENVIRONMENT') throw error
    throw new Error(`The ports in use cannot be found here (${/** @type {Error} */ (error).message}); name one with --port`)
  }
}

/**
 * @param {Context} context
 * @param {number[]} ports
 * @param {boolean} named true: the user named the port, so it is a problem if no process listens there
 */
async function askPorts ({ readServiceState }, ports, named) {
  /** @type {ServiceState[]} */
  const states = []
  /** @type {Problem[]} */
  const problems = []
  for (const [at, result] of (await Promise.allSettled(ports.map((port) => readServiceState(port)))).entries()) {
    if (result.status === 'fulfilled') {
      states.push(result.value)
      continue
    }
    const { code, message } = result.reason
    if (!kGone.includes(code)) problems.push({ port: ports[at], code, message })
    else if (named) problems.push({ port: ports[at], code, message: `No process of this user has registered a URL prefix on port ${ports[at]}` })
  }
  return { states, problems }
}

/** @param {ServiceState[]} states */
function describeStates (states) {
  const rows = states.flatMap(({ port, members }) => members.flatMap((member) => describeMember(port, member)))
  const sockets = states.map(({ port, coordinator, sockets }) =>
    `Port ${port}: ${sockets.length === 0 ? 'no sockets' : sockets.join(', ')}; coordinator ${coordinator}\n`)
  return `${formatTable(kColumns, rows)}\n${sockets.join('')}`
}

/** @param {number} port @param {Member} member */
function describeMember (port, { pid, thread, program, registrations, connections, handedOver }) {
  const who = [thread === 0 ? pid : `${pid}/${thread}`, program]
  if (registrations.length === 0) return [[port, '-', ...who, '', '', '', '', connections, handedOver]]
  // Print the member's connections in its first row only, so that the column's sum is right.
  return registrations.map(({ prefix, queue, requests, queued, queueLimit, refused }, at) => [
    port, prefix, ...who, queue, requests, `${queued}/${queueLimit}`, refused, at === 0 ? connections : '', at === 0 ? handedOver : ''
  ])
}

/** @param {{ port: number, uid: number }[]} others */
function describeOthers (others) {
  const shown = others.slice(0, 20).map(({ port, uid }) => `${port} (uid ${uid})`)
  return `Ports of other users or versions, which only they can ask: ${shown.join(', ')}${others.length > shown.length ? ', …' : ''}\n`
}

module.exports = { showServiceState }
