import type { ComponentChildren } from 'preact'
import { hasSigns, textParts } from './signs.ts'

/**
 * A text of a world, a model or a person as it is: no markup, no links, no images; characters that would not be seen,
 * or that change the order of others, as signs. It cannot change the direction of what stands around it.
 */
export function plain(text: string) {
  return <bdi>{withSigns(text)}</bdi>
}

export function code(text: string) {
  return <code>{plain(text)}</code>
}

/** The content of {@link plain}, for a part of a text whose whole is set apart from what stands around it. */
export function withSigns(text: string): ComponentChildren {
  if (!hasSigns(text)) return text
  return textParts(text).map((part) =>
    typeof part === 'string' ? (
      part
    ) : (
      <span class="sign" title="a character that is not shown">
        {part.sign}
      </span>
    ),
  )
}
