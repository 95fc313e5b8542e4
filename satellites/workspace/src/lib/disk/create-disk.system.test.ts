import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { createDisk } from './create-disk.ts'

const folder = mkdtempSync(join(tmpdir(), 'episodic-folder-'))
afterAll(() => rmSync(folder, { recursive: true }))
const run = (script: string) => execFileSync('bash', ['-ec', script], { cwd: folder })

describe('createDisk', () => {
  it('reads a folder of this machine with its links and modes, and refuses what is no file', () => {
    run('mkdir -p a/empty; echo x > a/run.sh; chmod 775 a/run.sh; ln -s run.sh a/link; ln -s none b; printf "\\0" > c')
    const disk = createDisk({ '/app': { folder }, '/app/a/more': 'y' })
    const { '/root': _, '/tmp': __, ...files } = disk
    expect(files).toEqual({
      '/app': { kind: 'directory' },
      '/app/a': { kind: 'directory' },
      '/app/a/empty': { kind: 'directory' },
      '/app/a/link': { kind: 'link', target: 'run.sh' },
      '/app/a/more': { kind: 'text', text: 'y' },
      '/app/a/run.sh': { kind: 'text', text: 'x\n', mode: 0o755 },
      '/app/b': { kind: 'link', target: 'none' },
      '/app/c': { kind: 'bytes', size: 1, chunks: ['AA=='], mode: 0o644 },
    })
    expect(createDisk({ '/': { folder: pathToFileURL(folder) } })['/a/link']).toEqual(files['/app/a/link'])
    run('mkfifo pipe')
    expect(() => createDisk({ '/app': { folder } })).toThrow(/pipe is no file, directory or link/)
  })
})
