import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { calling, startChatServer } from '@episodic/models/chat-server.fixture'
import type { GradeSummary } from '@episodic/report/grades/grade-summary'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleWorld, openWorkshop } from '../../fixtures/episodic.fixture.ts'

const workshop = openWorkshop()
afterAll(() => workshop[Symbol.dispose]())
const at = (...path: string[]) => join(workshop.folder, ...path)

/** In half of its episodes it guesses well, and in the others one number again and again. It says how it went. */
const PLAYER = `
import { solver } from ${JSON.stringify(join(exampleWorld('number-guessing'), 'src/index.ts'))}
export default {
  name: 'talker',
  async start(context) {
    const player = await solver.start(context)
    const isGood = Number.parseInt(context.seed.slice(0, 8), 16) % 2 === 0
    return async (observation, view) => {
      const action = isGood ? await player(observation, view) : { tool: 'guess', arguments: { value: context.task.params.low } }
      const text = isGood ? 'I have solved it.' : 'I could not solve it.'
      view.onCompletion({ model: 'm', promptTokens: 1, completionTokens: 1, cost: null, text })
      return action
    }
  },
}`

describe('episodic grade, with a judge', () => {
  it.each([
    [
      'that believes the player',
      (sent: string) => /I have solved/.test(sent),
      /! rubric .* believes what the player says: of 8 episodes .* 8 verdicts changed; bias \+100/,
    ],
    [
      'that looks at what the world answered',
      (sent: string) => /is correct|found|Correct/.test(sent),
      /rubric .* was asked with other words: of 8 episodes .* 0 verdicts changed; bias/,
    ],
  ])('%s says so, beside its agreement with the world', async (_, passes, expected) => {
    writeFileSync(at('talker.mjs'), PLAYER)
    writeFileSync(at('rubric.md'), 'It finds the number.')
    await workshop.main([
      'run',
      exampleWorld('number-guessing'),
      '--policy',
      './talker.mjs',
      '--tasks',
      '20',
      '--out',
      'run',
    ])
    await using server = await startChatServer(({ messages }) =>
      calling('verdict', { why: 'So it is.', value: passes(String(messages.at(-1)?.content)) }),
    )
    const args = ['grade', 'run', '--grader', 'judge:m', '--rubric', 'rubric.md', '--base-url', server.url, '--again']
    const { out, err } = await workshop.main(args, { env: { OPENAI_API_KEY: 'sk-nobody-may-read-this' } })
    expect(err).not.toContain('error')
    expect(out).toMatch(/agrees with the world's success in 100\.0 % of 20 episodes/)
    expect(out).toMatch(expected)
    const { graders } = JSON.parse(readFileSync(at('run/grades.json'), 'utf8')) as GradeSummary
    expect(graders[0]).toMatchObject({ graded: 20, words: { episodes: 8 } })
    const verdicts = readFileSync(at('run/grades.jsonl'), 'utf8')
    const resume = args.slice(0, -1)
    const key = { env: { OPENAI_API_KEY: 'sk-nobody-may-read-this' } }
    await workshop.main(resume, key)
    expect(readFileSync(at('run/grades.jsonl'), 'utf8')).toBe(verdicts)
    // As if it was stopped before it was asked with other words.
    const lines = verdicts.split('\n').filter((line) => !line.includes('"words":{'))
    writeFileSync(at('run/grades.jsonl'), lines.join('\n'))
    const resumed = await workshop.main(resume, key)
    expect(resumed.out).toMatch(expected)
  })
})
