import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { defineGame, type EnvironmentDefinition, rehearse } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createDisk } from '../disk/create-disk.ts'
import { readBytes, readFile } from '../disk/read-disk.ts'
import { createDesk, DISK, printTheDayAfter } from './desk.fixture.ts'
import { runCommand } from './run-command.ts'
import { startWorkspace, type WorkspaceState, workspaceState } from './workspace-state.ts'
import { type WorkspaceOptions, workspaceTools } from './workspace-tools.ts'

/** Runs a program in a process of its own, and returns what it prints. One that does not end is killed, and rejects. */
async function runNode(program: string): Promise<string> {
  const args = ['--input-type=module', '-e', program]
  return (await promisify(execFile)(process.execPath, args, { timeout: 60_000 })).stdout
}

/** Opens a computer, and returns what plays one call of a tool and returns what the agent reads. */
function open(options: WorkspaceOptions = {}, seed = 'seed') {
  const world = rehearse<EnvironmentDefinition>(createDesk(options), { seed, strict: true })
  const use = async (tool: string, args: Record<string, unknown>) => {
    const prepared = await world.prepare(tool, args as never)
    const step = world.play(tool, args as never, prepared === undefined ? {} : { prepared })
    return step.observation.text.replace(/\n$/, '')
  }
  return {
    world,
    use,
    bash: (command: string) => use('bash', { command }),
    state: () => world.state.private as unknown as WorkspaceState,
  }
}

describe('bash', () => {
  it('keeps files, directory and variables from call to call', async () => {
    const { bash, state } = open()
    expect(await bash('mkdir -p out && cd out && export NAME=Ada && greeting=hello')).toBe('[no output]')
    expect(await bash('echo "$greeting, $NAME" > said.txt; pwd; cat said.txt')).toBe('/app/out\nhello, Ada')
    expect(readFile(state().disk, '/app/out/said.txt')).toBe('hello, Ada\n')
    expect(state().shell.cwd).toBe('/app/out')
  })

  it('says the exit code and what was written to standard error', async () => {
    const { bash } = open()
    expect(await bash('cat nothing; exit 3')).toBe('cat: nothing: No such file or directory\n[exit code 3]')
  })

  it('has the time of the session, which sleeping moves, and not that of the machine', async () => {
    const { bash } = open()
    expect(await bash('date -u +%FT%T; sleep 90; date -u +%FT%T')).toBe('2025-01-01T00:00:00\n2025-01-01T00:01:30')
    expect(await bash('date -u +%FT%T')).toBe('2025-01-01T00:01:30')
    expect(await bash('sqlite3 :memory: "select datetime(\'now\')"')).toBe('2025-01-01 00:01:30')
  })

  it('draws the chance of the session: again the same from the same seed, and never twice in one session', async () => {
    const command = 'echo $RANDOM $RANDOM $RANDOM'
    const [first, again, other] = [open(), open(), open({}, 'another')]
    const drawn = await first.bash(command)
    expect(await again.bash(command)).toBe(drawn)
    expect(await other.bash(command)).not.toBe(drawn)
    expect(await first.bash(command)).not.toBe(drawn)
  })

  it('does not see hidden paths, and cannot change read-only ones', async () => {
    const { bash, use, state } = open({ hidden: ['/secret'], readOnly: ['/etc'] })
    expect(await bash('ls /; cat /secret/answer.txt; cat /et*/motd; rm -rf /etc/motd')).toMatch(
      /^app\nbin\ndev\netc\nproc\nroot\nrun\ntmp\nusr\nWelcome\.\ncat: \/secret\/answer\.txt: No such file/,
    )
    await bash('mkdir /secret; echo x > /secret/answer.txt; ln -s /secret/answer.txt link; cat link; mv /etc /moved')
    expect(await use('read_file', { path: '/secret/answer.txt' })).toMatch(/ENOENT/)
    expect(await use('read_file', { path: 'link' })).toMatch(/ENOENT/)
    expect(await use('write_file', { path: '/etc/motd', content: '' })).toMatch(/EROFS/)
    expect(readFile(state().disk, '/secret/answer.txt')).toBe('forty-two\n')
    expect(readFile(state().disk, '/etc/motd')).toBe('Welcome.\n')
  })

  it('cuts a long output in the middle, and keeps the whole in a file', async () => {
    const { bash } = open()
    const text = await bash('seq 1 20000')
    expect(text.length).toBeLessThan(17_000)
    expect(text).toMatch(
      /^1\n2\n3\n[\s\S]*\n\[\d+ lines, \d+ characters are left out; all of it is in \/tmp\/output-1\.txt]\n[\s\S]*\n20000$/,
    )
    expect(await bash('sed -n 10000p /tmp/output-1.txt')).toBe('10000')
  })

  it('prints the same bytes in a hundred forks, and in another process on another day', async () => {
    const fixture = JSON.stringify(new URL('./desk.fixture.ts', import.meta.url).href)
    const program = `const now = Date.now
      Date.now = () => now() + 86_400_000
      const { printTheDayAfter } = await import(${fixture})
      console.log(JSON.stringify(await printTheDayAfter(0)))`
    const elsewhere = await runNode(program)
    expect(new Set([...(await printTheDayAfter(100)), ...JSON.parse(elsewhere)]).size).toBe(1)
  })

  it.each([
    ['of a file', 'for i in $(seq 40); do seq 5000 >> big.txt; done', 'ls'],
    ['of a variable', 'x=$(seq 20000); y=$x$x$x$x$x$x$x$x$x$x', 'echo ${#y}'],
  ])('keeps nothing of a call that changes too much %s', async (_, command, then) => {
    const { bash } = open()
    expect(await bash(command)).toMatch(/nothing was kept/)
    expect(await bash(then)).toBe(then === 'ls' ? 'notes.txt\nsrc' : '0')
  })

  it('does not lose half of a surrogate pair, bytes, or the end of a file without a line feed', async () => {
    const { bash, state } = open()
    await bash('printf \'%s\' "$(seq 1 2000 | paste -sd, -)😀é" > long.txt; echo /wAB | base64 -d > raw.bin')
    await bash("sed -i 's/😀/😁/' long.txt; cat raw.bin >> raw.bin")
    expect(readFile(state().disk, '/app/long.txt')).toMatch(/,2000😁é$/)
    expect([...(readBytes(state().disk, '/app/raw.bin') ?? [])]).toEqual([255, 0, 1, 255, 0, 1])
  })
})

