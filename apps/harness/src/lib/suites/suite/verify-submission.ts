import { findDifference } from '../../evaluate/replay/difference.ts'
import { readSuite } from './suite-file.ts'
import { planSuite, type SuitePlan, withPolicy } from './suite-plan.ts'
import { countVerdicts, readSuiteResult, type SuiteResult } from './suite-result.ts'
import { verifyLine } from './verify-line.ts'

/** Something in a result that does not follow from its suite or its episodes. */
export interface Finding {
  /** `null` for the result as a whole. */
  readonly world: string | null
  readonly line: string | null
  readonly what: string
}

/** A result that was checked. It is sound if there are no findings. */
export interface VerifiedSubmission {
  readonly folder: string
  readonly result: SuiteResult
  readonly findings: readonly Finding[]
}

export interface VerifyOptions {
  /** The suite. Default: the one that the result names. */
  readonly suite?: string | undefined
  /** Called before each line. */
  readonly onLine: (world: string, line: string) => void
}

/**
 * Checks the result of a suite against the suite and the worlds that are here: every line has to be in it, with the
 * figures that its sealed episodes have, and the rules have to produce these episodes.
 *
 * Rejects with `submission-invalid` if there is no result in the folder, and with the errors of {@link readSuite} and
 * {@link planSuite}.
 */
export async function verifySubmission(folder: string, { suite, onLine }: VerifyOptions): Promise<VerifiedSubmission> {
  const result = await readSuiteResult(folder)
  const own = await planSuite(readSuite(suite ?? result.suite.name))
  const plan = result.policy === null ? own : withPolicy(own, result.policy)
  const findings: Finding[] = compareSuites(result, plan).map((what) => ({ world: null, line: null, what }))
  // Figures of another suite cannot be compared with this one.
  if (findings.length > 0) return { folder, result, findings }
  for (const { world, lines } of plan.worlds) {
    const { name } = world.environment
    const claimed = result.worlds.find(({ environment }) => environment.name === name)?.lines ?? []
    const add = (line: string, what: string) => findings.push({ world: name, line, what })
    for (const line of lines) {
      onLine(name, line.id)
      const claims = claimed.filter(({ id }) => id === line.id)
      const [claim] = claims
      if (!claim || claims.length > 1)
        add(line.id, claim ? 'It is in the result twice.' : 'It is missing in the result.')
      else for (const what of await verifyLine(world, line, claim, { plan, folder })) add(line.id, what)
    }
    for (const { id } of claimed.filter(({ id }) => !lines.some((line) => line.id === id)))
      add(id, 'The suite has no such line.')
  }
  const counts = findDifference(result.counts, countVerdicts(result.worlds), 'counts')
  if (counts) findings.push({ world: null, line: null, what: `${counts.field} does not follow from the lines.` })
  return { folder, result, findings }
}

function compareSuites(result: SuiteResult, plan: SuitePlan): string[] {
  const { suite, seed, episodes, worlds } = result
  const versions = plan.worlds.flatMap(({ world: { environment } }) => {
    const { version } = worlds.find((one) => one.environment.name === environment.name)?.environment ?? {}
    return version === undefined || version === environment.version
      ? []
      : [`It was played with ${environment.name} ${version}, and here is ${environment.version}.`]
  })
  const strange = worlds.filter(
    (one) => !plan.worlds.some(({ world }) => world.environment.name === one.environment.name),
  )
  return [
    ...versions,
    ...strange.map(({ environment }) => `The suite has no world ${environment.name}.`),
    ...(suite.sha256 !== plan.sha256 && versions.length === 0
      ? [
          `It is of ${suite.name} ${suite.version}, SHA-256 ${suite.sha256}; the suite here, ${plan.name} ${plan.version}, has ${plan.sha256}: other worlds, lines or references.`,
        ]
      : []),
    ...(seed === plan.seed ? [] : [`Its seed is ${seed}, and that of the suite is ${plan.seed}.`]),
    ...(episodes === plan.episodes
      ? []
      : [`It plays ${episodes} episodes of each figure, and the suite ${plan.episodes}.`]),
  ]
}
