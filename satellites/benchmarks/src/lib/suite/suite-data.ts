import { z } from 'zod'

const sha256 = z.string().regex(/^[\da-f]{64}$/, 'not the 64 hexadecimal digits of a SHA-256')
/** A path with slashes, which leaves the folder that it is in nowhere. */
const path = z
  .string()
  .regex(/^(?!\/)(?!.*(^|\/)\.{0,2}(\/|$))[^\\:]+$/, 'not a relative path with "/", or it has ".."')

const common = {
  licence: z.strictObject({
    /** As SPDX writes it, such as `MIT`. */
    name: z.string().min(1),
    /** The `path` of the kept file with its text, and of a notice if there is one. */
    files: z.array(path).min(1),
  }),
  /** What is kept. */
  files: z
    .array(
      z.strictObject({
        /** Where it is in the archive or repository. */
        from: path,
        /** Where it is in the folder of the suite. */
        path,
        sha256,
        bytes: z.int().min(0),
      }),
    )
    .min(1),
}

const sourceSchema = z
  .union([
    z.strictObject({
      /** A wheel that `pip download` gets, by its name, such as `bfcl-eval`. */
      wheel: z.string().regex(/^[A-Za-z\d][\w.-]*$/),
      version: z.string().regex(/^[\w.+!]+$/),
      /** Of the wheel. */
      sha256,
      bytes: z.int().min(1),
      ...common,
    }),
    z.strictObject({
      /** The `https:` address of a repository that `git` gets. */
      repository: z.url({ protocol: /^https$/ }),
      commit: z.string().regex(/^[\da-f]{40}$/, 'not the 40 hexadecimal digits of a commit'),
      ...common,
    }),
  ])
  .refine(({ licence, files }) => licence.files.every((file) => files.some(({ path }) => path === file)), {
    error: 'the text of the licence is not among the files that are kept',
    path: ['licence', 'files'],
  })
export type DataSource = z.output<typeof sourceSchema>

/** Where the data of a suite comes from: the field `data` of `<suite>.suite.json`. It is never in a package. */
export const suiteDataSchema = z
  .strictObject({ sources: z.array(sourceSchema).min(1) })
  .refine((data) => new Set(filesOf(data).map(({ path }) => path)).size === filesOf(data).length, {
    error: 'two files are kept at one path',
    path: ['sources'],
  })
export type SuiteData = z.output<typeof suiteDataSchema>

export function filesOf(data: { readonly sources: readonly DataSource[] } | undefined): DataSource['files'] {
  return data?.sources.flatMap(({ files }) => files) ?? []
}
