import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openChannel } from '@episodic/env'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop, readEpisodes } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('number-guessing')
const rows = (name: string, ...lines: object[]) =>
  writeFileSync(join(workshop.folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
const plain = { prompt: 'Find it.', params: { low: 3, high: 9, maxGuesses: 4 } }
const played = (run: string) =>
  readEpisodes(join(workshop.folder, run)).map(({ task, params }) => [task.prompt, params])

describe('a file of rows with a prompt and params', () => {
  it.each(['--tasks', '--dataset'])('is played by a world of its own as by an MCP server, with %s', async (option) => {
    rows('rows.jsonl', plain, { prompt: 'And this.', low: 1, high: 2 })
    const run = `by${option}`
    const ended = await workshop.main(['run', world, option, 'rows.jsonl', '--out', run])
    expect(ended).toMatchObject({ status: 0 })
    expect(played(run)).toEqual([
      ['Find it.', plain.params],
      ['And this.', expect.objectContaining({ low: 1, high: 2 })],
    ])
    expect(await workshop.main(['replay', run, '--world', world])).toMatchObject({ status: 0 })
  })

  it('is one task for each line, equal ones too, and the same ones each time', async () => {
    rows('equal.jsonl', plain, plain)
    for (const out of ['once', 'again'])
      expect(await workshop.main(['run', world, '--tasks', 'equal.jsonl', '--out', out])).toMatchObject({ status: 0 })
    const ids = (run: string) => readEpisodes(join(workshop.folder, run)).map(({ task }) => task.id)
    expect(new Set(ids('once')).size).toBe(2)
    expect(ids('again')).toEqual(ids('once'))
  })

  it('is refused with the row and the parameter that the world does not have', async () => {
    rows('wrong.jsonl', plain, { prompt: 'Find it.', params: { lowest: 3 } })
    const { status, err } = await workshop.main(['run', world, '--tasks', 'wrong.jsonl', '--out', 'wrong'])
    expect(status).toBe(1)
    expect(err).toMatch(/^error: Row 1 .*params\.lowest/)
    const both = await workshop.main(['run', world, '--tasks', 'rows.jsonl', '--dataset', 'rows.jsonl'])
    expect(both).toMatchObject({ status: 2, err: expect.stringMatching(/both a file of tasks/) })
  })

  it.each(['validate', 'stats', 'sample', 'export'])(
    'is read by dataset %s, if the world is named',
    async (command) => {
      rows('set.jsonl', plain, { prompt: 'And this.', low: 1, high: 2 })
      rows('unset.jsonl', plain, { prompt: 'Find it.', params: { lowest: 3 } })
      const read = (file: string, ...worlds: string[]) => {
        const more = command === 'export' ? ['--format', 'nemo-gym', '--out', 'out.jsonl'] : []
        return workshop.main(['dataset', command, file, ...worlds.flatMap((each) => ['--world', each]), ...more])
      }
      const shown = {
        validate: /set\.jsonl is valid/,
        stats: /count +2\n/,
        sample: /"id":"\w+".*And this/,
        export: /2 rows/,
      }
      const { status, out, err } = await read('set.jsonl', world)
      expect([status, out + err]).toEqual([0, expect.stringMatching(shown[command as keyof typeof shown])])
      expect(await read('unset.jsonl', world)).toMatchObject({
        status: 1,
        err: expect.stringMatching(/Row 1 .*lowest/),
      })
      for (const worlds of [[], [world, exampleWorld('warehouse')]]) {
        if (command === 'export' && worlds.length === 0) continue
        const unknown = expect.stringMatching(/set\.jsonl has rows of a prompt and params, and not of which world/)
        expect(await read('set.jsonl', ...worlds)).toMatchObject({ status: 2, err: unknown })
      }
    },
  )

  it('is served as the session of a task', async () => {
    rows('one.jsonl', plain)
    const server = await workshop.serve([world, '--task', 'one.jsonl'])
    const agent = await openChannel({ url: server.agentUrl })
    expect(JSON.stringify(await agent.request('tools/list', {}))).toContain('"guess"')
    await agent.close()
  })
})
