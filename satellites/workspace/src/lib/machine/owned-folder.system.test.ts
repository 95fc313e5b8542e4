import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { bubblewrap, createDisk, MACHINE_BOUNDS } from '../../index.ts'

it.skipIf(inject('programs').bwrap === null)(
  'a machine ends what a killed one has left in its folder, and removes the folder',
  async () => {
    const parent = mkdtempSync(join(tmpdir(), 'episodic-owned-'))
    chmodSync(parent, 0o711)
    onTestFinished(() => rmSync(parent, { recursive: true }))
    // Of a process that has ended, as its name says, in which a box was being made.
    const space = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
    const folder = join(parent, `${space}-999999999-1-left`)
    mkdirSync(folder)
    const waiting = spawn('sleep', ['600'], { stdio: ['ignore', openSync(join(folder, 'out'), 'w'), 'ignore'] })
    const ended = once(waiting, 'exit')
    const machine = bubblewrap({ folder: parent })
    const files = { disk: createDisk({}), folders: ['/app'], hidden: [], readOnly: [] }
    const command = {
      session: 's',
      argv: ['true'],
      cwd: '/app',
      variables: {},
      stdin: new Uint8Array(),
      network: false,
    }
    await machine.run({ ...command, ...files, bounds: MACHINE_BOUNDS }, new AbortController().signal)
    expect((await ended)[1]).toBe('SIGKILL')
    expect(readdirSync(parent).some((name) => name.endsWith('left'))).toBe(false)
    await machine.close()
  },
)
