import adapter from './index.js'

export default adapter
export const { createAdapter } = adapter
