const STATUS = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  'read-only': 403,
  'not-found': 404,
  'run-not-found': 404,
  'row-not-found': 404,
  'not-allowed': 405,
  'too-large': 413,
  busy: 429,
} as const
export type HttpProblemCode = keyof typeof STATUS

export class HttpProblem extends Error {
  readonly code: HttpProblemCode

  constructor(code: HttpProblemCode, message: string) {
    super(message)
    this.name = 'HttpProblem'
    this.code = code
  }

  get status(): number {
    return STATUS[this.code]
  }
}
