import * as adapter from './index.js'
export * from './index.js'
export default adapter
