import { join } from 'node:path'
import pLimit, { type LimitFunction } from 'p-limit'
import { removeFolder } from './owned-folder.ts'
import { WorkingCopy } from './working-copy.ts'

/** The first of the users that commands run as if this process is root: nobody is one of them. */
const FIRST_USER = 61_184

/** The copy of a session for one command. */
export interface LentCopy {
  readonly copy: WorkingCopy
  /** The user who owns its files; `null` for the one of this process. */
  readonly user: number | null
  /** Has the copy removed after the command. */
  discard(): void
}

interface Kept extends Omit<LentCopy, 'discard'> {
  readonly place: number
  readonly folder: string
}

/** The working copies of sessions in one folder: that of the session which has run nothing for longest goes first. */
export class WorkingCopies {
  readonly #folder: string
  readonly #turns: LimitFunction
  /** Those that no command uses, the last used at the end. */
  readonly #idle = new Map<string, Kept>()
  readonly #inOrder = new Map<string, Promise<unknown>>()
  readonly #places: number[]
  #made = 0

  /** @param atOnce - how many commands run at once, and `most` how many copies are kept, which is not less. */
  constructor(folder: string, atOnce: number, most: number) {
    this.#folder = folder
    this.#turns = pLimit(atOnce)
    this.#places = Array.from({ length: most }, (_, place) => place)
  }

  /** Gives a command the copy of its session, in its turn. The copy of a command that throws is removed. */
  async use<Result>(session: string, run: (lent: LentCopy) => Promise<Result>): Promise<Result> {
    const before = this.#inOrder.get(session)
    const result = Promise.resolve(before).then(() => this.#turns(() => this.#lend(session, run)))
    const settled = result.catch(() => {})
    this.#inOrder.set(session, settled)
    try {
      return await result
    } finally {
      if (this.#inOrder.get(session) === settled) this.#inOrder.delete(session)
    }
  }

  async #lend<Result>(session: string, run: (lent: LentCopy) => Promise<Result>): Promise<Result> {
    const kept = this.#idle.get(session) ?? (await this.#create())
    this.#idle.delete(session)
    let isGood = true
    const discard = () => {
      isGood = false
    }
    try {
      return await run({ ...kept, discard })
    } catch (error) {
      discard()
      throw error
    } finally {
      if (isGood) this.#idle.set(session, kept)
      else await this.#remove(kept)
    }
  }

  async #create(): Promise<Kept> {
    if (this.#places.length === 0) {
      const [[session, oldest]] = this.#idle as unknown as [[string, Kept]]
      this.#idle.delete(session)
      await this.#remove(oldest)
    }
    const place = this.#places.pop() as number
    const user = process.getuid?.() === 0 ? FIRST_USER + place : null
    const folder = join(this.#folder, String(++this.#made))
    return { place, folder, user, copy: new WorkingCopy(folder, user) }
  }

  async #remove({ folder, place }: Kept): Promise<void> {
    await removeFolder(folder)
    this.#places.push(place)
  }
}
