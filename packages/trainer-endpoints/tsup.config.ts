import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/openenv.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
