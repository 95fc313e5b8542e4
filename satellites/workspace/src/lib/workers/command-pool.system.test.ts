import { connect } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createDisk } from '../disk/create-disk.ts'
import type { Disk } from '../disk/disk.ts'
import { createDesk } from '../tools/desk.fixture.ts'
import { runCommand } from '../tools/run-command.ts'
import { startWorkspace, type WorkspaceState, workspaceState } from '../tools/workspace-state.ts'
import { workspaceTools } from '../tools/workspace-tools.ts'

async function play(calls: readonly (readonly [tool: string, args: object])[]): Promise<string[]> {
  await using host = createHost({ environments: [createDesk({ languages: ['javascript'] })] })
  await using connection = await connect(inProcess(host))
  await using session = connection.environment('desk')
  await session.reset({ seed: 'seed' })
  const printed: string[] = []
  for (const [tool, args] of calls)
    printed.push((await session.step({ tool, arguments: args as never })).observation.text)
  return printed
}

const sql = (statements: string, database = 'd.db') => ['sql', { database, sql: statements }] as const
const bash = (command: string) => ['bash', { command }] as const
const nested = 'let o = {}, c = o; for (let i = 0; i < 1e5; i++) c = c.a = {}; JSON.stringify(o)'

describe('a command', () => {
  it('prints the same bytes whatever other sessions did in its thread before', async () => {
    const probes = [
      sql('pragma hard_heap_limit; pragma soft_heap_limit; pragma temp_store_directory; pragma database_list'),
      sql("select name from sqlite_temp_master; attach '/tmp/left.db' as p; select * from p.t"),
      sql('create table if not exists t(x); insert into t values (random()), (hex(randomblob(4))); select x from t'),
      sql("select count(*) from pragma_database_list where file like '%left%'", '/tmp/left.db'),
      bash("node -e 'console.log(Object.keys(globalThis).length, globalThis.left, Math.random())'"),
      bash("sqlite3 :memory: 'select hex(randomblob(4)); pragma hard_heap_limit'; echo $RANDOM $$; mktemp; ls /tmp"),
    ]
    const before = await play(probes)
    const others = [
      sql("attach '/tmp/left.db' as p; create table p.t(x); insert into p.t values ('SECRET')"),
      sql('pragma hard_heap_limit = 200000; create temp table kept(x); begin; create table t(x)'),
      sql("vacuum into '/tmp/left.db'"),
      sql(
        'select randomblob(100); select nothing; create table t(x); insert into t(rowid) values (9223372036854775807)',
      ),
      bash(`node -e '${nested}'`),
      bash("node -e 'globalThis.left = 1; Object.prototype.left = 2'; sqlite3 /tmp/left.db 'create table t(x)'"),
    ]
    // More than the threads that there are, so that one of them has done it all.
    await play([...others, ...others])
    expect(await play(probes)).toEqual(before)
  })

  it('is ended when it holds too much memory outside of its objects, and the next one starts anew', async () => {
    const programs = new URL('../tools/programs.fixture.ts', import.meta.url)
    const { stderr, exitCode } = await runCommand(createDisk({}), 'hoard', { programs, seconds: 60 })
    expect(stderr).toMatch(/^It needed more than 512 MB of memory and was ended/)
    expect(exitCode).toBe(137)
    const [refused, next] = await play([sql('select length(hex(zeroblob(400000000)))'), sql('select 1 as one')])
    expect([refused, next]).toEqual(['Error: out of memory\n[exit code 1]', '{"one":1}'])
  })

  it('runs over parts of a large state in any place, in a session and in its forks', async () => {
    const world = defineEnvironment({
      name: 'large-desk',
      version: '1.0.0',
      description: 'A computer with a large disk.',
      state: { public: z.object({}), private: z.object({ ...workspaceState }) },
      start: () => ({
        public: {},
        private: startWorkspace(createDisk({ '/app/notes.txt': 'one\n', '/app/large': new Uint8Array(2_000_000) })),
      }),
      observe: () => '',
      tools: ({ tool }) => ({
        ...workspaceTools(tool, { cwd: '/app' }),
        judge: tool({
          description: 'Judges what is there.',
          input: z.object({}),
          prepared: z.array(z.string()),
          async prepare({ state, signal }) {
            const { disk } = state.private as WorkspaceState
            const command = 'cat /app/notes.txt'
            const judged = [
              await runCommand(disk, command, { signal }),
              await runCommand({ ...disk, '/hidden': { kind: 'text', text: '' } }, command, { signal }),
              await runCommand({}, command, { signal, files: disk as Disk }),
            ]
            return judged.map(({ stdout }) => stdout)
          },
          play: ({ prepared, reveal, say }) => say(reveal(prepared.join(''))),
        }),
      }),
      rewards: {},
    })
    await using host = createHost({ environments: [world] })
    await using connection = await connect(inProcess(host))
    await using session = connection.environment('large-desk')
    await session.reset({ seed: 'seed' })
    await session.step({ tool: 'bash', arguments: { command: 'echo two >> notes.txt' } })
    for (const each of [session, ...(await session.fork())])
      expect((await each.step({ tool: 'judge', arguments: {} })).observation.text).toBe('one\ntwo\n'.repeat(3))
  })

  it('rejects for what cannot be sent to a thread, and leaves the threads to others', async () => {
    const unsendable = { '/a': { kind: 'text', text: (() => '') as never } } as const
    for (const files of [{}, unsendable])
      for (let i = 0; i < 4; i++)
        await expect(runCommand(unsendable, 'echo', { files })).rejects.toThrow('could not be cloned')
    expect(await runCommand({}, 'echo here')).toMatchObject({ stdout: 'here\n' })
  })
})
