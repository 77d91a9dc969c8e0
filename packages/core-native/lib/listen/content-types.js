'use strict'

// Values of Content-Type by extension, as `send` sets them.

/** What a file without an entry gets. */
const kTypeOfOthers = 'application/octet-stream'

/** @type {string[] | null} */
let types = null

/**
 * Gives the table that the engine takes: an extension in lower case and without dot, its type, and so on. Loaded by the first folder
 * that is served: the table is long.
 *
 * @returns {string[]} always the same list
 */
function contentTypes () {
  if (types !== null) return types
  const mime = require('mime-types')
  types = Object.keys(mime.types).flatMap((extension) => {
    const type = mime.contentType(`.${extension}`)
    return type === false || type === kTypeOfOthers ? [] : [extension, type]
  })
  return types
}

module.exports = { contentTypes }
