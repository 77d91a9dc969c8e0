'use strict'

// What the server under test can do, for tests that run on every backend: one that needs more than that is skipped,
// and says what for. packages/core-native/types/binding.d.ts explains the names.

const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { backend } = require('./backend')

/** @typedef {Exclude<keyof import('../../packages/core-native/types/binding').Capabilities, 'name' | 'lanesMax'>} Capability */

// Ends a test whose server does not answer; none takes a tenth of it on a busy machine.
const kTestMs = 30_000

/** Stock Node can do everything. */
const capabilities = backend === 'node' ? null : loadBinding().capabilities

/**
 * Options of test().
 *
 * @param {...Capability} names what the behaviour needs of the backend
 */
function needs (...names) {
  const lacking = names.filter((name) => capabilities !== null && !capabilities[name])
  return { timeout: kTestMs, skip: lacking.length > 0 && `${capabilities?.name} lacks ${lacking.join(', ')}` }
}

module.exports = { capabilities, needs }
