import { fileURLToPath } from 'node:url'
import type { ToolInfo } from '@episodic/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'
import { readAction } from './terminal-player.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const KUHN = fileURLToPath(import.meta.resolve('@episodic/classics/kuhn-poker'))
const game = ['play', world, '--seed', 'one', '--params', '{"low":1,"high":3,"maxGuesses":3}']

describe('episodic play', () => {
  it('plays the actions that it reads from a pipe, until the episode ends', async () => {
    const { status, out, err } = await workshop.run(game, {
      input: 'help\nwhat 1\nguess x\n1\nguess 1\nguess 2\nguess 3\n',
    })
    expect([status, err]).toEqual([0, ''])
    expect(out).toContain('number-guessing 1.1.0, seed one')
    expect(out).toContain('There is no tool "what". guess, help, quit.')
    expect(out).toMatch(
      /is correct: you found the number\.\n.*reward .*solved 1\.000.*\n.*terminated: solved {2}return /,
    )
    // The transcript shows the input, as a terminal does.
    for (const typed of ['help', 'what 1', 'guess 1']) expect(out).toContain(`> ${typed}\n`)
    expect(out).not.toContain(String.fromCharCode(27))
  })

  it('gives a shell where the world has one: a line is a command, and other tools begin with a slash', async () => {
    const shop = ['play', exampleWorld('repair-shop'), '--seed', 'shell']
    const lines = ['pwd', 'ls | sort -r | head -1', '/submit', 'cd src', 'pwd', '/usr/bin/env | grep HOME']
    const { status, out, err } = await workshop.run(shop, { input: `${lines.join('\n')}\n/help\nexit\npwd\n` })
    expect([status, err]).toEqual([0, ''])
    // What the world says beside the output is shown where it has changed, and rewards where no command was run.
    expect(out).toContain('Submissions left: 3.\n$ pwd\n/app\n$ ls | sort -r | head -1\ntest\n$ /submit\n')
    expect(out).toMatch(/hidden tests passed\.\n.*Submissions left: 2\..*\nreward -0\.010 .*\n\$ cd src\n/)
    expect(out).toMatch(/\n\$ pwd\n\/app\/src\n\$ \/usr\/bin\/env \| grep HOME\nHOME=.*\n\$ \/help\n/)
    expect(out).toMatch(/ {2}any other line {2}Run a command line in bash\..*\n {2}\/help, exit\n\$ exit\n$/)
  })

  it('plays a person as a user of a task: a line is what is said, and tools begin with a slash', async () => {
    const call = fileURLToPath(new URL('../../fixtures/call.fixture.ts', import.meta.url))
    const match = ['play', call, '--task', '0', '--seat', 'agent=solver']
    const lines = ['/help', 'My phone is dead.', '/toggle', 'quit it? ###STOP###']
    const { status, out, err } = await workshop.run(match, { input: `${lines.join('\n')}\n` })
    expect([status, err]).toEqual([0, ''])
    expect(out).toContain('user  <scenario>\n\nHi! How can I help you today?\n> /help\n')
    expect(out).toMatch(/ {2}any other line {2}Says something to the other one\.\n {2}\/help, exit/)
    expect(out).toMatch(/> My phone is dead\.\n.*My data is off\.\n.*\n> \/toggle\n.*Toggled\.\n/)
    expect(out).toMatch(/user {2}terminated: user-stop/)
    const fewer = await workshop.run(['play', world, '--task', 'x'])
    expect([fewer.status, fewer.err]).toEqual([2, expect.stringContaining('--task')])
  })

  it('shows what a tool reports while its call waits, before the answer', async () => {
    const program = fileURLToPath(import.meta.resolve('@episodic/mcp-worlds')).replace(
      /index\.ts$/,
      'lib/fixtures/notes-server.fixture.ts',
    )
    const server = `'${process.execPath}' '${program}' {folder}/notes.txt`
    const { status, out } = await workshop.run(['play', '--mcp', server], { input: 'grow\ndone\n' })
    expect(status).toBe(0)
    expect(out).toContain('> grow\nGrowing. (1 of 2)\nGrew.\n')
  })

  it('plays on a running server', async () => {
    const server = await workshop.serve([world])
    const { status, out } = await workshop.run(['play', '--url', server.url, '--seed', 'a'], { input: 'guess 50\n' })
    expect(status).toBe(0)
    expect(out).toMatch(/(higher|lower) than 50|50 is correct/)
  })

  it('plays a seat of several by a policy, and asks for the moves of the others', async () => {
    const match = ['play', KUHN, '--seed', 'cards', '--seat', 'second=solver']
    const { status, out, err } = await workshop.run(match, { input: 'act pass\nact bet\n' })
    expect([status, err]).toEqual([0, ''])
    expect(out).toMatch(/\nfirst {2}You hold [JQK]\. No moves so far\.\n> act pass\n/)
    expect(out).toMatch(
      /\nfirst {2}terminated: showdown {2}return (-?\d)\.000\nsecond {2}terminated: showdown {2}return -?\d\.000\n$/,
    )
  })

  it.each([
    [['play', KUHN, '--seat', 'third=random'], 'kuhn-poker has no seat "third". Its seats are: first, second.'],
    [['play', KUHN, '--seat', 'first=luck'], 'There is no policy "luck".'],
    [[...game, '--seat', 'agent=random'], '--seat is for an environment of several seats.'],
  ])('rejects %j', async (args, message) => {
    expect(await workshop.main(args)).toMatchObject({ status: 2, err: expect.stringContaining(message) })
  })

  it.each([
    [['--params', '[]'], 2, /--params \[\] is not a JSON object/],
    [['--params', '{"low":"x"}'], 1, /low/],
    [['--environment', 'chess'], 1, /no environment "chess"\. It has: number-guessing/],
  ])('rejects %j with the reason', async (options, status, message) => {
    const ended = await workshop.run(['play', world, ...options])
    expect(ended.status).toBe(status)
    expect(ended.err).toMatch(/^error: /)
    expect(ended.err).toMatch(message)
  })
})

