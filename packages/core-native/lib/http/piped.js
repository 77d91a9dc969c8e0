'use strict'

// Counts what became of the files that were piped into responses of the engine, for tests.

module.exports = {
  piped: {
    /** Files that lanes have read. */
    taken: 0,
    /** Files that lanes have begun and Node has read on, from somewhere in the middle. */
    returned: 0,
    /** Why the last file was left to Node, or returned to it; empty: none was. */
    reason: ''
  }
}
