import { describe, expect, it } from 'vitest'
import { createDisk, runCommand } from '../../index.ts'

const DISK = createDisk({ '/app/notes.txt': 'one\n' })

describe('git', () => {
  it('keeps commits on the disk, with the time of the session, if it was asked for', async () => {
    const script = 'git init >/dev/null; git add -A; git commit -m one >/dev/null; echo two >> notes.txt; git status -s'
    const { stdout, stderr } = await runCommand(DISK, `${script}; git log --format=%ai`, { cwd: '/app', git: true })
    expect({ stdout, stderr }).toEqual({ stdout: ' M notes.txt\n2025-01-01 00:00:00 +0000\n', stderr: '' })
  })

  it('is not there otherwise', async () => {
    expect(await runCommand(DISK, 'git status')).toMatchObject({
      exitCode: 127,
      stderr: expect.stringMatching(/command not found/),
    })
  })
})
