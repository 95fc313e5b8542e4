import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { KINDS } from 'create-episodic'
import { describe, expect, it } from 'vitest'
import { root } from '../workspace.ts'

const read = (file: string): string => readFileSync(join(root, file), 'utf8')

/** The values that an entry exports, by the names of the source. */
function valuesOf(entry: string): string[] {
  return [...read(entry).matchAll(/^export \{([^}]*)\}/gm)]
    .flatMap(([, names = '']) => names.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
}

describe('apps/episodic/AGENTS.md', () => {
  const guide = read('apps/episodic/AGENTS.md')
  const [, more = ''] = guide.split('## More')

  it('names every kind of world that there is, and no other', () => {
    expect([...more.matchAll(/^- `(\w+)`:/gm)].map(([, kind]) => kind)).toEqual(Object.keys(KINDS))
  })

  it.each(valuesOf('apps/episodic/src/index.ts'))('says what %s is for', (name) => {
    expect(guide).toMatch(new RegExp(`\\b${name}\\b`))
  })

  it('names nothing that no package exports', () => {
    const there = ['apps/episodic/src/index.ts', 'satellites/workspace/src/index.ts'].flatMap(valuesOf)
    // `start` and `prepare` are parts of a definition.
    const named = [...more.matchAll(/`([a-z]+[A-Z]\w*)/g)].map(([, name]) => name)
    expect(named.filter((name) => !there.includes(name as string))).toEqual([])
    expect(named).toEqual(expect.arrayContaining(['workspaceTools', 'judgeCalls', 'defineMcpEnvironment']))
  })

  it.each([...more.matchAll(/`(?:npx episodic run )?(--[a-z]+)/g)].map(([, option]) => option))(
    'names the option %s, which run takes',
    (option) =>
      expect(read('apps/harness/src/lib/commands/help/run.txt')).toMatch(new RegExp(`^ {2}${option}\\b`, 'm')),
  )
})
