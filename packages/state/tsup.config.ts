import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/internal.ts', 'src/memory.ts', 'src/sqlite.ts', 'src/redis.ts', 'src/testing.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
  // `node:sqlite` has no name without the prefix.
  removeNodeProtocol: false,
})
