export { serveStdio } from './lib/stdio/serve-stdio.ts'
