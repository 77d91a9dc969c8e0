'use strict'

// nginx as Debian packages it: one worker process, no logs, connections that are kept for as long as a measurement takes.

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { findNginx } = require('../../tools/lib/packages')
const { childrenOf } = require('./cpu')

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

const kStartMs = 5000
const kLookMs = 50
/** Connections of the largest part, and their files. */
const kConnectionsMax = 16_384

/**
 * @param {string} folder for what nginx writes
 * @param {string} http directives within `http`
 */
function configuration (folder, http) {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections ${kConnectionsMax}; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${http}
}
`
}

/**
 * @param {string[]} wrap what starts it, such as taskset
 * @param {string} folder of its own
 * @param {string} http directives within `http`
 * @returns {ChildProcess} the master, which ends its worker when it gets SIGTERM
 */
function spawnNginx (wrap, folder, http) {
  const file = path.join(folder, 'nginx.conf')
  fs.writeFileSync(file, configuration(folder, http))
  const [program, ...args] = [...wrap, /** @type {string} */ (findNginx()), '-p', folder, '-e', path.join(folder, 'error.log'), '-c', file]
  return spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] })
}

/** @param {number} master @returns {number[]} its workers: a cache has processes of its own, which serve nobody */
function workersOf (master) {
  return childrenOf(master).filter((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('nginx: worker process')
    } catch {
      return false
    }
  })
}

/** @param {ChildProcess} child @param {() => Promise<boolean>} isReady */
async function untilReady (child, isReady) {
  const deadline = Date.now() + kStartMs
  while (!await isReady()) {
    if (Date.now() > deadline || child.exitCode !== null) throw new Error('nginx did not start')
    await sleep(kLookMs)
  }
}

/** A server under measurement: the worker. */
class Nginx {
  #master
  #folder

  /** @param {ChildProcess} master @param {string} folder @param {number} port */
  constructor (master, folder, port) {
    this.#master = master
    this.#folder = folder
    this.port = port
  }

  /**
   * @param {string[]} wrap what starts it, such as taskset
   * @param {number} port on which `http` lets it listen
   * @param {string | ((folder: string) => string)} http directives within `http`, which may name nginx' own folder
   * @returns {Promise<Nginx>} once it listens
   */
  static async start (wrap, port, http) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-nginx-'))
    const server = new Nginx(spawnNginx(wrap, folder, typeof http === 'string' ? http : http(folder)), folder, port)
    try {
      await untilReady(server.#master, async () => await isListening(port) && workersOf(server.#masterPid).length === 1)
    } catch (error) {
      await server.stop()
      throw error
    }
    return server
  }

  get #masterPid () {
    return /** @type {number} */ (this.#master.pid)
  }

  get pid () {
    return workersOf(this.#masterPid)[0]
  }

  async stop () {
    if (this.#master.exitCode === null && this.#master.signalCode === null) {
      const exit = once(this.#master, 'exit')
      this.#master.kill('SIGTERM')
      await exit
    }
    fs.rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** @param {number} port */
async function isListening (port) {
  const socket = net.connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

module.exports = { Nginx, isListening, spawnNginx, untilReady }
