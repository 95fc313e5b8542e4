import { checkTasks, generateTasks } from '@episodic/dataset'
import { connect, runEpisode } from '@episodic/env'
import { createHost, inProcess } from '@episodic/mcp-server'
import { describe, expect, it } from 'vitest'
import * as desk from './assistant.ts'
import { countConstraints, type Goal } from './goal.ts'
import * as world from './index.ts'
import { STAGES } from './stages.ts'

const COUNT = 200

describe.each([
  ['tasks of the traveller', world, 'goal-reached'],
  ['tasks of the assistant', desk, 'satisfied'],
] as const)('%s', (_, { environment, tasks, solver }, reason) => {
  const rows = [...generateTasks(tasks, { seed: 'test', count: COUNT })]

  it('pass every check', async () => {
    const problems = []
    for await (const problem of checkTasks(rows, { environments: [environment] })) problems.push(problem)
    expect(problems).toEqual([])
  })

  it('come in three stages, with more digressions and constraints in each', () => {
    for (const { name, digressions, constraints } of STAGES) {
      const stage = rows.filter(({ tags }) => tags.includes(name))
      expect(stage.length).toBeGreaterThan(COUNT / 5)
      for (const [kind, [least, most]] of Object.entries({ digressions, constraints })) {
        const counts = new Set(stage.map(({ tags }) => Number(tags.find((tag) => tag.startsWith(kind))?.split('-')[1])))
        expect([...counts].sort()).toEqual(Array.from({ length: most - least + 1 }, (__, i) => least + i))
      }
    }
  })

  it(`can all be solved, ${COUNT} dialogues`, async () => {
    await using host = createHost({ environments: [environment] })
    await using connection = await connect(inProcess(host))
    for (const task of rows) {
      const episode = await runEpisode({ createEnvironment: () => connection.environment(), policy: solver, task })
      expect(episode, task.prompt).toMatchObject({ kind: 'finished', end: { kind: 'terminated', reason } })
      expect(episode.steps.filter(({ info }) => info.refused)).toEqual([])
    }
  })
})

describe('the solver', () => {
  it('needs one turn for the trip, one for each question and one to accept, without trouble', async () => {
    await using host = createHost({ environments: [world.environment] })
    await using connection = await connect(inProcess(host))
    const rows = [...generateTasks(world.tasks, { seed: 'turns', count: 60 })]
    for (const task of rows.filter(({ params }) => params.trouble === 'none')) {
      const createEnvironment = () => connection.environment()
      const { steps } = await runEpisode({ createEnvironment, policy: world.solver, task })
      const { goal } = task.params as unknown as { readonly goal: Goal }
      expect(steps).toHaveLength(2 + goal.digressions.length)
    }
  })
})

describe('a goal', () => {
  it('agrees with its tags and its prompt', () => {
    for (const { params, tags, prompt } of generateTasks(world.tasks, { seed: 'goals', count: 100 })) {
      const { goal } = params as unknown as { readonly goal: Goal }
      expect(tags).toContain(`digressions-${goal.digressions.length}`)
      expect(tags).toContain(`constraints-${countConstraints(goal)}`)
      expect(prompt).toContain(goal.date)
      if (goal.budget !== null) expect(prompt).toContain(`$${goal.budget}`)
    }
  })
})