describe('programs of the world', () => {
  const options = { hidden: ['/run'], programs: new URL('./programs.fixture.ts', import.meta.url) }

  it('are commands over the whole disk, in pipes and with virtual time', async () => {
    const { bash, state } = open(options)
    expect(await bash('restart billing; restart nothing; ls /run; date -u +%T')).toBe(
      'billing is up\n00:00:02\nrestart: unknown service nothing\nls: /run: No such file or directory',
    )
    expect(readFile(state().disk, '/run/billing')).toBe('up\n')
    expect(await bash('nap')).toBe('500 ms later')
  })

  it('that throw are a fault of the world, with the place in it', async () => {
    await expect(open(options).bash('broken || echo "$?"')).rejects.toMatchObject({
      code: 'rules-failed',
      message: expect.stringMatching(/threw: the answer is forty-two[\s\S]*programs\.fixture\.ts:\d+/),
    })
  })

  it('are services that curl reaches, and nothing else is', async () => {
    const { bash } = open(options)
    expect(await bash('curl -s http://billing.internal/health | jq -r .state')).toBe('down')
    expect(await bash('curl -s -X POST -d hello http://billing.internal/orders')).toBe('got hello')
    expect(await bash('curl -s -o /dev/null -w "%{http_code}" http://billing.internal/nothing')).toBe('404')
    expect(await bash('curl -s http://169.254.169.254/; curl -s http://localhost:1/')).toMatch(/\[exit code \d+]$/)
    expect(await open().bash('curl http://billing.internal/; python3 x')).toMatch(/command not found\n.+available\n/)
  })
})

describe('runCommand', () => {
  it('judges a copy of the disk, with files that are there for it alone', async () => {
    const tests = createDisk({
      '/tests/check.js':
        "import { add } from '/app/src/add.js'\nif (add(2, 2) !== 4) throw new Error(`add(2, 2) is ${add(2, 2)}`)\n",
    })
    const run = () =>
      runCommand(DISK, 'rm -rf /app/notes.txt; node /tests/check.js', { files: tests, languages: ['javascript'] })
    const result = await run()
    expect(result).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/add\(2, 2\) is 0/) })
    expect(await run()).toEqual(result)
    expect(readFile(DISK, '/app/notes.txt')).toBe('one\ntwo\nthree\n')
  })

  it('ends a command that runs too long', async () => {
    const result = await runCommand(DISK, 'node -e "for (;;) {}"', { languages: ['javascript'], seconds: 1 })
    expect(result).toMatchObject({ exitCode: 137, stderr: expect.stringMatching(/more than 1 seconds/) })
  })

  it('lets its process end once it is done', async () => {
    const library = JSON.stringify(new URL('../../index.ts', import.meta.url).href)
    const program = `import { createDisk, runCommand } from ${library}
      console.log(await runCommand(createDisk({}), 'node -e 1', { languages: ['javascript'] }))`
    expect(await runNode(program)).toContain('exitCode: 0')
  })
})

