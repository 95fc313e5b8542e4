import type { EpisodeRecord } from '@episodic/protocol'
import type { GradeRecord } from './grade-record.ts'

/** Says of each quote whether a text of its step has it; white space may differ. */
export function checkEvidence(
  { steps }: Pick<EpisodeRecord, 'steps'>,
  evidence: readonly { readonly step: number; readonly quote: string }[],
): GradeRecord['evidence'] {
  return evidence.map(({ step, quote }) => {
    const words = plain(quote)
    const texts = textsOf(steps[step]).map(plain)
    return { step, quote, found: words !== '' && texts.some((text) => text.includes(words)) }
  })
}

function textsOf(step: EpisodeRecord['steps'][number] | undefined): string[] {
  if (!step) return []
  const { action, observation, events = [], completions = [] } = step
  return [
    action.tool,
    JSON.stringify(action.arguments),
    ...stringsIn(action.arguments),
    observation.text,
    ...(observation.structured ? [JSON.stringify(observation.structured)] : []),
    ...events.flatMap(({ said }) => said ?? []),
    ...completions.flatMap(({ text, reasoning }) => [text ?? '', reasoning ?? '']),
  ]
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : []
}

function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
