import { formatCost, formatCount, formatDuration, plural } from '@episodic/report/text/format'
import { plain } from '../parts/plain-text.tsx'
import { Call, MessageContent, ModelText, Row, ThoughtText } from './message-view.tsx'
import type { AnsweredRequest } from './requests.ts'

interface AnswerRowsProps {
  readonly answer: AnsweredRequest
  readonly number: number
  readonly isLast: boolean
  /** What it said as its move, which is shown as that; `null` for any other answer. */
  readonly words: string | null
}

export function AnswerRows({ answer: { completion, added: sent }, number, isLast, words }: AnswerRowsProps) {
  const { text, reasoning, calls = [], tries = [], cut = 0 } = completion
  // What the first answer was sent is shown as the start of the episode.
  const added = number === 0 ? [] : (sent ?? []).filter(({ message }) => message.role !== 'assistant')
  const others = calls.filter(({ played }) => !played)
  const decided = words !== null || calls.some(({ played }) => played)
  return (
    <div class={`answer ${isLast ? '' : 'earlier'}`}>
      {added.map(({ id, message }) => (
        <Row key={id} label={String(message.role ?? 'sent')} kind="sent">
          <MessageContent id={`${number}/${id}`} message={message} />
        </Row>
      ))}
      {tries.map(({ status, code, milliseconds }, i) => (
        <Row key={i} label="failed" kind="fault">
          <b>✗ {status === null ? plain(code) : `HTTP ${status}`}</b>
          {status === null && code === 'incomplete' && ', the answer broke off'} after {formatDuration(milliseconds)}
          {i === tries.length - 1 && completion.time && completion.time.waited >= 1 && (
            <>, then waited {formatDuration(completion.time.waited)} in all</>
          )}
        </Row>
      ))}
      <Row label={<span class="role">model</span>} kind="spent">
        <AnswerFigures completion={completion} />
        {cut > 0 && <span class="flag">▲ {plural(cut, 'character')} cut out of its texts</span>}
      </Row>
      {reasoning !== undefined && reasoning !== '' && (
        <Row label="reasoning">
          <ThoughtText id={`thought:${number}/reasoning`} name="" text={reasoning} />
        </Row>
      )}
      {text && text !== words && (
        <Row label="text">
          <ModelText id={String(number)} text={text} />
        </Row>
      )}
      {others.length > 0 && (
        <Row label={decided ? 'also called' : 'called'} kind={decided ? '' : 'fault'}>
          {others.map(({ name, arguments: args }, i) => (
            <div key={i}>
              <Call name={name} args={args} /> <span class="flag">▲ not played</span>
            </div>
          ))}
        </Row>
      )}
      {!decided && calls.length === 0 && (
        <Row label="called" kind="fault">
          ✗ no tool
        </Row>
      )}
      {!decided && calls.length > 0 && isBroken(calls[0]?.arguments) && (
        <Row label="" kind="fault">
          ✗ its arguments are no JSON object
        </Row>
      )}
    </div>
  )
}

export function AnswerFigures({ completion }: { readonly completion: AnsweredRequest['completion'] }) {
  const { model, asked, policyVersion, promptTokens, completionTokens, time, cost, finish, leftOut = [] } = completion
  const { cachedTokens, reasoningTokens } = completion
  const parts = [
    reasoningTokens !== undefined && `${formatCount(reasoningTokens)} reasoning`,
    cachedTokens !== undefined && `${formatCount(cachedTokens)} cached`,
  ].filter(Boolean)
  return (
    <span class="answer-figures flow muted small">
      <span title={asked === undefined ? 'the model, as its server named it' : `asked for as ${asked}`}>
        {plain(asked !== undefined && asked !== model ? `${asked} (served by ${model})` : model)}
      </span>
      {policyVersion !== undefined && (
        <span title="version of the weights that wrote it, as the server named it">version {plain(policyVersion)}</span>
      )}
      <span>
        {formatCount(promptTokens)} → {formatCount(completionTokens)} tok
        {parts.length > 0 && ` (${parts.join(', ')})`}
      </span>
      {time && <span>{formatDuration(time.milliseconds)}</span>}
      {time && time.waited >= 1 && <span>waited {formatDuration(time.waited)}</span>}
      {leftOut.length > 0 && <span title="the server had refused it">without {plain(leftOut.join(', '))}</span>}
      {cost !== null && <span>cost {formatCost(cost)}</span>}
      {finish !== undefined && (
        <span title="why the answer ended">
          {plain(finish)}
          {finish === 'length' && ' ▲'}
        </span>
      )}
    </span>
  )
}

function isBroken(args: string | undefined): boolean {
  if (args === undefined || args === '') return false
  try {
    const value: unknown = JSON.parse(args)
    return typeof value !== 'object' || value === null || Array.isArray(value)
  } catch {
    return true
  }
}
