import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['{packages,apps,examples}/*/src/**/*.test.ts', '{bench,chaos,interop}/**/*.test.ts', 'scripts/*.test.ts'],
    // For what hangs, not for what is slow.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A focused or an empty test file would pass without checking anything.
    allowOnly: false,
    passWithNoTests: false,
  },
})
