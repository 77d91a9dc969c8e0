'use strict'

// Unsent bytes that a few connections of a lane may have beyond the credit of all others: those of a response whose client reads
// fast, so that JavaScript makes one half while the lane sends the other (limits.h: kReplyBytesPerPass).

// Connections of a lane that have it at a time: 12 MiB more than the others.
const kExtrasMax = 16
// Unsent bytes that a connection of HTTP/1.1 may have with it. What is copied with twice as much does not stay in the segments whose
// pages the lane keeps.
const kSendBytesFastMax = 1024 * 1024

/** @param {{ extras: number }} lane whether one more of its connections may have it */
function takeExtra (lane) {
  if (lane.extras === kExtrasMax) return false
  lane.extras++
  return true
}

/** @param {{ extras: number }} lane */
function returnExtra (lane) {
  lane.extras--
}

module.exports = { kSendBytesFastMax, returnExtra, takeExtra }
