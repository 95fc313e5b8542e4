import { definePolicy } from '@episodic/env'
import { describe, expect, it } from 'vitest'
import '../../../vitest.ts'
import { defineTasks } from '@episodic/dataset'
import { guessing } from './guessing.fixture.ts'

const world = {
  environment: guessing,
  // The prompt says the number, so that a test decides who succeeds.
  tasks: defineTasks({
    name: 'known',
    environment: guessing,
    generate: ({ index }) => ({
      prompt: `${index} ${1 + (index % 10)}`,
      params: { target: 1 + (index % 10) },
      difficulty: 0,
    }),
  }),
}

/** Plays the right number in the tasks that `solves` accepts, and throws in those that `breaks` accepts. */
function player(solves: (index: number) => boolean, breaks: (index: number) => boolean = () => false) {
  const played: number[] = []
  const policy = definePolicy({
    name: 'known',
    start({ task }) {
      const [index = 0, target = 0] = task.prompt.split(' ').map(Number)
      played.push(index)
      if (breaks(index)) throw new Error('The model is down.')
      return () => ({ tool: 'guess', arguments: { value: solves(index) ? target : 0 } })
    },
  })
  return { policy, played }
}

describe('toPass', () => {
  it('passes as soon as the rate is shown, without the other tasks', async () => {
    const { policy, played } = player(() => true)
    await expect(world).toPass({ policy, rate: 0.8, tasks: 50 })
    expect(played).toHaveLength(20)
  })

  it('fails as soon as the contrary is shown, with the first episode without success', async () => {
    const { policy, played } = player(() => false)
    const failed = expect(world).toPass({ policy, rate: 0.8, tasks: 50 })
    await expect(failed).rejects.toThrow(
      /It is shown that known of ten succeeds in fewer than 80\.0 % of the tasks: 0 of 3 episodes succeeded\.\nThe first without success, of seed .*:\nThe episode was terminated: lost after 5 steps\./,
    )
    expect(played).toHaveLength(3)
    await expect(world).not.toPass({ policy, rate: 0.8, tasks: 50 })
  })

  it('fails undecided, with `not` too, unless it is asked to pass', async () => {
    const { policy } = player((index) => index % 5 > 0)
    const gate = { policy, rate: 0.8, tasks: 10 }
    const undecided = /Undecided whether known of ten succeeds in more than 80\.0 % .*: 8 of 10 episodes succeeded/
    await expect(expect(world).toPass(gate)).rejects.toThrow(undecided)
    await expect(expect(world).not.toPass(gate)).rejects.toThrow(undecided)
    await expect(world).toPass({ ...gate, undecided: 'pass' })
    await expect(world).not.toPass({ ...gate, undecided: 'pass' })
  })

  it('counts failed episodes for neither side', async () => {
    const { policy, played } = player(
      () => true,
      (index) => index < 2,
    )
    await expect(world).toPass({ policy, rate: 0.8, tasks: 50 })
    expect(played).toHaveLength(22)
  })

  it('rejects if too many episodes fail, with `not` too', async () => {
    const gate = {
      ...player(
        () => false,
        () => true,
      ),
      rate: 0.8,
      tasks: 50,
    }
    const wanted = /^3 of 3 episodes failed, and of 50 tasks at most 2 may: .* The model is down\./
    await expect(expect(world).toPass(gate)).rejects.toThrow(wanted)
    await expect(expect(world).not.toPass(gate)).rejects.toThrow(wanted)
  })

  it('plays the default parameters of a world without tasks', async () => {
    const counting = definePolicy({
      name: 'counting',
      start() {
        let value = 0
        return () => ({ tool: 'guess', arguments: { value: ++value } })
      },
    })
    await expect({ environment: guessing }).toPass({ policy: counting, rate: 0.1, tasks: 40 })
  })

  it('rejects what cannot be asked', async () => {
    const { policy } = player(() => true)
    await expect(expect(world).toPass({ policy, rate: 1, tasks: 5 })).rejects.toThrow(/between 0 and 1/)
    await expect(expect(world).toPass({ policy, rate: 0.5, tasks: 0 })).rejects.toThrow(/from 1 up/)
    await expect(expect(guessing).toPass({ policy, rate: 0.5, tasks: 5 })).rejects.toThrow(/takes a world/)
  })
})
