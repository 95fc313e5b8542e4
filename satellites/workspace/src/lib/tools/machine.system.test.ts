import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '@episodic/env'
import { createHost, type EnvironmentDefinition, inProcess, rehearse } from '@episodic/mcp-server'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { readFile } from '../disk/read-disk.ts'
import { bubblewrap } from '../machine/bubblewrap.ts'
import type { Machine } from '../machine/machine.ts'
import { createDesk } from './desk.fixture.ts'
import type { WorkspaceState } from './workspace-state.ts'

describe.skipIf(inject('programs').bwrap === null)('a workspace with a machine', () => {
  let runs = 0
  const box = bubblewrap()
  afterAll(() => box.close())
  const machine: Machine = {
    name: 'counting',
    run: (command, signal) => {
      runs += 1
      return box.run(command, signal)
    },
    close: async () => {},
  }
  const options = { machine, hidden: ['/secret'], readOnly: ['/app/src'], seconds: 60 }

  function open(more: object = {}) {
    const world = rehearse<EnvironmentDefinition>(createDesk({ ...options, ...more }), { seed: 'seed', strict: true })
    const records: [tool: string, args: never, prepared: unknown][] = []
    const use = async (tool: string, args: Record<string, unknown>) => {
      const prepared = await world.prepare(tool, args as never)
      records.push([tool, args as never, prepared])
      return world.play(tool, args as never, prepared === undefined ? {} : { prepared }).observation.text
    }
    const bash = (command: string) => use('bash', { command })
    return { use, bash, world, records, state: () => world.state.private as unknown as WorkspaceState }
  }

  it('runs programs of the machine, and keeps files, directory and variables from call to call', async () => {
    const { bash, use, state } = open()
    expect(await bash('mkdir out; cd out; export NAME="A b"; x=1; PATH=$PATH:/more')).toBe('[no output]')
    expect(await bash('echo "$NAME,$x,${PATH##*:}" | tee said.txt; pwd; python3 -c "print(2 ** 70)"')).toBe(
      'A b,1,/more\n/app/out\n1180591620717411303424',
    )
    expect(await bash('unset x; echo "${x-gone}" >&2; exit 3')).toBe('gone\n[exit code 3]')
    expect(await use('search', { pattern: 'A.b', path: '/app' })).toBe('/app/out/said.txt:1:A b,1,/more')
    expect(await use('read_file', { path: 'said.txt' })).toContain('A b,1,/more')
    expect(state().shell).toMatchObject({ cwd: '/app/out', variables: expect.not.arrayContaining([['x', '1']]) })
    expect(readFile(state().disk, '/app/out/said.txt')).toBe('A b,1,/more\n')
    expect(Object.keys(state().disk).filter((path) => path.includes('/.'))).toEqual([])
  })

  it('does not see hidden paths, cannot change read-only ones, and says what was not kept', async () => {
    const { bash, state } = open()
    const answer = await bash('ls -d /secret; echo x > src/add.js; mkfifo p')
    for (const said of ["cannot access '/secret'", 'Read-only file system', '/app/p was a pipe, which is not kept.'])
      expect(answer).toContain(said)
    expect(readFile(state().disk, '/secret/answer.txt')).toBe('forty-two\n')
  })

  it('says for what a command was ended, with what it had printed', async () => {
    const { bash } = open({ seconds: 1 })
    expect(await bash('echo begun; touch x; sleep 100')).toBe(
      'begun\nIt ran for longer than it may and was ended: nothing that it changed was kept.\n[exit code 137]',
    )
    expect(await bash('ls')).toBe('notes.txt\nsrc')
    expect(await bash('echo a\0b')).toContain('[exit code 126]')
  })

  it('is replayed and forked without the machine, to the same state', async () => {
    const first = open()
    await first.bash(
      'for i in 1 2 3; do date +%N > $i; done; ln -s 1 l; chmod 700 src/..; head -c 5000 /dev/urandom > r',
    )
    await first.bash('rm 2; mv 3 4; printf x | dd of=r seek=4500 bs=1 conv=notrunc 2> /dev/null')
    const before = runs
    const second = open()
    for (const [tool, args, prepared] of first.records) second.world.play(tool, args, { prepared } as never)
    expect(second.state()).toEqual(first.state())
    expect(runs).toBe(before)

    await using connection = await connect(inProcess(createHost({ environments: [createDesk(options)] })))
    const origin = connection.environment('desk')
    await origin.reset({ seed: 'seed' })
    await origin.step({ tool: 'bash', arguments: { command: 'echo mine > mine' } })
    const ran = runs
    const [fork] = await origin.fork({ count: 1 })
    expect((await fork?.step({ tool: 'read_file', arguments: { path: 'mine' } }))?.observation.text).toContain('mine')
    expect(runs).toBe(ran)
    const command = 'echo forked >> mine; cat mine'
    expect((await fork?.step({ tool: 'bash', arguments: { command } }))?.observation.text).toBe('mine\nforked')
    expect((await origin.step({ tool: 'bash', arguments: { command: 'cat mine' } })).observation.text).toBe('mine')
  })

  it('has files that are newer the later they were changed, by commands and by tools, also in a fork', async () => {
    await using connection = await connect(inProcess(createHost({ environments: [createDesk(options)] })))
    const origin = connection.environment('desk')
    await origin.reset({ seed: 'seed' })
    await origin.step({ tool: 'bash', arguments: { command: 'touch made; touch -d 2001-02-03 old' } })
    await origin.step({ tool: 'edit_file', arguments: { path: 'notes.txt', old_text: 'one', new_text: '1' } })
    const command = 'for f in made src/add.js old; do [ notes.txt -nt $f ] && echo $f; done; date -r old +%F'
    for (const world of [origin, ...(await origin.fork({ count: 1 }))])
      expect((await world.step({ tool: 'bash', arguments: { command } })).observation.text).toBe(
        'made\nsrc/add.js\nold\n2001-02-03',
      )
  })

  it('fails with what to install where the program is missing', async () => {
    const { PATH } = process.env
    const folder = await mkdtemp(join(tmpdir(), 'episodic-'))
    try {
      process.env.PATH = folder
      const missing = open({ machine: bubblewrap({ folder }) })
      await expect(missing.bash('true')).rejects.toThrow(/bwrap is not installed.*apt-get install bubblewrap/)
    } finally {
      process.env.PATH = PATH
      await rm(folder, { recursive: true })
    }
  })
})
