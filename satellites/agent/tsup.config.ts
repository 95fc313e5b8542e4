import { defineConfig } from 'tsup'

export default defineConfig({
  entry: ['src/index.ts', 'src/langchain.ts', 'src/ai-sdk.ts'],
  format: 'esm',
  target: 'node22',
  dts: true,
  clean: true,
})
