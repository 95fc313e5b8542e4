import { formatPercent, formatShareInterval, NOTHING, plural } from '@episodic/report/text/format'
import { alignColumns } from '@episodic/run/base/align-columns'
import type { SuiteResult } from './suite-result.ts'

type WorldResult = SuiteResult['worlds'][number]

/** What proves the worlds of a suite: golden actions, what doing nothing earns, known defects. */
function proofTable({ worlds }: SuiteResult) {
  const proved = worlds.filter((world) => world.golden || floorOf(world) || world.defects.length > 0)
  const rows = proved.map((world) => {
    const floor = floorOf(world)
    const wrong = new Set(world.defects.flatMap(({ tasks }) => tasks)).size
    return [
      world.name,
      wrong === 0 ? NOTHING : plural(wrong, 'task'),
      world.tasks === null ? NOTHING : String(world.tasks),
      world.golden ? `${world.golden.equal}/${world.golden.compared}` : NOTHING,
      floor ? `${floor.successes}/${floor.count}` : NOTHING,
      floor ? formatPercent(floor.rate) : '',
    ]
  })
  return { head: ['world', 'known defects', 'tasks', 'golden', 'floor', 'share'], rows }
}

export function formatProof(result: SuiteResult): string[] {
  const { head, rows } = proofTable(result)
  const { worlds, notReproduced, sources } = result
  return [
    ...(rows.length > 0 ? alignColumns(head, rows, 2) : []),
    ...worlds.flatMap(({ name, defects }) =>
      defects.length > 0 ? [`  ${name}: known defects ${[...new Set(defects.map(formatIssue))].join(', ')}`] : [],
    ),
    ...listScores(result).map((line) => `  ${line}`),
    ...notReproduced.map((what) => `  not reproduced: ${what}`),
    ...(sources.length > 0
      ? [`  data by SHA-256: ${sources.map(({ name, licence }) => `${name} (${licence})`).join(', ')}`]
      : []),
  ]
}

/** An issue as people write it: `owner/name#7`. */
function formatIssue({ issue }: WorldResult['defects'][number]): string {
  return issue.replace(/^https:\/\/github\.com\/([^/]+\/[^/]+)\/(?:issues|pull)\/(\d+)$/, '$1#$2')
}

/** Sentences for all that is not as in the original. */
export function listDifferences({ worlds }: SuiteResult): string[] {
  return worlds.flatMap((world) => [
    ...(world.golden?.differs.map((what) => `${world.name}: ${what}.`) ?? []),
    ...world.lines.flatMap((line) =>
      line.kind === 'played' && line.id === 'floor' && line.verdict === 'differs' && line.solved
        ? [
            `${world.name}: doing nothing solves ${line.solved.successes} tasks, and the suite says ${line.reference.source}.`,
          ]
        : [],
    ),
  ])
}

function floorOf({ lines }: Pick<WorldResult, 'lines'>) {
  const [floor] = lines.flatMap((line) => (line.kind !== 'exact' && line.id === 'floor' ? [line] : []))
  return floor?.solved ?? null
}

/** Scores with what their interval leaves open, and the same without the tasks that are known to be wrong. */
function listScores({ worlds }: SuiteResult): string[] {
  return worlds.flatMap(({ name, golden, lines }) => {
    const floor = floorOf({ lines })
    return lines.flatMap((line) => {
      if (line.kind === 'exact' || !line.solved) return []
      const who = line.id === 'floor' ? 'doing nothing' : line.policy
      const further = line.solved.verdicts.map(({ name, rate }) => `${name} ${formatPercent(rate)}`)
      const verdicts = further.length > 0 ? [`${name}: ${who} has ${further.join(', ')}`] : []
      if (line.kind !== 'scored' || line.id === 'floor') return verdicts
      const { successes, count, clusters, rate, withoutDefects, flips, low, high } = line.solved
      const noise = low === null || high === null ? NOTHING : `± ${(((high - low) / 2) * 100).toFixed(1)} points`
      const repeats =
        flips === null
          ? 'each played once, so flips between repeats are unknown: --rollouts 4'
          : `${flips} of them solved in some rollouts and not in others`
      return [
        `${name}: ${line.policy} solves ${formatPercent(rate)} (${successes}/${count}), 95 % interval ${formatShareInterval({ low, high })}`,
        `${name}: noise ${noise} with ${plural(clusters, 'task')}, ${repeats}`,
        ...(withoutDefects
          ? [
              `${name}: without known defects ${formatPercent(withoutDefects.rate)} (${withoutDefects.successes}/${withoutDefects.count})`,
            ]
          : []),
        ...verdicts,
        `${name}: floor ${floor ? `${formatPercent(floor.rate)} (${floor.successes}/${floor.count} by doing nothing)` : 'not measured: its module exports no policy "nothing"'}, oracle ${golden ? `${golden.equal}/${golden.compared} by golden actions` : 'not measured: it has no golden actions'}`,
      ]
    })
  })
}
