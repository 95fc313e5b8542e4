import { studentPoint } from '@episodic/protocol/internal'
import { SIGNIFICANCE } from './significance.ts'

/**
 * The least p-value that a sign-flip test of so many tasks can have, if each differs, among so many tests: with
 * `tasks` signs there are 2^tasks assignments, of which two are as far from 0 (Fisher 1935), and Holm's procedure
 * multiplies the least of the p-values by the number of tests (Holm 1979).
 */
export function leastAdjustedP(tasks: number, tests: number): number {
  return Math.min(1, tests * 2 ** (1 - tasks))
}

export function fewestTasks(tests: number): number {
  return Math.floor(1 + Math.log2(tests / SIGNIFICANCE)) + 1
}

/**
 * The smallest true difference that a test at 5 % finds in 80 % of all samples of as many tasks, if they vary as these
 * do: the standard error times the sum of the point of Student's t at which the test decides and its 80 % point. Of
 * several tests, the one that Holm's procedure looks at first decides at 5 % divided by their number (Holm 1979).
 *
 * H. S. Bloom, "Minimum Detectable Effects: A Simple Way to Report the Statistical Power of Experimental Designs"
 * (1995).
 *
 * @returns `null` if the differences do not vary, or there is one.
 */
export function detectableDifference(
  { standardError, clusters }: { readonly standardError: number | null; readonly clusters: number },
  tests = 1,
): number | null {
  if (!standardError) return null
  return (studentPoint(clusters - 1, 1 - SIGNIFICANCE / tests) + studentPoint(clusters - 1, 0.6)) * standardError
}
