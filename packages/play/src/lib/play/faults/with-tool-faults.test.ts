import { connect, definePolicy, type Policy, runEpisode } from '@episodic/env'
import { createHost, defineEnvironment, inProcess } from '@episodic/mcp-server'
import type { ToolFaultRates } from '@episodic/run/folder/plan/faults/tool-fault-rates'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ToolFault, withToolFaults } from './with-tool-faults.ts'

/** A counter whose answers say how often each tool was called, so that no two answers of a tool are the same. */
const counter = defineEnvironment({
  name: 'counter',
  version: '1.0.0',
  description: 'Count.',
  state: { public: z.object({ counts: z.record(z.string(), z.int()) }), private: z.object({}) },
  start: () => ({ public: { counts: {} }, private: {} }),
  observe: ({ counts }) => `Now ${JSON.stringify(counts)}.`,
  speech: 'say',
  tools({ tool }) {
    const counted = (name: string) =>
      tool({
        description: 'Counts.',
        input: z.object({}),
        play({ state, say }) {
          state.public.counts[name] = (state.public.counts[name] ?? 0) + 1
          return say(`${name} ${state.public.counts[name]}`)
        },
      })
    return {
      ...{ left: counted('left'), right: counted('right') },
      say: tool({ description: 'Speaks.', input: z.object({ text: z.string() }), play: ({ say }) => say('Yes.') }),
    }
  },
  rewards: {},
})

type Tool = 'left' | 'right' | 'say'
const actionOf = (tool: Tool) => ({ tool, arguments: tool === 'say' ? { text: 'So?' } : {} })

/** Plays these calls until the world has answered as many, and keeps what the player reads and calls. */
async function play(
  calls: readonly Tool[],
  { rates, seed }: { readonly rates?: ToolFaultRates; readonly seed: string },
) {
  const [read, made, faults, waits]: [string[], Tool[], ToolFault[], number[]] = [[], [], [], []]
  const policy: Policy = definePolicy({
    name: 'reader',
    start: () => (observation) => {
      const tool = calls[made.length % calls.length] as Tool
      read.push(observation.text)
      made.push(tool)
      return actionOf(tool)
    },
  })
  const wait = async (milliseconds: number) => void waits.push(milliseconds)
  const faulty = rates
    ? withToolFaults(policy, { rates, seed, wait, onFault: (fault) => void faults.push(fault) })
    : policy
  await using connection = await connect(inProcess(createHost({ environments: [counter] })))
  const createEnvironment = () => connection.environment('counter')
  const task = { limits: { steps: calls.length } }
  const episode = await runEpisode({ createEnvironment, policy: faulty, task, seed: 'world' })
  const answers = episode.steps.map(({ observation }) => observation.text)
  return { read, made, faults, waits, episode, answers, start: episode.start?.observation.text ?? '' }
}

const rates = fc
  .tuple(...['error', 'slow', 'stale'].map(() => fc.double({ min: 0, max: 0.3, noNaN: true })))
  .map(([error = 0, slow = 0, stale = 0]) => ({ error, slow, stale }))
const calls = fc.array(fc.constantFrom<Tool>('left', 'right', 'say'), { minLength: 1, maxLength: 12 })

describe('withToolFaults', () => {
  it('leaves the world alone, and says of each call what the player read in place of the answer', async () => {
    await fc.assert(
      fc.asyncProperty(calls, rates, fc.string(), async (given, rates, seed) => {
        const { read, made, faults, waits, episode, answers, start } = await play(given, { rates, seed })
        if (episode.kind === 'failed') throw episode.cause
        const errors = faults.filter(({ kind }) => kind === 'error')
        // The world has every call but those that did not reach it, and answers as it does without faults.
        const reached = episode.steps.map(({ action }) => action.tool as Tool)
        expect(made).toHaveLength(reached.length + errors.length)
        const again = await play(reached, { seed })
        expect(episode.steps.map(({ info }) => info.stateHash)).toEqual(
          again.episode.steps.map(({ info }) => info.stateHash),
        )
        // What the player read follows from the steps and the faults alone.
        const expected = [...answers.keys(), answers.length].flatMap((at) => {
          const stale = faults.find((fault) => fault.kind === 'stale' && fault.step === at - 1)
          const answer = at === 0 ? start : answers[stale?.read ?? at - 1]
          return [answer, ...errors.filter(({ step }) => step === at).map(({ text }) => text)]
        })
        expect(read).toEqual(expected.slice(0, read.length))
        for (const { kind, step, read = 0, call } of faults) {
          if (kind === 'stale') expect([read < step, reached[read]]).toEqual([true, reached[step]])
          expect(kind === 'error' ? call?.tool : reached[step]).not.toBe('say')
        }
        expect(waits).toHaveLength(faults.filter(({ kind }) => kind === 'slow').length)
        expect(await play(given, { rates, seed })).toMatchObject({ faults, read })
      }),
    )
  })

  it('lets as many calls fail as it was asked for, and with a larger share the same calls and more', async () => {
    const given = Array.from({ length: 400 }, (): Tool => 'left')
    const failing = async (error: number) =>
      (await play(given, { rates: { error }, seed: 'a seed' })).faults.map(({ step }) => step)
    const [few, many] = [await failing(0.05), await failing(0.3)]
    expect(few.length / (400 + few.length)).toBeCloseTo(0.05, 1)
    expect(many.length / (400 + many.length)).toBeCloseTo(0.3, 1)
    const { faults } = await play(given, { rates: { stale: 0.5 }, seed: 'a seed' })
    expect(faults.length / 400).toBeCloseTo(0.5, 1)
  })
})
