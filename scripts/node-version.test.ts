import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readJson, root } from './workspace.ts'

// Without it, pnpm compares "engines" with the Node that installs, and prints a warning for each package on Node 20.
it('has pnpm compare the engines of packages with the Node that the workspace brings', () => {
  const settings = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const [, nodeVersion] = /^nodeVersion: (.+)$/m.exec(settings) ?? []
  expect(Object.values(readJson('package.json').optionalDependencies)).toEqual([nodeVersion, nodeVersion])
})
