import { hasSigns, textParts } from './signs.ts'

/**
 * A text of a world, a model or a person as it is: no markup, no links, no images; characters that would not be seen, or
 * that change the order of others, as signs. It cannot change the direction of what stands around it.
 */
export function PlainText({ text }: { readonly text: string }) {
  if (!hasSigns(text)) return <bdi>{text}</bdi>
  return (
    <bdi>
      {textParts(text).map((part) =>
        typeof part === 'string' ? (
          part
        ) : (
          <span class="sign" title="a character that is not shown">
            {part.sign}
          </span>
        ),
      )}
    </bdi>
  )
}
