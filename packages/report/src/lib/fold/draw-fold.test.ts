import { createRng, type EpisodeRecord } from '@episodic/protocol'
import { describe, expect, it } from 'vitest'
import { createFold } from './fold.ts'
import { isSuccess } from './scored-outcome.ts'
import { playRun } from './simulated-run.fixture.ts'

/** 60 draws of 2 rollouts each: 33 of a first stage, and then 27 of a second. */
function drawnRun(): EpisodeRecord[] {
  return playRun({ tasks: 60, attempts: 2, failures: 0.1 }).map((record, i) => {
    const draw = Math.floor(i / 2)
    return { ...record, curriculum: { draw, stage: draw < 33 ? 'first' : 'second' } }
  })
}

function courseOf(records: readonly EpisodeRecord[]) {
  const fold = createFold()
  for (const record of records) fold.add(record)
  return fold.finish({ name: 'run' }).curriculum
}

describe('the course of a curriculum in a summary', () => {
  it('counts every finished first play once, in parts that end where a stage ends', () => {
    const records = drawnRun()
    const course = courseOf(records) ?? []
    expect(course.map(({ from }) => from)).toEqual([0, ...course.slice(0, -1).map(({ to }) => to)])
    expect(course.filter(({ stage }) => stage === 'first').at(-1)?.to).toBe(33)
    expect(course.at(-1)).toMatchObject({ stage: 'second', to: 60 })
    const finished = records.filter(({ outcome }) => outcome.kind === 'finished')
    expect(course.reduce((sum, { count }) => sum + count, 0)).toBe(finished.length)
    expect(course.reduce((sum, { failed }) => sum + failed, 0)).toBe(records.length - finished.length)
    expect(course.reduce((sum, { successes }) => sum + successes, 0)).toBe(finished.filter(isSuccess).length)
    const [first] = course
    const drawn = records.slice(0, 2 * (first?.to ?? 0))
    expect(first?.difficulty).toBeCloseTo(drawn.reduce((sum, { task }) => sum + task.difficulty, 0) / drawn.length, 12)
  })

  it('depends neither on the order of the lines nor on later plays', () => {
    const records = drawnRun()
    const again = records.filter(({ outcome }) => outcome.kind === 'failed').map((record) => ({ ...record, try: 1 }))
    expect(again.length).toBeGreaterThan(0)
    expect(courseOf([...again, ...createRng('order').shuffle(records)])).toEqual(courseOf(records))
  })

  it('is null for a run without a curriculum', () => {
    expect(courseOf(playRun({ tasks: 3, attempts: 1 }))).toBeNull()
  })
})
