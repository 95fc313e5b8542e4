import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/nemo-gym.ts', 'src/openenv.ts', 'src/ors.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
