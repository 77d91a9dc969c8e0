import * as core from './index.js'
export * from './index.js'
export default core
