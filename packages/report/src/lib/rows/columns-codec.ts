import type { Json } from '@episodic/protocol'
import type { Dictionaries, EpisodeColumns } from './columns.ts'
import { packArrays, unpackArrays } from './packed-arrays.ts'

export function encodeColumns({ rows, dictionaries, columns }: EpisodeColumns): Uint8Array<ArrayBuffer> {
  return packArrays({
    header: { rows, dictionaries } as unknown as Json,
    arrays: columns as { readonly [name: string]: NonNullable<(typeof columns)[keyof typeof columns]> },
  })
}

/** Returns the columns in bytes of {@link encodeColumns}. Throws a `RangeError` for other or incomplete bytes. */
export function decodeColumns(bytes: Uint8Array): EpisodeColumns {
  const { header, arrays } = unpackArrays(bytes)
  const { rows, dictionaries } = header as unknown as { readonly rows: number; readonly dictionaries: Dictionaries }
  if (typeof rows !== 'number' || !dictionaries) throw new RangeError('These packed arrays are no columns of a run.')
  return { rows, dictionaries, columns: arrays as EpisodeColumns['columns'] }
}
