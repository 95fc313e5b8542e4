import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readJson, root } from './workspace.ts'

it('is on every page the version that packages need', () => {
  const { node } = readJson('apps/episodic/package.json').engines
  const pages = globSync('{README.md,CONTRIBUTING.md,docs/**/*.md,{packages,satellites,apps,clients}/*/README.md}', {
    cwd: root,
  })
  const named = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\bNode (22\.\d+)/g)].map(
      ([, version]) => `${page}: >=${version}`,
    ),
  )
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((one) => !one.endsWith(`: ${node}`))).toEqual([])
})

// Without it, pnpm compares "engines" with the Node that installs, and prints a warning for each package on Node 20.
it('has pnpm compare the engines of packages with the Node that the workspace brings', () => {
  const settings = readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8')
  const [, nodeVersion] = /^nodeVersion: (.+)$/m.exec(settings) ?? []
  expect(Object.values(readJson('package.json').optionalDependencies)).toEqual([nodeVersion, nodeVersion])
})
