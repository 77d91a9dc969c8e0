'use strict'

// Goal: what no table thought of gets the same answers, too: conversations of random frames, a part of them
// with violations or cut off, from a generator that begins anew with each seed.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { agree, kDeliveries } = require('./support/play')
const { Context, close, fragments, frame, kOpcodes, ping, pong } = require('./support/frames')

const kConversations = 150
const kFramesMax = 12

/** @param {number} seed */
function generator (seed) {
  let state = seed * 2654435761 >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state
  }
  const below = (/** @type {number} */ limit) => next() % limit
  return { below, chance: (/** @type {number} */ percent) => below(100) < percent, bytes: (/** @type {number} */ size) => Buffer.from(Array.from({ length: size }, () => below(256))) }
}

/** @typedef {ReturnType<typeof generator>} Random */

const kWords = ['plain', 'µ', '€uro', '😀', 'κόσμε', '\0', '']

/** @param {Random} random */
const words = (random) => Array.from({ length: random.below(40) }, () => kWords[random.below(kWords.length)]).join(' ')

/** @param {Random} random @returns {Buffer} sometimes not UTF-8 */
const textOf = (random) => random.chance(4) ? Buffer.concat([Buffer.from(words(random)), random.bytes(3)]) : Buffer.from(words(random))

/** @param {Random} random @param {Context | null} context @returns {Buffer[]} */
function message (random, context) {
  const opcode = random.chance(50) ? kOpcodes.text : kOpcodes.binary
  const data = opcode === kOpcodes.text ? textOf(random) : random.bytes(random.below(300))
  const isPacked = context !== null && random.chance(70)
  const payload = isPacked ? context.deflate(data) : data
  const cuts = Array.from({ length: random.below(4) }, () => random.below(payload.length + 1)).sort((a, b) => a - b)
  const pieces = [...cuts, payload.length].map((end, index) => payload.subarray(index === 0 ? 0 : cuts[index - 1], end))
  const frames = fragments(opcode, pieces, isPacked ? 4 : 0)
  if (random.chance(30)) frames.splice(random.below(frames.length), 0, (random.chance(50) ? ping : pong)(random.bytes(random.below(126))))
  if (random.chance(3)) frames.splice(random.below(frames.length), 1)
  return frames
}

/** @param {Random} random @returns {Buffer} */
function violation (random) {
  const length = random.chance(20) ? BigInt(random.below(2 ** 31)) << BigInt(random.below(33)) : undefined
  return frame(random.below(16), random.bytes(random.below(200)), {
    fin: random.chance(70),
    rsv: random.chance(50) ? random.below(8) : 0,
    mask: random.chance(80) ? random.bytes(4) : null,
    lengthBytes: length === undefined ? undefined : 8,
    length,
  })
}

/** @param {Random} random @param {boolean} isCompressed @returns {Buffer[]} */
function conversation (random, isCompressed) {
  const context = isCompressed ? new Context() : null
  const frames = Array.from({ length: 1 + random.below(kFramesMax) }, () => random.chance(7) ? [violation(random)] : message(random, context)).flat()
  if (!isCompressed && random.chance(15)) frames[frames.length - 1] = frames[frames.length - 1].subarray(0, -1 - random.below(3))
  else if (isCompressed || random.chance(50)) frames.push(close([1000, 1001, 3000, 4999, 1005, 0][random.below(6)], random.chance(50) ? 'bye' : ''))
  return frames
}

for (const [index, delivery] of Object.keys(kDeliveries).entries()) {
  test(`${kConversations} random conversations, ${delivery}, get the answers of the reference`, async () => {
    let closedByServer = 0
    for (let seed = 1; seed <= kConversations; seed++) {
      const random = generator(seed + index * kConversations)
      const { messages } = await agree({ name: `${seed}`, send: conversation(random, false), expect: [], ends: true }, delivery)
      if (messages.some((each) => /^close 100[279]/.test(each))) closedByServer++
    }
    assert.ok(closedByServer > kConversations / 10 && closedByServer < kConversations * 0.9, `${closedByServer} of ${kConversations} were refused`)
  })
}

test(`${kConversations} random conversations with permessage-deflate get the answers of the reference`, async () => {
  for (let seed = 1; seed <= kConversations; seed++) {
    const random = generator(seed * 7919)
    const context = new Context()
    const good = Array.from({ length: 1 + random.below(kFramesMax) }, () => message({ ...random, chance: (percent) => percent > 4 && random.chance(percent) }, context)).flat()
    await agree({ name: `${seed}`, send: [...good, close(1000)], expect: ['close 1000'], offer: 'permessage-deflate', options: { perMessageDeflate: true } }, 'a frame at a time')
  }
})
