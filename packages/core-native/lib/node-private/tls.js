'use strict'

// Functions for the undocumented members of tls.Server and of its contexts.

const tls = require('node:tls')
const { InternalsError } = require('../base/errors')
const { checkLate } = require('./private-members')

/** @typedef {import('../../types/node-internals').PrivateTlsServer} PrivateTlsServer */
/** @typedef {import('node:tls').SecureContext} SecureContext */

/** The property of a tls.Server that has the context of setSecureContext(). */
const kSharedContext = '_sharedCreds'

checkLate([
  ['_contexts', tls.Server, 'tls.Server'],
  [kSharedContext, tls.Server.prototype.setSecureContext, 'tls.Server'],
  ['_secureEstablished', tls.TLSSocket, 'tls.TLSSocket']
])

/** @param {PrivateTlsServer} server @returns {SecureContext} the context of setSecureContext() */
function sharedContextOf (server) {
  const { _sharedCreds: context } = server
  if (context === undefined) throw new InternalsError('tls.Server#_sharedCreds')
  return context
}

/** @param {PrivateTlsServer} server @returns {PrivateTlsServer['_contexts']} those of addContext() */
function contextsOf (server) {
  const { _contexts: contexts } = server
  if (!Array.isArray(contexts)) throw new InternalsError('tls.Server#_contexts')
  return contexts
}

/** @param {{ _external?: unknown } | null | undefined} context the handle in a tls.SecureContext @returns {unknown} OpenSSL's context; undefined where there is none */
function externalOf (context) {
  return context?._external
}

module.exports = { contextsOf, externalOf, kSharedContext, sharedContextOf }
