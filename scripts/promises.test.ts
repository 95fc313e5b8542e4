import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './workspace.ts'

const page = readFileSync(join(root, 'docs/inside/invariants.md'), 'utf8')
const [, table = ''] = page.split('\n## Where each promise is tested\n')
const rows = [...table.matchAll(/^\| (.+?) +\| (`.+`) +\|$/gm)].map(([, promise = '', tests = '']) => ({
  promise,
  tests,
}))

describe('docs/inside/invariants.md', () => {
  it.each(rows)('names a test that exists: $promise', ({ tests }) => {
    const files = [...tests.matchAll(/`([^`]+)`/g)].map(([, file]) => file as string)
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })

  it('has a row for each invariant that a test can hold', () => {
    const numbers = [...page.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number))
    const held = rows.flatMap(({ promise }) => /\(([\d, ]+)\)$/.exec(promise)?.[1]?.split(', ').map(Number) ?? [])
    expect([...new Set(held)].sort((a, b) => a - b)).toEqual(numbers)
  })
})
