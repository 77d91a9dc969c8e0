'use strict'

// A rule for ESLint about the private members of Node. Those that our classes share with Node's, which they extend, may be used on `this`
// and `super`; on other objects they are the business of packages/core-native/lib/node-private, whose functions say what they are for.
//
// Every name that begins with an underscore is private; packages/core-native/lib/node-private/private-members.js has those that the package
// looks for, and any other is refused everywhere. Private members without an underscore are refused by that file's lists: those with a
// name that nothing else has on every object, those that are also options or ordinary words on what is called `server`, `owner` or `req`.
//
// The option `names` has private names of another package, which a class of ours extends: they may be used throughout.

const { kPlainNames, kPlainNamesOf, kPrivateNames, kUnusedNames } = require('../../packages/core-native/lib/node-private/private-members')

/** What the documentation of node:stream has its users implement. */
const kDocumented = new Set(['_read', '_write', '_writev', '_final', '_destroy'])
const kPrivate = /^_[a-zA-Z]\w*$/

/**
 * @param {import('eslint').Scope.Scope | null} scope
 * @param {string} name
 * @returns {boolean} whether it is a constant that has been `this` from the beginning
 */
function isThis (scope, name) {
  for (; scope !== null; scope = scope.upper) {
    const variable = scope.set.get(name)
    if (variable === undefined) continue
    const { node, parent } = /** @type {any} */ (variable.defs[0] ?? {})
    return node?.type === 'VariableDeclarator' && node.id.type === 'Identifier' && parent?.kind === 'const' && node.init?.type === 'ThisExpression'
  }
  return false
}

/** @param {any} object an expression, undefined where there is none @returns {string | undefined} what it is called: the variable or the member */
function nameOf (object) {
  if (object?.type === 'Identifier') return object.name
  return object?.type === 'MemberExpression' && !object.computed ? object.property.name : undefined
}

/** @type {import('eslint').Rule.RuleModule} */
module.exports = {
  meta: {
    type: 'problem',
    schema: [{
      type: 'object',
      properties: { everywhere: { type: 'boolean' }, names: { type: 'array', items: { type: 'string' } } },
      additionalProperties: false,
    }],
    messages: {
      foreign: 'Use a function of packages/core-native/lib/node-private instead of "{{name}}", which is private to Node.',
      unknown: '"{{name}}" is private and not in packages/core-native/lib/node-private/private-members.js, which looks for such names when the package loads.',
    },
  },
  create (context) {
    // In lib/node-private itself the names may be used on all objects.
    const { everywhere = false, names = [] } = context.options[0] ?? {}
    const others = new Set(names)

    /** @param {any} node where it stands @param {string} name @param {any} object whose member it is */
    const checkPlain = (node, name, object) => {
      if (kUnusedNames.has(name)) return context.report({ node, messageId: 'unknown', data: { name } })
      if (everywhere || object.type === 'ThisExpression' || object.type === 'Super') return
      if (!kPlainNames.has(name) && !kPlainNamesOf.get(nameOf(object) ?? '')?.has(name)) return
      if (object.type === 'Identifier' && isThis(context.sourceCode.getScope(object), object.name)) return
      context.report({ node, messageId: 'foreign', data: { name } })
    }

    /** @param {any} node where it stands @param {string} name @param {any} [object] whose member it is */
    const check = (node, name, object) => {
      if (others.has(name)) return
      if (!kPrivate.test(name)) return object === undefined ? undefined : checkPlain(node, name, object)
      if (!kPrivateNames.has(name) && !kDocumented.has(name)) return context.report({ node, messageId: 'unknown', data: { name } })
      if (everywhere || object === undefined || object.type === 'ThisExpression' || object.type === 'Super') return
      if (object.type === 'Identifier' && isThis(context.sourceCode.getScope(object), object.name)) return
      context.report({ node, messageId: 'foreign', data: { name } })
    }

    return {
      /** @param {any} node */
      MemberExpression ({ object, property, computed }) {
        if (!computed) check(property, property.name, object)
      },
      /** @param {any} node of { _name: variable } = object */
      ObjectPattern (node) {
        const { parent } = node
        // Of a parameter nobody knows whose it is: a placeholder that is not an object of ours.
        const object = (parent.type === 'VariableDeclarator' ? parent.init : null) ?? node
        for (const { type, key, computed } of node.properties) {
          if (type === 'Property' && !computed && key.type === 'Identifier') check(key, key.name, object)
        }
      },
      /** @param {any} node */
      MethodDefinition ({ key, computed }) {
        if (!computed && key.type === 'Identifier') check(key, key.name)
      },
      /** @param {any} node of an object that is made */
      'ObjectExpression > Property' ({ key, computed }) {
        if (!computed && key.type === 'Identifier') check(key, key.name)
      },
      /** @param {any} node such as a name that a loop defines, or object['_name'] */
      Literal (node) {
        if (typeof node.value !== 'string') return
        const { parent } = node
        const isMember = parent.type === 'MemberExpression' && parent.property === node
        check(node, node.value, isMember ? parent.object : undefined)
      },
    }
  },
}
