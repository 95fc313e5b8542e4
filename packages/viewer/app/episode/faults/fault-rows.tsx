import { LongText } from '../../parts/long-text.tsx'
import type { EpisodeModel } from '../episode-model.ts'
import { Call, Row } from '../message-view.tsx'

/** What failed between the player and its world at a step, and behind the last one: see `--tool-faults`. */
export function FaultRows({ model, index }: { readonly model: EpisodeModel; readonly index: number }) {
  const { shown, record } = model
  const { seat } = shown.steps[index] ?? {}
  const own = [...shown.steps.keys()].filter((each) => shown.steps[each]?.seat === seat)
  const at = own.indexOf(index)
  const met = record.faults?.filter((fault) => fault.seat === seat && (fault.step === at || fault.step - 1 === at))
  return met
    ?.filter(({ step }) => step === at || step === own.length)
    .map(({ kind, call, text = '', read = 0 }, i) => (
      <Row key={i} label="tool fault" kind="fault">
        {call && <Call name={call.tool} args={JSON.stringify(call.arguments)} />}{' '}
        <span class="bad">
          {kind === 'error' && '✗ did not reach the world; the player read:'}
          {kind === 'slow' && '✗ the answer came late'}
          {kind === 'stale' && `✗ the player read the answer of step ${(own[read] ?? 0) + 1} in place of this one`}
        </span>{' '}
        {text && <LongText id={`fault:${index}/${i}`} text={text} />}
      </Row>
    ))
}
