export { containProcess } from './lib/process/contain-process.ts'
