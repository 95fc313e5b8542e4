import { plural } from '@episodic/report/text/format'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { DiffLineView } from '../parts/diff-lines.tsx'
import { Fold } from '../parts/folds.tsx'
import { lineDiff } from '../parts/line-diff.ts'
import { EmptyNote } from '../parts/notes.tsx'
import { plain } from '../parts/plain-text.tsx'
import { VirtualList } from '../parts/virtual/virtual-list.tsx'
import { AnswerFigures } from './answer-rows.tsx'
import type { EpisodeModel } from './episode-model.ts'
import { MessageContent, Row, ToolList } from './message-view.tsx'
import { type SentMessage, type SentRequest, sentRequest } from './requests.ts'

export function SentTab({ model, step }: { readonly model: EpisodeModel; readonly step: number | null }) {
  const { answers } = model
  const ofStep = step === null ? 0 : (model.answersOfStep[step]?.at(-1) ?? answerBefore(model, step))
  const [number, setNumber] = useState(ofStep)
  const [onlyNew, setOnlyNew] = useState(false)
  useEffect(() => setNumber(ofStep), [ofStep])
  const answer = answers[number]
  const request = useMemo(() => (answer ? sentRequest(model.record, answer.completion) : null), [model, answer])
  const items = useMemo(() => (request ? requestItems(request) : []), [request])
  const shown = onlyNew ? items.filter((item) => item.kind !== 'message' || item.message.state === 'new') : items
  if (answers.length === 0)
    return (
      <EmptyNote title="No model was asked, as far as is recorded.">
        <p class="muted">What a model was sent is recorded where the harness asks it, or a recording proxy does.</p>
      </EmptyNote>
    )
  return (
    <section class="sent-tab">
      <div class="flow mid block">
        <button type="button" class="button" disabled={number <= 0} onClick={() => setNumber(number - 1)}>
          ‹<span class="unseen"> earlier request</span>
        </button>
        <span class="request-choice">
          Request{' '}
          <select
            aria-label="Request"
            value={String(number)}
            onChange={({ currentTarget }) => setNumber(Number(currentTarget.value))}
          >
            {answers.map(({ step: place, seat }, i) => (
              <option key={i} value={String(i)}>
                {i + 1} of {answers.length}, {place === null ? 'no step' : `step ${place + 1}`}
                {seat === null ? '' : `, ${seat}`}
              </option>
            ))}
          </select>
        </span>
        <button
          type="button"
          class="button"
          disabled={number >= answers.length - 1}
          onClick={() => setNumber(number + 1)}
        >
          ›<span class="unseen"> later request</span>
        </button>
        <label class="check">
          <input
            type="checkbox"
            checked={onlyNew}
            onChange={({ currentTarget }) => setOnlyNew(currentTarget.checked)}
          />{' '}
          only what is new
        </label>
        {answer && <AnswerFigures completion={answer.completion} />}
      </div>
      {!request && (
        <EmptyNote title="What was sent for this answer was not recorded.">
          <p class="muted">Only the answer was.</p>
        </EmptyNote>
      )}
      {request && (
        <>
          <div class="entry-rows">
            <Row label="tools">
              <ToolList id={`sent/${number}`} tools={request.tools} />
            </Row>
          </div>
          <VirtualList
            key={`${number}/${onlyNew}`}
            count={shown.length}
            estimate={70}
            label={`Messages of request ${number + 1}`}
            render={(i) => <Item item={shown[i] as RequestItem} id={`sent/${number}/${i}`} />}
          />
        </>
      )}
    </section>
  )
}

function Item({ item, id }: { readonly item: RequestItem; readonly id: string }) {
  if (item.kind === 'left-out')
    return (
      <div class="entry-rows left-out">
        <Row label="left out">
          <Fold
            id={`left:${id}`}
            summary={<>▲ {plural(item.messages.length, 'message')} of earlier requests, not in this one</>}
          >
            {() =>
              item.messages.map((message) => <Message key={message.id} message={message} id={`${id}/${message.id}`} />)
            }
          </Fold>
        </Row>
      </div>
    )
  if (item.kind === 'message') return <Message message={item.message} id={id} />
  const { message, before } = item
  const lines = lineDiff(`${before.message.content}\n`, `${message.message.content}\n`)
  return (
    <div class="entry-rows new">
      <Row label={<RoleLabel message={message} />}>
        <Fold id={`replaced:${id}`} open summary="replaces an earlier message">
          {() => (
            <div class="diff">
              {lines.map((line, i) => (
                <DiffLineView key={i} line={line} />
              ))}
            </div>
          )}
        </Fold>
      </Row>
    </div>
  )
}

function Message({ message, id }: { readonly message: SentMessage; readonly id: string }) {
  return (
    <div class={`entry-rows ${message.state}`}>
      <Row label={<RoleLabel message={message} />}>
        <MessageContent id={id} message={message.message} />
      </Row>
    </div>
  )
}

function RoleLabel({ message: { message, state } }: { readonly message: SentMessage }) {
  return (
    <>
      {plain(String(message.role ?? 'message'))}
      {state === 'new' && <small class="new-mark gain">+ new</small>}
    </>
  )
}

function answerBefore({ answers }: EpisodeModel, step: number): number {
  return Math.max(
    0,
    answers.findLastIndex((answer) => answer.step !== null && answer.step <= step),
  )
}

export type RequestItem =
  | { readonly kind: 'message'; readonly message: SentMessage }
  /** Messages of earlier requests that are not in this one. */
  | { readonly kind: 'left-out'; readonly messages: readonly SentMessage[] }
  /** A message in the place of an earlier one of the same role. */
  | { readonly kind: 'replaced'; readonly message: SentMessage; readonly before: SentMessage }

/** Arranges the messages of a request: those left out together, and a new one with the one that it replaces. */
export function requestItems({ messages }: SentRequest): RequestItem[] {
  const items: RequestItem[] = []
  for (const message of messages) {
    const last = items.at(-1)
    if (message.state === 'left-out') {
      if (last?.kind === 'left-out') items.splice(-1, 1, { ...last, messages: [...last.messages, message] })
      else items.push({ kind: 'left-out', messages: [message] })
    } else if (last?.kind === 'left-out' && last.messages.length === 1 && replaces(message, last.messages[0])) {
      items.splice(-1, 1, { kind: 'replaced', message, before: last.messages[0] as SentMessage })
    } else items.push({ kind: 'message', message })
  }
  return items
}

function replaces({ state, message }: SentMessage, before: SentMessage | undefined): boolean {
  const bothText = typeof message.content === 'string' && typeof before?.message.content === 'string'
  return state === 'new' && bothText && before.message.role === message.role
}
