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
