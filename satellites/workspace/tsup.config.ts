import { defineConfig } from 'tsup'

export default defineConfig({
  // The last two are started as threads, by their places beside the first.
  entry: ['src/index.ts', 'src/testing.ts', 'src/command-thread-main.ts', 'src/inner-thread-start.ts'],
  format: 'esm',
  target: 'node22',
  dts: { entry: ['src/index.ts', 'src/testing.ts'] },
  clean: true,
})
