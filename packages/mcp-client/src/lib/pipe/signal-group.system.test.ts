import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const MODULE = new URL('./signal-group.ts', import.meta.url).href

it('ends the tree of a process on Windows, which has no groups', () => {
  const folder = mkdtempSync(join(tmpdir(), 'windows-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // The command of Windows, as far as it is called here.
  writeFileSync(join(folder, 'taskkill'), `#!/bin/sh\necho "$@" > '${join(folder, 'called')}'\n`)
  chmodSync(join(folder, 'taskkill'), 0o755)
  const program = `
    Object.defineProperty(process, 'platform', { value: 'win32' })
    const { signalGroup } = await import('${MODULE}')
    signalGroup(4321, 'SIGTERM')
  `
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
  const { status } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env })
  expect(status).toBe(0)
  expect(readFileSync(join(folder, 'called'), 'utf8')).toBe('/pid 4321 /T /F\n')
})
