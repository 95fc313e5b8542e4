import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/*.ts', 'src/*/*.ts', '!src/lib/**'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
