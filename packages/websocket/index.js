'use strict'

const { attach } = require('./lib/attach')

module.exports = { attach }
