import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createHost } from '@episodic/mcp-server'
import { loadWorld } from '@episodic/play/worlds/world'
import { DEFAULT_SEAT, type ToolInfo, taskSchema } from '@episodic/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const world = exampleWorld('warehouse')
const read = (name: string) => readFileSync(join(workshop.folder, name), 'utf8')
const write = (name: string, text: string) => writeFileSync(join(workshop.folder, name), text)
const tasksIn = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => taskSchema.parse(JSON.parse(line)))

beforeAll(async () => {
  const made = ['dataset', 'generate', world, '--count', '30', '--difficulty', '0.2..0.6', '--out', 'tasks.jsonl']
  const { status, out } = await workshop.main(made)
  expect(status).toBe(0)
  expect(out).toMatch(/^tasks\.jsonl {2}30 tasks {2}sha256 [0-9a-f]{64}\n$/)
})

describe('episodic dataset', () => {
  it('generates the same tasks from the same seed, within the requested difficulty', async () => {
    const tasks = tasksIn(read('tasks.jsonl'))
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(30)
    for (const { difficulty } of tasks) expect([difficulty >= 0.2, difficulty <= 0.6]).toEqual([true, true])
    const made = ['dataset', 'generate', world, '--count', '30', '--difficulty', '0.2..0.6']
    await workshop.main([...made, '--out', 'again.jsonl'])
    await workshop.main([...made, '--seed', '1', '--out', 'other.jsonl'])
    expect(read('again.jsonl')).toBe(read('tasks.jsonl'))
    expect(read('other.jsonl')).not.toBe(read('tasks.jsonl'))
  })

  it('validates every line, and reports all errors', async () => {
    const valid = await workshop.main(['dataset', 'validate', 'tasks.jsonl', '--world', world])
    expect(valid).toEqual({ status: 0, out: '', err: 'tasks.jsonl is valid.\n' })
    // Without --world only the shape and the ids are checked.
    expect(await workshop.main(['dataset', 'validate', 'tasks.jsonl'])).toEqual(valid)
    const lines = read('tasks.jsonl').trimEnd().split('\n')
    lines[2] = lines[2]!.replace('"difficulty":', '"difficulty":7,"was":')
    lines[4] = lines[4]!.slice(0, 90)
    lines[6] = lines[5]!
    write('bad.jsonl', lines.join('\n'))
    const { status, out, err } = await workshop.main(['dataset', 'validate', 'bad.jsonl', '--world', world, '--json'])
    const problems = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).line)
    expect(status).toBe(1)
    expect(new Set(problems)).toEqual(new Set([3, 5, 7]))
    expect(err).toMatch(/^bad\.jsonl has \d+ problems\.\n$/)
    const other = await workshop.main(['dataset', 'validate', 'tasks.jsonl', '--world', exampleWorld('frozen-lake')])
    expect(other.status).toBe(1)
    const none = await workshop.main(['dataset', 'validate', 'none.jsonl'])
    expect([none.status, none.err]).toEqual([1, expect.stringMatching(/^error: Cannot read none\.jsonl/)])
  })

  it('prints statistics, and samples tasks', async () => {
    const table = await workshop.main(['dataset', 'stats', 'tasks.jsonl'])
    expect(table.out).toMatch(/warehouse/)
    const { out } = await workshop.main(['dataset', 'stats', 'tasks.jsonl', '--json'])
    expect(JSON.stringify(JSON.parse(out))).toContain('30')
    const sample = ['dataset', 'sample', 'tasks.jsonl', '--count', '4', '--split', 'train']
    const drawn = await workshop.main(sample)
    expect(tasksIn(drawn.out)).toHaveLength(4)
    expect(tasksIn(drawn.out).every(({ split }) => split === 'train')).toBe(true)
    expect((await workshop.main(sample)).out).toBe(drawn.out)
    expect((await workshop.main([...sample, '--seed', '1'])).out).not.toBe(drawn.out)
  })

  it('exports the rows that agents of NeMo Gym play, with what is seen first', async () => {
    const asked = ['dataset', 'export', 'tasks.jsonl', '--format', 'nemo-gym']
    const { status, out } = await workshop.main([...asked, '--world', world, '--split', 'train', '--out', 'rows.jsonl'])
    const tasks = tasksIn(read('tasks.jsonl')).filter(({ split }) => split === 'train')
    expect([status, out]).toEqual([0, `rows.jsonl  ${tasks.length} rows\n`])
    const { environment } = await loadWorld(world)
    await using host = createHost({ environments: [environment] })
    const rows = read('rows.jsonl').trimEnd().split('\n')
    expect(rows).toHaveLength(tasks.length)
    for (const [i, line] of rows.entries()) {
      const { responses_create_params: asks, episodic, task } = JSON.parse(line)
      const { seats } = await host.open(null, { ...episodic, requestKey: line })
      const content = `${tasks[i]?.prompt}\n\n${seats[DEFAULT_SEAT]?.observation.text}`
      expect(asks.input).toEqual([{ role: 'user', content, type: 'message' }])
      expect(asks.tools.map(({ name }: ToolInfo) => name)).toEqual(environment.toolInfos.map(({ name }) => name))
      expect(task).toBe(tasks[i]?.id)
    }
    const other = await workshop.main([...asked, '--world', exampleWorld('frozen-lake'), '--out', 'none.jsonl'])
    expect([other.status, other.err]).toEqual([2, expect.stringContaining('has a task of warehouse. Give its world')])
    expect(existsSync(join(workshop.folder, 'none.jsonl'))).toBe(false)
  })
})
