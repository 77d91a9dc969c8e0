'use strict'

// A server that asks for Node's lenient parser is Node's own throughout.

const { knowsHttpValidation } = require('../node-private/node-internals')
const { leniencyOf } = require('../node-private/server')

/** Values of httpValidation, and whether the parser is lenient then. Others decide nothing. @type {Map<unknown, boolean>} */
const kValidations = new Map([['strict', false], ['relaxed', true], ['insecure', true]])

// node --insecure-http-parser
function isLenientProcess () {
  return [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')].includes('--insecure-http-parser')
}

/**
 * @param {unknown} options of createServer()
 * @returns {string | null} the one that asks for the lenient parser
 */
function lenientOption (options) {
  const given = /** @type {{ httpValidation?: unknown, insecureHTTPParser?: unknown } | null | undefined} */ (options)
  if (knowsHttpValidation && kValidations.get(given?.httpValidation) === true) return 'httpValidation'
  return given?.insecureHTTPParser === true ? 'insecureHTTPParser' : null
}

/** @param {Pick<import('../../types/node-internals').PrivateServer, 'httpValidation' | 'insecureHTTPParser'>} server with these options as they are now */
function isParsedByNode (server) {
  const { httpValidation, insecureHTTPParser } = leniencyOf(server)
  const isLenient = knowsHttpValidation ? kValidations.get(httpValidation) : undefined
  return isLenient ?? insecureHTTPParser ?? isLenientProcess()
}

module.exports = { isParsedByNode, lenientOption }
