import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createDisk } from '../disk/create-disk.ts'
import { bubblewrap } from './bubblewrap.ts'
import { describeMachine } from './machine.contract.ts'
import { MACHINE_BOUNDS } from './machine.ts'

describe.skipIf(inject('programs').bwrap === null)('bubblewrap', () => {
  describeMachine('bubblewrap', () => bubblewrap())

  it('lets no single call allocate the disk of this computer', async () => {
    const machine = bubblewrap()
    onTestFinished(() => machine.close())
    const seen = { disk: createDisk({ '/files/a': '' }), folders: ['/files'], hidden: [], readOnly: [], cwd: '/files' }
    const argv = ['bash', '-c', 'trap "" XFSZ; fallocate -l 10T solid; stat -c %b solid']
    const use = { session: 'disk', argv, variables: {}, stdin: Buffer.alloc(0), network: false, bounds: MACHINE_BOUNDS }
    const { stdout, stderr } = await machine.run({ ...seen, ...use }, new AbortController().signal)
    expect(Buffer.from(stdout).toString()).toBe('0\n')
    expect(Buffer.from(stderr).toString()).toContain('File too large')
  })
})
