import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listRooms, root } from './workspace.ts'

const { INNER_ROOMS } = await import(join(root, '.dependency-cruiser.mjs'))

/** The names in the first column of each table of a page. */
function namedIn(page: string): string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(/^\| `([^`]+)` /gm)].map(([, name]) => name as string)
}

describe('the tables of rooms', () => {
  const packages = listRooms()
    .map(({ folder }) => folder)
    .filter((folder) => !folder.startsWith('examples/'))

  it('name every package in docs/inside/architecture.md', () => {
    expect(namedIn('docs/inside/architecture.md')).toEqual(expect.arrayContaining(packages))
  })

  it('name every package in AGENTS.md but the one that users install', () => {
    const page = readFileSync(join(root, 'AGENTS.md'), 'utf8')
    expect(packages.filter((folder) => !page.includes(`\`${folder}\``))).toEqual(['apps/episodic'])
  })

  it.each(['packages/protocol', 'packages/mcp-server', 'apps/harness'])(
    'name every room of %s in docs/inside/architecture.md',
    (home) => {
      const rooms = Object.keys(INNER_ROOMS[home])
      expect(rooms.length).toBeGreaterThan(2)
      expect(namedIn('docs/inside/architecture.md')).toEqual(expect.arrayContaining(rooms))
    },
  )
})
