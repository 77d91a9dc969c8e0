'use strict'

// Counts of what the engine has done for this JavaScript environment so far.

module.exports = { served: { servers: 0, connections: 0, requests: 0 } }
