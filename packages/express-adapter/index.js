'use strict'

const { createAdapter } = require('./lib/adapter')

module.exports = { createAdapter }
