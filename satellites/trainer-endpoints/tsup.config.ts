import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    'nemo-gym': 'src/nemo-gym.ts',
    openenv: 'src/openenv.ts',
    ors: 'src/ors.ts',
    // Started as a thread, by its place beside the others.
    'body-thread-main': 'src/lib/nemo-gym/body-thread-main.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
