import type { EpisodeEnd, ToolInfo } from '@episodic/protocol'
import { expect, it } from 'vitest'
import { checkServed } from '../check-world.ts'
import type { Attempt, CheckTarget } from '../targets/target.ts'

const STEP: ToolInfo = {
  name: 'step',
  description: 'Moves.',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: { type: 'object', properties: { at: { type: 'integer' } }, required: ['at'] },
}

function answering(structured: { readonly at?: number }, outputSchema = STEP.outputSchema): CheckTarget {
  const observation = { text: 'A line.', structured }
  const open = async (): Promise<Attempt> => {
    let end: EpisodeEnd | null = null
    return {
      ...{ turn: ['agent'], state: null, succeeds: () => null, fork: open },
      get end() {
        return end
      },
      view: () => ({ observation, tools: [{ ...STEP, outputSchema }], last: null }),
      async step() {
        end = { kind: 'terminated', reason: 'done' }
        return { reward: 0.5, rewards: { agent: 0.5 }, terms: { reward: 0.5 }, refused: null, observation, end }
      },
      async [Symbol.asyncDispose]() {},
    }
  }
  const task = { id: 'a', prompt: 'Move.', hints: [], params: {}, seed: '1', steps: 5 }
  const parts = {
    name: 'line',
    version: '1.0.0',
    forks: false,
    isOwn: false,
    seats: ['agent'],
    tasks: [task],
    oracle: null,
  }
  return { ...parts, open, openBeside: open, async [Symbol.asyncDispose]() {} }
}

it('warns of an answer that is not as the server declares it', async () => {
  const warningsOf = async (...given: Parameters<typeof answering>) => {
    const { checks } = await checkServed(answering(...given), { only: ['rewards'] })
    return checks.flatMap(({ warnings }) => warnings.map(({ name }) => name))
  }
  expect(await warningsOf({ at: 1 })).not.toContain('answer-undeclared')
  expect(await warningsOf({})).toContain('answer-undeclared')
  expect(await warningsOf({}, { $ref: 'https://elsewhere.example/schema' })).not.toContain('answer-undeclared')
})
