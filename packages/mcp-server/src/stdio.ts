export { type StdioOptions, serveStdio } from './lib/stdio/serve-stdio.ts'
