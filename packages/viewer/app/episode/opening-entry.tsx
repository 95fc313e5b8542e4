import { formatCount, formatNumber } from '@episodic/report/text/format'
import { useContext } from 'preact/hooks'
import { PlayContext } from '../continue/play-context.ts'
import { Fold } from '../parts/folds.tsx'
import { JsonText } from '../parts/json-text.tsx'
import { LongText } from '../parts/long-text.tsx'
import { plain } from '../parts/plain-text.tsx'
import type { EpisodeModel } from './episode-model.ts'
import { BESIDE_TEXT, MessageContent, Row, ToolList } from './message-view.tsx'
import { firstTools } from './requests.ts'

export function OpeningEntry({ model }: { readonly model: EpisodeModel }) {
  const { record, shown, answers } = model
  const play = useContext(PlayContext)
  const [first] = answers
  const messages = first?.added ?? null
  return (
    <article class="entry opening">
      <div class="entry-side">
        <span class="step-number">start</span>
      </div>
      <div class="entry-rows">
        <Row label="recorded">
          <span class="muted">{recorderText(model)}</span>
        </Row>
        {first && messages ? (
          <>
            {messages.map(({ id, message }) => (
              <Row key={id} label={String(message.role ?? 'sent')}>
                {message.role === 'system' && typeof message.content === 'string' ? (
                  <Fold id={`system:${id}`} summary={<SystemSummary text={message.content} />}>
                    {() => <LongText id={`system-text:${id}`} text={String(message.content)} />}
                  </Fold>
                ) : (
                  <MessageContent id={`opening/${id}`} message={message} />
                )}
              </Row>
            ))}
            <Row label="tools">
              <ToolList id="opening" tools={firstTools(record, first.completion) ?? []} />
            </Row>
          </>
        ) : (
          <>
            <Row label="task">
              <LongText id="prompt:task" text={record.task.prompt || 'no prompt'} />
            </Row>
            {shown.start ? (
              <Row label="world">
                <LongText id="world:start" text={shown.start.observation.text} />
              </Row>
            ) : (
              <Row label="world" kind="fault">
                ✗ The session could not be opened.
              </Row>
            )}
          </>
        )}
        {shown.start?.observation.structured && (
          <Row label={<span title={BESIDE_TEXT}>data</span>}>
            <JsonText id="json:world/start" value={shown.start.observation.structured} />
          </Row>
        )}
        {shown.start && shown.start.potential !== null && (
          <Row label="potential">
            <span>Φ {formatNumber(shown.start.potential)}</span>
          </Row>
        )}
        {play && shown.start && <play.Link step={null} />}
      </div>
    </article>
  )
}

function SystemSummary({ text }: { readonly text: string }) {
  return (
    <>
      <span class="thought-start">{plain(text.slice(0, 120).replaceAll('\n', ' ').toWellFormed())}</span>{' '}
      <span class="muted">{formatCount(text.length)} ch</span>
    </>
  )
}

function recorderText({ recorder, answers, record }: EpisodeModel): string {
  if (recorder === 'harness') return 'by the harness, which asked the model itself'
  if (recorder === 'proxy')
    return 'by a proxy between the agent and its models: an answer stands at the step that came next'
  if (recorder === 'agent') return 'by the agent itself: an answer stands at the step that came next'
  if (answers.length > 0) return 'the answers of the model, and not what it was sent'
  const name = 'policy' in record ? record.policy.name : ''
  if (/^(agent|process):/.test(name)) return 'nobody recorded what the agent thought'
  return 'no language model was asked, or nobody recorded it'
}
