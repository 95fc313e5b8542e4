import type { Episode, PlayedStep } from '@episodic/env'
import { cleanText } from '@episodic/report/text/format'

/** Steps that a message shows, and characters of a text in it. */
const SHOWN_STEPS = 3
const SHOWN_TEXT = 160

export function formatEpisode(episode: Episode): string {
  const { steps } = episode
  const first = Math.max(0, steps.length - SHOWN_STEPS)
  return [
    `The episode ${formatEnd(episode)} after ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}.`,
    ...(first > 0 ? ['Its last steps:'] : []),
    ...steps.slice(first).map((step, i) => formatStep(first + i + 1, step)),
  ].join('\n')
}

export function formatAmount(amount: number): string {
  return String(Number(amount.toPrecision(6)))
}

export function formatCause(cause: unknown): string {
  return shorten(cause instanceof Error ? cause.message : String(cause))
}

function formatEnd(episode: Episode): string {
  if (episode.kind === 'failed') return `failed (${formatCause(episode.cause)})`
  const { end, stopped } = episode
  return `was ${end.kind}: ${end.reason}${stopped ? ` (${shorten(stopped.message)})` : ''}`
}

function formatStep(number: number, { action, observation, reward, info }: PlayedStep): string {
  const call = `${action.tool} ${shorten(JSON.stringify(action.arguments))}`
  const refused = info.refused ? `, refused: ${info.refused}` : ''
  return `  ${number}. ${call}\n     ${shorten(observation.text)} (reward ${formatAmount(reward.total)}${refused})`
}

function shorten(text: string): string {
  const line = cleanText(text).replace(/\s+/g, ' ').trim()
  return line.length > SHOWN_TEXT ? `${line.slice(0, SHOWN_TEXT)}…` : line
}
