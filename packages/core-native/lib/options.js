'use strict'

// Options of ours beside http.createServer's. Node ignores names it does not know, so do we; a value
// of the wrong kind is refused.

/** name: default. Units and reasons: types/index.d.ts, docs/options.md. */
const kDefaults = {
  maxRequestBodySize: 0,
  pipelinedRequestsMax: 32,
  queueLimit: 1000,
  http503Verbosity: 'limited',
  stripPrefix: false
}

/** How much a client learns from a 503, in HTTP.SYS's words. */
const kVerbosities = ['basic', 'limited', 'full']

/**
 * @param {Record<string, any>} options
 * @returns {typeof kDefaults}
 */
function takeEngineOptions (options) {
  const own = /** @type {Record<string, any>} */ ({ ...kDefaults })
  for (const [name, byDefault] of Object.entries(kDefaults)) {
    const value = options[name]
    if (value === undefined) continue
    if (typeof value !== typeof byDefault) {
      throw Object.assign(
        new TypeError(`The "options.${name}" property must be of type ${typeof byDefault}. Received ${value === null ? 'null' : `type ${typeof value}`}`),
        { code: 'ERR_INVALID_ARG_TYPE' })
    }
    const least = name === 'pipelinedRequestsMax' ? 1 : 0
    if (typeof value === 'number' && (!Number.isSafeInteger(value) || value < least)) {
      throw Object.assign(
        new RangeError(`The value of "options.${name}" is out of range. It must be an integer >= ${least}. Received ${value}`),
        { code: 'ERR_OUT_OF_RANGE' })
    }
    if (name === 'http503Verbosity' && !kVerbosities.includes(value)) {
      throw Object.assign(
        new TypeError(`The property 'options.${name}' must be one of: '${kVerbosities.join("', '")}'. Received ${JSON.stringify(value)}`),
        { code: 'ERR_INVALID_ARG_VALUE' })
    }
    own[name] = value
  }
  return /** @type {typeof kDefaults} */ (own)
}

module.exports = { kVerbosities, takeEngineOptions }
