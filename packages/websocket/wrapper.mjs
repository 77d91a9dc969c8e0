import websocket from './index.js'

export default websocket
export const { attach } = websocket
