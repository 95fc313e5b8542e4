import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { findTestPrograms } from './scripts/test-programs.ts'

const TESTS = [
  '{packages,satellites,apps,examples}/*/src/**/*.test.ts',
  'packages/viewer/app/**/*.test.ts',
  '{bench,chaos,interop}/**/*.test.ts',
  'scripts/**/*.test.ts',
]
const SYSTEM_TESTS = TESTS.map((pattern) => pattern.replace('.test.ts', '.system.test.ts'))

// Workers and their child processes start in half the time with the code that an earlier one has compiled.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.cache/compiled')

const programs = findTestPrograms(Boolean(process.env.CI))

/** Files whose tests all need a Redis. */
const REDIS_TESTS = [
  'apps/harness/src/lib/commands/queue/work*.system.test.ts',
  'satellites/fleet/src/lib/redis/*.system.test.ts',
  'packages/models/src/lib/limits/redis-model-limit.system.test.ts',
]

export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
  test: {
    // For what hangs, not for what is slow.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 120_000 } },
    // A focused or an empty test file would pass without checking anything.
    allowOnly: false,
    passWithNoTests: false,
    maxWorkers: availableParallelism(),
    // The files share the modules that they import, which often takes longer to load than to test.
    isolate: false,
    provide: { programs },
    setupFiles: [join(import.meta.dirname, 'scripts/property-seed.ts')],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: TESTS,
          exclude: [...configDefaults.exclude, ...SYSTEM_TESTS],
          // Node rejects a child process or a worker thread here. A test that needs one is a system test.
          execArgv: ['--permission', '--allow-fs-read=*', '--allow-fs-write=*'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: SYSTEM_TESTS,
          exclude: [...configDefaults.exclude, ...(programs['redis-server'] ? [] : REDIS_TESTS)],
          // These wait more than they compute: for a process that starts, a browser, a lease that ends.
          maxWorkers: Math.ceil(1.5 * availableParallelism()),
          // Vitest wants an order of projects that have different numbers of workers.
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
