'use strict'

// Fills the cache of a server with distinct URLs, and reads from /proc what that takes.

const { fork } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const path = require('node:path')
const { Buffer } = require('node:buffer')

const kHot = '/hot'
/** Of these many requests one asks for the hot URL. */
const kHotEvery = 50
const kConnections = 4
const kPipelined = 16
/** Code and heap of a server that has answered so many are as large as they will be. */
const kWarmUrls = 30_000
const kBodyEnd = '\nend of the body'
const kBodyBytes = 1000
const kMiB = 2 ** 20

/** @param {string} url @returns {string} */
const bodyOf = (url) => url.padEnd(kBodyBytes - kBodyEnd.length, '.') + kBodyEnd

/** @param {Buffer} bytes @param {Buffer} wanted @returns {number} how often */
function countIn (bytes, wanted) {
  let count = 0
  for (let at = bytes.indexOf(wanted); at !== -1; at = bytes.indexOf(wanted, at + wanted.length)) count++
  return count
}

/**
 * Asks for URLs over one connection, some at a time.
 *
 * @param {number} port
 * @param {Iterator<string>} urls shared with other connections
 * @returns {Promise<number>} how many were answered with 200
 */
function askAll (port, urls) {
  return new Promise((resolve, reject) => {
    const [end, ok] = [Buffer.from(kBodyEnd), Buffer.from('HTTP/1.1 200 OK')]
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
    let kept = Buffer.alloc(0)
    let due = 0
    let good = 0
    const next = () => {
      let text = ''
      for (; due < kPipelined; due++) {
        const { value, done } = urls.next()
        if (done === true) break
        text += `GET ${value} HTTP/1.1\r\nHost: memory.example\r\n\r\n`
      }
      if (text !== '') return socket.write(text)
      socket.end()
      resolve(good)
    }
    socket.on('connect', next).on('error', reject)
    socket.on('data', (piece) => {
      kept = Buffer.concat([kept, piece])
      const last = kept.lastIndexOf(end)
      if (last === -1) return
      const whole = kept.subarray(0, last + end.length)
      kept = kept.subarray(last + end.length)
      good += countIn(whole, ok)
      due -= countIn(whole, end)
      if (due === 0) next()
    })
  })
}

/** @param {number} count @param {string} prefix @returns {Generator<string>} */
function * distinct (count, prefix) {
  for (let i = 0; i < count; i++) yield i % kHotEvery === 0 ? kHot : `${prefix}${i}`
}

/** @param {number} port @param {number} count @param {string} prefix */
async function ask (port, count, prefix) {
  const urls = distinct(count, prefix)
  const good = await Promise.all(Array.from({ length: kConnections }, () => askAll(port, urls)))
  const sum = good.reduce((one, other) => one + other, 0)
  if (sum !== count) throw new Error(`${sum} of ${count} requests were answered with 200`)
}

/** @param {number} pid @returns {number} bytes */
function pssOf (pid) {
  return Number(/^Pss:\s+(\d+) kB/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * 1024
}

/** The files in memory that a process has mapped: their Pss, and their own size, each once. @param {number} pid */
function sharedOf (pid) {
  let pss = 0
  let isOurs = false
  /** @type {Map<string, number>} bytes by inode */
  const sizes = new Map()
  for (const line of fs.readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const mapping = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ (\d+)\s*(.*)$/.exec(line)
    if (mapping !== null) {
      const [, from, to, offset, inode, name] = mapping
      isOurs = name.startsWith('/memfd:')
      if (isOurs) sizes.set(inode, Math.max(sizes.get(inode) ?? 0, parseInt(offset, 16) + parseInt(to, 16) - parseInt(from, 16)))
    } else if (isOurs) {
      pss += Number(/^Pss:\s+(\d+) kB/.exec(line)?.[1] ?? 0) * 1024
    }
  }
  return { pss, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) }
}

/**
 * Fills a cache.
 *
 * @param {{ cacheBytes: number, urls: number }} what
 */
async function fill ({ cacheBytes, urls }) {
  const child = fork(path.join(__dirname, 'memory-server.js'), [String(cacheBytes)], {
    execArgv: ['--expose-gc'],
    // Under the test runner a child would take itself for a test file.
    env: { ...process.env, NODE_TEST_CONTEXT: undefined },
  })
  const pid = /** @type {number} */ (child.pid)
  const next = async () => (await once(child, 'message'))[0]
  const said = async (/** @type {string} */ question) => {
    const answer = next()
    child.send(question)
    return answer
  }
  try {
    const { port } = await next()
    await ask(port, kWarmUrls, '/warm/')
    await said('collect')
    const before = { pss: pssOf(pid), shared: sharedOf(pid) }
    await ask(port, urls, '/distinct/')
    const { hotCalls, stats } = await said('collect')
    return { before, after: { pss: pssOf(pid), shared: sharedOf(pid) }, hotCalls, stats }
  } finally {
    child.kill('SIGKILL')
  }
}

module.exports = { bodyOf, fill, kHot, kMiB }
