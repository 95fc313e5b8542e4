import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/harbor.ts', 'src/polyglot.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