describe('the tools for files', () => {
  it('read lines with their numbers, and say how to read on', async () => {
    const { use } = open()
    expect(await use('read_file', { path: 'notes.txt', start_line: 2, lines: 1 })).toBe(
      '     2\ttwo\n[lines 2 to 2 of 3; read on with start_line 3]',
    )
  })

  it('write, edit where the text is there once, list and search', async () => {
    const { use, state } = open()
    expect(await use('write_file', { path: 'new/a.txt', content: 'red\nred\n' })).toBe('Wrote /app/new/a.txt: 2 lines.')
    expect(await use('edit_file', { path: 'new/a.txt', old_text: 'red', new_text: 'blue' })).toMatch(/2 times/)
    expect(await use('edit_file', { path: 'new/a.txt', old_text: 'red', new_text: '$&', all: true })).toBe(
      'Changed /app/new/a.txt in 2 places.',
    )
    expect(readFile(state().disk, '/app/new/a.txt')).toBe('$&\n$&\n')
    expect(await use('list_files', {})).toBe(
      '/app/new/\n/app/new/a.txt 6\n/app/notes.txt 14\n/app/src/\n/app/src/add.js 35',
    )
    expect(await use('search', { pattern: 't(wo|hree)' })).toMatch(/notes\.txt:2:two\n.*notes\.txt:3:three$/)
    expect(await use('search', { pattern: "it's" })).toBe('No match.')
  })

  it('edit lines that end in CRLF, which models write with LF, and keep their ends', async () => {
    const { use, bash, state } = open()
    await bash("printf 'one\\r\\ntwo\\r\\nthree\\r\\n' > notes.txt")
    const edit = (old_text: string, new_text: string) => use('edit_file', { path: 'notes.txt', old_text, new_text })
    expect(await edit('one\ntwo\n', 'one\n\ntwo\n')).toBe('Changed /app/notes.txt in 1 place.')
    expect(await edit('three\r\n', 'three\r\nfour\r\n')).toBe('Changed /app/notes.txt in 1 place.')
    expect(readFile(state().disk, '/app/notes.txt')).toBe('one\r\n\r\ntwo\r\nthree\r\nfour\r\n')
  })

  it('belong to the seats of a game that have them', async () => {
    const game = defineGame({
      name: 'pair',
      version: '1.0.0',
      description: 'One types, and one says what.',
      seats: ['driver', 'navigator'],
      state: { public: z.object({}), own: z.object({}), private: z.object(workspaceState) },
      start: () => ({ public: {}, own: { driver: {}, navigator: {} }, private: startWorkspace(DISK) }),
      observe: () => '',
      turn: () => ['driver', 'navigator'],
      tools: ({ tool }) => ({
        ...workspaceTools(tool, { cwd: '/app', seats: ['driver'] }),
        say: tool({ description: 'Speaks.', input: z.object({}), play: ({ say }) => say('') }),
      }),
      rewards: {},
    })
    const world = rehearse(game)
    const read = { path: 'notes.txt', lines: 1 }
    const step = world.play('read_file', read, { seat: 'driver' })
    expect(step.observation.text).toMatch(/^ {5}1\tone\n/)
    expect(step.revealedTo).toEqual([['driver']])
    expect(world.play('read_file', read, { seat: 'navigator' }).refused).toBe('tool')
  })
})

describe('sql', () => {
  it('keeps a transaction open over several calls, and drops what is rolled back', async () => {
    const { use, bash } = open()
    const sql = (text: string) => use('sql', { database: 'shop.db', sql: text })
    await sql("CREATE TABLE orders(id INTEGER PRIMARY KEY, status TEXT); INSERT INTO orders(status) VALUES ('open')")
    await sql("BEGIN; UPDATE orders SET status = 'sent'")
    expect(await sql('SELECT status FROM orders')).toBe('{"status":"sent"}')
    expect(await bash("sqlite3 shop.db 'select status from orders'")).toBe('open')
    await sql('SAVEPOINT a; DELETE FROM orders; ROLLBACK TO a')
    expect(await sql('COMMIT; SELECT status FROM orders')).toBe('{"status":"sent"}')
    await sql('BEGIN; DELETE FROM orders')
    expect(await sql('ROLLBACK; SELECT count(*) AS n FROM orders')).toBe('{"n":1}')
  })

  it('keeps a transaction open over a call that is ended', async () => {
    const { use } = open({ seconds: 3 })
    const sql = (text: string) => use('sql', { database: 'shop.db', sql: text })
    await sql('CREATE TABLE t(a); BEGIN; INSERT INTO t VALUES (1)')
    const endless = 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r'
    expect(await sql(endless)).toMatch(/more than 3 seconds/)
    expect(await sql('COMMIT; SELECT a FROM t')).toBe('{"a":1}')
  })

  it('keeps all digits of an integer, and bounds its memory', async () => {
    const { use } = open()
    const sql = (text: string) => use('sql', { database: 'a.db', sql: text })
    const id = '1781234567890123456'
    expect(await sql(`CREATE TABLE t(a); INSERT INTO t VALUES (${id}); SELECT a FROM t WHERE a = ${id}`)).toBe(
      `{"a":${id}}`,
    )
    expect(await sql('SELECT length(hex(zeroblob(400000000)))')).toMatch(/out of memory/)
  })

  it('says which statement failed, and keeps what was done before', async () => {
    const { use } = open()
    expect(await use('sql', { database: 'a.db', sql: 'CREATE TABLE t(a); SELECT * FROM u' })).toBe(
      'Error: no such table: u\n[exit code 1]',
    )
    expect(await use('sql', { database: 'a.db', sql: "INSERT INTO t VALUES (x'0aff'); SELECT a FROM t" })).toBe(
      '{"a":"0aff"}',
    )
  })
})
