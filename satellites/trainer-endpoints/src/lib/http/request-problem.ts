export class RequestProblem extends Error {
  readonly status: 400 | 404 | 410

  constructor(status: 400 | 404 | 410, message: string) {
    super(message)
    this.name = 'RequestProblem'
    this.status = status
  }

  get code(): 'invalid-request' | 'not-found' {
    return this.status === 400 ? 'invalid-request' : 'not-found'
  }

  static is(error: unknown, status?: RequestProblem['status']): error is RequestProblem {
    return error instanceof RequestProblem && (status === undefined || error.status === status)
  }
}
