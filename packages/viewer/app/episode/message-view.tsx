import type { Json, JsonObject } from '@episodic/protocol'
import { formatCount, plural } from '@episodic/report/text/format'
import type { ComponentChildren } from 'preact'
import { Fold } from '../parts/folds.tsx'
import { FoundText } from '../parts/found-text.tsx'
import { JsonText } from '../parts/json-text.tsx'
import { LongText } from '../parts/long-text.tsx'
import { plain } from '../parts/plain-text.tsx'

/** A text of a model: what it thought within it is folded, and none of it is left out. */
export function ModelText({ id, text }: { readonly id: string; readonly text: string }) {
  return (
    <>
      {sectionsOf(text).map((section, i) =>
        section.kind === 'text' ? (
          section.text.trim() !== '' && <LongText key={i} id={`text:${id}/${i}`} text={section.text} />
        ) : (
          <ThoughtText key={i} id={`thought:${id}/${i}`} name="<think>" text={section.text} />
        ),
      )}
    </>
  )
}

export function ThoughtText({ id, name, text }: { readonly id: string; readonly name: string; readonly text: string }) {
  const words = text.replace(/^<think>\s*/, '').trimStart()
  const summary = (
    <>
      <span class="mono">{name}</span>{' '}
      <span class="thought-start">
        <FoundText text={words.slice(0, 140).replaceAll('\n', ' ').toWellFormed()} />
      </span>{' '}
      <span class="muted">{formatCount(text.length)} ch</span>
    </>
  )
  return (
    <div class="thought">
      <Fold id={id} summary={summary}>
        {() => <LongText id={`all-${id}`} text={text} />}
      </Fold>
    </div>
  )
}

export function MessageContent({ id, message }: { readonly id: string; readonly message: JsonObject }) {
  const { role: _, content, tool_calls: calls, ...rest } = message
  const others = Object.entries(rest).filter(([name]) => name !== 'tool_call_id')
  return (
    <>
      {typeof content === 'string' && content !== '' && <ModelText id={id} text={content} />}
      {typeof content === 'object' && content !== null && <JsonText id={`json:${id}`} value={content} />}
      {Array.isArray(calls) && calls.map((call: Json, i) => <CallText key={i} id={`${id}/${i}`} call={call} />)}
      {others.length > 0 && <JsonText id={`json:${id}/rest`} value={Object.fromEntries(others)} />}
    </>
  )
}

function CallText({ id, call }: { readonly id: string; readonly call: Json }) {
  const made = (call as { readonly function?: { readonly name?: Json; readonly arguments?: Json } } | null)?.function
  if (typeof made?.name !== 'string' || typeof made.arguments !== 'string')
    return <JsonText id={`json:${id}`} value={call} />
  return <Call name={made.name} args={made.arguments} />
}

export function Call({ name, args }: { readonly name: string; readonly args: string }) {
  return (
    <code class="call wrap">
      <b>
        <FoundText text={name} />
      </b>{' '}
      <FoundText text={args} />
    </code>
  )
}

export function ToolList({ id, tools }: { readonly id: string; readonly tools: readonly JsonObject[] }) {
  const names = tools.map((tool) => {
    const { name } = (tool.function ?? tool) as { readonly name?: Json }
    return typeof name === 'string' ? name : '?'
  })
  return (
    <Fold
      id={`tools:${id}`}
      summary={
        <>
          {plural(tools.length, 'tool')} <span class="muted">{plain(names.join(', '))}</span>
        </>
      }
    >
      {() => <pre class="json">{plain(JSON.stringify(tools, null, 2))}</pre>}
    </Fold>
  )
}

export const BESIDE_TEXT = 'For programs, beside the text. A model reads the text.'

interface RowProps {
  readonly label: ComponentChildren
  readonly kind?: string
  readonly children: ComponentChildren
}

export function Row({ label, kind = '', children }: RowProps) {
  return (
    <div class={`row ${kind}`}>
      <div class="row-label muted small clip">{label}</div>
      <div class="row-content">{children}</div>
    </div>
  )
}

/** A part of a text: what a model thought within it, or the rest. Together the parts are the text. */
export interface TextSection {
  readonly kind: 'text' | 'thought'
  readonly text: string
}

/** Splits a text at `<think>` and `</think>`, which stay in the thoughts. An open thought goes to the end. */
export function sectionsOf(text: string): TextSection[] {
  const sections: TextSection[] = []
  let from = 0
  // A text may begin within a thought whose start was part of the prompt.
  for (const { 0: thought, index } of text.matchAll(
    /<think>[\s\S]*?(?:<\/think>|$)|^(?:(?!<think>)[\s\S])*?<\/think>/g,
  )) {
    if (index > from) sections.push({ kind: 'text', text: text.slice(from, index) })
    sections.push({ kind: 'thought', text: thought })
    from = index + thought.length
  }
  if (from < text.length) sections.push({ kind: 'text', text: text.slice(from) })
  return sections
}
