import { homedir } from 'node:os'
import { dirname } from 'node:path'

export const WITHHELD = '[withheld]'
/** Shorter texts are not looked for: they would take ordinary words out. */
const SHORTEST = 6
/** How often a text can be escaped within a text: JSON in JSON, as in what a judge was sent. */
const ESCAPES = 2

export type Scrub = (json: string) => string

/** Creates what takes secrets out of the texts of JSON, also where they stand in JSON within a text. */
export function createScrub(secrets: Iterable<string>): Scrub {
  const forms = [...new Set([...secrets].filter(({ length }) => length >= SHORTEST).flatMap(writtenForms))]
  // A secret may contain another one.
  forms.sort((a, b) => b.length - a.length)
  return inTexts(forms, (text) => forms.reduce((rest, form) => rest.replaceAll(form, WITHHELD), text))
}

export function scrubbed<T>(value: T, scrub: Scrub): T {
  return value === undefined ? value : JSON.parse(scrub(JSON.stringify(value)))
}

/** The folders of a path in a command or a message. What follows a colon and two slashes is an address. */
const FOLDERS = /(?<![\w/.~-])(?:[A-Za-z]:[\\/]|\/)(?:[^\s"'`\\/:;,()<>|]+[\\/])+/g

/**
 * Creates what takes the folders of this machine out of the texts of JSON, and leaves the names of files.
 *
 * @param texts - those that may name folders, such as commands and paths of a configuration. Where such a text stands
 *   as a whole, it has no folder; elsewhere, those of its folders are taken out that say something of this machine.
 */
export function createPathScrub(texts: Iterable<string>): Scrub {
  const named = [...new Set(texts)].flatMap((text) => {
    const folders = text.match(FOLDERS)
    return folders ? [{ text, folders }] : []
  })
  const folders = [process.cwd(), homedir(), ...named.flatMap(({ folders }) => folders)]
    .map((folder) => folder.replace(/[\\/]+$/, ''))
    .filter(isTelling)
  const wholes = named.flatMap(({ text }) =>
    writtenForms(text).map((form) => [form, form.replaceAll(FOLDERS, '')] as const),
  )
  // The innermost first: what is in it has the shortest name then.
  const forms = [...new Set(folders.flatMap(writtenForms))].sort((a, b) => b.length - a.length)
  const expressions = forms.map((form) => {
    const quoted = form.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
    // A backslash after other folders is that of an escape.
    const end = form.includes('\\') ? '[\\\\/]+' : '/+'
    return new RegExp(`${BEFORE}${quoted}(?:${end}|(?![\\w.-]))`, 'g')
  })
  return inTexts([...wholes.map(([form]) => form), ...forms], (text) => {
    const rest = wholes.reduce((rest, [form, without]) => rest.replaceAll(form, () => without), text)
    return expressions.reduce((rest, expression) => rest.replaceAll(expression, ''), rest)
  })
}

/** What stands before a path is no part of it; `\n` and the like end in a letter where JSON stands within a text. */
const BEFORE = '(?:(?<![\\w.~-])|(?<=\\\\[nrtbf]))'

/** Whether a folder says something of the machine: `/root` and `/usr/bin` do not, and worlds speak of their own. */
function isTelling(folder: string): boolean {
  const above = dirname(folder)
  return above !== '.' && dirname(above) !== above && !folder.startsWith('/usr/')
}

export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) yield* textsIn(inner)
}

/** Returns a text as it may stand in a text: as it is, and escaped as in JSON. */
function writtenForms(text: string): string[] {
  const forms = [text]
  for (let i = 0; i < ESCAPES; i++) forms.push(JSON.stringify(forms[i]).slice(1, -1))
  return [...new Set(forms)]
}

/** Changes the texts of JSON in which one of `forms` stands. Most JSON has none of them, and is not parsed. */
function inTexts(forms: readonly string[], change: (text: string) => string): Scrub {
  const inJson = [...new Set(forms.map((form) => JSON.stringify(form).slice(1, -1)))]
  return (json) => {
    if (!inJson.some((form) => json.includes(form))) return json
    try {
      return JSON.stringify(changeTexts(JSON.parse(json), change))
    } catch {
      // A torn line.
      return change(json)
    }
  }
}

/** Names of fields, and of kinds of things, which a line needs to be one. */
const FIELD = /^[a-z]+(?:[A-Z][a-z]+)*$/

function changeTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((inner) => changeTexts(inner, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (name === 'kind' && typeof inner === 'string' && FIELD.test(inner)) return [name, inner]
      return [FIELD.test(name) ? name : change(name), changeTexts(inner, change)]
    }),
  )
}
