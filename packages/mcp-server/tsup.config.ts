import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    internal: 'src/internal.ts',
    http: 'src/http.ts',
    stdio: 'src/stdio.ts',
    process: 'src/process.ts',
  },
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
