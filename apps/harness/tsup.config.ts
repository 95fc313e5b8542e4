import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli.ts',
    testing: 'src/testing.ts',
    // Started as threads, by their place beside the others.
    'main-thread-watch-main': 'src/lib/main-thread-watch-main.ts',
    'job-thread-main': 'src/lib/view/threads/job-thread-main.ts',
    'states-thread-main': 'src/lib/view/states/states-thread-main.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
  // `node:sqlite` exists under that name alone.
  removeNodeProtocol: false,
})
