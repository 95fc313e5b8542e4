import { quotedPath } from '../bytes.ts'
import { fatal } from '../git-error.ts'
import { type FileChange, pathOf } from '../history/file-changes.ts'
import type { Options } from '../options.ts'
import type { Repository } from '../repository.ts'
import { NO_ID } from '../store/refs.ts'
import { formatModes, formatNumStat, formatShortStat, formatStat } from './change-summary.ts'
import { formatPatch, type PatchOptions } from './patch.ts'

/** The options of commands that print differences, as `parseOptions` reads them. */
export const DIFF_OPTIONS =
  'p|u|patch U|unified= stat=? shortstat numstat summary name-only name-status raw s|no-patch M|find-renames=? C|find-copies=? no-renames full-index diff-filter= color=? no-color no-prefix no-ext-diff textconv minimal histogram diff-algorithm= indent-heuristic compact-summary patch-with-stat'

type Part = 'raw' | 'numstat' | 'stat' | 'shortstat' | 'summary' | 'name-only' | 'name-status' | 'patch'

/** How differences are printed. */
export interface DiffOutput extends PatchOptions {
  readonly parts: readonly Part[]
  readonly findRenames: boolean
  /** Letters of kinds of changes; those of lower case are left out. */
  readonly only: string
}

/** Returns how options say that differences are printed; `fallback` if they do not say it. */
export function diffOutputOf(options: Options, fallback: readonly Part[]): DiffOutput {
  const parts: Part[] = (
    ['raw', 'numstat', 'stat', 'shortstat', 'summary', 'name-only', 'name-status'] as const
  ).filter((part) => options.has(part))
  if (options.has('patch-with-stat')) parts.push('stat', 'patch')
  if (options.has('patch') || (options.has('unified') && parts.length === 0)) parts.push('patch')
  const around = Number(options.value('unified') ?? 3)
  if (!(around >= 0)) throw fatal(`option \`unified' expects a numerical value`)
  return {
    parts: options.has('no-patch') ? [] : parts.length > 0 ? parts : fallback,
    around,
    fullIndex: options.has('full-index'),
    prefixes: options.has('no-prefix') ? ['', ''] : ['a/', 'b/'],
    findRenames: !options.has('no-renames'),
    only: options.value('diff-filter') ?? '',
  }
}

/** Returns differences as text. */
export function formatDiff(repo: Repository, given: readonly FileChange[], output: DiffOutput): string {
  const changes = given.filter(({ kind }) => isWanted(kind, output.only))
  const formats: Readonly<Record<Part, () => string>> = {
    raw: () => changes.map((change) => rawLine(repo, change)).join(''),
    numstat: () => formatNumStat(changes),
    stat: () => formatStat(changes),
    shortstat: () => formatShortStat(changes),
    summary: () => formatModes(changes),
    'name-only': () => changes.map((change) => `${quotedPath(pathOf(change))}\n`).join(''),
    'name-status': () => changes.map(nameStatus).join(''),
    patch: () => formatPatch(repo, changes, output),
  }
  const texts = output.parts.map((part) => [part, formats[part]()] as const).filter(([, text]) => text !== '')
  return texts.map(([part, text], index) => (part === 'patch' && index > 0 ? `\n${text}` : text)).join('')
}

function isWanted(kind: string, only: string): boolean {
  if (only === '') return true
  if (only.includes(kind.toLowerCase())) return false
  return only.includes(kind) || !/[A-Z]/.test(only)
}

function nameStatus(change: FileChange): string {
  const { kind, before, after, similarity } = change
  if (kind === 'R')
    return `R${String(similarity).padStart(3, '0')}\t${quotedPath(before?.path ?? '')}\t${quotedPath(after?.path ?? '')}\n`
  return `${kind}\t${quotedPath(pathOf(change))}\n`
}

function rawLine(repo: Repository, change: FileChange): string {
  const { kind, before, after, similarity } = change
  const mode = (side: typeof before) => (side?.mode ?? 0).toString(8).padStart(6, '0')
  const id = (side: typeof before) => (side && !side.isWorking ? repo.shorten(side.id) : NO_ID.slice(0, 7))
  const paths = kind === 'R' ? `${before?.path}\t${after?.path}` : pathOf(change)
  const letter = kind === 'R' ? `R${String(similarity).padStart(3, '0')}` : kind
  return `:${mode(before)} ${mode(after)} ${id(before)} ${id(after)} ${letter}\t${paths}\n`
}
