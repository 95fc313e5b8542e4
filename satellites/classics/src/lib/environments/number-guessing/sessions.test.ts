import { connect } from '@episodic/env'
import { createHost, inProcess, rehearse } from '@episodic/mcp-server'
import { METHODS } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { environment } from '../number-guessing.ts'

/** An agent with the capability of one session. */
async function openForAgent(seed: string) {
  const host = createHost({ environments: [environment] })
  const connection = await connect(inProcess(host))
  const trainer = connection.environment()
  const { observation, info } = await trainer.reset({ params: { maxGuesses: 3 }, seed })
  const address = { by: 'capability', token: info.capability as string } as const
  const agent = inProcess(host, { endpoint: 'agent', principal: null, address })
  const guess = (args: { readonly [name: string]: number }) =>
    agent.request('tools/call', { name: 'guess', arguments: args })
  return { trainer, observation, agent, guess, [Symbol.asyncDispose]: () => host[Symbol.asyncDispose]() }
}

// Such games are easily built with loopholes. This one has none.
describe('an agent in a session', () => {
  it('has one tool, which accepts only a guess', () => {
    expect(environment.toolInfos.map(({ name }) => name)).toEqual(['guess'])
    expect(environment.toolInfos[0]?.inputSchema.properties).toEqual({ value: expect.anything() })
  })

  it('cannot set the hidden number', async () => {
    await using session = await openForAgent('a')
    const target = targetOf('a')
    const wrong = target === 1 ? 2 : 1
    await session.guess({ value: wrong, target: wrong })
    const { structuredContent } = (await session.guess({ value: target })) as { structuredContent: object }
    expect(structuredContent).toMatchObject({ value: target, hint: 'correct' })
  })

  it('cannot open, read or close a session', async () => {
    await using session = await openForAgent('a')
    for (const method of Object.values(METHODS))
      await expect(session.agent.request(method, {})).rejects.toMatchObject({ code: 'method-not-found' })
  })

  it('gets the same first observation for every hidden number', async () => {
    await using session = await openForAgent('a')
    await using other = await openForAgent('b')
    expect(targetOf('a')).not.toBe(targetOf('b'))
    expect(session.observation).toEqual(other.observation)
  })

  it('starts with all its guesses', async () => {
    await using session = await openForAgent('a')
    expect(session.observation.structured).toMatchObject({ guessesLeft: 3, guesses: [] })
    const step = await session.trainer.step({ tool: 'guess', arguments: { value: -1 } })
    expect(step.info).toMatchObject({ seq: 1, refused: 'rules' })
    expect(step.observation.text).toContain('3 guesses left')
  })

  it('receives no reward', async () => {
    await using session = await openForAgent('a')
    const answer = await session.guess({ value: 50 })
    expect(Object.keys(answer as object).sort()).toEqual(['content', 'structuredContent'])
    expect(JSON.stringify(answer)).not.toMatch(/reward|terms|potential|solved/)
  })

  it('shares nothing with another session', async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    await using left = connection.environment()
    await using right = connection.environment()
    await left.reset({ seed: 'a' })
    await right.reset({ seed: 'b' })
    for (const value of [90, 80, 70]) {
      const step = await left.step({ tool: 'guess', arguments: { value } })
      expect(step.observation.structured?.hint).toBe(value < targetOf('a') ? 'higher' : 'lower')
    }
    const first = await right.step({ tool: 'guess', arguments: { value: 1 } })
    expect(first.observation.text).toContain('7 guesses left')
  })
})

function targetOf(seed: string): number {
  return (rehearse(environment, { seed }).state.private as { target: number }).target
}
