'use strict'

// Recognizes servers that ask for Node's lenient parser: Node's own code serves them.

const { knowsHttpValidation } = require('../node-private/node-internals')
const { leniencyOf } = require('../node-private/server')

/** Whether each value of httpValidation makes the parser lenient. Other values are ignored. @type {Map<unknown, boolean>} */
const kValidations = new Map([['strict', false], ['relaxed', true], ['insecure', true]])

// Whether the process runs with --insecure-http-parser.
function isLenientProcess () {
  return [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')].includes('--insecure-http-parser')
}

/**
 * @param {unknown} options of createServer()
 * @returns {string | null} name of the option that asks for the lenient parser; null: none does
 */
function lenientOption (options) {
  const given = /** @type {{ httpValidation?: unknown, insecureHTTPParser?: unknown } | null | undefined} */ (options)
  if (knowsHttpValidation && kValidations.get(given?.httpValidation) === true) return 'httpValidation'
  return given?.insecureHTTPParser === true ? 'insecureHTTPParser' : null
}

/** @param {Pick<import('../../types/node-internals').PrivateServer, 'httpValidation' | 'insecureHTTPParser'>} server whose current properties decide */
function isParsedByNode (server) {
  const { httpValidation, insecureHTTPParser } = leniencyOf(server)
  const isLenient = knowsHttpValidation ? kValidations.get(httpValidation) : undefined
  return isLenient ?? insecureHTTPParser ?? isLenientProcess()
}

module.exports = { isParsedByNode, lenientOption }
