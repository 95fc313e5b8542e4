import { describe, expect, it } from 'vitest'
import { readJson } from '../workspace.ts'
import { pagesWith, unpublishedLine } from './unpublished.ts'

describe('unpublishedLine', () => {
  const line = unpublishedLine()

  it('stands where a page starts with packages of a registry, until they are there', () => {
    const pages = line === null ? [] : pagesWith(line)
    expect(pages).toEqual(
      line === null
        ? []
        : [
            'README.md',
            'apps/create-episodic/README.md',
            'apps/episodic/README.md',
            'docs/start/python.md',
            'docs/start/quickstart.md',
          ],
    )
  })

  it('names a command that there is', () => {
    const [, script = 'test'] = /`npm run (\S+)/.exec(line ?? '') ?? []
    expect(readJson('package.json').scripts).toHaveProperty([script])
  })
})
