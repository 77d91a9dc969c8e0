'use strict'

// Reads HTTPSYS_LISTEN: URL prefixes on which an unmodified program below `register` listens instead of its port. docs/register.md
// explains the variable's two forms.

const { EnvironmentError } = require('../base/errors')
const { explainJsonError } = require('../base/json-syntax')
const { planOf, readPrefix } = require('./listen-args')

/** @import { Mapping } from '../options/stand-in' */

const kVariable = 'HTTPSYS_LISTEN'
const kPortMax = 65535
/** Written before a prefix whose path must be removed from its requests' URLs. */
const kStrip = 'strip:'

/** @param {string} problem @returns {never} @throws ERR_HTTPSYS_ENVIRONMENT */
function refuse (problem) {
  throw new EnvironmentError(kVariable, `cannot be used: ${problem}`)
}

/** @param {string} text @returns {boolean} */
function isPort (text) {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= kPortMax
}

/** Returns the problem that an error names, without the text about listen(), which the user has not called. @param {unknown} error */
function problemOf (error) {
  const { message, problem = message } = /** @type {Error & { problem?: string }} */ (error)
  return problem
}

/**
 * @param {string} place of the options in the variable, for an error; '' = no particular place
 * @param {[place: string, text: unknown][]} given prefixes, with or without "strip:"
 * @param {Record<string, unknown>} options of listen()
 * @returns {Mapping}
 */
function readMapping (place, given, options) {
  const strips = given.map(([, text]) => typeof text === 'string' && text.startsWith(kStrip))
  const prefixes = given.map(([where, text], at) =>
    /** @type {[string, unknown]} */ ([where, strips[at] ? String(text).slice(kStrip.length) : text]))
  for (const [where, text] of prefixes) {
    try {
      readPrefix(text)
    } catch (error) {
      refuse(where + problemOf(error))
    }
  }
  const texts = prefixes.map(([, text]) => /** @type {string} */ (text))
  for (const option of ['fd', 'signal']) if (options[option] !== undefined) refuse(`${place}"${option}" cannot be said in a variable`)
  // A queue name means that several processes share the queue, so attach to it by default.
  const all = options.queueName !== undefined && options.queueMode === undefined ? { ...options, queueMode: 'createOrAttach' } : options
  try {
    const mapping = { prefixes: texts, strips, options: all, ports: /** @type {number[]} */ ([]) }
    const { prefixes: parsed } = planOf({ texts, rest: [all], mapping })
    return { ...mapping, ports: [...new Set(parsed.map(({ port }) => port))] }
  } catch (error) {
    return refuse(place + problemOf(error))
  }
}

/** @param {string} text of JSON @returns {Map<number, Mapping>} */
function readTable (text) {
  const problem = explainJsonError(text)
  if (problem !== null) refuse(`it is not JSON: ${problem.replace('the end of the file', 'its end')}`)
  const table = JSON.parse(text)
  if (Array.isArray(table) || Object.keys(table).length === 0) refuse('it must have an object for each port: { "3000": { "prefix": "http://*:8080/shop/" } }')
  return new Map(Object.entries(table).map(([port, entry]) => {
    const place = JSON.stringify(port)
    if (!isPort(port)) refuse(`${place} is no port that a program can ask for, 1 to ${kPortMax}`)
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) refuse(`${place} must be an object such as { "prefix": "http://*:8080/shop/" }`)
    const { prefix, prefixes, ...options } = /** @type {Record<string, unknown>} */ (entry)
    if ((prefix === undefined) === (prefixes === undefined)) refuse(`${place} needs either "prefix" or "prefixes"`)
    if (prefixes !== undefined && !Array.isArray(prefixes)) refuse(`${place}: "prefixes" must be an array`)
    const texts = Array.isArray(prefixes)
      ? prefixes.map((text, at) => /** @type {[string, unknown]} */ ([`${place}.prefixes[${at}]: `, text]))
      : /** @type {[string, unknown][]} */ ([[`${place}.prefix: `, prefix]])
    return [Number(port), readMapping(`${place}: `, texts, options)]
  }))
}

/** @param {string} text [port=][strip:]prefix @param {string | undefined} portVariable PORT @returns {Map<number, Mapping>} */
function readShort (text, portVariable) {
  const [, given, prefix] = /** @type {RegExpExecArray} */ (/^(?:([^=:/]*)=)?(.*)$/s.exec(text))
  const port = (given ?? portVariable ?? '').trim()
  if (!isPort(port)) {
    refuse(given !== undefined
      ? `${JSON.stringify(port)} before "=" is no port that a program can ask for, 1 to ${kPortMax}`
      : `it names no port, and PORT is ${port === '' ? 'not set' : JSON.stringify(port)}. Write the port that the program asks for in front: "3000=${text}"`)
  }
  return new Map([[Number(port), readMapping('', [['', prefix.trim()]], {})]])
}

/**
 * Reads the variable.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Map<number, Mapping> | null} by the port that a program asks for; null: the variable is not set
 * @throws ERR_HTTPSYS_ENVIRONMENT
 */
function readListenVariable ({ HTTPSYS_LISTEN: text, PORT } = process.env) {
  const trimmed = (text ?? '').trim()
  if (trimmed === '') return null
  return /^[{[]/.test(trimmed) ? readTable(trimmed) : readShort(trimmed, PORT)
}

module.exports = { readListenVariable }
