import { cp } from 'node:fs/promises'
import { resolve } from 'node:path'
import { defineConfig } from 'tsup'

/** Private packages, which are part of this one, and where their files are. */
const PARTS = {
  report: '../../packages/report/src/lib/*',
  run: '../../packages/run/src/lib/*',
  models: '../../packages/models/src/lib/*',
  analysis: '../../packages/analysis/src/lib/*',
  check: '../../satellites/check/src/lib/*',
  export: '../../packages/export/src/lib/*',
  pages: '../../packages/pages/src/lib/*',
  play: '../../packages/play/src/lib/*',
  continue: '../../packages/continue/src/lib/*',
  suites: '../../packages/suites/src/lib/*',
  fleet: '../../satellites/fleet/src/lib/*',
}

const VIEWER = resolve('../../packages/viewer/src/published.ts')

export default defineConfig({
  entry: {
    index: 'src/index.ts',
    cli: 'src/cli.ts',
    testing: 'src/testing.ts',
    vitest: 'src/vitest.ts',
    // Started as threads, by their place beside the others.
    'main-thread-watch-main': '../../packages/run/src/lib/base/main-thread-watch-main.ts',
    'job-thread-main': '../../packages/pages/src/lib/server/threads/job-thread-main.ts',
    'states-thread-main': 'src/lib/states/states-thread-main.ts',
  },
  format: 'esm',
  target: 'node22',
  clean: true,
  // `node:sqlite` exists under that name alone.
  removeNodeProtocol: false,
  noExternal: [
    '@episodic/mcp-client/pipe',
    '@episodic/benchmarks',
    ...Object.keys(PARTS).map((name) => `@episodic/${name}`),
  ],
  esbuildPlugins: [
    {
      name: 'built pages',
      setup: (build) => {
        build.onResolve({ filter: /^@episodic\/viewer$/ }, () => ({ path: VIEWER }))
      },
    },
  ],
  dts: {
    entry: { index: 'src/index.ts', cli: 'src/cli.ts', testing: 'src/testing.ts', vitest: 'src/vitest.ts' },
    compilerOptions: {
      paths: {
        ...Object.fromEntries(Object.entries(PARTS).map(([name, files]) => [`@episodic/${name}/*`, [resolve(files)]])),
      },
    },
  },
  // The pages stand beside the code that reads them.
  onSuccess: () => cp('../../packages/viewer/dist', 'dist', { recursive: true }),
})
