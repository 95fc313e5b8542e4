import { toPattern } from '../bytes.ts'
import { fatal } from '../git-error.ts'
import { type Folder, parentOf } from './folder.ts'

/** The id of nothing, in logs of references. */
export const NO_ID = '0'.repeat(40)

/** A change of a reference, as its log has it. */
export interface LoggedChange {
  readonly from: string
  readonly to: string
  /** Who has changed it, with the time. */
  readonly who: string
  readonly message: string
}

/** The references of a repository: branches, tags, `HEAD`. */
export class Refs {
  readonly #folder: Folder
  readonly #who: () => string

  /** `who` returns who changes references, with the time, as commits have it. */
  constructor(folder: Folder, who: () => string) {
    this.#folder = folder
    this.#who = who
  }

  /** Returns the name that `HEAD` stands for: a branch, or `null` if it is detached. */
  get head(): string | null {
    return this.target('HEAD')
  }

  /** Returns what a symbolic reference stands for. */
  target(name: string): string | null {
    return /^ref: (.*?)\s*$/.exec(this.#folder.read(name) ?? '')?.[1] ?? null
  }

  /** Returns the id that a reference has, over symbolic ones; `null` if there is none. */
  find(name: string): string | null {
    const content = isName(name) ? this.#folder.read(name) : null
    if (content === null) return this.#packed().get(name) ?? null
    const target = /^ref: (.*?)\s*$/.exec(content)?.[1]
    if (target !== undefined) return target === name ? null : this.find(target)
    return /^[0-9a-f]{40}/.exec(content)?.[0] ?? null
  }

  /** Returns the references below a folder such as `refs/heads/`, sorted by name. */
  list(prefix: string): { readonly name: string; readonly id: string }[] {
    const names = new Set([...this.#packed().keys()].filter((name) => name.startsWith(prefix)))
    const collect = (folder: string) => {
      for (const each of this.#folder.list(folder)) {
        const path = `${folder}/${each}`
        if (this.#folder.at(path)?.kind === 'directory') collect(path)
        else names.add(path)
      }
    }
    collect(prefix.replace(/\/$/, ''))
    return [...names].sort().flatMap((name) => {
      const id = this.find(name)
      return id === null ? [] : [{ name, id }]
    })
  }

  /** Sets a reference, over symbolic ones, and logs it. */
  set(name: string, id: string, message: string): void {
    const real = this.target(name) ?? name
    const before = this.find(real)
    const inTheWay = this.list(`${real}/`)[0]
    if (inTheWay) throw fatal(`cannot lock ref '${real}': '${inTheWay.name}' exists; cannot create '${real}'`)
    for (let above = parentOf(real); above !== '' && above !== 'refs'; above = parentOf(above))
      if (this.find(above) !== null)
        throw fatal(`cannot lock ref '${real}': '${above}' exists; cannot create '${real}'`)
    if (this.#folder.at(real)?.kind === 'directory') this.#folder.remove(real)
    this.#folder.write(real, `${id}\n`)
    // As in git, a reference that keeps its value gets no entry; `HEAD` that stands for it does.
    if (before !== id && (real.startsWith('refs/heads/') || real === 'HEAD' || real === 'refs/stash'))
      this.#log(real, before ?? NO_ID, id, message)
    if (real !== name || (this.head === real && name !== 'HEAD')) this.#log('HEAD', before ?? NO_ID, id, message)
  }

  /** Makes `HEAD` stand for a branch, or for a commit. */
  moveHead(to: { readonly branch: string } | { readonly id: string }, message: string): void {
    const before = this.find('HEAD') ?? NO_ID
    const isKept = 'id' in to && this.head === null && before === to.id
    this.#folder.write('HEAD', 'branch' in to ? `ref: ${to.branch}\n` : `${to.id}\n`)
    const after = this.find('HEAD')
    if (after !== null && message !== '' && !isKept) this.#log('HEAD', before, after, message)
  }

  remove(name: string): void {
    this.#folder.remove(name)
    if (isName(name)) this.#folder.removeEmptyAbove(name)
    this.#folder.remove(`logs/${name}`)
    const packed = this.#folder.read('packed-refs')
    if (packed !== null && this.#packed().has(name)) {
      const kept = packed.replace(new RegExp(`^[0-9a-f]{40} ${toPattern(name)}\\n(\\^.*\\n)?`, 'm'), '')
      this.#folder.write('packed-refs', kept)
    }
  }

  /** Moves a branch with its log. */
  rename(from: string, to: string, message: string): void {
    const id = this.find(from) as string
    const log = this.#folder.read(`logs/${from}`)
    const isHead = this.head === from
    this.remove(from)
    if (log !== null) this.#folder.write(`logs/${to}`, log)
    this.#folder.write(to, `${id}\n`)
    this.#log(to, id, id, message)
    if (!isHead) return
    this.#folder.write('HEAD', `ref: ${to}\n`)
    this.#log('HEAD', id, NO_ID, message)
    this.#log('HEAD', NO_ID, id, message)
  }

  /** Returns the changes of a reference, the newest first. */
  log(name: string): LoggedChange[] {
    const text = this.#folder.read(`logs/${name}`) ?? ''
    return [...text.matchAll(/^([0-9a-f]{40}) ([0-9a-f]{40}) (.*?)\t(.*)$/gm)]
      .map(([, from = '', to = '', who = '', message = '']) => ({ from, to, who, message }))
      .reverse()
  }

  /** Replaces the changes of a reference, the newest first. */
  replaceLog(name: string, changes: readonly LoggedChange[]): void {
    this.#folder.write(
      `logs/${name}`,
      changes
        .toReversed()
        .map(({ from, to, who, message }) => `${from} ${to} ${who}\t${message}\n`)
        .join(''),
    )
  }

  #log(name: string, from: string, to: string, message: string): void {
    const before = this.#folder.read(`logs/${name}`) ?? ''
    this.#folder.write(
      `logs/${name}`,
      `${before}${from} ${to} ${this.#who()}\t${message.replaceAll('\n', ' ').trim()}\n`,
    )
  }

  #packed(): Map<string, string> {
    const text = this.#folder.read('packed-refs') ?? ''
    return new Map([...text.matchAll(/^([0-9a-f]{40}) (\S+)$/gm)].map(([, id = '', name = '']) => [name, id]))
  }
}

function isName(name: string): boolean {
  return name.startsWith('refs/') || /^[A-Z_]+$/.test(name)
}

/** Returns whether a name may be that of a branch or tag. */
export function isRefName(name: string): boolean {
  return (
    name !== '' &&
    name !== '@' &&
    !/^[-/]|\/$|\.$|\.\.|\/\/|@\{|[~^:?*[\\]/.test(name) &&
    [...name].every((letter) => letter > ' ' && letter !== '\x7f') &&
    name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'))
  )
}
