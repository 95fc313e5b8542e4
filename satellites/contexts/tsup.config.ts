import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/http.ts', 'src/interpret.ts', 'src/model.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
