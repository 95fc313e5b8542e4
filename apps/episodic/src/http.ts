export { type HttpOptions, type HttpServer, serveHttp } from '@episodic/mcp-server/http'
