import type { Observation } from '@episodic/protocol'
import type { EpisodeModel } from './episode-model.ts'

interface AttachmentsProps {
  readonly model: EpisodeModel
  readonly of: Pick<Observation, 'attachments' | 'resources'>
}

export function Attachments({ model: { record }, of: { attachments, resources } }: AttachmentsProps) {
  // A line has the bytes once, in the first step that shows them, or not at all.
  const all = record.steps.flatMap(({ observation }) => observation.attachments)
  return [
    // The text has the rest of a resource.
    resources?.map(({ uri }) => <p>{uri}</p>),
    attachments?.map(({ type, mimeType, sha256, uri }) => {
      const data = all.find((one) => one?.sha256 === sha256)?.data
      const src = `data:${mimeType};base64,${data}`
      if (!data) return <p>{mimeType}, not kept</p>
      // biome-ignore lint/a11y/useMediaCaption: a recorded sound has no caption
      if (type === 'audio') return <audio controls src={src} />
      if (type === 'file')
        return (
          <a download href={src}>
            {uri}
          </a>
        )
      return (
        <details class="picture">
          <summary>
            <img src={src} alt={mimeType} />
          </summary>
        </details>
      )
    }),
  ]
}
