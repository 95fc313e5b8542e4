import type { Json } from '@episodic/protocol'
import { mapTexts } from '@episodic/protocol/internal'
import { formsOf } from '../requests/sent-keys.ts'

/** Letters of a key of which an error may have none: a server may quote a part of it, with stars in the middle. */
const PART = 6
/** Minimum length of a key that is taken out of answers: shorter ones are placeholders, and may be words. */
const KEY_LENGTH = 8

/** Takes the key of an engine out of what the engine says, so that no agent reads it and no file has it. */
export function createKeyGuard(key = '') {
  const known = [...new Set(formsOf(key))].sort((a, b) => b.length - a.length)
  const forms = key.length < KEY_LENGTH ? [] : known
  const parts = new Set(known.flatMap((form) => partsOf(form.toLowerCase())))
  const redact = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, '[key]'), text)
  return {
    clean<T>(value: T, text: string): T {
      // An escape may hide a letter of it.
      const mayHaveIt = forms.some((form) => text.includes(form)) || (forms.length > 0 && text.includes('\\u'))
      return mayHaveIt ? (mapTexts(value as Json, redact) as T) : value
    },
    cleanWords(text: string): string {
      const lower = text.toLowerCase()
      const isPart = (at: number) => parts.has(lower.slice(at, at + PART))
      let clean = ''
      for (let at = 0; at < text.length; ) {
        let end = at
        // Parts may overlap.
        for (let next = at; next <= end && next < text.length; next++) if (isPart(next)) end = next + PART
        clean += end > at ? '[key]' : text[at]
        at = Math.max(end, at + 1)
      }
      return clean
    },
  }
}

function partsOf(form: string): string[] {
  return Array.from({ length: Math.max(0, form.length - PART + 1) }, (_, at) => form.slice(at, at + PART))
}
