import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    internal: 'src/internal.ts',
    http: 'src/http.ts',
    stdio: 'src/stdio.ts',
    workers: 'src/workers.ts',
    process: 'src/process.ts',
    // Started as a thread, by its place beside the others.
    'worker-main': 'src/lib/workers/worker-main.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
