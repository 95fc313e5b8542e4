import type { GatedRun, GatedTask } from '@episodic/analysis/gate/gate-runs'
import { describe, expect, it } from 'vitest'
import { formatJunit } from './gate-junit.ts'

function junitOf(...tasks: GatedTask[]): string {
  const run: GatedRun = {
    ...{ run: 'runs/mine', world: 'lamp', player: 'solver', problem: null, counts: null, decisions: [] },
    ...{ baseline: null, notes: [], lost: null, tasks },
  }
  return formatJunit({ verdict: 'met', passed: true, runs: [run] } as never, { undecided: 'fail' })
}

describe('formatJunit', () => {
  it('names a task by its id, and says below what was asked, also of one that failed', () => {
    const xml = junitOf(
      { id: '3f2a', prompt: 'Light the <second> lamp.', finished: 1, successes: 1, failures: [] },
      { id: '77c0', prompt: 'Light all.', finished: 0, successes: 0, failures: ['server-failed'] },
    )
    expect(xml).toContain(
      '<testcase classname="lamp.solver" name="task 3f2a"><system-out>Solved in 1 of 1 finished attempt.\nLight the &lt;second&gt; lamp.</system-out></testcase>',
    )
    expect(xml).toMatch(/name="task 77c0"><error [^>]*\/><system-out>Light all\.<\/system-out><\/testcase>/)
  })
})
