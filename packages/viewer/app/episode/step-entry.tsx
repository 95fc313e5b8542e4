import type { Action, Refusal } from '@episodic/protocol'
import { formatDuration, formatNumber } from '@episodic/report/text/format'
import { speechOf } from '@episodic/report/text/speech-of'
import type { EpisodeStates } from '@episodic/report/view/state-changes'
import { useContext } from 'preact/hooks'
import { PlayContext } from '../continue/play-context.ts'
import { formatSigned } from '../parts/amounts.ts'
import { JsonText } from '../parts/json-text.tsx'
import { LongText } from '../parts/long-text.tsx'
import { plain } from '../parts/plain-text.tsx'
import { AnswerRows } from './answer-rows.tsx'
import { Attachments } from './attachments.tsx'
import { StepChangesRow } from './change-list.tsx'
import { type EpisodeModel, numberOf } from './episode-model.ts'
import { FaultRows } from './faults/fault-rows.tsx'
import { BESIDE_TEXT, Call, ModelText, Row } from './message-view.tsx'

const REFUSALS: { readonly [why in Refusal]: string } = {
  rules: 'the rules do not allow it now',
  arguments: 'the arguments do not match the schema of the tool',
  tool: 'there is no such tool',
  time: 'the time limit had passed',
  ended: 'the episode had ended by then',
}

interface StepEntryProps {
  readonly model: EpisodeModel
  /** From 0. */
  readonly index: number
  readonly states: EpisodeStates | null
  readonly isChosen: boolean
  readonly onChoose: () => void
}

export function StepEntry({ model, index, states, isChosen, onChoose }: StepEntryProps) {
  const play = useContext(PlayContext)
  const step = model.shown.steps[index]
  if (!step) return null
  const { action, observation, refused, events = [], seat, milliseconds } = step
  const answers = model.answersOfStep[index] ?? []
  const [command, words] = [commandOf(action), speechOf(step)]
  return (
    <article
      class={`entry step ${refused ? 'refused' : ''} ${laneOf(model, seat)}`}
      aria-current={isChosen ? 'step' : undefined}
    >
      <div class="entry-side">
        <button
          type="button"
          class="bare step-number"
          aria-label={`Choose step ${numberOf(model, index)}`}
          onClick={onChoose}
        >
          {numberOf(model, index)}
        </button>
        {seat !== undefined && <span class="seat-name clip small">{plain(seat)}</span>}
      </div>
      <div class="entry-rows">
        {events.map((event) => (
          <Row key={event.id} label="event" kind="event">
            <code class="call wrap">
              <b>{plain(event.type)}</b>
            </code>{' '}
            {event.said !== null && <LongText id={`event:${index}/${event.id}`} text={event.said} />}
            {/* The texts that only one seat received are shown beside the data. */}
            {[event.data, event.sent ?? {}].map(
              (part, i) =>
                Object.keys(part).length > 0 && (
                  <JsonText key={i} id={`json:event${i}/${index}/${event.id}`} value={part} />
                ),
            )}
          </Row>
        ))}
        {answers.map((number, i) => {
          const answer = model.answers[number]
          const isLast = i === answers.length - 1
          return answer && <AnswerRows key={number} {...{ answer, number, isLast }} words={isLast ? words : null} />
        })}
        <FaultRows model={model} index={index} />
        <Row label={words === null ? 'call' : <span title={action.tool}>says</span>} kind="played">
          {words === null ? (
            <Call name={action.tool} args={command ?? JSON.stringify(action.arguments)} />
          ) : (
            <ModelText id={`says:${index}`} text={words} />
          )}
          {model.placeInAnswer[index] && <small class="muted"> call {model.placeInAnswer[index]} of one answer</small>}
          {refused && (
            <span class="bad">
              {' '}
              ✗ refused ({refused}): <span class="why">{REFUSALS[refused]}</span>
            </span>
          )}
        </Row>
        <Row
          label={
            <>
              world <small>{milliseconds !== null && formatDuration(milliseconds)}</small>
            </>
          }
          kind={refused ? 'fault' : 'world'}
        >
          <LongText id={`world:${index}`} text={observation.text} isOutput={command !== null} />
          <Attachments model={model} of={observation} />
        </Row>
        {observation.structured && (
          <Row label={<span title={BESIDE_TEXT}>data</span>}>
            <JsonText id={`json:world/${index}`} value={observation.structured} />
          </Row>
        )}
        {step.prepared !== undefined && (
          <Row label="prepared">
            <JsonText id={`json:prepared/${index}`} value={step.prepared} />
          </Row>
        )}
        <StepChangesRow states={states} step={index} stateHash={step.stateHash} />
        <RewardRow model={model} index={index} />
        {play && <play.Link step={index} />}
      </div>
    </article>
  )
}

/** Returns the command line of a call that gives nothing else, as a shell shows it; `null` for any other call. */
function commandOf({ arguments: { command, ...rest } }: Action): string | null {
  return typeof command === 'string' && Object.keys(rest).length === 0 ? `$ ${command}` : null
}

function RewardRow({ model, index }: { readonly model: EpisodeModel; readonly index: number }) {
  const [step, running] = [model.shown.steps[index], model.returns[index]]
  if (!step || !running) return null
  const { total, terms, shaping } = step.reward
  const entries = Object.entries(terms)
  const isWeighted = Math.abs(entries.reduce((sum, [, value]) => sum + value, 0) + shaping - total) > 1e-9
  return (
    <Row label="reward" kind="reward">
      <RewardValue model={model} value={total} />
      {entries.length > 0 && (
        <span class="terms">
          {isWeighted ? 'of raw terms' : '='}{' '}
          {entries.map(([name, value], i) => (
            <span key={name} class={value === 0 ? 'muted' : ''}>
              {i > 0 && ' · '}
              {plain(name)} {formatSigned(value)}
            </span>
          ))}
          {shaping !== 0 && ` · shaping ${formatSigned(shaping)}`}
        </span>
      )}
      <span class="flow push muted small">
        {step.potential !== null && <span title="the potential after the step">Φ {formatNumber(step.potential)}</span>}
        <span title="the return to go: rewards from this step on, not discounted">
          still to come {formatNumber(running.toGo)}
        </span>
        <span title="the sum of rewards up to this step">Σ {formatNumber(running.sum)}</span>
      </span>
    </Row>
  )
}

/** The reward of a step. One that most steps have does not stand out. */
export function RewardValue({ model, value }: { readonly model: EpisodeModel; readonly value: number }) {
  const text = formatSigned(value)
  return value === 0 || value === model.usualReward ? (
    <span class="muted">{text}</span>
  ) : (
    <b class={value > 0 ? 'gain' : 'loss'}>{text}</b>
  )
}

function laneOf({ seats }: EpisodeModel, seat: string | undefined): string {
  return seat === undefined ? '' : `lane lane-${seats.indexOf(seat) % 4}`
}
