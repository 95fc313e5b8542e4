import type { RecordedStep } from '@episodic/protocol'

/** Returns what a step said, in a world in which words are a move; `null` for every other action. */
export function speechOf({ speech, action }: Pick<RecordedStep, 'speech' | 'action'>): string | null {
  const [words] = Object.values(action.arguments)
  return speech && typeof words === 'string' ? words : null
}
