import { defineConfig } from 'tsup'

const CLIENT = `${process.cwd()}/../../packages/mcp-client/src`
// A private package: it is part of this one.
const PARTS = { '@episodic/mcp-client': `${CLIENT}/index.ts`, '@episodic/mcp-client/login': `${CLIENT}/login.ts` }

export default defineConfig({
  entry: ['src/index.ts', 'src/langchain.ts', 'src/ai-sdk.ts'],
  format: 'esm',
  target: 'node22',
  clean: true,
  noExternal: [/^@episodic\/mcp-client/],
  esbuildOptions(options) {
    options.alias = PARTS
  },
  dts: { compilerOptions: { paths: Object.fromEntries(Object.entries(PARTS).map(([name, file]) => [name, [file]])) } },
})
