import type { JsonObject, Task } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { parseTask } from './check-task.ts'
import { checkLines, checkTasks } from './check-tasks.ts'
import { collect } from './collect.fixture.ts'
import { guessingEnvironment, guessingTasks } from './guessing.fixture.ts'
import { taskId } from './task-id.ts'

const [first, second] = guessingTasks(2) as [Task, Task]

/** A row with some of its fields changed, under the id of its new content. */
function changed(change: Partial<Task>): Task {
  const task = { ...first, ...change }
  return { ...task, id: taskId(task) }
}

async function messagesOf(rows: Iterable<unknown>, environments?: (typeof guessingEnvironment)[]): Promise<string[]> {
  const problems = await collect(checkTasks(rows, environments ? { environments } : {}))
  return problems.map(({ message }) => message)
}

describe('checkTasks', () => {
  it('finds no problems in valid rows', async () => {
    expect(await messagesOf([first, second], [guessingEnvironment])).toEqual([])
  })

  it('names the line and the field of a wrong type', async () => {
    expect(await messagesOf([first, { ...second, difficulty: 'hard' }])).toEqual([
      'line 2: difficulty: expected number, received string',
    ])
  })

  it('names a missing field, an unknown key and an item of a list, all at once', async () => {
    const { prompt: _, ...rest } = first
    expect(await messagesOf([{ ...rest, promt: 'Go.', tags: ['a', 7], limits: { step: 5 } }])).toEqual([
      'line 1: prompt: expected string, received undefined',
      'line 1: limits.step: there is no such key',
      'line 1: tags[1]: expected string, received number',
      'line 1: promt: there is no such key',
    ])
  })

  it.each([[null], [[]], ['text'], [7]])('names a row that is no object: %j', async (row) => {
    expect(await messagesOf([row])).toEqual([expect.stringMatching(/^line 1: expected object, received /)])
  })

  it('names a repeated id, with the line of its first occurrence', async () => {
    expect(await messagesOf([first, second, first])).toEqual(['line 3: id: line 1 has the same id'])
  })

  it('names an id that is not the hash of the content, and continues with the other checks', async () => {
    const edited = { ...first, prompt: 'Edited by hand.', params: { ...first.params, high: 'ten' } }
    expect(await messagesOf([edited], [guessingEnvironment])).toEqual([
      `line 1: id: ${first.id} is not the hash of the content, which is ${taskId(edited)}`,
      'line 1: params.high: expected number, received string',
    ])
  })

  it('names one world in two splits', async () => {
    const other = first.split === 'test' ? 'train' : 'test'
    expect(await messagesOf([first, changed({ prompt: 'The same world.', split: other })])).toEqual([
      `line 2: split: line 1 sets up the same world for ${first.split}, this one for ${other}`,
    ])
  })

  it('names another version of an environment', async () => {
    expect(await messagesOf([first], [{ ...guessingEnvironment, version: '2.0.0' }])).toEqual([
      'line 1: environment.version: the row is for 1.0.0, the environment is 2.0.0',
    ])
  })

  it('accepts any of several versions', async () => {
    expect(await messagesOf([first], [{ ...guessingEnvironment, version: '2.0.0' }, guessingEnvironment])).toEqual([])
  })

  it('names an unknown environment, unless another server has it', async () => {
    const environment = { name: 'chess', version: '1' }
    const rows = [changed({ environment }), { ...changed({ environment, seed: 'other' }), server: 'games' }]
    expect(await messagesOf(rows, [guessingEnvironment])).toEqual([
      'line 1: environment.name: there is no "chess" among the environments given',
    ])
  })

  it('names tools that the environment lacks', async () => {
    expect(await messagesOf([changed({ tools: ['guess', 'cheat'] })], [guessingEnvironment])).toEqual([
      'line 1: tools[1]: the environment has no "cheat"',
    ])
  })

  it('names parameters that the schema rejects, and unknown ones', async () => {
    const withParams = (params: JsonObject) => changed({ params })
    expect(await messagesOf([withParams({ high: 'ten' }), withParams({ hihg: 10 })], [guessingEnvironment])).toEqual([
      'line 1: params.high: expected number, received string',
      'line 2: params.hihg: there is no such key',
    ])
  })

  it('names values that not every JSON parser preserves', async () => {
    const rows = [
      { ...first, params: { high: -0 } },
      { ...first, prompt: '\udfff' },
      { ...first, server: undefined },
    ]
    expect(await messagesOf(rows)).toEqual([
      'line 1: params: params.high is -0',
      'line 2: prompt: prompt holds a lone surrogate',
      'line 3: server: server is undefined',
    ])
  })

  it('reports the line, the field and a code', async () => {
    const [problem] = await collect(checkTasks([{ ...first, tags: [1] }]))
    expect(problem).toMatchObject({ line: 1, field: 'tags[0]', code: 'shape' })
  })
})

describe('checkLines', () => {
  it('refuses a whole number that would be rounded', async () => {
    const lines = [
      '{"id":"x","metadata":{"row":12345678901234567890}}',
      '{"a":"12345678901234567890","b":[9007199254740993]}',
    ]
    const found = await collect(checkLines(lines.map((text, i) => ({ line: i + 1, text, torn: false }))))
    expect(found.map(({ message }) => message)).toEqual([
      'line 1: the number 12345678901234567890 would be rounded: write it as a text',
      'line 2: the number 9007199254740993 would be rounded: write it as a text',
    ])
  })

  it.each(['[{"id":"x"},', '[', '{', '[]'])(
    'says once that a file that begins with %s is one JSON document',
    async (first) => {
      const lines = [first, '  "id": "x"', '}'].map((text, i) => ({ line: i + 1, text, torn: false }))
      const found = await collect(checkLines(lines))
      expect(found.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^line 1: the file is one JSON document/),
      ])
    },
  )

  it('names text that is not JSON, skips blank lines, and names a torn last line', async () => {
    const lines = [
      { line: 1, text: JSON.stringify(first), torn: false },
      { line: 2, text: '  ', torn: false },
      { line: 3, text: '{"id": ', torn: false },
      { line: 4, text: JSON.stringify(first), torn: false },
      { line: 5, text: JSON.stringify(second).slice(0, 40), torn: true },
    ]
    const problems = await collect(checkLines(lines))
    expect(problems.map(({ code, message }) => [code, message])).toEqual([
      ['json', 'line 3: this is not JSON'],
      ['duplicate', 'line 4: id: line 1 has the same id'],
      ['torn', 'line 5: the file ends in the middle of this line; the rows before it are whole'],
    ])
  })

  it('accepts a complete last line without a newline', async () => {
    const lines = [{ line: 1, text: JSON.stringify(first), torn: true }]
    expect(await collect(checkLines(lines))).toEqual([])
  })
})

describe('parseTask', () => {
  it('returns a valid row', () => {
    expect(parseTask(first)).toEqual(first)
  })

  it('throws with all problems', () => {
    const parse = () => parseTask({ ...first, difficulty: 'hard', extra: 1 }, 'line 7')
    expect(parse).toThrow(
      'line 7 is not a task. difficulty: expected number, received string; extra: there is no such key.',
    )
    expect(parse).toThrow(
      expect.objectContaining({
        code: 'task-invalid',
        details: {
          problems: [
            { code: 'shape', field: 'difficulty', reason: 'expected number, received string' },
            { code: 'unknown-key', field: 'extra', reason: 'there is no such key' },
          ],
        },
      }),
    )
  })
})
