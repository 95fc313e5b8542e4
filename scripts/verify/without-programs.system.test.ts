import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../workspace.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'without-test-'))
  // In the place of npm: prints whether Node runs, and which of two programs are found.
  const npm =
    '#!/bin/sh\nnode -p "6 * 7"\nfor name in cat sort; do command -v $name > /dev/null && echo $name; done; exit 0\n'
  await writeFile(join(folder, 'npm'), npm, { mode: 0o755 })
})
afterAll(() => rm(folder, { recursive: true }))

it('runs npm test where a program is missing, and everything else works', async () => {
  const script = join(import.meta.dirname, 'without-programs.ts')
  // As the checks run it: with the programs of packages in PATH, whose `node` works only where it is.
  const path = [folder, join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'sort'], { env: { PATH: path } })
  expect(stdout.trim().split('\n')).toEqual(['42', 'cat'])
})
