export default defineEventHandler(() => ({ text: 'hello' }))
