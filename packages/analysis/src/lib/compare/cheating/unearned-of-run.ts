import { findUnearned } from '@episodic/report/cheating/unearned'
import type { ComparedRun } from '../compared-run.ts'

/** Returns what a run earned without success, measured by the successful episodes of all runs that are compared. */
export function unearnedOfRun(run: ComparedRun, all: readonly ComparedRun[]): ReturnType<typeof findUnearned> {
  return findUnearned(
    all.flatMap((each) => returnsOf(each, true)),
    returnsOf(run, false),
  )
}

function returnsOf({ tasks }: ComparedRun, succeeded: boolean): number[] {
  const plays = [...tasks.values()].flatMap((task) => [...task.plays.values()])
  return plays.flatMap(({ outcome, unshaped }) =>
    outcome !== 'failed' && (outcome === 'succeeded') === succeeded ? [unshaped] : [],
  )
}
