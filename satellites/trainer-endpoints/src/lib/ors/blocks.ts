export interface TextBlock {
  readonly text: string
  readonly detail: null
  readonly type: 'text'
}

export function textBlock(text: string): TextBlock {
  return { text, detail: null, type: 'text' }
}
