/** Why a request is not answered, by the HTTP status that goes with it. */
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

/** A request that is not answered, through a fault of who made it. */
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
