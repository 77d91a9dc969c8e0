'use strict'

// What a member holds of the system, looked at from outside, so that what it does not give back is seen.

const fs = require('node:fs')
const { meetingPlace, dataSocket } = require('./kit')

/**
 * @typedef {object} Holdings
 * @property {number} descriptors without those that are counted as names
 * @property {number} place sockets of all members that have the name of the meeting place: the coordinator listens, and has one for each other member
 * @property {number} own sockets with the member's name: it listens, and has one for each link of a peer
 * @property {number} anonymous KiB of memory that no file is behind
 * @property {number} heap KiB that V8 has in use, after a collection
 */

/** @returns {{ inode: string, name: string }[]} of all processes */
function socketNames () {
  return fs.readFileSync('/proc/net/unix', 'latin1').split('\n').slice(1).flatMap((line) => {
    const [, , , , , , inode, name] = line.trim().split(/\s+/)
    return name?.startsWith('@') ? [{ inode, name: name.slice(1) }] : []
  })
}

/** Names of members that nobody may have any more. @param {Iterable<string>} ids @returns {string[]} */
function namesLeft (ids) {
  const gone = new Set([...ids].map(dataSocket))
  return socketNames().filter(({ name }) => gone.has(name)).map(({ name }) => name)
}

/** @param {number} port @returns {number} sockets with the name of its meeting place */
function socketsAtMeetingPlace (port) {
  return socketNames().filter(({ name }) => name === meetingPlace(port)).length
}

/**
 * @param {import('./kit').Member} member
 * @param {number} port
 * @param {string} id the member's
 * @returns {Promise<Holdings>}
 */
async function holdingsOf (member, port, id) {
  const { heap } = await member.tell('memory')
  const folder = `/proc/${member.pid}`
  const links = fs.readdirSync(`${folder}/fd`).map((fd) => fs.readlinkSync(`${folder}/fd/${fd}`))
  const names = socketNames().filter(({ inode }) => links.includes(`socket:[${inode}]`)).map(({ name }) => name)
  const isCounted = (/** @type {string} */ name) => name === meetingPlace(port) || name === dataSocket(id)
  return {
    descriptors: links.length - names.filter(isCounted).length,
    place: socketsAtMeetingPlace(port),
    own: names.filter((name) => name === dataSocket(id)).length,
    anonymous: Number(/^RssAnon:\s+(\d+) kB/m.exec(fs.readFileSync(`${folder}/status`, 'latin1'))?.[1]),
    heap: Math.round(heap / 1024)
  }
}

module.exports = { holdingsOf, namesLeft, socketsAtMeetingPlace }
