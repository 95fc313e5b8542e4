import { mkdir, mkdtemp, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createWatchedFolder, type SavedFolder } from './saved-folder.ts'

async function watched(settled: bigint) {
  const parent = await mkdtemp(join(tmpdir(), 'watched-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const path = join(parent, 'files')
  await mkdir(path)
  const read: string[] = []
  const { readFile } = await import('node:fs/promises')
  const folder = createWatchedFolder(path, join(parent, 'clock'), settled, (file) => {
    read.push(file.slice(path.length + 1))
    return readFile(file, 'base64')
  })
  let saved: SavedFolder = {}
  return {
    at: (name: string) => join(path, name),
    /** Returns what has changed, as texts, and which files were read for it. */
    async changes() {
      const changes = await folder.changesSince(saved)
      const rest = Object.entries({ ...saved, ...changes }).filter(([, content]) => content !== null)
      saved = Object.fromEntries(rest) as SavedFolder
      const texts = Object.entries(changes).map(([name, content]) => [name, content && atob(content)])
      return [Object.fromEntries(texts), read.splice(0).sort()]
    },
  }
}

it('reads only the files whose size, times or place have changed', async () => {
  const { at, changes } = await watched(0n)
  await mkdir(at('a'))
  await writeFile(at('a/one'), 'one')
  await writeFile(at('two'), 'two')
  expect(await changes()).toEqual([{ 'a/': '', 'a/one': 'one', two: 'two' }, ['a/one', 'two']])
  expect(await changes()).toEqual([{}, []])
  await writeFile(at('two'), 'TWO')
  // As a program does that wants to hide a change. The time of the change itself cannot be set.
  await utimes(at('two'), 1, 1)
  expect(await changes()).toEqual([{ two: 'TWO' }, ['two']])
  await rename(at('a/one'), at('three'))
  expect(await changes()).toEqual([{ 'a/one': null, three: 'one' }, ['three']])
  await utimes(at('two'), 2, 2)
  expect(await changes()).toEqual([{}, ['two']])
})

it('reads a file again that has just been changed: it may have been changed since in the same moment', async () => {
  const { at, changes } = await watched(10n ** 18n)
  await writeFile(at('one'), 'one')
  expect(await changes()).toEqual([{ one: 'one' }, ['one']])
  expect(await changes()).toEqual([{}, ['one']])
})
