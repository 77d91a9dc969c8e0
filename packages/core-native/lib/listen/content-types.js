'use strict'

// Values of Content-Type by extension, as `send` sets them.

/** Content-Type of files whose extension has no entry. */
const kTypeOfOthers = 'application/octet-stream'

/** @type {string[] | null} */
let types = null

/**
 * Returns the engine's table: an extension in lower case without dot, its type, the next extension, and so on. The long table is
 * made when the first folder is served.
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
