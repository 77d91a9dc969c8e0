'use strict'

// Whether this package stands in for node:http in the whole environment (`register`), so that whoever calls it may know
// node:http alone.

module.exports = { standIn: { isRegistered: false } }
