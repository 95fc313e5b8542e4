import { inProcess } from '@episodic/mcp-server'
import { METHODS, WireError, type WireErrorCode } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { connect } from '../connect.ts'
import { createWalkHost } from '../fixtures/endpoints.fixture.ts'
import { move } from '../fixtures/walk.fixture.ts'
import { scriptedPolicy } from '../policy/scripted-policy.ts'
import { runEpisode } from './run-episode.ts'

/** A host in this process that refuses the step after the first with a code, and a count of what was asked. */
function refuseSecondStep(code: WireErrorCode) {
  const channel = inProcess(createWalkHost())
  const asked: string[] = []
  const count = (method: string) => asked.filter((name) => name === method).length
  const target: typeof channel = {
    ...channel,
    async request(method, params, options) {
      asked.push(method)
      if (method === 'tools/call' && count(method) === 2) throw new WireError(code, 'No longer.')
      return channel.request(method, params, options)
    },
  }
  return { target, count }
}

describe.each(['session-not-found', 'fenced', 'state-lost'] as const)('an episode whose step gets %s', (code) => {
  it('is void: failed with its steps, and never silently restarted', async () => {
    const { target, count } = refuseSecondStep(code)
    await using connection = await connect(target)
    const environment = connection.environment()
    const policy = scriptedPolicy([move(0), move(0), move(0)])
    const episode = await runEpisode({ createEnvironment: () => environment, policy })
    expect(episode).toMatchObject({ kind: 'failed', steps: [{ info: { seq: 1 } }], cause: { code } })
    expect(count(METHODS.open)).toBe(1)
    expect(count('tools/call')).toBe(2)
  })

  it('takes no further step until the next reset', async () => {
    const { target, count } = refuseSecondStep(code)
    await using connection = await connect(target)
    await using environment = connection.environment()
    await environment.reset()
    await environment.step(move(0))
    await expect(environment.step(move(0))).rejects.toMatchObject({ code })
    await expect(environment.step(move(0))).rejects.toMatchObject({
      code: 'not-playing',
      message: expect.stringContaining(`void (${code})`),
    })
    expect(count('tools/call')).toBe(2)
    await environment.reset()
    expect((await environment.step(move(0))).info.seq).toBe(1)
  })
})

it('does not close a session that another client took over', async () => {
  const { target, count } = refuseSecondStep('fenced')
  await using connection = await connect(target)
  const environment = connection.environment()
  await environment.reset()
  await environment.step(move(0))
  await expect(environment.step(move(0))).rejects.toMatchObject({ code: 'fenced' })
  await environment.close()
  expect(count(METHODS.close)).toBe(0)
})
