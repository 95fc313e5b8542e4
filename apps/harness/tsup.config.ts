import { cp } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defineConfig } from 'tsup'

const REPORT = resolve('../../packages/report/src/index.ts')
const VIEWER = resolve('../../packages/viewer/src/published.ts')
const PIPE = resolve('../../packages/mcp-client/src/pipe.ts')

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli.ts',
    testing: 'src/testing.ts',
    vitest: 'src/vitest.ts',
    // Started as threads, by their place beside the others.
    'main-thread-watch-main': 'src/lib/base/main-thread-watch-main.ts',
    'job-thread-main': 'src/lib/view/threads/job-thread-main.ts',
    'states-thread-main': 'src/lib/view/states/states-thread-main.ts',
  },
  format: 'esm',
  target: 'node22',
  clean: true,
  // `node:sqlite` exists under that name alone.
  removeNodeProtocol: false,
  // Private packages: they are part of this one.
  noExternal: ['@episodic/mcp-client/pipe', '@episodic/report', '@episodic/viewer'],
  esbuildOptions(options) {
    options.alias = { '@episodic/mcp-client/pipe': PIPE, '@episodic/report': REPORT, '@episodic/viewer': VIEWER }
  },
  dts: { compilerOptions: { paths: { '@episodic/report': [REPORT], '@episodic/viewer': [VIEWER] } } },
  // The pages stand beside the code that reads them.
  onSuccess: () => cp('../../packages/viewer/dist', 'dist', { recursive: true }),
})
