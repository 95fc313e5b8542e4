import { chainOf, type SealedRecord, sealOf } from '@episodic/protocol'
import { formatBytes } from '@episodic/report/text/format'
import { withheldIn } from '@episodic/report/view/withheld'
import { useMemo, useState } from 'preact/hooks'
import { CopyButton } from '../parts/copy.tsx'
import { plain } from '../parts/plain-text.tsx'
import { VirtualList } from '../parts/virtual/virtual-list.tsx'

const ROW = 2_000

export function RawTab({ record, text }: { readonly record: SealedRecord; readonly text: string }) {
  const [isRaw, setRaw] = useState(false)
  const lines = useMemo(
    () => (isRaw ? chunksOf(text) : JSON.stringify(JSON.parse(text), null, 2).split('\n')),
    [isRaw, text],
  )
  const bytes = useMemo(() => new TextEncoder().encode(text).length, [text])
  // The seal covers the chain and what the chain leaves out, so both are computed again.
  const isChained = useMemo(() => chainOf(record) === record.chain, [record])
  const isSealed = useMemo(
    () => isChained && record.seal !== null && sealOf(record) === record.seal,
    [isChained, record],
  )
  const withheld = withheldIn(record)
  return (
    <section class="raw-tab">
      <div class="flow mid block">
        <fieldset class="flow tight">
          <legend class="unseen">How the line is shown</legend>
          <button type="button" class="pill" aria-pressed={!isRaw} onClick={() => setRaw(false)}>
            pretty
          </button>
          <button type="button" class="pill" aria-pressed={isRaw} onClick={() => setRaw(true)}>
            raw
          </button>
        </fieldset>
        <CopyButton text={text} label="Copy the line" />
        <span>{formatBytes(bytes)}</span>
        <span>
          seal{' '}
          {record.seal === null ? (
            <span class="muted">none: the line is of an earlier format</span>
          ) : (
            <>
              <code>{record.seal.slice(0, 12)}</code>{' '}
              {withheld.length > 0 ? (
                <b>▲ of the line as it was sealed; withheld here: {withheld.join(', ')}</b>
              ) : isSealed ? (
                <span class="gain">✓ matches the line</span>
              ) : (
                <b class="loss">✗ does not match: the line was changed</b>
              )}
            </>
          )}
        </span>
        <span>
          chain <code>{record.chain.slice(0, 12)}</code>{' '}
          {isChained ? (
            <span class="gain">✓</span>
          ) : (
            withheld.length === 0 && <b class="loss">✗ does not match what was played</b>
          )}
        </span>
      </div>
      <div class={`raw card ${isRaw ? 'whole' : ''}`}>
        <VirtualList
          key={String(isRaw)}
          count={lines.length}
          estimate={isRaw ? 260 : 19}
          label="The sealed line"
          render={(i) => <div class="raw-line wrap">{plain(lines[i] ?? '')}</div>}
        />
      </div>
    </section>
  )
}

function chunksOf(text: string): string[] {
  return Array.from({ length: Math.ceil(text.length / ROW) }, (_, i) => text.slice(i * ROW, (i + 1) * ROW))
}
