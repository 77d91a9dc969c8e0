'use strict'

// The requests that every version must serve as cheaply as before.

const path = require('node:path')
const { freePort } = require('../../test/helpers/free-port')
const { runH2load, runLoad, runWrk } = require('../lib/load')
const { Server, built } = require('../lib/processes')
const { keyPair } = require('../tls/measure')
const { Clients } = require('../websocket/processes')

/** @typedef {{ pid: number, summary: Promise<{ requests: number }> }} Load */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {string} title
 * @property {string[]} args of Node: a program below benchmarks/, and what it is told
 * @property {string} [neighbour] the path of another process on the port; the server under measurement has /p1/
 * @property {(port: number, cpu: number, connections: number) => Promise<(seconds: number) => Load>} clients so many connections to a server, for one run
 */

/** HTTP/2 has streams instead of more connections. */
const kHttp2Connections = 8

/** @param {string[]} mode of load.lua @returns {Case['clients']} */
const wrk = (mode) => async (port, cpu, connections) => (seconds) => runWrk({ connections, load: mode }, port, { cpu, seconds })

/** @type {Case['clients']} */
async function tlsClients (port, cpu, connections) {
  const program = await built(path.join(__dirname, '..', 'tls', 'load', 'main.go'), 'tls-clients')
  return (seconds) => {
    const { pid, summary } = runLoad([program, 'keep', String(port), String(connections), String(seconds)], cpu)
    return {
      pid,
      summary: summary.then((text) => {
        const { requests, errors } = JSON.parse(text)
        if (errors > 0) throw new Error(`${errors} of ${requests} requests failed`)
        return { requests }
      }),
    }
  }
}

/** @type {Case['clients']} */
const h2load = async (port, cpu) => (seconds) =>
  runH2load(['-c', String(kHttp2Connections), '-m', '10', `http://127.0.0.1:${port}/`], { cpu, seconds })

/** @type {Case['clients']} */
async function echoClients (port, cpu, connections) {
  const clients = await Clients.start(/** @type {any} */ ({ mode: 'echo', connections, size: 64 }), port, { cpu })
  return (seconds) => ({
    pid: clients.pid,
    summary: clients.ask(`run ${seconds}`)
      .then(({ messages }) => ({ requests: messages }))
      .finally(() => clients.stop()),
  })
}

/** @returns {Case[]} */
function cases () {
  const { key, cert } = keyPair('ec')
  return [
    { name: 'hello', title: '(req, res) handler, 13-byte body', args: ['server.js', 'hello', 'httpsys'], clients: wrk(['get']) },
    { name: 'express5', title: 'Express 5, res.send', args: ['server.js', 'express5', 'httpsys'], clients: wrk(['get']) },
    { name: 'staying', title: 'one of two processes on a port, clients that keep to it', args: ['sharing/server.js', 'httpsys'], neighbour: 'p2', clients: wrk(['prefixes', '1', '1', 'keep', '1']) },
    { name: 'tls', title: 'HTTPS, kept connections', args: ['tls/server.js', 'httpsys', key, cert], clients: tlsClients },
    { name: 'http2', title: 'HTTP/2, 10 streams at a time', args: ['http2/server.js', 'httpsys'], clients: h2load },
    { name: 'ws', title: 'unmodified ws, echo of 64 bytes', args: ['websocket/server.js', 'ws, httpsys', 'echo', 'plain'], clients: echoClients },
    { name: 'websocket', title: '@httpsys/websocket, echo of 64 bytes', args: ['websocket/server.js', '@httpsys/websocket', 'echo', 'plain'], clients: echoClients },
  ]
}

/**
 * Starts a case's server, and the neighbour that it shares its port with.
 *
 * @template {{ port: number, stop (): Promise<void> }} S
 * @param {Case} what
 * @param {string} folder benchmarks/ of the version
 * @param {number} cpu
 * @param {(args: string[]) => Promise<S>} start
 * @returns {Promise<{ server: S, stop (): Promise<void> }>}
 */
async function startCase ({ args: [program, ...args], neighbour }, folder, cpu, start) {
  const file = path.join(folder, program)
  if (neighbour === undefined) {
    const server = await start([file, ...args])
    return { server, stop: () => server.stop() }
  }
  const port = await freePort()
  const other = await Server.node('the neighbour', cpu, [file, ...args, `http://*:${port}/${neighbour}/`])
  try {
    const server = await start([file, ...args, `http://*:${port}/p1/`])
    return {
      server,
      async stop () {
        await server.stop()
        await other.stop()
      },
    }
  } catch (error) {
    await other.stop()
    throw error
  }
}

module.exports = { cases, startCase }
