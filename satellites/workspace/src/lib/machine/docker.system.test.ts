import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { createDisk } from '../disk/create-disk.ts'
import { type DockerOptions, docker } from './docker.ts'
import { describeMachine } from './machine.contract.ts'
import { MACHINE_BOUNDS, type MachineCommand } from './machine.ts'

const FAKE = [process.execPath, join(import.meta.dirname, 'docker-cli.fixture.ts')] as const

/**
 * Another program than the fake, as JSON, such as `["docker"]` or `["podman"]`: with an image `tiny:1` that has
 * `sh` and the programs of coreutils.
 */
const program = process.env.TEST_DOCKER ? JSON.parse(process.env.TEST_DOCKER) : FAKE

const folder = mkdtempSync(join(tmpdir(), 'docker-'))
process.env.FAKE_DOCKER = folder

const COMMAND: MachineCommand = {
  session: 'session',
  argv: ['sh', '-c', 'echo end >> log; cat log'],
  cwd: '/app',
  variables: {},
  disk: createDisk({ '/app/log': 'begin\n' }),
  folders: ['/app'],
  hidden: [],
  readOnly: [],
  stdin: new Uint8Array(),
  network: false,
  bounds: MACHINE_BOUNDS,
}

const hasBoxes = inject('programs').bwrap !== null

if (hasBoxes || process.env.TEST_DOCKER) describeMachine('docker', () => docker({ image: 'tiny:1', program }))

describe.runIf(hasBoxes)('docker', { timeout: 120_000 }, () => {
  async function play(more: Partial<MachineCommand> = {}, options: Partial<DockerOptions> = {}): Promise<string> {
    const machine = docker({ image: 'tiny:1', program: FAKE, ...options })
    onTestFinished(() => machine.close())
    const { stdout } = await machine.run({ ...COMMAND, ...more }, new AbortController().signal)
    return new TextDecoder().decode(stdout)
  }

  it('says what is missing, and what to do', async () => {
    await expect(play({}, { program: ['no-docker'] })).rejects.toThrow('no-docker is not installed')
    await expect(play({}, { image: 'other:1' })).rejects.toThrow(/has no image other:1.* pull other:1/)
    writeFileSync(join(folder, 'down'), '')
    onTestFinished(() => rmSync(join(folder, 'down'), { force: true }))
    await expect(play()).rejects.toThrow(/Is the docker daemon running.* Start the daemon/)
  })

  it('runs a command again whose container was lost, and with a network says so instead', async () => {
    writeFileSync(join(folder, 'lose'), '')
    expect(await play()).toBe('begin\nend\n')
    writeFileSync(join(folder, 'lose'), '')
    await expect(play({ network: true })).rejects.toThrow('look there before it is run again')
    expect(readdirSync(folder)).toEqual([])
  })
})
