import { defineConfig } from 'tsup'

export default defineConfig({
  // The last is started as a process, by its place beside the first.
  entry: ['src/index.ts', 'src/internal.ts', 'src/guardian.ts'],
  format: 'esm',
  target: 'node22',
  dts: { entry: ['src/index.ts', 'src/internal.ts'] },
  clean: true,
})
