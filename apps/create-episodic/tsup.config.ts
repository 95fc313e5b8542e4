import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/internal.ts', 'src/cli.ts'],
  format: 'esm',
  target: 'node22',
  dts: { entry: ['src/index.ts', 'src/internal.ts'] },
  clean: true,
})
