'use strict'

const { describe, it } = require('node:test')
const { kSkip } = require('./kit')
const { assertSound, crashRun } = require('./crash-run')

// In ten seconds; then as quickly as they come back.
const kKills = 5
const kQuickKills = 8

describe('Processes that are killed every two seconds under load', { skip: kSkip || (process.platform !== 'linux' && 'descriptors are counted in /proc') }, () => {
  it('lose nothing but their own requests, and leave nothing behind', async (t) => {
    const report = await crashRun(t, { kills: kKills, quickKills: kQuickKills })
    t.diagnostic(JSON.stringify(report))
    assertSound(report)
  })
})
