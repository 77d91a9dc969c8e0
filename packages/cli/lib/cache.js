'use strict'

// The commands about output caches: `show cachestate` lists stored answers, and `delete cache` removes them.

const { formatTable } = require('./table')

/** @typedef {import('./context').Context} Context */
/** @typedef {import('@httpsys/core-native/service-state').CacheMember} CacheMember */

// Error codes that mean that no process listens on a port, or not any more.
const kGone = ['ECONNREFUSED', 'ENOENT']
const kPorts = { http: 80, https: 443 }

const kColumns = [
  { title: 'URL' }, { title: 'STATUS', right: true }, { title: 'POLICY' }, { title: 'CREATED' }, { title: 'SECONDS', right: true }, { title: 'HITS', right: true },
  { title: 'HEAD', right: true }, { title: 'BODY', right: true }, { title: 'PID', right: true }, { title: 'PROGRAM' }
]

/**
 * @param {Context} context
 * @param {string | undefined} url
 * @param {{ port?: number, json?: boolean }} options
 * @returns {Promise<boolean>} false when a port could not be asked
 */
async function showCachestate (context, url, { port, json = false }) {
  const { members, problems } = await askPorts(context, url, port, (at) => context.readCacheState(at, { url }))
  if (json) {
    context.out(`${JSON.stringify({ version: 1, members: members.map(({ flushed, ...member }) => member), problems }, null, 2)}\n`)
    return problems.length === 0
  }
  const rows = members.flatMap(describeMember)
  if (rows.length > 0) context.out(formatTable(kColumns, rows))
  else if (problems.length === 0) context.out(members.length === 0 ? 'No process of this user has an output cache.\n' : 'Nothing is stored.\n')
  for (const { message } of problems) context.err(`httpsys: ${message}\n`)
  return problems.length === 0
}

/**
 * @param {Context} context
 * @param {string | undefined} url
 * @param {{ port?: number, recursive?: boolean }} options
 * @returns {Promise<boolean>} false when a port could not be asked
 */
async function deleteCache (context, url, { port, recursive = false }) {
  const { members, problems } = await askPorts(context, url, port, (at) => context.flushCaches(at, { url, recursive }))
  const count = members.reduce((sum, { flushed }) => sum + flushed, 0)
  if (members.length > 0) context.out(`Deleted ${count} ${count === 1 ? 'response' : 'responses'} of ${members.length} ${members.length === 1 ? 'member' : 'members'}.\n`)
  else if (problems.length === 0) context.out('No process of this user has an output cache.\n')
  for (const { message } of problems) context.err(`httpsys: ${message}\n`)
  return problems.length === 0
}

/** @param {string} url @returns {number} the URL's port @throws ERR_INVALID_ARG_VALUE */
function portOf (url) {
  const [, scheme, port] = /^(https?):\/\/(?:\[[^\]/?#]+\]|[^:/?#[\]]+)(?::([1-9]\d{0,4}))?(?:[/?]|$)/i.exec(url) ?? []
  if (scheme === undefined || Number(port ?? 1) > 65535) {
    throw Object.assign(new TypeError(`${JSON.stringify(url)} is no URL such as http://*:8080/news/`), { code: 'ERR_INVALID_ARG_VALUE' })
  }
  return port === undefined ? kPorts[/** @type {'http' | 'https'} */ (scheme.toLowerCase())] : Number(port)
}

/**
 * @param {Context} context
 * @param {string | undefined} url
 * @param {number | undefined} port
 * @param {(port: number) => Promise<CacheMember[]>} ask
 */
async function askPorts ({ portsInUse }, url, port, ask) {
  // --port takes precedence over the URL's port, which may be that of a proxy before the server.
  const named = port ?? (url === undefined ? undefined : portOf(url))
  const ports = named === undefined ? portsInUse().own : [named]
  /** @type {(CacheMember & { port: number })[]} */
  const members = []
  /** @type {{ port: number, code: string | undefined, message: string }[]} */
  const problems = []
  for (const [at, result] of (await Promise.allSettled(ports.map(ask))).entries()) {
    if (result.status === 'fulfilled') {
      members.push(...result.value.map((member) => ({ port: ports[at], ...member })))
      continue
    }
    const { code, message } = result.reason
    if (!kGone.includes(code)) problems.push({ port: ports[at], code, message })
    else if (named !== undefined) problems.push({ port: named, code, message: `No process of this user has registered a URL prefix on port ${named}` })
  }
  return { members, problems }
}

/** @param {CacheMember} member */
function describeMember ({ pid, thread, program, entries }) {
  return entries.map(({ url, status, policy, created, seconds, hits, headBytes, bodyBytes }) => [
    url, status, policy === 'rfc9111' ? 'header' : policy, new Date(created).toISOString().slice(0, 19) + 'Z', policy === 'userInvalidates' ? '' : seconds, hits, headBytes, bodyBytes,
    thread === 0 ? pid : `${pid}/${thread}`, program
  ])
}

module.exports = { deleteCache, showCachestate }
