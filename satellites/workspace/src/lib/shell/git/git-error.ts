/** What ends a command of git: its words, and its exit code. */
export class GitError extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 128) {
    super(message)
    this.exitCode = exitCode
  }
}

/** Returns the end of a command that git calls fatal. */
export function fatal(message: string): GitError {
  return new GitError(`fatal: ${message}`)
}

/** Returns the end of a command that says an error. */
export function failure(message: string, exitCode = 1): GitError {
  return new GitError(`error: ${message}`, exitCode)
}
