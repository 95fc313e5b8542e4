import { describe, expect, inject, it } from 'vitest'
import { createDisk } from '../disk/create-disk.ts'
import { type E2bOptions, e2b } from './e2b.ts'
import { API_KEY, type Asked, type E2bServerOptions, type Fault, startE2bServer } from './e2b-server.fixture.ts'
import { describeMachine } from './machine.contract.ts'
import { MACHINE_BOUNDS, type Machine, type MachineCommand } from './machine.ts'

const DISK = createDisk({ '/app/log': 'begin\n' })

const COMMAND: MachineCommand = {
  session: 'session',
  argv: ['sh', '-c', 'echo end >> log; cat log'],
  cwd: '/app',
  variables: {},
  disk: DISK,
  folders: ['/app'],
  hidden: [],
  readOnly: [],
  stdin: new Uint8Array(),
  network: false,
  bounds: MACHINE_BOUNDS,
}

async function open(given: E2bServerOptions = {}, options: E2bOptions = {}) {
  const server = await startE2bServer(given)
  const machine = e2b({ apiUrl: server.url, sandboxUrl: server.url, apiKey: API_KEY, ...options })
  return {
    server,
    play: async (more: Partial<MachineCommand> = {}) => {
      const { stdout } = await machine.run({ ...COMMAND, ...more }, new AbortController().signal)
      return new TextDecoder().decode(stdout)
    },
    close: () => machine.close(),
    async [Symbol.asyncDispose]() {
      await machine.close()
      await server[Symbol.asyncDispose]()
    },
  }
}

describe.skipIf(inject('programs').bwrap === null)('e2b', { timeout: 120_000 }, () => {
  describeMachine('e2b', async (): Promise<Machine> => {
    const server = await startE2bServer()
    const machine = e2b({ apiUrl: server.url, sandboxUrl: server.url, apiKey: API_KEY })
    return {
      name: machine.name,
      run: (command, signal) => machine.run(command, signal),
      close: async () => {
        await machine.close()
        await server[Symbol.asyncDispose]()
      },
    }
  })

  it.each<[Asked, Fault]>([
    ['create', { status: 429 }],
    ['create', { status: 503 }],
    ['create', 'lost'],
    ['create', 'refused'],
    ['upload', { status: 502 }],
    ['upload', 'lost'],
    ['upload', 'vanish'],
    ['start', { status: 500 }],
    ['start', 'lost'],
    ['start', 'refused'],
    ['start', 'vanish'],
    ['start', { cutAfter: 0 }],
    ['start', { cutAfter: 60 }],
    ['kill', 'lost'],
    ['kill', { status: 500 }],
  ])('has the effect of a command once if %s fails once by %o, and leaves no sandbox', async (asked, fault) => {
    const faults = [fault]
    await using under = await open({ faultOf: (what) => (what === asked ? (faults.shift() ?? null) : null) })
    expect(await under.play()).toBe('begin\nend\n')
    expect(await under.play()).toBe('begin\nend\n')
    await under.close()
    expect([under.server.running(), faults]).toEqual([[], []])
  })

  it('says of a command with a network that its sandbox was lost with, that it may have run, and runs it once', async () => {
    const faults: Fault[] = [{ cutAfter: 60 }]
    await using under = await open({ faultOf: (what) => (what === 'start' ? (faults.shift() ?? null) : null) })
    await expect(under.play({ network: true })).rejects.toThrow('look there before it is run again')
    expect(under.server.counts.started).toBe(1)
    expect(await under.play({ network: true })).toBe('begin\nend\n')
  })

  it('gives up where nothing works, and says what to do', async () => {
    await using busy = await open({ most: 0 })
    await expect(busy.play()).rejects.toThrow(/is busy: .*concurrent.* End other sandboxes/)
    await using bad = await open({ faultOf: (what) => (what === 'start' ? 'lost' : null) })
    await expect(bad.play()).rejects.toMatchObject({ code: 'machine-refused' })
    await using stranger = await open({}, { apiKey: 'e2b_1' })
    await expect(stranger.play()).rejects.toThrow('does not accept the key: Invalid API key. Set E2B_API_KEY')
    await using other = await open({}, { template: 'other' })
    await expect(other.play()).rejects.toMatchObject({
      code: 'machine-missing',
      message: expect.stringContaining('other'),
    })
    await using keyless = await open({}, { apiKey: '' })
    await expect(keyless.play()).rejects.toThrow('set the variable E2B_API_KEY')
  })

  it('keeps as many sandboxes as it may, and ends the one that was not used for longest', async () => {
    await using under = await open({}, { sandboxes: 2 })
    const sessions = ['a', 'b', 'c', 'a', 'c']
    for (const session of sessions) expect(await under.play({ session })).toBe('begin\nend\n')
    expect([under.server.running().length, under.server.counts.created]).toEqual([2, 4])
    await Promise.all(sessions.map((session) => under.play({ session })))
    expect(under.server.running().length).toBe(2)
  })

  it('goes on in another sandbox where the time to live of one was over', async () => {
    await using under = await open({}, { idleSeconds: 0 })
    expect(await under.play()).toBe('begin\nend\n')
    under.server.endAll()
    expect(await under.play()).toBe('begin\nend\n')
    expect(under.server.counts.created).toBe(2)
  })

  it('sends and fetches what differs', async () => {
    const files = Array.from({ length: 500 }, (_, i) => [`/app/f${i}`, 'x'.repeat(2_000)])
    await using under = await open()
    const disk = createDisk(Object.fromEntries(files))
    await under.play({ disk })
    const sent = under.server.counts.bytes
    await under.play({ disk: { ...disk, '/app/f7': { kind: 'text', text: 'y' } } })
    expect(under.server.counts.bytes - sent).toBeLessThan(100_000)
    expect(sent).toBeGreaterThan(1_000_000)
  })
})
