import { describe, expect, it } from 'vitest'
import { listPublished } from '../workspace.ts'
import { listChangesets } from './list-changesets.ts'

describe('changesets', () => {
  const published = listPublished().map(({ name }) => name)

  // One that names another package stops `changeset version`, and with it every release.
  it('name published packages, and say what changes', () => {
    for (const { file, bumps, text } of listChangesets()) {
      expect(published, file).toEqual(expect.arrayContaining([...bumps.keys()]))
      expect(['major', 'minor', 'patch'], file).toEqual(expect.arrayContaining([...bumps.values()]))
      expect(text, file).not.toBe('')
    }
  })
})
