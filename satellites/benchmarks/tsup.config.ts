import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/*.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
