'use strict'

// Starts the servers that the scenario "cache" compares.

const fs = require('node:fs')
const path = require('node:path')
const { freePort } = require('../../test/helpers/free-port')
const { Nginx } = require('../lib/nginx')
const { Server, built } = require('../lib/processes')
const { bodyOf } = require('./content')

/**
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
 * @property {boolean} [isCached] by ours: its JavaScript must not run while it is measured
 * @property {boolean} [isBare] no HTTP server: its answer is not looked at
 * @property {(cpu: number, setup: Setup) => Promise<Live>} start
 */

const kProgram = path.join(__dirname, 'server.js')
const kFloorSource = path.join(__dirname, '..', 'floor.cc')

/** @param {string} name @param {'node' | 'httpsys'} side @param {Partial<Setup>} [more] @returns {Side} */
const nodeSide = (name, side, more = {}) => ({
  name,
  isCached: more.cache,
  start: (cpu, setup) => Server.node(name, cpu, [kProgram, side, JSON.stringify({ ...setup, ...more })]),
})

const kNode = nodeSide('node', 'node')
const kUncached = nodeSide('httpsys, uncached', 'httpsys')
const kCached = nodeSide('httpsys', 'httpsys', { cache: true })

/** @param {string[]} mode of floor.cc @returns {Side} */
const floorSide = (...mode) => ({
  name: 'floor',
  isBare: true,
  start: async (cpu) => Server.program('floor', cpu, [await built(kFloorSource, 'floor'), ...mode]),
})

/** @param {Setup['tls']} tls */
const nginxTls = (tls) => tls === undefined
  ? ''
  : `
    ssl_certificate ${tls.cert};
    ssl_certificate_key ${tls.key};
    ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;`

/** A constant answer, one worker. @type {Side} */
const kNginxReturn = {
  name: 'nginx return',
  async start (cpu, { bytes, tls }) {
    const port = await freePort()
    return Nginx.start(['taskset', '-c', String(cpu)], port, `default_type text/plain;
  server {
    listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'} backlog=511;${nginxTls(tls)}
    location / { return 200 "${bodyOf(bytes)}"; }
  }`)
  },
}

/** nginx' own cache before a server of the same worker, which is asked once. @type {Side} */
const kNginxProxy = {
  name: 'nginx proxy_cache',
  async start (cpu, { bytes, tls }) {
    const [port, origin] = [await freePort(), await freePort()]
    return Nginx.start(['taskset', '-c', String(cpu)], port, (folder) => {
      const root = path.join(folder, 'origin')
      fs.mkdirSync(root)
      fs.writeFileSync(path.join(root, 'index.txt'), bodyOf(bytes))
      // The worker is another user.
      for (const each of [folder, root]) fs.chmodSync(each, 0o755)
      return `sendfile on;
  tcp_nopush on;
  open_file_cache max=1024 inactive=60s;
  open_file_cache_valid 60s;
  default_type text/plain;
  proxy_cache_path ${folder}/cache keys_zone=bench:10m max_size=64m inactive=1h use_temp_path=off;
  server {
    listen 127.0.0.1:${origin};
    root ${root};
    index index.txt;
  }
  server {
    listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'} backlog=511;${nginxTls(tls)}
    location / {
      proxy_pass http://127.0.0.1:${origin};
      proxy_cache bench;
      proxy_cache_valid 200 1h;
    }
  }`
    })
  },
}

module.exports = { floorSide, kCached, kNginxProxy, kNginxReturn, kNode, kProgram, kUncached }
