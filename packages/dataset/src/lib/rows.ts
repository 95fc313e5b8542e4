/** Rows from an array, a generator, or a file that is read while it is iterated. */
export type Rows<Row> = Iterable<Row> | AsyncIterable<Row>
