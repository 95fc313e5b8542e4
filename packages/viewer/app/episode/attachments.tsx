import type { Attachment } from '@episodic/protocol'
import type { EpisodeModel } from './episode-model.ts'

interface AttachmentsProps {
  readonly model: EpisodeModel
  readonly of: readonly Attachment[] | undefined
}

/** The pictures and sounds of an answer. A picture is shown small, and enlarged by a click. */
export function Attachments({ model: { record }, of = [] }: AttachmentsProps) {
  // A line has the bytes once, in the first step that shows them.
  const all = record.steps.flatMap(({ observation }) => observation.attachments ?? [])
  return (
    <>
      {of.map(({ type, mimeType, sha256 }, i) => {
        const data = all.find((one) => one.sha256 === sha256 && one.data)?.data
        const src = `data:${mimeType};base64,${data}`
        if (!data) return <p key={i}>{mimeType}, not kept</p>
        // biome-ignore lint/a11y/useMediaCaption: a recorded sound has no caption
        if (type === 'audio') return <audio key={i} controls src={src} />
        return (
          <details key={i} class="picture">
            <summary>
              <img src={src} alt={mimeType} />
            </summary>
          </details>
        )
      })}
    </>
  )
}
