export { type StdioOptions, serveStdio } from './lib/stdio-server.ts'
