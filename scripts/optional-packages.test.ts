import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readJson, root } from './workspace.ts'

/** What a test needs, it imports itself. */
const OF_TESTS = ['vitest']

/** Private packages whose sources are a part of a published one. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  'apps/harness': ['packages/models', 'packages/run', 'packages/play', 'satellites/fleet'],
}

/** The packages that the sources of a folder name in a line to install, with their major versions: `openai@7`. */
function namedIn(folder: string): string[] {
  const folders = [folder, ...(PARTS[folder] ?? [])].map((each) => `${each}/src/**/*.ts`)
  return globSync(folders, { cwd: root, exclude: ['**/*.test.ts', '**/*.fixture.ts'] })
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .filter((source) => /importNeeded|loadPackage|missingPackage|npm install/.test(source))
    .flatMap((source) => [
      ...source.matchAll(/['` ]((?:@[\w-]+\/)?[a-z][\w.-]*@\d+|@episodic\/trainer-endpoints)(?=['` ])/g),
    ])
    .map(([, named]) => named as string)
}

/** The packages that are optional beside one, with their major versions. Those of Episodic have its own version. */
function optionalOf(folder: string): string[] {
  const { peerDependencies, peerDependenciesMeta } = readJson(join(folder, 'package.json'))
  return Object.keys(peerDependenciesMeta)
    .filter((name) => !OF_TESTS.includes(name))
    .map((name) => (name.startsWith('@episodic/') ? name : `${name}@${/\d+/.exec(peerDependencies[name])?.[0]}`))
}

describe('lines that install an optional package', () => {
  it.each(['apps/harness', 'packages/state', 'satellites/contexts', 'satellites/workspace'])(
    'name each optional package of %s in the version that it takes',
    (folder) => {
      expect([...new Set(namedIn(folder))].sort()).toEqual(optionalOf(folder).sort())
    },
  )
})
