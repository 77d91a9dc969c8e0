'use strict'

// Ports that a process may not open itself: others of its user open them, or it is given a bound socket.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { spawnSync } = require('node:child_process')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const http = require('../../packages/core-native')
const { createServerHandle } = require('../../packages/core-native/lib/node-private/node-internals')
const { freePort } = require('../helpers/free-port')
const { Client, Member, ask, connect, kSkip, member, until } = require('./kit')

const kWithoutCapability = ['setpriv', '--bounding-set', '-net_bind_service', '--inh-caps', '-net_bind_service']
// As systemd passes 3; the tests' channel has that.
const kFd = 4

/** @returns {string | false} */
function whyNoPrivilegedPort () {
  if (process.platform !== 'linux') return 'capabilities are of Linux'
  const first = Number(fs.readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'))
  if (first < 1024) return `everybody may open ports from ${first} here (net.ipv4.ip_unprivileged_port_start)`
  // CAP_NET_BIND_SERVICE is number 10.
  const effective = BigInt(`0x${/^CapEff:\s*(\w+)/m.exec(fs.readFileSync('/proc/self/status', 'utf8'))?.[1]}`)
  if ((effective >> 10n & 1n) === 0n) return 'this process has no CAP_NET_BIND_SERVICE to test with'
  return spawnSync(kWithoutCapability[0], [...kWithoutCapability.slice(1), 'true']).status !== 0 && 'setpriv of util-linux is not there, or this user may not drop capabilities'
}

async function freePrivilegedPort () {
  for (let port = 1023; port > 600; port--) {
    const server = net.createServer()
    const isFree = await new Promise((resolve) => server.once('error', () => resolve(false)).listen(port, () => resolve(true)))
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
  throw new Error('no port below 1024 is free')
}

/** @param {import('node:test').TestContext} t @param {string[]} through @param {number[]} [fds] */
async function memberThrough (t, through, fds) {
  const started = new Member({}, through, fds)
  t.after(() => started.kill())
  await started.ready
  return started
}

describe('A port below 1024', { skip: kSkip || whyNoPrivilegedPort() }, () => {
  it('is opened by a process with CAP_NET_BIND_SERVICE, and joined and kept by others of its user without it', async (t) => {
    const port = await freePrivilegedPort()
    const plain = await memberThrough(t, kWithoutCapability)
    for (const on of [port, `http://*:${port}/b/`]) await assert.rejects(plain.listen('b', on), { code: 'EACCES', syscall: 'listen', message: /permission denied/ })
    const able = await member(t, 'a', `http://*:${port}/a/`)
    await plain.listen('b', `http://*:${port}/b/`)
    for (const [owner, { pid }] of /** @type {const} */ ([['a', able], ['b', plain]])) {
      assert.deepEqual(await ask(port, `/${owner}/`).then((answer) => [answer.owner, answer.pid]), [owner, String(pid)])
    }
    // Another address is another socket.
    await plain.listen('narrow', `http://127.0.0.1:${port}/n/`)
    assert.equal((await ask(port, '/n/')).owner, 'narrow')
    // Who has opened it may leave.
    await able.kill()
    await until(async () => (await ask(port, '/b/')).owner === 'b', 'the other one has the port')
    const late = await memberThrough(t, kWithoutCapability)
    await late.listen('c', `http://*:${port}/c/`)
    assert.equal((await ask(port, '/c/')).owner, 'c')
    // The last one takes it along.
    await late.close('c')
    await plain.close('b')
    await plain.close('narrow')
    await assert.rejects(plain.listen('b', `http://*:${port}/b/`), { code: 'EACCES' })
  })
})

/** A bound socket that stays open, as systemd keeps it. @param {import('node:test').TestContext} t @param {string} address */
function boundSocket (t, address) {
  const handle = createServerHandle(address, 0, net.isIPv6(address) ? 6 : 4, undefined, 0)
  t.after(() => handle.close())
  const name = /** @type {{ port?: number }} */ ({})
  handle.getsockname(name)
  return { fd: handle.fd, port: name.port ?? 0 }
}

describe('listen({ prefix, fd })', { skip: kSkip }, () => {
  it('listens on a socket that somebody else has bound, and shares it', async (t) => {
    for (const address of ['::', '0.0.0.0', '127.0.0.1']) {
      const { fd, port } = boundSocket(t, address)
      const a = await memberThrough(t, [], [fd])
      const answer = await a.listen('a', { prefix: `http://*:${port}/a/`, fd: kFd })
      assert.deepEqual([answer.address.address, answer.address.port], [address, port])
      const host = address === '127.0.0.1' ? address : '*'
      const b = await member(t, 'b', `http://${host}:${port}/b/`)
      // An instance that was given the same socket.
      const c = await memberThrough(t, [], [fd])
      await c.listen('c', { prefix: `http://*:${port}/c/`, fd: kFd })
      for (const [owner, { pid }] of /** @type {const} */ ([['a', a], ['b', b], ['c', c]])) {
        assert.deepEqual(await ask(port, `/${owner}/`).then((found) => [found.owner, found.pid]), [owner, String(pid)], address)
      }
      await a.kill()
      for (const owner of ['b', 'c']) await until(async () => (await ask(port, `/${owner}/`)).owner === owner, `${owner} goes on`)
      await Promise.all([b, c].map((one) => one.kill()))
    }
  })

  it('answers those who have connected while nobody listened', async (t) => {
    const { fd, port } = boundSocket(t, '127.0.0.1')
    const a = await memberThrough(t, [], [fd])
    await a.listen('a', { prefix: `http://*:${port}/`, fd: kFd })
    const kept = await connect(t, port)
    assert.equal((await kept.request('/')).owner, 'a')
    await a.kill()
    const waiting = new Client(port)
    t.after(() => waiting.destroy())
    const answer = waiting.request('/')
    await once(waiting.socket, 'connect')
    const b = await memberThrough(t, [], [fd])
    await b.listen('b', { prefix: `http://*:${port}/`, fd: kFd })
    assert.equal((await answer).pid, String(b.pid))
  })

  it('opens no other socket of the port for further prefixes, and none is closed with one of them', async (t) => {
    const { fd, port } = boundSocket(t, '127.0.0.1')
    const other = await freePort()
    const a = await memberThrough(t, [], [fd])
    await a.listen('a', { prefixes: [`http://*:${port}/a/`, `http://127.0.0.1:${other}/o/`], fd: kFd })
    await a.tell('addPrefix', { name: 'a', prefix: `http://*:${port}/more/` })
    await a.tell('removePrefix', { name: 'a', prefix: `http://*:${port}/a/` })
    await a.tell('removePrefix', { name: 'a', prefix: `http://127.0.0.1:${other}/o/` })
    assert.equal((await ask(port, '/more/')).owner, 'a')
    assert.equal((await ask(port, '/a/')).status, 404)
    await assert.rejects(ask(other, '/o/'), /ECONNREFUSED/)
  })

  it('fails for a descriptor that is none, of another port, or beside a prefix that is taken, and can be tried again', async (t) => {
    const { fd, port } = boundSocket(t, '127.0.0.1')
    const a = await memberThrough(t, [], [fd])
    const prefix = `http://*:${port}/a/`
    for (const [on, error] of /** @type {const} */ ([
      [{ prefix, fd: 'x' }, { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: /"fd" beside a prefix must be a number/ }],
      [{ prefix, fd: kFd, ipv6Only: true }, { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: /exclude each other/ }],
      [{ prefix, fd: kFd, host: '127.0.0.2' }, { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: /the host is part of the prefix/ }],
      [{ prefix, fd: 900 }, { code: /EINVAL|EBADF/, syscall: 'listen' }],
      [{ prefix: `http://*:${port + 1}/a/`, fd: kFd }, { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: new RegExp(`is bound to port ${port}, and the prefixes are of port ${port + 1}`) }]
    ])) {
      await assert.rejects(a.listen('a', on), (/** @type {any} */ found) => {
        for (const [name, expected] of Object.entries(error)) assert.match(String(found[name]), expected instanceof RegExp ? expected : new RegExp(`^${expected}$`))
        return true
      })
    }
    const first = await memberThrough(t, [], [fd])
    await first.listen('first', { prefix, fd: kFd })
    await assert.rejects(a.listen('a', { prefix, fd: kFd }), { code: 'EADDRINUSE', pid: first.pid })
    await first.close('first')
    await a.listen('a', { prefix, fd: kFd })
    assert.equal((await ask(port, '/a/')).owner, 'a')
    await a.close('a')
  })

  it('takes a descriptor that was refused once, and has become that of another socket', async (t) => {
    const refused = createServerHandle(path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-given-')), 'socket'), -1, -1)
    const { fd } = refused
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => res.end('served'))
    server.listen({ prefix: 'http://*:80/', fd })
    const [error] = await once(server, 'error')
    assert.match(error.message, /is no TCP socket/)
    await new Promise((resolve) => refused.close(resolve))
    // The system gives the lowest number that is free.
    const handles = []
    while (handles.at(-1)?.fd !== fd) {
      assert.ok(handles.length < 100)
      handles.push(createServerHandle('127.0.0.1', 0, 4, undefined, 0))
    }
    const [given] = handles.splice(-1)
    for (const handle of handles) handle.close()
    const name = /** @type {{ port?: number }} */ ({})
    given.getsockname(name)
    server.listen({ prefix: `http://*:${name.port}/`, fd })
    t.after(() => server.close())
    await once(server, 'listening')
    assert.equal(server.address().port, name.port)
  })
})
