import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PlainRequest } from './fast-path/request.ts'
import type { PlainResponse } from './fast-path/response.ts'

/** A request as the endpoints look at it: as `node:http` reads it, or a plain one. */
export type HttpRequest = IncomingMessage | PlainRequest

/** What the endpoints answer it with, in the words of `node:http`. */
export type HttpResponse = ServerResponse | PlainResponse
