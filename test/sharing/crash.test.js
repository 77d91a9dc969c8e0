'use strict'

const { describe, it } = require('node:test')
const { kSkip } = require('./kit')
const { assertSound, crashRun } = require('./crash-run')

const kMs = 10_000

describe('Processes that are killed every two seconds under load', { skip: kSkip || (process.platform !== 'linux' && 'descriptors are counted in /proc') }, () => {
  it('lose nothing but their own requests, and leave nothing behind', async (t) => {
    const report = await crashRun(t, { ms: kMs })
    t.diagnostic(JSON.stringify(report))
    assertSound(report)
  })
})