describe('readAction', () => {
  const schema = {
    type: 'object',
    properties: { item: { type: 'string' }, units: { type: 'integer' } },
    required: ['item'],
  }
  const SAYING = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const tools: ToolInfo[] = [
    { name: 'pick', description: 'Pick.', inputSchema: schema, outputSchema: null },
    { name: 'say', description: 'Say.', inputSchema: SAYING, outputSchema: null },
    { name: 'wait', description: 'Wait.', inputSchema: { type: 'object', properties: {} }, outputSchema: null },
  ]

  it.each([
    ['pick bolt 3', { item: 'bolt', units: 3 }],
    ['pick units=3 item=bolt', { item: 'bolt', units: 3 }],
    ['pick {"item":"two words"}', { item: 'two words' }],
    ['pick', {}],
  ])('reads %j', (text, given) => {
    expect(readAction(text, tools)).toEqual({ tool: 'pick', arguments: given })
  })

  it.each([
    ['say Book a flight to Dubai', 'Book a flight to Dubai'],
    ['say 42', '42'],
    ['say "42 = 42"', '42 = 42'],
    ['say text=Hello', 'Hello'],
    ['say {"text":"Hello, you"}', 'Hello, you'],
  ])('reads a sentence as the only text argument of a tool: %s', (text, said) => {
    expect(readAction(text, tools)).toEqual({ tool: 'say', arguments: { text: said } })
  })

  it('returns a message for an action that it cannot read', () => {
    expect(readAction('throw bolt', tools)).toContain('There is no tool "throw". pick, say, wait')
    expect(readAction('pick bolt 3 now', tools)).toContain('pick takes item: string, units?: integer')
    expect(readAction('wait long', tools)).toContain('wait takes no arguments')
  })
})
