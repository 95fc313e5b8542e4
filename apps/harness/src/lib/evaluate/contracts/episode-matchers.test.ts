import { stripVTControlCharacters } from 'node:util'
import { definePolicy, type Episode, scriptedPolicy } from '@episodic/env'
import { describe, expect, it } from 'vitest'
import { playEpisode } from '../../../vitest.ts'
import { guessing } from './guessing.fixture.ts'

const guess = (value: number) => ({ tool: 'guess', arguments: { value } })
const play = (...values: readonly number[]) =>
  playEpisode(guessing, { policy: scriptedPolicy(values.map(guess)), params: { target: 7 } })

describe('the matchers of an episode', () => {
  it('accept what it did', async () => {
    const episode = await play(3, 7)
    expect(episode).toSucceed()
    expect(episode).toEarn(0.8)
    expect(episode).toEndWith('found')
    expect(episode).toCallTools(['guess', 'guess'])
    expect(episode).toCallTools(['guess'])
    expect(episode).toStayWithin({ steps: 2, tokens: 0, cost: 0 })
    expect(episode).not.toEarn(0.81)
    expect(episode).not.toCallTools(['guess', 'guess', 'guess'])
    expect(episode).not.toEndWith('lost')
  })

  it('say what was expected, what was found, and the last steps', async () => {
    const episode = await play(1, 2, 3, 4, 5)
    expect(messageOf(() => expect(episode).toSucceed())).toBe(
      [
        'Expected the episode to succeed.',
        'The episode was terminated: lost after 5 steps.',
        'Its last steps:',
        '  3. guess {"value":3}',
        '     Wrong. 2 guesses left. (reward -0.1)',
        '  4. guess {"value":4}',
        '     Wrong. 1 guesses left. (reward -0.1)',
        '  5. guess {"value":5}',
        '     Wrong. (reward -0.1)',
      ].join('\n'),
    )
    expect(messageOf(() => expect(episode).toEarn(0.8))).toMatch(/to earn at least 0\.8\.\nIt earned -0\.5\./)
    const six = Array.from({ length: 6 }, () => 'guess' as const)
    expect(messageOf(() => expect(episode).toCallTools(six))).toMatch(/It called guess, guess, guess, guess/)
    expect(messageOf(() => expect(episode).toStayWithin({ steps: 4 }))).toMatch(
      /to stay within 4 steps\.\nIt used 5 steps of 4\./,
    )
    expect(messageOf(() => expect(episode).not.toEndWith('lost'))).toMatch(/^Expected the episode not to end with lost/)
  })

  it('compare the state that it left, with its private part', async () => {
    const episode = await play(3, 7)
    expect(episode.state).toEqual({ public: { left: 3 }, private: { target: 7 } })
    expect(episode).toLeaveState({ public: { left: 3 } })
    expect(episode).toLeaveState({ private: { target: expect.any(Number) } })
    expect(episode).not.toLeaveState({ public: { left: 3 }, private: { target: 8 } })
    const message = stripVTControlCharacters(messageOf(() => expect(episode).toLeaveState({ private: { target: 8 } })))
    expect(message).toContain('Expected the episode to leave the state.')
    expect(message).toMatch(/-\s+"target": 8,?\n\s*\+\s+"target": 7/)
    expect(message).not.toContain('"left"')
  })

  it('know the tools and the state of the world: a misspelt one does not compile, and is refused', async () => {
    const episode = await play(3, 7)
    // @ts-expect-error: there is no such tool
    const misspelt = messageOf(() => expect(episode).not.toCallTools(['gess']))
    expect(misspelt).toBe('toCallTools names "gess", and ten has no such tool. It has: guess.')
    // @ts-expect-error: the public state has no such field
    expect(episode).not.toLeaveState({ public: { lift: 3 } })
    // @ts-expect-error: there is no such parameter
    const refused = await playEpisode(guessing, { policy: scriptedPolicy([guess(7)]), params: { traget: 7 } })
    expect(refused).toMatchObject({ kind: 'failed', state: null })
    expect(String((refused as { cause?: unknown }).cause)).toContain('There is no "traget". Did you mean "target"?')
  })

  it('throw for a failed episode, with `not` too, since it has no result', async () => {
    const episode = await play(1)
    expect(episode.kind).toBe('failed')
    const wanted =
      /^toSucceed needs an episode with a result.*\nThe episode failed \(The script is over after 1 action.* after 1 step/
    expect(messageOf(() => expect(episode).toSucceed())).toMatch(wanted)
    expect(messageOf(() => expect(episode).not.toSucceed())).toMatch(wanted)
  })

  it('throw for what is no episode', () => {
    expect(messageOf(() => expect(play(7)).toSucceed())).toMatch(/takes an episode.*Is an `await` missing\?/)
  })

  it('count what models read, wrote and cost, and throw if that is not known', async () => {
    const asked = (promptTokens: number, cost: number | null): Promise<Episode> =>
      playEpisode(guessing, {
        params: { target: 7 },
        policy: definePolicy({
          name: 'asked',
          start: () => (_, view) => {
            view.onCompletion?.({ model: 'm', promptTokens, completionTokens: 5, cost, text: null })
            return guess(7)
          },
        }),
      })
    const episode = await asked(100, 0.25)
    expect(episode).toStayWithin({ tokens: 105, cost: 0.25 })
    expect(episode).not.toStayWithin({ tokens: 104 })
    expect(episode).not.toStayWithin({ cost: 0.2 })
    const free = await asked(0, null)
    expect(messageOf(() => expect(free).toStayWithin({ cost: 1 }))).toMatch(/give the policy prices/)
    expect(messageOf(() => expect(free).not.toStayWithin({ tokens: 1 }))).toMatch(/did not count them/)
  })
})

function messageOf(expectation: () => unknown): string {
  try {
    expectation()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The expectation was met.')
}
