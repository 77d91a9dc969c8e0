'use strict'

// Reads a heap snapshot of V8 that has the stacks of allocations, and tells who has allocated what is left.

/**
 * The parts of the format that are read here. A node is a run of numbers in the order of `node_fields`, and so is a function. A node of the tree
 * of stacks is a run of five: id, function, count, bytes, and the list of the nodes that it has called.
 *
 * @typedef {object} Snapshot
 * @property {{ meta: { node_fields: string[], trace_function_info_fields: string[] } }} snapshot
 * @property {number[]} nodes
 * @property {number[]} trace_function_infos
 * @property {any[]} trace_tree any: numbers and lists of its own kind
 * @property {string[]} strings
 *
 * @typedef {object} Allocations
 * @property {number} bytes
 * @property {number} objects
 */

const kStackFields = 5

/** @param {string} script @returns {string} the package that it belongs to, or the module of Node */
function packageOf (script) {
  const [, dependency] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(script) ?? []
  const [, ours] = /\/packages\/([^/]+)/.exec(script) ?? []
  return dependency ?? (ours === undefined ? script : `@httpsys/${ours}`)
}

/** @param {Snapshot} snapshot @returns {Map<number, string>} for each id of a stack its owner: the nearest caller outside Node, and whether Node did the work */
function ownersOf ({ snapshot: { meta }, trace_function_infos: functions, trace_tree: tree, strings }) {
  const fields = meta.trace_function_info_fields
  /** @type {Map<number, string>} */
  const owners = new Map()
  /** @param {any[]} level @param {string} caller the nearest outside Node */
  const walk = (level, caller) => {
    for (let at = 0; at < level.length; at += kStackFields) {
      const script = strings[functions[level[at + 1] * fields.length + fields.indexOf('script_name')]]
      // A function without a script is built into V8: its caller has the object.
      const isNode = script.startsWith('node:')
      const nearest = script === '' || isNode ? caller : packageOf(script)
      owners.set(level[at], isNode ? (caller === '' ? 'Node' : `Node, for ${caller}`) : nearest || 'V8')
      walk(level[at + 4], nearest)
    }
  }
  walk(tree, '')
  return owners
}

/** @param {Snapshot} snapshot @returns {[string, Allocations][]} by owner, the largest first; objects from before the recording are left out */
function allocationsOf (snapshot) {
  const fields = snapshot.snapshot.meta.node_fields
  const owners = ownersOf(snapshot)
  /** @type {Map<string, Allocations>} */
  const byOwner = new Map()
  for (let at = 0; at < snapshot.nodes.length; at += fields.length) {
    const owner = owners.get(snapshot.nodes[at + fields.indexOf('trace_node_id')])
    if (owner === undefined) continue
    const sum = byOwner.get(owner) ?? { bytes: 0, objects: 0 }
    byOwner.set(owner, { bytes: sum.bytes + snapshot.nodes[at + fields.indexOf('self_size')], objects: sum.objects + 1 })
  }
  return [...byOwner].sort(([, { bytes: a }], [, { bytes: b }]) => b - a)
}

module.exports = { allocationsOf }
