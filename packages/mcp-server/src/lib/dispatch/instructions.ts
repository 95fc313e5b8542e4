import { invalidParams } from '@episodic/protocol/internal'
import type { Advertisement } from './server-info.ts'

export interface Explained extends Pick<Advertisement, 'instructions' | 'tools'> {
  /** The URI at which the state of the world is read, or the template of it. */
  readonly state: string
}

const PROMPT = {
  name: 'instructions',
  title: 'How to play',
  description: 'What this world is about, and what there is to do in it.',
}

export const PROMPTS = [PROMPT]

/** Answers `prompts/get`. Throws `invalid-params` for a prompt that there is not. */
export function getPrompt({ instructions, tools, state }: Explained, { name }: { readonly name: string }) {
  if (name !== PROMPT.name) throw invalidParams(`There is no such prompt. There is: ${PROMPT.name}.`)
  const text = `${instructions}\n\nThe tools:\n${tools.map((tool) => `- ${tool.name}: ${tool.description}`).join('\n')}\n\nThe state of the session can be read at any time, as the resource ${state}.`
  return {
    description: PROMPT.description,
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
  }
}
