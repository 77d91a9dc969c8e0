'use strict'

const fs = require('node:fs')
const reservations = require('@httpsys/core-native/reservations')
const { formatTable } = require('./table')

/** @typedef {import('./context').Context} Context */

/** Replaces control characters, which could command the terminal: users edit the reservations file by hand. @param {string} text */
const printable = (text) => text.replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '\ufffd')

/** @param {string | undefined} app */
const acting = (app) => ({ as: app === undefined ? undefined : { ...reservations.whoAmI(), app } })

/**
 * @param {Context} context
 * @param {string} prefix
 * @param {{ app?: string[], user?: string[], delegate?: boolean, comment?: string, as?: string }} options
 */
function addUrlacl ({ out }, prefix, { app = [], user = [], delegate = false, comment, as }) {
  const register = [...new Set([...app.map((name) => `app:${name}`), ...user.map((name) => `user:${name}`)])]
  const added = reservations.addReservation(prefix, { register, delegate: delegate ? register : [], comment },
    acting(as))
  out(`Reserved ${added.prefix} for ${register.join(', ')}.\n`)
}

/** @param {Context} context @param {string} prefix @param {{ as?: string }} options */
function deleteUrlacl ({ out }, prefix, { as }) {
  const deleted = reservations.deleteReservation(prefix, acting(as))
  out(`Deleted the reservation of ${printable(deleted.prefix)}, which was for ${printable(deleted.register.join(', ')) || 'nobody'}.\n`)
}

/** @param {Context} context @param {{ json?: boolean }} options */
function showUrlacl ({ out }, { json = false }) {
  const file = reservations.reservationsFile()
  const list = reservations.listReservations()
  if (json) return out(`${JSON.stringify({ version: 1, file, reservations: list }, null, 2)}\n`)
  if (list.length === 0) {
    const why = file !== null && fs.existsSync(file) ? file : `${file ?? 'no file'}, which does not exist`
    return out(`Nothing is reserved (${why}): every process of this user may register every prefix.\n`)
  }
  const rows = list.map(({ prefix, register, delegate, comment = '' }) =>
    [prefix, register.join(', ') || 'nobody', delegate.join(', '), comment].map(printable))
  out(`Reserved in ${file}:\n\n${formatTable([{ title: 'PREFIX' }, { title: 'MAY REGISTER' }, { title: 'MAY RESERVE BELOW' }, { title: 'COMMENT' }], rows)}`)
}

module.exports = { addUrlacl, deleteUrlacl, showUrlacl }
