'use strict'

// Loaded before the origin of cache-tests: the process ends by itself when the runner says so, and so leaves its report.

process.on('SIGTERM', () => process.exit())
