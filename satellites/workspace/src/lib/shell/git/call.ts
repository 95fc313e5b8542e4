import { fatal } from './git-error.ts'
import { findRepository, type Repository, type Surroundings } from './repository.ts'

/** A call of a command of git. Texts are strings of bytes. */
export class Call {
  readonly name: string
  readonly args: readonly string[]
  readonly around: Surroundings
  readonly stdin: string
  stdout = ''
  stderr = ''
  #repo: Repository | null = null

  constructor(name: string, args: readonly string[], around: Surroundings, stdin: string) {
    this.name = name
    this.args = args
    this.around = around
    this.stdin = stdin
  }

  out(text: string): void {
    this.stdout += text
  }

  err(text: string): void {
    this.stderr += text
  }

  /** The repository in which the command runs. Throws where there is none. */
  get repo(): Repository {
    this.#repo ??= findRepository(this.around)
    if (!this.#repo) throw fatal('not a git repository (or any of the parent directories): .git')
    return this.#repo
  }

  /** Returns a call of another command in the same repository, which prints where this one does. */
  forOther(name: string, args: readonly string[]): Call {
    const other = new Call(name, args, this.around, this.stdin)
    other.out = (text) => this.out(text)
    other.err = (text) => this.err(text)
    return other
  }
}

/** A command of git: prints, and returns its exit code, 0 for none. */
export type Subcommand = ((call: Call) => number) | ((call: Call) => void)
