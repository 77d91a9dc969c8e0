'use strict'

// Options of ours beside http.createServer's. Node ignores names it does not know, so do we; a value
// of the wrong kind is refused.

/** name: default. Units and reasons: types/index.d.ts, docs/options.md. */
const kDefaults = {
  maxRequestBodySize: 0,
  pipelinedRequestsMax: 32
}

/**
 * @param {Record<string, any>} options
 * @returns {{ maxRequestBodySize: number, pipelinedRequestsMax: number }}
 */
function takeEngineOptions (options) {
  const own = { ...kDefaults }
  for (const name of /** @type {(keyof typeof kDefaults)[]} */ (Object.keys(kDefaults))) {
    const value = options[name]
    if (value === undefined) continue
    if (typeof value !== 'number') {
      throw Object.assign(
        new TypeError(`The "options.${name}" property must be of type number. Received ${typeof value}`),
        { code: 'ERR_INVALID_ARG_TYPE' })
    }
    const least = name === 'pipelinedRequestsMax' ? 1 : 0
    if (!Number.isSafeInteger(value) || value < least) {
      throw Object.assign(
        new RangeError(`The value of "options.${name}" is out of range. It must be an integer >= ${least}. Received ${value}`),
        { code: 'ERR_OUT_OF_RANGE' })
    }
    own[name] = value
  }
  return own
}

module.exports = { takeEngineOptions }
