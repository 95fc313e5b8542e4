import { defineConfig } from 'tsup'

const CLIENT = `${process.cwd()}/../mcp-client/src`
// A private package: it is part of this one.
const PARTS = { '@episodic/mcp-client': `${CLIENT}/index.ts`, '@episodic/mcp-client/channel': `${CLIENT}/channel.ts` }

export default defineConfig({
  entry: ['src/index.ts', 'src/advantages.ts', 'src/internal.ts'],
  format: 'esm',
  target: 'node22',
  clean: true,
  noExternal: [/^@episodic\/mcp-client/],
  esbuildOptions(options) {
    options.alias = PARTS
  },
  dts: { compilerOptions: { paths: Object.fromEntries(Object.entries(PARTS).map(([name, file]) => [name, [file]])) } },
})
