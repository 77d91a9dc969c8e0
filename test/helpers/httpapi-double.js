'use strict'

// The test's side of the double of httpapi.dll: packages/core-native/test-windows/httpapi_double/control.h.

const { request } = require('./client')

/**
 * @typedef {object} Report
 * @property {Record<'initialized' | 'sessions' | 'groups' | 'urls' | 'queues' | 'calls' | 'requests' | 'tokens' | 'files', number>} open what was made and not undone
 * @property {number} faultsLeft planned, and not happened yet
 * @property {string[]} imports functions of the DLL that the addon names
 * @property {Record<string, number>} calls how often each was called
 * @property {Record<string, any>[]} notes what was set, sent and cached, in order
 */

/** @param {string} path @returns {Promise<any>} */
async function ask (path) {
  // The double sets the variable when it is first used.
  const { body } = await request({ port: Number(process.env.HTTPAPI_DOUBLE_PORT), path })
  return JSON.parse(body)
}

/** @returns {Promise<Report>} */
const report = () => ask('/report')

/** @param {string} plans `Function:first:code[:count][:late]` with commas; '' ends them */
async function plan (plans) {
  if (!await ask(`/fault/${plans}`)) throw new Error(`The double cannot read ${plans}`)
}

/** @param {number} ms that every completion takes from now on */
const slow = (ms) => ask(`/slow/${ms}`)

/** @param {Buffer} der the certificate of clients from now on; empty for none */
const showCertificate = (der) => ask(`/certificate/${der.toString('hex')}`)

/** @param {Buffer | null} der the same of what they show when they are asked; null: they do not answer */
const showWhenAsked = (der) => ask(`/asked/${der === null ? 'never' : der.toString('hex')}`)

/** Empties counters and notes. */
const forget = () => ask('/forget')

/**
 * Notes that have a property.
 *
 * @param {string} property
 */
async function notesOf (property) {
  return (await report()).notes.filter((note) => property in note)
}

module.exports = { forget, notesOf, plan, report, showCertificate, showWhenAsked, slow }
