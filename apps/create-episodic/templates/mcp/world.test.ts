import { definePolicy } from 'episodic'
import { playEpisode } from 'episodic/vitest'
import { expect, test } from 'vitest'
import { environment, solver, tasks } from './world.ts'

/** Milliseconds: each episode starts a process of the server. */
const TIMEOUT = 60_000

test(
  'the solver writes everything down',
  async () => {
    const episode = await playEpisode(environment, { policy: solver, params: { who: 'Alan', whom: 'Ada' } })
    expect(episode).toSucceed()
    expect(episode).toCallTools(['write_down', 'done'])
    expect(episode).toStayWithin({ steps: 3 })
  },
  TIMEOUT,
)

test(
  'an agent that writes nothing down does not succeed',
  async () => {
    const idle = definePolicy({ name: 'idle', start: () => () => ({ tool: 'done', arguments: { answer: 'Done.' } }) })
    const episode = await playEpisode(environment, { policy: idle })
    expect(episode).not.toSucceed()
    expect(episode).toEarn(0)
  },
  TIMEOUT,
)

test(
  'the solver solves the tasks',
  async () => {
    await expect({ environment, tasks }).toPass({ policy: solver, rate: 0.5, tasks: 10 })
  },
  TIMEOUT,
)
