import { LongText } from '../../parts/long-text.tsx'
import type { EpisodeModel } from '../episode-model.ts'
import { Call, Row } from '../message-view.tsx'

/** What failed between the player and its world at a step, and behind the last one: see `--tool-faults`. */
export function FaultRows({ model, index }: { readonly model: EpisodeModel; readonly index: number }) {
  const { shown, record } = model
  const { seat } = shown.steps[index] ?? {}
  const own = [...shown.steps.keys()].filter((each) => shown.steps[each]?.seat === seat)
  const at = own.indexOf(index)
  const isMet = (step: number) => step === at || (at === own.length - 1 && step > at)
  return record.faults
    ?.filter((fault) => fault.seat === seat && isMet(fault.step))
    .map(({ kind, call, text = '', read = 0 }, i) => (
      <Row key={i} label="tool fault" kind="fault">
        {call && <Call name={call.tool} args={JSON.stringify(call.arguments)} />}{' '}
        <span class="bad">
          ✗ {{ error: 'not sent:', slow: 'late', stale: `the answer of step ${(own[read] ?? 0) + 1}` }[kind]}
        </span>{' '}
        {text && <LongText id={`fault:${index}/${i}`} text={text} />}
      </Row>
    ))
}
