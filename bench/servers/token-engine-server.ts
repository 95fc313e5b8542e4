import { guessing, startTokenEngine } from '../../interop/gateway/token-engine.ts'

// The engine of the benchmark of gateways, in a process of its own. It answers as fast as it can, and tokenises each
// conversation again, as vLLM does as it comes.

const [turns = '', tokens = ''] = process.argv.slice(2)
const engine = await startTokenEngine(guessing(Number(turns)), { tokens: Number(tokens), splices: false })
process.on('disconnect', () => process.exit())
process.send?.({ url: engine.url })
