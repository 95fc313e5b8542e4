import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { keepBuild } from './bundle-app.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-'))
afterAll(() => rmSync(folder, { recursive: true }))
const source = join(folder, 'source')
const kept = join(folder, 'kept.json')

let builds = 0
const build = () =>
  keepBuild(kept, async () => {
    builds += 1
    return { result: builds, sources: [source] }
  })

/** Writes the source, some seconds ago. */
function writeSource(text: string, secondsAgo: number): void {
  writeFileSync(source, text)
  const then = Date.now() / 1_000 - secondsAgo
  utimesSync(source, then, then)
}

it('builds again only when a source has changed', async () => {
  writeSource('one', 30)
  expect([await build(), await build()]).toEqual([1, 1])
  writeSource('two', 20)
  expect([await build(), await build()]).toEqual([2, 2])
  rmSync(source)
  await expect(build()).rejects.toThrow('ENOENT')
  writeSource('three', 10)
  expect([await build(), await build()]).toEqual([4, 4])
  // Later than the build: a build may have read it before.
  writeSource('four', -60)
  expect([await build(), await build()]).toEqual([5, 6])
  expect(readdirSync(folder).sort()).toEqual(['kept.json', 'source'])
})
