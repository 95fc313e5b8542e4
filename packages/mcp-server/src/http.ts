export type { AccessOptions } from './lib/http-guards.ts'
export { type HttpOptions, type HttpServer, serveHttp } from './lib/http-server.ts'
