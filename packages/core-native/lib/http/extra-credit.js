'use strict'

// The extra credit: a few connections of a lane, whose clients read fast, may have more unsent bytes than the others, so that
// JavaScript makes one half while the lane sends the other (limits.h: kReplyBytesPerPass).

// At most this many connections of a lane have the extra credit at a time: 12 MiB in all.
const kExtrasMax = 16
// Limit of unsent bytes of an HTTP/1.1 connection with the extra credit. With twice as many, copied bytes would need more segments
// than those whose pages the lane keeps.
const kSendBytesFastMax = 1024 * 1024

/** If extra credit is left, takes it for one connection and returns true; returns false otherwise. @param {{ extras: number }} lane */
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
