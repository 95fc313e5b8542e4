import type { EmbeddedRun, EmbeddedRuns } from '@episodic/report'
import { HarnessError } from '../harness-error.ts'
import { secretVariables } from '../run/record/recording.ts'
import { type FoundSecret, findSecrets } from './find-secrets.ts'

/** Places that the error names. */
const MOST_NAMED = 10

/** Throws `secret-found` if what is to be shared has texts that look like keys. Its message names their places alone. */
export function assertNoSecrets({ runs, ...rest }: EmbeddedRuns): void {
  const variables = secretVariables()
  const places = [
    ...runs.flatMap((run) => secretsOf(run, variables)),
    ...[...findSecrets(rest, variables)].map((secret) => describe('the file', secret)),
  ]
  if (places.length === 0) return
  const more = places.length > MOST_NAMED ? [`and ${places.length - MOST_NAMED} more`] : []
  throw new HarnessError(
    'secret-found',
    [
      'Nothing was written, because texts in it look like secrets:',
      ...[...places.slice(0, MOST_NAMED), ...more].map((place) => `  ${place}`),
      'Make such keys invalid, since they are in the files of the run too. To share the rest, leave these episodes out with --query, or withhold prompts. With --allow-secrets they are shared.',
    ].join('\n'),
  )
}

function secretsOf(
  { detail, words, lines, grades, states = {} }: EmbeddedRun,
  variables: ReturnType<typeof secretVariables>,
) {
  const run = `run ${detail.entry.name}`
  const find = (value: unknown, place: string) =>
    [...findSecrets(value, variables)].map((secret) => describe(place, secret))
  return [
    ...find(detail, run),
    ...words.flatMap(({ row, task, attempt, prompt, message }) => {
      const place = `${run}, task ${task.slice(0, 12)}, attempt ${attempt}`
      const line = lines[row]
      return [
        ...(line === undefined ? find({ prompt, message }, place) : find(JSON.parse(line), place)),
        ...find(states[row], `${place}, its states`),
      ]
    }),
    ...grades.flatMap((grade) =>
      find(grade, `${run}, task ${grade.task.slice(0, 12)}, attempt ${grade.attempt}, a verdict`),
    ),
  ]
}

function describe(place: string, { field, kind }: FoundSecret): string {
  return `${place}: ${field} has ${kind}`
}
