/** An exception of Python: its type, and the text that `str` prints of it. */
export class PythonError extends Error {
  readonly type: string

  constructor(type: string, message: string) {
    super(message)
    this.type = type
  }
}

export function valueError(text: string): PythonError {
  return new PythonError('ValueError', text)
}
