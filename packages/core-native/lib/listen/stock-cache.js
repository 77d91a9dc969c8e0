'use strict'

// HTTPSYS_BACKEND=node: stock Node keeps no responses.

const { CapabilityError } = require('../base/errors')

/** @returns {never} */
function setCachePolicy () {
  throw new CapabilityError('setCachePolicy()', 'caches', 'node')
}

/** @returns {never} */
function flushCache () {
  throw new CapabilityError('flushCache()', 'caches', 'node')
}

module.exports = { flushCache, setCachePolicy }
