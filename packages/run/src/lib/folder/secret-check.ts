import type { EmbeddedRuns } from '@episodic/report/view/embedded-runs'
import type { RowWords } from '@episodic/report/view/run-entry'
import { HarnessError } from '../base/harness-error.ts'
import { type FoundSecret, findSecrets } from './find-secrets.ts'
import { secretVariables } from './record/recording.ts'

const MOST_NAMED = 10

/**
 * Creates a search for texts that look like keys in what is to be written. It keeps the first places, and counts the
 * others.
 *
 * @param advice - what to do with what was found, beside making it invalid.
 */
export function createSecretSearch(advice: string) {
  const variables = secretVariables()
  const places: string[] = []
  let count = 0
  return {
    /** @param place - where the value is, in words. */
    find(value: unknown, place: string): void {
      for (const secret of findSecrets(value, variables)) {
        count += 1
        if (places.length < MOST_NAMED) places.push(formatSecret(place, secret))
      }
    },
    /** Throws `secret-found` if there were some. Its message names their places alone. */
    assertNone(): void {
      if (count === 0) return
      const more = count > places.length ? [`and ${count - places.length} more`] : []
      throw new HarnessError('secret-found', [
        'Nothing was written, because texts in it look like secrets:',
        ...[...places, ...more].map((place) => `  ${place}`),
        `Make such keys invalid, since they are in the files of the run too. ${advice}`,
      ])
    },
  }
}

const SHARING =
  'To share the rest, leave these episodes out with --query, or withhold prompts. With --allow-secrets they are shared.'

/** Throws `secret-found` if what is to be shared has texts that look like keys. */
export function assertNoSecrets({ runs, ...rest }: EmbeddedRuns): void {
  const { find, assertNone } = createSecretSearch(SHARING)
  for (const { detail, words, lines, grades, states = {} } of runs) {
    const { name } = detail.entry
    find(detail, `run ${name}`)
    for (const grade of grades) find(grade, `${formatPlace(name, grade)}, a verdict`)
    for (const ofRow of words) {
      const line = lines[ofRow.row]
      const { prompt, message, row } = ofRow
      find(line === undefined ? { prompt, message } : JSON.parse(line), formatPlace(name, ofRow))
      find(states[row] ?? null, `${formatPlace(name, ofRow)}, its states`)
    }
  }
  find(rest, 'the file')
  assertNone()
}

function formatPlace(run: string, { task, attempt }: Pick<RowWords, 'task' | 'attempt'>): string {
  return `run ${run}, task ${task.slice(0, 12)}, attempt ${attempt}`
}

function formatSecret(place: string, { field, kind }: FoundSecret): string {
  return `${place}: ${field} has ${kind}`
}
