'use strict'

// Starts the servers that the scenario "files" compares.

const path = require('node:path')
const { Nginx } = require('../lib/nginx')
const { Server, built } = require('../lib/processes')
const { freePort } = require('../../test/helpers/free-port')

/**
 * @typedef {object} Place where a server runs
 * @property {number | string} cpu or a list such as 0,1
 * @property {string[]} [wrap] a command that becomes the server, such as one that changes limits
 *
 * @typedef {import('./server').Setup} Setup
 *
 * @typedef {object} Live a server that is measured
 * @property {number} pid of the process that serves
 * @property {number} port
 * @property {(question: string) => Promise<any>} [ask]
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} Side
 * @property {string} name
 * @property {(place: Place, setup: Setup) => Promise<Live>} start
 */

const kProgram = path.join(__dirname, 'server.js')
const kRegister = ['--require', require.resolve('@httpsys/core-native/register')]

/**
 * @param {'node' | 'httpsys'} side
 * @param {string} application of applications.js
 * @param {{ name?: string, before?: string[] }} [how] before: options of Node
 * @returns {Side}
 */
function nodeSide (side, application, { name = side, before = [] } = {}) {
  return {
    name,
    start: ({ cpu, wrap }, setup) => Server.node(name, cpu, ['--expose-gc', ...before, kProgram, side, application, JSON.stringify(setup)], wrap),
  }
}

/** Express on node:http, on ours with its adapter, and on ours without a change to the program. @param {string} application @returns {Side[]} */
const expressSides = (application) => [
  nodeSide('node', application),
  nodeSide('httpsys', application),
  nodeSide('node', application, { name: 'register', before: kRegister }),
]

/** What the kernel alone asks for: a program that looks at no request. Its answer is that of the callbacks' part. @type {Side} */
const kFloor = {
  name: 'floor',
  start: async ({ cpu }) => Server.program('floor', Number(cpu), [await built(path.join(__dirname, '..', 'floor.cc'), 'floor')]),
}

/** One worker on the server's core. @type {Side} */
const kNginx = {
  name: 'nginx',
  async start ({ cpu, wrap = [] }, setup) {
    const port = await freePort()
    return Nginx.start(['taskset', '-c', String(cpu), ...wrap], port, nginxDirectives(port, setup))
  },
}

/** @param {number} port @param {Setup} setup */
function nginxDirectives (port, { folder, tls }) {
  return `sendfile on;
  tcp_nopush on;
  open_file_cache max=1024 inactive=60s;
  open_file_cache_valid 60s;
  default_type text/plain;
  server {
    listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'} backlog=511;
    root ${folder};${tls === undefined
? ''
: `
    ssl_certificate ${tls.cert};
    ssl_certificate_key ${tls.key};
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;`}
  }`
}

/**
 * @param {Side} side
 * @param {Place} place
 * @param {Setup} setup
 * @param {(server: Live) => Promise<void>} check throws if the server does not answer as it should
 * @returns {Promise<Live>}
 */
async function startChecked (side, place, setup, check) {
  const server = await side.start(place, setup)
  try {
    await check(server)
  } catch (error) {
    await server.stop()
    throw error
  }
  return server
}

module.exports = { kFloor, kNginx, expressSides, nodeSide, startChecked }
