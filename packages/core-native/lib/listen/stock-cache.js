'use strict'

// The output cache for HTTPSYS_BACKEND=node: its functions throw, because stock Node has no cache.

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
