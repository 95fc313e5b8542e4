import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { compileFunction } from 'node:vm'
import type { default as InitSqlJs, SqlJsStatic } from 'sql.js'

interface WebAssemblyEngine {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports: object) => { readonly exports: object }
}
const { Instance, Module } = (globalThis as unknown as { readonly WebAssembly: WebAssemblyEngine }).WebAssembly

interface Program {
  readonly load: (module: { exports?: typeof InitSqlJs }, ...rest: unknown[]) => void
  readonly wasm: object
  readonly require: NodeJS.Require
  readonly path: string
}

let program: Program | null = null

/**
 * Starts SQLite in WebAssembly. A new one takes a millisecond, and has nothing of any before it: the files of its own,
 * the limits and settings of the whole engine, the chance that it has drawn, and its memory are gone with it.
 */
export function openSqlEngine(): Promise<SqlJsStatic> {
  program ??= compile()
  const { load, wasm, require, path } = program
  const module: { exports?: typeof InitSqlJs } = {}
  load(module, {}, require, path, dirname(path))
  return (module.exports as typeof InitSqlJs)({
    instantiateWasm(imports: object, receive: (instance: object) => void) {
      const instance = new Instance(wasm, imports)
      receive(instance)
      return instance.exports
    },
  } as object)
}

function compile(): Program {
  const require = createRequire(import.meta.url)
  const path = require.resolve('sql.js')
  const names = ['module', 'exports', 'require', '__filename', '__dirname']
  return {
    load: compileFunction(readFileSync(path, 'utf8'), names, { filename: path }) as Program['load'],
    wasm: new Module(readFileSync(path.replace(/\.js$/, '.wasm'))),
    require,
    path,
  }
}
